"""Readers with a planted behaviour get the diagnosis they deserve,
and blind ones are not said to look."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from functools import cache
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from latest_readers import LATEST
from lone_readers import LONE
from mixed_readers import MIXED
from novel_readers import NOVEL
from odd_hours_readers import ODD_HOURS
from readers import (
    READERS,
    Case,
    guess,
    letter,
    only_with_pictures,
    opinion,
    pixels,
    prior,
    refusing,
    say,
    sees,
    yes_sayer,
)
from scipy.stats import binom
from simulated import Cohort, Reader, Shown, cohort
from stray_readers import STRAY
from sundry_readers import SUNDRY
from unfamiliar_readers import UNFAMILIAR
from unheard_readers import UNHEARD

from situs.items import Choice, Item, Number, YesNo
from situs.probe.diagnosis import KINDS, Diagnosis, Effect, Evidence, diagnose
from situs.probe.diagnosis.evidence import Inversion, Moved, Sight, VolumeGain
from situs.probe.diagnosis.measured import _moved
from situs.probe.diagnosis.own_picture import own_picture_gain
from situs.probe.diagnosis.reader import Reader as ReaderOfEvidence
from situs.probe.table import Compared
from situs.run import AnswerRow
from situs.score import score_answer
from situs.score.explain import Answered

OF_KINDS = {"looks_at_the_image", "text_only", "memorised", "guesses", "reacts_without_gain"}
QUICK = (
    "coin that refuses without pictures",
    "sight for sides, prior else",
    "memorised",
    "recognises the patient",
    "reacts to pixels",
    "voxels as millimetres",
    "ignores lesions",
    "inverts yes and no",
)
"""Half of them are tried each time; the others in the sweep."""


def findings(diagnosis: Diagnosis) -> set[str]:
    """Those made beside that of the kind."""
    return {name for name, one in diagnosis.findings.items() if one.verdict == "yes"} - OF_KINDS


def assert_named(case: Case, diagnosis: Diagnosis) -> None:
    assert diagnosis.kind in case.kind.split(" or "), diagnosis.summary
    assert case.findings <= findings(diagnosis) <= case.findings | case.may, diagnosis.summary
    assert_words_agree(diagnosis)


def assert_words_agree(diagnosis: Diagnosis) -> None:
    """No words deny what their own interval says."""
    looks = diagnosis.findings["looks_at_the_image"]
    if looks.ci95 is not None and looks.ci95[0] > 0 and diagnosis.kind != "memorised":
        assert looks.verdict in ("yes", "unclear")
    assert (diagnosis.findings["text_only"].verdict == "yes") is ("text only" in diagnosis.summary)
    assert sum(diagnosis.findings[name].verdict == "yes" for name in OF_KINDS) <= 1


# The abstract cohort asks for no marks.
PLANTED = {
    **READERS,
    **LATEST,
    **UNHEARD,
    **UNFAMILIAR,
    **NOVEL,
    **MIXED,
    **SUNDRY,
    **STRAY,
    **LONE,
    **{name: case for name, case in ODD_HOURS.items() if "marks" not in name},
}


def _drawn_or_swept(name: str) -> Any:
    mark = pytest.mark.sampled(one_in=2) if name in QUICK else pytest.mark.sweep
    return pytest.param(name, marks=mark)


@pytest.mark.parametrize("name", [_drawn_or_swept(name) for name in PLANTED])
def test_a_planted_reader_is_named(name: str) -> None:
    case = PLANTED[name]
    assert_named(case, cohort().diagnosed(case.make(cohort())))


@pytest.mark.parametrize("name", ["gives up changed scans", "honest"])
def test_right_answers_that_are_the_usual_ones_show_no_prior(name: str) -> None:
    """Where most patients have the usual answer, whoever is right mostly gives it."""
    of = Cohort(7, usual=0.6)
    findings = of.diagnosed(PLANTED[name].make(of)).findings
    assert findings["follows_the_prior"].verdict == "no"
    findings = of.diagnosed(prior(of)).findings
    assert findings["follows_the_prior"].verdict == "yes"


def noisy_prior(of: Cohort) -> Reader:
    known = prior(of)
    return lambda shown, rng: known(shown, rng) if rng.random() < 0.7 else guess(shown, rng)


def majority(of: Cohort) -> Reader:
    """The answer most patients of this very bench have."""
    truths: dict[str, list[str]] = {}
    for item in of.items:
        truths.setdefault(item.question, []).append(of.truth[item.item_id, "original"])
    usual = {text: max(sorted(set(values)), key=values.count) for text, values in truths.items()}
    return lambda shown, rng: say(shown, usual[shown.item.question])


def lucky_with_pictures(of: Cohort) -> Reader:
    """Its fixed opinions happen to be the majority's as soon as any picture is shown."""
    usual = majority(of)
    return lambda shown, rng: (usual if shown.patient else opinion)(shown, rng)


BLIND = {
    "random": lambda of: guess,
    "opinions": lambda of: opinion,
    "prior": prior,
    "noisy prior": noisy_prior,
    "majority": majority,
    "majority with pictures only": lucky_with_pictures,
    "letter": lambda of: letter(0, 0.6, guess),
    "yes-sayer": lambda of: yes_sayer(0.8, opinion),
    "coin that refuses": lambda of: only_with_pictures(guess),
    "opinions that refuse": lambda of: only_with_pictures(opinion),
    "majority that refuses": lambda of: only_with_pictures(majority(of)),
    "refuses 40 %": lambda of: refusing(0.4, guess),
    "pixels": lambda of: pixels,
}


def blind_verdicts(
    seeds: Iterable[int], patients: int, texts: int, readers: Iterable[str] = BLIND
) -> list[str]:
    """The verdicts on kinds of blind reader, each with a cohort of its own for every seed."""
    verdicts = []
    for seed in seeds:
        of = Cohort(seed, patients, texts, numbers=0)
        for make in (BLIND[name] for name in readers):
            diagnosis = of.diagnosed(make(of), seed, probes=())
            assert_words_agree(diagnosis)
            verdicts.append(diagnosis.findings["looks_at_the_image"].verdict)
    return verdicts


def test_blind_readers_are_not_said_to_look() -> None:
    """At a level of 5 %, more than 3 of 13 have a chance of 0.003 (binomial)."""
    assert blind_verdicts(range(1), 12, 8).count("yes") <= 3


@pytest.mark.sweep
@pytest.mark.parametrize(("patients", "texts"), [(12, 8), (40, 12)])
def test_five_hundred_blind_readers_are_not_said_to_look(
    patients: int, texts: int, little_of: Callable[..., Any]
) -> None:
    seeds, readers = little_of(range(1000, 1039), 1), little_of(sorted(BLIND), 4)
    verdicts = blind_verdicts(seeds, patients, texts, readers)
    assert len(verdicts) == len(seeds) * len(readers)
    assert verdicts.count("yes") <= binom.ppf(0.999, len(verdicts), 0.05)


@pytest.mark.sweep
def test_sight_on_a_tenth_of_the_items_is_never_text_only(little_of: Callable[..., Any]) -> None:
    for seed in little_of(range(30), 1):
        of = Cohort(seed, 25, 16, numbers=0)
        for blind in (prior(of), opinion, guess):
            assert of.diagnosed(sees(0.1, blind), seed, probes=()).kind != "text only"


def test_dealing_a_fixed_opinion_out_among_patients_changes_nothing() -> None:
    of = Cohort(3, 14, 8, numbers=0)
    lucky = own_picture_gain(list(of.run(majority(of), "original", 0).by_id.values()))
    assert lucky.value == pytest.approx(0.0, abs=1e-12)
    assert lucky.ci95 is not None
    assert lucky.ci95[0] <= 0.0 <= lucky.ci95[1]


def test_dealing_right_answers_out_costs_what_chance_leaves() -> None:
    """Everything right: dealt out, an answer is right as often as two patients share it."""
    of = Cohort(3, 14, 8, numbers=0)
    right = own_picture_gain(list(of.run(sees(1.0, guess), "original", 0).by_id.values()))
    shares = []
    for text in {item.question for item in of.items}:
        truths = [of.truth[item.item_id, "original"] for item in of.items if item.question == text]
        same = np.mean(
            [a == b for i, a in enumerate(truths) for j, b in enumerate(truths) if i != j]
        )
        if len(set(truths)) > 1:
            shares += [same] * len(truths)
    assert right.value == pytest.approx(1.0 - np.mean(shares))


def test_under_ten_patients_nothing_is_decided() -> None:
    of = Cohort(0, 9, 8, numbers=0)
    diagnosis = of.diagnosed(sees(1.0, guess), probes=())
    assert diagnosis.kind == "too few"
    assert diagnosis.findings["looks_at_the_image"].verdict == "not tested"
    assert "cannot be told" in diagnosis.summary


def test_the_list_of_kinds_ends_with_one_that_always_holds() -> None:
    assert KINDS[-1].name == "unclear"
    assert KINDS[-1].holds(None)  # type: ignore[arg-type]


def test_a_guess_per_question_does_not_read_voxels_as_millimetres() -> None:
    """One number per question, for all patients:
    seven opinions are no evidence over forty patients."""

    def numbers(salt: int) -> Reader:
        def read(shown: Shown, rng: np.random.Generator) -> str:
            if shown.item.form != "number":
                return "yes"
            own = np.random.default_rng(
                [salt, len(shown.item.question), *shown.item.question.encode()]
            )
            return f"{10 ** own.uniform(0.5, 2.7):.3g} mm"

        return read

    of = Cohort(5, 24, 0)
    budgets = [of.slips(of.run(numbers(salt), "original", 0)) for salt in range(12)]
    voxels = [row for budget in budgets for row in budget.rows if row.cause == "voxel_as_mm"]
    assert len(voxels) == 12
    assert sum(bool(row.beyond_chance) for row in voxels) <= 2, (
        "at a level of 5 %, more than 2 of 12 have a chance of 0.02"
    )


def test_an_opinion_that_is_held_without_pictures_is_no_slip_of_the_eye() -> None:
    """Sees all but sides, on which it says the opposite of what is right, pictures or not."""

    def read(shown: Shown, rng: np.random.Generator) -> str:
        opposite = {"left": "right", "right": "left"}.get(shown.old)
        return say(shown, opposite) if opposite else sees(0.9, guess)(shown, rng)

    diagnosis = cohort().diagnosed(read, probes=())
    assert diagnosis.kind == "looks"
    assert diagnosis.findings["mirrored"].verdict == "no"


@cache
def evidence_of_guesses() -> Evidence:
    """What a suite measures of whoever guesses; tests exchange what they are about."""
    return Cohort(0, 12, 8).evidence(guess, probes=())


def test_an_axis_is_not_exchanged_where_yes_and_no_are() -> None:
    """On one axis the two cannot be told apart; wrong yes and no on other axes tell."""
    wrong, right = Effect(-0.4, (-0.5, -0.3), 1e-9, 90, 30), Effect(0.4, (0.3, 0.5), 1e-9, 90, 30)
    few = Effect(-0.5, (-0.9, -0.1), 0.04, 5, 12)

    def inverts(rest: Effect, in_other_forms: float) -> bool:
        inversion = Inversion(wrong, {"mirrored": rest, "up_down": wrong}, in_other_forms)
        guessed = msgspec.structs.replace(evidence_of_guesses(), inversion=inversion)
        return ReaderOfEvidence(guessed).inverts

    assert inverts(wrong, 0.05)
    assert not inverts(right, 0.05), "what sides do not explain is right: sides are exchanged"
    assert not inverts(few, 0.05), "hardly anything else was asked"
    assert not inverts(wrong, 0.6), "options show the slip as well"


def test_one_slice_is_judged_where_the_pictures_help() -> None:
    """Misled on sides, a reader is better there with fewer pictures;
    levels tell that it needs all."""
    sees_all = Effect(0.4, (0.3, 0.5), 1e-9, 200, 40)
    misled = Effect(-0.4, (-0.5, -0.3), 1e-9, 200, 40)
    sight = {
        "all": Sight(sees_all, "text", sees_all, p=0.001),
        "sides": Sight(misled, "text", misled, p=0.001),
        "level": Sight(sees_all, "text", sees_all, p=0.001),
    }
    volume = {
        "all": VolumeGain(misled, sees_all),
        "sides": VolumeGain(misled, misled),
        "level": VolumeGain(sees_all, sees_all),
    }
    mixed = msgspec.structs.replace(evidence_of_guesses(), sight=sight, volume=volume)
    assert diagnose(mixed).findings["one_slice_only"].verdict == "no"
    alike = msgspec.structs.replace(
        mixed,
        volume=volume | {"level": VolumeGain(Effect(0.0, (-0.02, 0.02), 0.9, 200, 40), sees_all)},
    )
    assert diagnose(alike).findings["one_slice_only"].verdict == "yes"


def test_one_slice_is_judged_where_the_reader_sees() -> None:
    """Seen in one group of six, what all slices add to it is lost among the others:
    0.2 of 0.3 here."""
    little, none = Effect(0.04, (0.02, 0.06), 1e-4, 1200, 40), Effect(0.0, (-0.02, 0.02), 0.9)
    much = Effect(0.3, (0.2, 0.4), 1e-9, 200, 40)
    sight = {
        "all": Sight(little, "text", little, p=0.001),
        "sides": Sight(much, "text", much, p=0.001),
        "sizes": Sight(none, "text", none, p=0.9),
    }
    lost = Effect(0.02, (-0.01, 0.045), 0.2, 1200, 40)
    volume = {
        "all": VolumeGain(lost, little),
        "sides": VolumeGain(Effect(0.2, (0.1, 0.3), 1e-4, 200, 40), much),
        "sizes": VolumeGain(none, none),
    }
    read = msgspec.structs.replace(evidence_of_guesses(), sight=sight, volume=volume)
    assert diagnose(read).findings["one_slice_only"].verdict == "no"
    untold = msgspec.structs.replace(read, volume=volume | {"sides": VolumeGain(lost, much)})
    assert diagnose(untold).findings["one_slice_only"].verdict == "unclear", (
        "0.045 is not less than half of a gain of 0.04"
    )


def test_one_slice_is_not_judged_by_questions_that_show_no_sight() -> None:
    """Who sees boxes only, which no single slice is asked for,
    gives its opinions on one slice as on all."""
    seen = Effect(0.1, (0.06, 0.14), 1e-6, 400, 40)
    none = Effect(0.0, (-0.01, 0.01), 0.9, 350, 40)
    same = Effect(0.995, (0.98, 1.0), None, 350, 40)
    read = msgspec.structs.replace(
        evidence_of_guesses(),
        sight={"all": Sight(seen, "text", seen, p=0.001)},
        volume={"all": VolumeGain(none, none)},
        same={"one-slice": same},
    )
    assert diagnose(read).findings["one_slice_only"].verdict == "unclear"
    shown = msgspec.structs.replace(read, volume={"all": VolumeGain(none, seen)})
    assert diagnose(shown).findings["one_slice_only"].verdict == "yes"


def test_sight_in_a_small_group_of_tasks_is_not_called_text_only() -> None:
    """Twenty questions are too few to say that it looks;
    that it answers from the words would be wrong."""
    none = Effect(0.01, (-0.01, 0.03), 0.4, 600, 40, 30)
    seen = Effect(0.7, (0.5, 0.9), 1e-6, 20, 15, 2)
    blind = msgspec.structs.replace(
        evidence_of_guesses(),
        sight={"all": Sight(none, "text", none), "size": Sight(none, "", none)},
    )
    assert diagnose(blind).kind in ("text only", "guesses")
    few = msgspec.structs.replace(
        blind,
        sight=blind.sight | {"level": Sight(seen, "text", seen), "size": Sight(none, "", none)},
    )
    assert diagnose(few).kind == "unclear"


def test_who_sees_what_is_hardly_asked_is_not_called_text_only() -> None:
    """Two questions of 500 ask for levels:
    the answers to them change with the pictures, all others stay."""
    of = Cohort(2, 24, 24, numbers=0)
    asked = [item.item_id for item in of.items if item.task == "level"][:2]

    def on_two(shown: Shown, rng: np.random.Generator) -> str:
        own = (shown.item.twin_of or shown.item.item_id) in asked
        other = {"T12": "L1", "L1": "L2", "L2": "L3", "L3": "T12"}.get(shown.truth, "")
        return say(shown, shown.truth if shown.probe == "original" else other) if own else "A"

    # All other levels are left out, as a bench would that hardly asks for them.
    of.items = [item for item in of.items if item.task != "level" or item.item_id in asked]
    diagnosis = of.diagnosed(on_two, probes=())
    assert diagnosis.kind == "unclear", diagnosis.summary
    assert "change in level only: 2 questions, too few to tell" in diagnosis.summary
    everywhere = of.diagnosed(lambda shown, rng: "A", probes=())
    assert everywhere.kind == "text only"


def test_who_is_misled_on_lesions_does_not_ignore_them() -> None:
    diagnosis = cohort().diagnosed(NOVEL["lies on lesions"].make(cohort()), probes=())
    assert diagnosis.groups["lesions"].verdict == "misled"
    assert diagnosis.findings["ignores_lesions"].verdict == "no"


def test_a_gain_alone_proves_sight_only_of_twins() -> None:
    """Who says what is usual, and declines without pictures, gains by it:
    of boxes and grades, too."""
    gain = Effect(0.3, (0.2, 0.4), 1e-6, 300, 40)
    assert Sight(gain, "text", Effect()).weaker.p is None
    assert Sight(gain, "text", Effect(), balanced=True).weaker == gain
    as_good = Effect(0.0, (-0.1, 0.1), 1.0, 300, 40)
    assert Sight(gain, "text", Effect(), as_good, balanced=True).weaker == as_good
    assert Sight(gain, "text", as_good, gain).weaker == as_good


def test_numbers_are_dealt_out_among_patients() -> None:
    """Ten patients, each with an interval of its own:
    who sees loses all but what lies in others' intervals, 0 here."""
    lengths = [Number(10.0 * n, "mm", (10.0 * n - 2.0, 10.0 * n + 2.0)) for n in range(1, 11)]
    items = [
        Item(f"i{n}", f"p{n}", "ct", f"p{n}", "extent", "number", "How long?", length)
        for n, length in enumerate(lengths)
    ]

    def run(say: Callable[[Item], str]) -> list[Answered]:
        rows = [(item, AnswerRow(item.item_id, response=say(item))) for item in items]
        return [Answered(item, row, score_answer(item, row, None)) for item, row in rows]

    assert own_picture_gain(run(lambda item: f"{item.answer.value} mm")).value == pytest.approx(1.0)  # type: ignore[union-attr]
    assert own_picture_gain(run(lambda item: "50 mm")).value == pytest.approx(0.0)
    assert own_picture_gain(run(lambda item: "I cannot tell.")).value == pytest.approx(0.0)


def test_numbers_that_change_a_little_in_every_task_are_noticed_together() -> None:
    """Two of thirty in each of three tasks: by task luck (P(X ≥ 2) = .054 at 6 of 480), together
    not (P(X ≥ 6) = .001 of 90)."""
    rows = [
        Compared(
            Item(
                item_id=f"{task}{n}",
                study_id="s",
                series="ct",
                patient_id=f"p{n}",
                task=task,
                form=form,
                question="?",
                answer=Number(1.0, "mm", (1.0, 1.0)) if form == "number" else YesNo(True),
            ),
            "unchanged",
            original=True,
            changed=True,
            kept_old=False,
            same_answer=not (form == "number" and n < 2),
            credits=(1.0, 1.0),
            flipped=False,
        )
        for task, form, count in (
            ("one", "number", 30),
            ("two", "number", 30),
            ("three", "number", 30),
            ("four", "yes_no", 390),
        )
        for n in range(count)
    ]
    runs = SimpleNamespace(compared={"other-patient": rows})
    assert _moved(runs)["other-patient"] == Moved("numbers", 6, 90)  # type: ignore[arg-type]


def test_to_be_misled_is_to_be_worse_than_with_all_other_pictures() -> None:
    """Who says left or right by the patient's name is worse with pictures than the textbook is
    without, and no worse than with another patient's: the pictures tell it nothing."""
    of = Cohort(1, patients=24, texts=20, numbers=0)
    sides = [item for item in of.items if item.item_id in of.mirrored]
    for item in sides:  # as of organs: every patient has the same answer
        usual = of.prior[item.question]
        plain = msgspec.structs.replace(item, answer=Choice(usual), twin_group="")
        of.items[of.items.index(item)] = plain
        of.truth[item.item_id, "original"] = usual

    def by_name(shown: Shown, rng: np.random.Generator) -> str:
        if shown.item.item_id not in of.mirrored or not shown.patient:
            return say(shown, of.prior[shown.item.question])
        named_left = zlib.crc32(shown.patient.encode()) % 2 == 0
        return say(shown, "left" if named_left else "right")

    diagnosis = of.diagnosed(by_name, probes=())
    assert diagnosis.groups["sides"].gain.below(0.0)
    assert diagnosis.groups["sides"].verdict != "misled"
    assert diagnosis.kind != "looks"
