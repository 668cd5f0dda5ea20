"""Planted readers for the abstract cohort, each with the diagnosis it must get."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from simulated import Cohort, Reader, Shown, offered, spoken

from situs.items import Choice, Number, YesNo

REFUSAL = "I cannot answer this without the images."
VERBOSE_REFUSAL = (
    "I'm sorry, but I am unable to view the scans, so I can't determine this. "
    "Please consult a radiologist."
)
UP = {"T12": "L1", "L1": "L2", "L2": "L3", "L3": "T12"}


class Case(NamedTuple):
    """A reader, and what must be said of it."""

    make: Callable[[Cohort], Reader]
    kind: str
    findings: frozenset[str] = frozenset()
    """Findings that are made beside the kind's own."""
    may: frozenset[str] = frozenset()
    """Others that are true, too."""


def chosen(shown: Shown, *salt: object) -> str:
    """One of the answers offered, always the same for the same words (and salt)."""
    choices = sorted(offered(shown.item))
    return choices[
        zlib.crc32("|".join(map(str, (shown.item.question, *salt))).encode()) % len(choices)
    ]


def any_answer(shown: Shown, rng: np.random.Generator) -> str:
    return str(rng.choice(offered(shown.item)))


def say(shown: Shown, value: str) -> str:
    return spoken(shown.item, value)


def sees(share: float, otherwise: Reader) -> Reader:
    """Right in a share of the items it has pictures for."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        if shown.truth and rng.random() < share:
            return say(shown, shown.truth)
        return otherwise(shown, rng)

    return read


def guess(shown: Shown, rng: np.random.Generator) -> str:
    return say(shown, any_answer(shown, rng))


def opinion(shown: Shown, rng: np.random.Generator) -> str:
    return say(shown, chosen(shown))


def prior(cohort: Cohort) -> Reader:
    return lambda shown, rng: say(shown, cohort.prior[shown.item.question])


def by_task(tasks: tuple[str, ...], inside: Reader, outside: Reader) -> Reader:
    return lambda shown, rng: (inside if shown.item.task in tasks else outside)(shown, rng)


def lesion_blind(shown: Shown, rng: np.random.Generator) -> str:
    return (opinion if "lesion" in shown.item.question else sees(0.95, opinion))(shown, rng)


def refusing(share: float, otherwise: Reader, words: str = REFUSAL) -> Reader:
    return lambda shown, rng: words if rng.random() < share else otherwise(shown, rng)


def only_with_pictures(reader: Reader, words: str = REFUSAL) -> Reader:
    return lambda shown, rng: reader(shown, rng) if shown.patient else words


def letter(place: int, share: float, otherwise: Reader) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        if isinstance(shown.item.answer, Choice) and rng.random() < share:
            return "ABCDEF"[min(place, len(shown.item.options) - 1)]
        return otherwise(shown, rng)

    return read


def yes_sayer(share: float, otherwise: Reader) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        if isinstance(shown.item.answer, YesNo):
            return "yes" if rng.random() < share else "no"
        return otherwise(shown, rng)

    return read


def ranked(rank: int) -> Reader:
    """Of options with numbers the largest but so many."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        options = [o.value for o in shown.item.options if re.search(r"\d+ ", o.text)]
        if not options:
            return opinion(shown, rng)
        return say(shown, sorted(options, key=lambda o: float(re.findall(r"\d+", o)[0]))[-1 - rank])

    return read


def longest(shown: Shown, rng: np.random.Generator) -> str:
    if not shown.item.options:
        return opinion(shown, rng)
    return say(shown, max(shown.item.options, key=lambda o: len(o.text)).value)


def mirrored(shown: Shown, rng: np.random.Generator) -> str:
    swapped = {"left": "right", "right": "left"}.get(shown.truth, shown.truth)
    return say(shown, swapped) if shown.truth else opinion(shown, rng)


def scaled(factor: float) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        if shown.truth and isinstance(shown.item.answer, Number):
            return f"{float(shown.truth.split()[0]) * factor:.4g} mm"
        return sees(0.9, opinion)(shown, rng)

    return read


def level_off(shown: Shown, rng: np.random.Generator) -> str:
    return say(shown, UP.get(shown.truth, shown.truth)) if shown.truth else opinion(shown, rng)


def memorised(shown: Shown, rng: np.random.Generator) -> str:
    """Knows the very pictures of the bench, and no others."""
    known = shown.pictures and shown.pictures == shown.patient
    return say(shown, shown.truth) if known else opinion(shown, rng)


def recognises(shown: Shown, rng: np.random.Generator) -> str:
    """Finds the nearest known patient: a changed scan is still taken for the old one."""
    return (
        say(shown, shown.old if shown.probe != "other-patient" else shown.truth)
        if shown.patient
        else opinion(shown, rng)
    )


def pixels(shown: Shown, rng: np.random.Generator) -> str:
    return say(shown, chosen(shown, shown.pictures))


def convention_blind(shown: Shown, rng: np.random.Generator) -> str:
    if shown.probe == "convention":
        return mirrored(shown, rng)
    return sees(0.9, opinion)(shown, rng)


def order_blind(shown: Shown, rng: np.random.Generator) -> str:
    if shown.probe == "slice-order" and shown.truth in UP:
        return say(shown, {"T12": "L3", "L1": "L2", "L2": "L1", "L3": "T12"}[shown.truth])
    return sees(0.9, opinion)(shown, rng)


def wordy(reader: Reader) -> Reader:
    return lambda shown, rng: (
        f"Let me think about this carefully. The answer is {reader(shown, rng)}."
    )


def inverting(shown: Shown, rng: np.random.Generator) -> str:
    """Sees all, and says yes for no."""
    if isinstance(shown.item.answer, YesNo) and shown.truth:
        return {"yes": "no", "no": "yes"}[shown.truth]
    return sees(0.95, opinion)(shown, rng)


SIDE_TASKS = ("location", "lesion_side")
HABIT, YES, PRIOR, DECLINES = "option_habit", "yes_bias", "follows_the_prior", "declines"

READERS: dict[str, Case] = {
    "honest": Case(lambda c: sees(0.8, opinion), "looks"),
    "perfect": Case(lambda c: sees(1.0, guess), "looks"),
    "perfect, in many words": Case(lambda c: wordy(sees(1.0, opinion)), "looks"),
    "noisy": Case(lambda c: sees(0.4, guess), "looks"),
    "opinions on words": Case(lambda c: opinion, "text only"),
    "prior": Case(prior, "text only", frozenset({PRIOR})),
    "coin": Case(lambda c: guess, "guesses"),
    "coin that refuses without pictures": Case(lambda c: only_with_pictures(guess), "guesses"),
    "coin that refuses in many words": Case(lambda c: only_with_pictures(guess, VERBOSE_REFUSAL), "guesses"),
    "honest, refuses without pictures": Case(lambda c: only_with_pictures(sees(0.8, guess)), "looks"),
    "sight for sides, prior else": Case(
        lambda c: by_task(SIDE_TASKS, sees(0.9, prior(c)), prior(c)), "looks", frozenset({PRIOR})
    ),
    "prior and a tenth of sight": Case(lambda c: sees(0.1, prior(c)), "looks or unclear", frozenset({PRIOR})),
    "prior and three tenths of sight": Case(lambda c: sees(0.3, prior(c)), "looks", frozenset({PRIOR})),
    "memorised": Case(lambda c: memorised, "memorised"),
    "recognises the patient": Case(lambda c: recognises, "memorised"),
    "reacts to pixels": Case(lambda c: pixels, "reacts"),
    "always A": Case(lambda c: letter(0, 1.0, opinion), "text only", frozenset({HABIT})),
    "B in 70 %": Case(lambda c: letter(1, 0.7, guess), "text only or unclear", frozenset({HABIT})),
    "always the last option": Case(lambda c: letter(5, 1.0, opinion), "text only", frozenset({HABIT})),
    "sight and a love of C": Case(lambda c: letter(2, 0.4, sees(0.9, guess)), "looks", frozenset({HABIT})),
    "yes-sayer": Case(lambda c: yes_sayer(1.0, opinion), "text only", frozenset({YES})),
    "yes in 80 %": Case(lambda c: yes_sayer(0.8, guess), "text only or unclear", frozenset({YES})),
    "no-sayer with sight": Case(lambda c: yes_sayer(0.05, sees(0.9, guess)), "looks", frozenset({YES})),
    "second largest number": Case(lambda c: ranked(1), "text only", frozenset({HABIT})),
    "largest number": Case(lambda c: ranked(0), "text only", frozenset({HABIT})),
    "longest option": Case(lambda c: longest, "text only", frozenset({HABIT})),
    "refuses 40 %, else sees": Case(lambda c: refusing(0.4, sees(0.9, guess)), "looks", frozenset({DECLINES})),
    "refuses 40 %, else guesses": Case(lambda c: refusing(0.4, guess), "guesses", frozenset({DECLINES})),
    "ignores lesions": Case(lambda c: lesion_blind, "looks", frozenset({"ignores_lesions"})),
    "mirrored": Case(lambda c: mirrored, "looks", frozenset({"mirrored"})),
    "mm as cm": Case(lambda c: scaled(10.0), "looks", frozenset({"mm_as_cm"})),
    "voxels as millimetres": Case(lambda c: scaled(1 / 3.0), "looks", frozenset({"voxel_as_mm"})),
    "a level off": Case(lambda c: level_off, "looks", frozenset({"neighbour"})),
    "does not heed the convention": Case(lambda c: convention_blind, "looks", frozenset({"ignores_the_convention"})),
    "does not heed the order of slices": Case(lambda c: order_blind, "looks", frozenset({"ignores_slice_order"})),
    "half sight, half opinions": Case(lambda c: sees(0.5, opinion), "looks"),
    "inverts yes and no": Case(lambda c: inverting, "looks", frozenset({"inverts_yes_no"})),
}  # fmt: skip


# ---- More of them: combinations, slips on some tasks, sight of a few, and what only looks like
# sight.


def by_item(share: float, inside: Reader, outside: Reader) -> Reader:
    """Always the same share of the items."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        name = (shown.item.twin_of or shown.item.item_id).encode()
        return (inside if zlib.crc32(name) % 1000 < 1000 * share else outside)(shown, rng)

    return read


def by_patient(share: float, inside: Reader, outside: Reader) -> Reader:
    """All items of a share of the patients."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        own = zlib.crc32(shown.item.patient_id.encode()) % 1000 < 1000 * share
        return (inside if own else outside)(shown, rng)

    return read


def of_form(form: type, inside: Reader, outside: Reader) -> Reader:
    return lambda shown, rng: (inside if isinstance(shown.item.answer, form) else outside)(
        shown, rng
    )


def on_lesions(inside: Reader, outside: Reader) -> Reader:
    return lambda shown, rng: (inside if "lesion" in shown.item.question else outside)(shown, rng)


def differently_with_pictures(with_them: Reader, without: Reader) -> Reader:
    return lambda shown, rng: (with_them if shown.pictures else without)(shown, rng)


def wrong(shown: Shown, rng: np.random.Generator) -> str:
    """Sees what is right, and says something else."""
    others = [value for value in offered(shown.item) if value != shown.truth]
    return say(shown, str(rng.choice(others))) if shown.truth and others else opinion(shown, rng)


def copier(of: Cohort) -> Reader:
    """Says what is right for the most similar other patient, not for the one it is shown."""
    known: dict[str, list[str]] = {}
    for item in of.items:
        key = item.item_id, "original"
        truth = of.truth[key] if key in of.truth else of.truth[item.item_id]  # type: ignore[index]
        known.setdefault(item.question, []).append(truth)

    def read(shown: Shown, rng: np.random.Generator) -> str:
        if not shown.patient:
            return opinion(shown, rng)
        values = known[shown.item.question]
        return say(
            shown, values[zlib.crc32((shown.patient + shown.item.question).encode()) % len(values)]
        )

    return read


def thinking(reader: Reader) -> Reader:
    return lambda shown, rng: f"<think>Maybe A? No.</think>\n\n**Answer: {reader(shown, rng)}**"


READERS |= {
    "half of the patients seen, coin else": Case(
        lambda c: by_patient(0.5, sees(1.0, guess), guess), "looks"
    ),
    "15 % sight over a coin": Case(lambda c: sees(0.15, guess), "looks or unclear"),
    "no-sayer with opinions": Case(
        lambda c: yes_sayer(0.0, opinion), "text only", frozenset({YES})
    ),
    "sees 60 %, refuses a fifth": Case(
        lambda c: refusing(0.2, sees(0.6, guess)), "looks", may=frozenset({DECLINES})
    ),
    "sees levels only, opinions else": Case(
        lambda c: by_task(("level",), sees(0.95, opinion), opinion),
        "looks",
        may=frozenset({"ignores_lesions"}),
    ),
    "prior that declines 30 %": Case(
        lambda c: refusing(0.3, prior(c)), "text only", frozenset({PRIOR, DECLINES})
    ),
    "wordy coin": Case(lambda c: wordy(guess), "guesses"),
    "thinks aloud, sees": Case(lambda c: thinking(sees(0.8, opinion)), "looks"),
    "mirrored, declines without pictures": Case(
        lambda c: only_with_pictures(mirrored), "looks", frozenset({"mirrored"})
    ),
    "pixels on half of the items, opinions else": Case(
        lambda c: by_item(0.5, pixels, opinion), "reacts or unclear"
    ),
    "sight for yes and no only": Case(
        lambda c: of_form(YesNo, sees(0.95, opinion), opinion),
        "looks",
        may=frozenset({"ignores_lesions"}),
    ),
    "honest on lesions only": Case(lambda c: on_lesions(sees(0.9, opinion), opinion), "looks"),
}


_ENDS = {
    "sides": {"left": "right", "right": "left"},
    "head": {"superior": "inferior", "inferior": "superior", "upper": "lower", "lower": "upper"},
    "front": {"anterior": "posterior", "posterior": "anterior"},
}


def turned(axis: str, otherwise: Reader) -> Reader:
    """Exchanges the ends of an axis in all it sees."""
    swap = _ENDS[axis]
    words = re.compile("|".join(swap))

    def read(shown: Shown, rng: np.random.Generator) -> str:
        if not shown.truth:
            return otherwise(shown, rng)
        if isinstance(shown.item.answer, YesNo):
            claim = shown.item.parameters.get("claim", "")
            return {"yes": "no", "no": "yes"}[shown.truth] if claim in swap else shown.truth
        value = words.sub(lambda match: swap[match[0]], shown.truth)
        return say(shown, value if value in offered(shown.item) else shown.truth)

    return read


def times(factor: float, share: float = 1.0, units: tuple[str, ...] = ("mm", "cm", "mL")) -> Reader:
    """Numbers in some units are off by a factor, the rest is right."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        if not shown.truth:
            return opinion(shown, rng)
        answer = shown.item.answer
        if isinstance(answer, Number) and answer.unit in units and rng.random() < share:
            return f"{float(shown.truth.split()[0]) * factor:.6g} {answer.unit}"
        return say(shown, shown.truth)

    return read


def slices_off(by: int) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        ends = re.fullmatch(r"(\d+)-(\d+)", shown.truth)
        if ends:
            return f"{int(ends[1]) + by}-{int(ends[2]) + by}"
        return say(shown, shown.truth) if shown.truth else opinion(shown, rng)

    return read


def one_slice(shown: Shown, rng: np.random.Generator) -> str:
    """Needs one slice only, and finds all there."""
    seen = shown.old if shown.probe == "one-slice" else shown.truth
    return say(shown, seen) if seen else opinion(shown, rng)


def memorised_prior(of: Cohort) -> Reader:
    usual = prior(of)
    return lambda shown, rng: (
        say(shown, shown.truth) if shown.pictures == shown.patient != "" else usual(shown, rng)
    )


def shaken_by_brushes(shown: Shown, rng: np.random.Generator) -> str:
    return opinion(shown, rng) if shown.probe == "sham" else sees(0.9, opinion)(shown, rng)


def one_letter_a_patient(shown: Shown, rng: np.random.Generator) -> str:
    values = offered(shown.item)
    return say(shown, values[zlib.crc32(shown.patient.encode()) % len(values)])


def refuses_always(shown: Shown, rng: np.random.Generator) -> str:
    return VERBOSE_REFUSAL


def babbles(shown: Shown, rng: np.random.Generator) -> str:
    return "The study shows grey and white areas of several kinds."


def hedges(share: float, otherwise: Reader) -> Reader:
    def read(shown: Shown, rng: np.random.Generator) -> str:
        if shown.item.options and rng.random() < share:
            return "It is either A or B."
        return otherwise(shown, rng)

    return read


SEES, BLIND_KINDS = "looks", "text only or unclear or guesses"
UNIT, MIRRORED, UP_DOWN, FRONT_BACK = "mm_as_cm", "mirrored", "up_down", "front_back"
LESIONS = "ignores_lesions"


def _any(*names: str) -> frozenset[str]:
    return frozenset(names)


def first_half(of: Cohort) -> Reader:
    """Tires: sees the first half of the bench, and has opinions on the rest."""
    first = {item.item_id for item in of.items[: len(of.items) // 2]}

    def read(shown: Shown, rng: np.random.Generator) -> str:
        awake = (shown.item.twin_of or shown.item.item_id) in first
        return (sees(0.95, opinion) if awake else opinion)(shown, rng)

    return read


def echo(of: Cohort) -> Reader:
    """Says what was right for the item before."""
    before = [""]

    def read(shown: Shown, rng: np.random.Generator) -> str:
        last, before[0] = before[0], shown.truth
        return say(shown, last) if last in offered(shown.item) else opinion(shown, rng)

    return read


def always_left(shown: Shown, rng: np.random.Generator) -> str:
    """Sees all but sides."""
    left = "left" in offered(shown.item)
    return say(shown, "left") if left else sees(0.95, opinion)(shown, rng)


def mirrors_lesions(shown: Shown, rng: np.random.Generator) -> str:
    lesion = "lesion" in shown.item.question
    return (turned("sides", opinion) if lesion else sees(0.97, opinion))(shown, rng)


def of_many_options(shown: Shown, rng: np.random.Generator) -> str:
    return (sees(0.9, guess) if len(shown.item.options) > 2 else guess)(shown, rng)


def in_tens(shown: Shown, rng: np.random.Generator) -> str:
    """Rounds what it sees down to tens."""
    if shown.truth and isinstance(shown.item.answer, Number):
        return f"{10 * int(float(shown.truth.split()[0]) / 10)} {shown.item.answer.unit}"
    return sees(0.9, opinion)(shown, rng)


MORE: dict[str, Case] = {
    "sight for numbers, prior else": Case(
        lambda c: of_form(Number, sees(0.9, prior(c)), prior(c)),
        SEES,
        _any(),
        _any(PRIOR, YES, HABIT),
    ),
    "sight for marks and levels, coin else": Case(
        lambda c: by_task(("marks", "level"), sees(0.95, guess), guess), SEES, _any(), _any(LESIONS)
    ),
    "a tenth of sight over opinions": Case(
        lambda c: by_item(0.1, sees(1.0, opinion), opinion),
        "looks or unclear",
        _any(),
        _any(LESIONS),
    ),
    "a tenth of sight over a coin": Case(
        lambda c: by_item(0.1, sees(1.0, guess), guess), "looks or unclear", _any(), _any(LESIONS)
    ),
    "a quarter of sight over a coin": Case(lambda c: sees(0.25, guess), "looks or unclear"),
    "memorised, else the prior": Case(
        memorised_prior, "memorised", _any(), _any(PRIOR, YES, HABIT)
    ),
    "memorised four patients in ten": Case(
        lambda c: by_patient(0.4, memorised, opinion), "memorised"
    ),
    "copies the nearest patient": Case(copier, "reacts", _any(), _any(PRIOR)),
    "front for back": Case(lambda c: turned("front", opinion), SEES, _any(), _any(FRONT_BACK)),
    "head for feet": Case(lambda c: turned("head", opinion), SEES, _any(), _any(UP_DOWN)),
    "left for right, and cm for mm": Case(
        lambda c: (
            lambda s, r: (
                times(10.0) if isinstance(s.item.answer, Number) else turned("sides", opinion)
            )(s, r)
        ),
        SEES,
        _any(UNIT),
        _any(MIRRORED),
    ),
    "one slice further": Case(lambda c: slices_off(1), SEES, _any(), _any("off_by_one")),
    "two slices further": Case(lambda c: slices_off(2), SEES, _any(), _any("off_by_two")),
    "cm for mm in lengths only": Case(lambda c: times(10.0, 1.0, ("mm", "cm")), SEES, _any(UNIT)),
    "cm for mm six times in ten": Case(lambda c: times(0.1, 0.6, ("mm", "cm")), SEES, _any(UNIT)),
    "inches": Case(lambda c: times(1 / 2.54), SEES),
    "half again too large": Case(lambda c: times(1.5), SEES),
    "prior, refuses 40 %": Case(
        lambda c: refusing(0.4, prior(c)), BLIND_KINDS, _any(DECLINES), _any(PRIOR, YES, HABIT)
    ),
    "sees lesions only": Case(
        lambda c: on_lesions(sees(0.95, opinion), opinion), "looks or unclear"
    ),
    "one slice is enough": Case(lambda c: one_slice, SEES, _any("one_slice_only")),
    "sees, but half of it is noise": Case(
        lambda c: (
            lambda s, r: (
                sees(1.0, guess)
                if zlib.crc32((s.pictures + s.item.item_id).encode()) % 2
                else pixels
            )(s, r)
        ),
        SEES,
    ),
    "first picture only": Case(
        lambda c: by_item(0.25, sees(1.0, opinion), opinion),
        "looks or unclear",
        _any(),
        _any(LESIONS),
    ),
    "always wrong": Case(
        lambda c: wrong,
        "looks",
        _any(),
        _any(MIRRORED, UP_DOWN, FRONT_BACK, PRIOR, "neighbour", YES, HABIT, UNIT),
    ),
    "against the prior": Case(
        lambda c: (
            lambda s, r: say(
                s, next((v for v in offered(s.item) if v != c.prior[s.item.question]), "1")
            )
        ),
        "text only",
        _any(),
        _any(YES, HABIT),
    ),
    "opinions, refuses without pictures": Case(lambda c: only_with_pictures(opinion), BLIND_KINDS),
    "prior, refuses without pictures": Case(
        lambda c: only_with_pictures(prior(c)), BLIND_KINDS, _any(), _any(PRIOR, YES, HABIT)
    ),
    "prior with pictures, coin without": Case(
        lambda c: differently_with_pictures(prior(c), guess),
        BLIND_KINDS,
        _any(),
        _any(PRIOR, YES, HABIT),
    ),
    "other opinions with pictures": Case(
        lambda c: differently_with_pictures(lambda s, r: say(s, chosen(s, "with")), opinion),
        BLIND_KINDS,
    ),
    "sees, prior without pictures": Case(lambda c: sees(0.8, prior(c)), SEES, _any(), _any(PRIOR)),
    "sees, says yes too often": Case(
        lambda c: of_form(YesNo, yes_sayer(0.9, guess), sees(0.9, guess)),
        SEES,
        _any(YES),
        _any(HABIT, MIRRORED, LESIONS, PRIOR),
    ),
    "yes with pictures, no without": Case(
        lambda c: differently_with_pictures(yes_sayer(1.0, opinion), yes_sayer(0.0, opinion)),
        BLIND_KINDS,
        _any(),
        _any(YES, PRIOR),
    ),
    "prior for numbers, sight for options": Case(
        lambda c: of_form(Number, prior(c), sees(0.9, prior(c))), SEES, _any(), _any(PRIOR)
    ),
    "opinions in many words": Case(lambda c: wordy(opinion), "text only"),
    "shaken by a brush": Case(lambda c: shaken_by_brushes, "memorised"),
    "sees half, refuses half": Case(
        lambda c: refusing(0.5, sees(0.95, guess)), SEES, _any(DECLINES)
    ),
    "babbles": Case(lambda c: babbles, "no answers"),
    "refuses always": Case(lambda c: refuses_always, "no answers", _any(DECLINES)),
    "sees half of the patients": Case(
        lambda c: by_patient(0.5, sees(0.95, opinion), opinion), SEES
    ),
    "one letter a patient": Case(
        lambda c: one_letter_a_patient, "reacts or guesses or unclear", _any(), _any(HABIT, YES)
    ),
    "hedges three times in ten": Case(lambda c: hedges(0.3, sees(0.95, guess)), SEES),
    "sees and loves A": Case(
        lambda c: letter(0, 0.6, sees(0.95, guess)), SEES, _any(HABIT), _any(PRIOR)
    ),
    "weak sight, loves the last option": Case(
        lambda c: letter(5, 0.5, sees(0.5, guess)), SEES, _any(), _any(HABIT)
    ),
    "sees numbers, mirrors sides, guesses marks": Case(
        lambda c: by_task(("marks",), guess, turned("sides", guess)), SEES, _any(), _any(MIRRORED)
    ),
    "sees the first half": Case(first_half, SEES, _any(), _any(LESIONS)),
    "echoes the item before": Case(echo, f"{BLIND_KINDS} or reacts", _any(), _any(YES)),
    "always left, sees the rest": Case(lambda c: always_left, SEES, _any(), _any(PRIOR)),
    "sees a fifth of the patients": Case(
        lambda c: by_patient(0.2, sees(0.95, opinion), opinion),
        "looks or unclear",
        _any(),
        _any(LESIONS),
    ),
    "mirrors lesions only": Case(lambda c: mirrors_lesions, SEES, _any(), _any(MIRRORED)),
    "sees questions with many options": Case(
        lambda c: of_many_options, SEES, _any(), _any(LESIONS)
    ),
    "litres for millilitres": Case(lambda c: times(0.001, 1.0, ("mL",)), SEES, _any(), _any(UNIT)),
    "longest option, refuses without pictures": Case(
        lambda c: only_with_pictures(longest), BLIND_KINDS, _any(HABIT), _any(YES)
    ),
    "memorised half of the items, else the prior": Case(
        lambda c: by_item(0.5, memorised, prior(c)), "memorised", _any(), _any(PRIOR, YES, HABIT)
    ),
    "rounds down to tens": Case(lambda c: in_tens, SEES),
    "sees, knows nothing of lesions": Case(
        lambda c: on_lesions(guess, sees(0.95, guess)), SEES, _any(LESIONS)
    ),
}
"""Made up beside those above;
`may` lists what is true as well, or what so few items cannot tell."""
