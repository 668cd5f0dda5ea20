"""What kind of reader a model is, in plain words, decided from one table of evidence.

`KINDS` is a list of rules; the first that holds names the reader, and the last always holds, so every combination of
evidence ends in a verdict. Further findings (habits, slips, what is seen and what is not) stand beside it. All words
are made from the effects that decided.

The rules and why:

- **Sight** needs two proofs of one sign, on all items or on a group of tasks: the answers are better with pictures
  than in both runs without (refusals and unread replies count as guesses), and better than if they were dealt out
  among the patients who were asked the same question. A fixed opinion wins nothing by the second, so it cannot pass
  for sight where the answers to a question are not perfectly balanced. The tests are one family (Holm, 5 %).
- **Memorised**: sight that a change which leaves the answer alone takes away (a sham edit, the other convention on
  questions without sides), or that stays with the old answer when the patient changes.
- **Text only** needs answers that stay the same, or limits so narrow that a reader who sees a tenth of the items is
  excluded; the absence of proof is not enough.
- Habits and slips are decided at 1 %, over patients *and* over questions, and named only if they are at work in at
  least a seventh of the answers in which they could show: they are to describe the reader, not the chance of one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import msgspec

from situs.probe._causes import Cause
from situs.probe._signatures import BudgetRow
from situs.probe.diagnosis.effects import FEWEST_ITEMS, FEWEST_PATIENTS, Effect, Interval
from situs.probe.diagnosis.evidence import ALL_ITEMS, UNSEEN, Evidence, Sight, Stability
from situs.probe.diagnosis.habits import Habit
from situs.score import holm

__all__ = ["FINDINGS", "KINDS", "Diagnosis", "Finding", "diagnose"]

FINDINGS = (
    "looks_at_the_image",
    "text_only",
    "mirrored",
    "mm_as_cm",
    "one_slice_only",
    "follows_the_prior",
    "guesses",
    "memorised",
    "reacts_without_gain",
    "ignores_lesions",
    "option_habit",
    "yes_bias",
    "declines",
)
"""What is always asked, in this order."""

Verdict = Literal["yes", "no", "unclear", "not tested"]

LEVEL = 0.05
"""Of the tests for sight together."""
_HABIT_LEVEL = 0.01
_HABIT_SIZE = 0.15
_NEGLIGIBLE = 0.1
_SAME = 0.99
"""A reader who sees a tenth of the items changes about a twentieth of its answers."""
_EXCLUDES_A_TENTH = 0.04
"""A reader who sees a tenth of questions with two options and guesses the others gains 0.05."""
_DETECTABLE = (1.96 + 0.84) / (2 * 1.96)
"""Of the width of a 95 % interval: what four of five repeats would show (Cohen 1988)."""

_CAUSES = {
    Cause.UP_DOWN: "takes head for feet, or counts slices from the other end",
    Cause.FRONT_BACK: "takes front for back",
    Cause.VOXEL_AS_MM: "reads voxels as millimetres",
    Cause.BOX_SCALE: "gives boxes in another scale",
    Cause.BOX_ORDER: "gives the numbers of a box in another order",
    Cause.OFF_BY_ONE: "counts slices one off",
    Cause.OFF_BY_TWO: "counts slices two off",
    Cause.NEIGHBOUR: "names the neighbouring structure or level",
}
_NEED_SIGHT = (Cause.UP_DOWN, Cause.FRONT_BACK, Cause.OFF_BY_ONE, Cause.OFF_BY_TWO, Cause.NEIGHBOUR)
"""What only one who looks can do: a fixed opinion is wrong for all patients in the same way."""
_DECLARED = {
    "slice-order": ("ignores_slice_order", "does not heed in which order the slices are said to be"),
    "convention": ("ignores_the_convention", "does not heed which side of the picture is said to be which"),
}


class Finding(msgspec.Struct, frozen=True):
    """One verdict with what it rests on."""

    verdict: Verdict
    words: str
    """The verdict and its evidence, as a sentence."""
    measure: str
    """What `value` is."""
    value: float | None = None
    ci95: Interval | None = None
    n: int = 0
    patients: int = 0


class GroupSight(msgspec.Struct, frozen=True):
    """What is shown of sight in one group of tasks."""

    verdict: Literal["sees", "misled", "none shown", "unclear"]
    gain: Effect
    own_picture: Effect
    p: float | None


class Diagnosis(msgspec.Struct, frozen=True):
    """What kind of reader it is."""

    kind: str
    """The name of the rule of `KINDS` that holds."""
    summary: str
    items: str
    """Which items sight was decided on, in words."""
    findings: dict[str, Finding]
    """Those of `FINDINGS`, then others that were made."""
    groups: dict[str, GroupSight] = {}
    """By group of tasks, where there is more than one."""
    detectable: float | None = None
    """The smallest sight gain that a bench of this size would show in four of five repeats."""


def diagnose(evidence: Evidence) -> Diagnosis:
    """The verdicts that follow from the evidence."""
    reader = _Reader(evidence)
    kind = next(kind for kind in KINDS if kind.holds(reader))
    made = _first_findings(reader, kind) | _further_findings(reader, kind)
    findings = {name: made[name] for name in (*FINDINGS, *sorted(made.keys() - set(FINDINGS)))}
    return Diagnosis(
        kind=kind.name,
        summary=_summary(reader, kind, findings),
        items=evidence.items,
        findings=findings,
        groups=reader.groups,
        detectable=reader.detectable,
    )


class _Reader:
    """The evidence with what is derived from it once."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.all = evidence.sight[ALL_ITEMS]
        shown = {name: sight for name, sight in evidence.sight.items() if _is_shown(sight)}
        self.seen = {name: sight for name, sight in shown.items() if (sight.weaker.value or 0.0) > 0}
        self.misled = {name: sight for name, sight in shown.items() if (sight.weaker.value or 0.0) < 0}
        self.groups = {name: self._group(name) for name in evidence.sight if name != ALL_ITEMS}
        self.unstable = _lost(evidence.harmless) if self.seen else {}
        self.clings = {
            group: effect
            for group, effect in evidence.followed.items()
            if effect.below(0.0) and (group in self.seen or (ALL_ITEMS in self.seen and group not in self.groups))
        }

    def _group(self, name: str) -> GroupSight:
        sight = self.evidence.sight[name]
        verdict: Literal["sees", "misled", "none shown", "unclear"] = "unclear"
        if name in self.seen:
            verdict = "sees"
        elif name in self.misled:
            verdict = "misled"
        elif sight.gain.decides and sight.highest < max(_NEGLIGIBLE, (self.all.gain.value or 0.0) / 2):
            verdict = "none shown"
        return GroupSight(verdict, sight.gain, sight.own_picture, sight.p)

    @property
    def known(self) -> bool:
        return self.all.gain.decides

    @property
    def shows_sight(self) -> bool:
        return bool(self.seen or self.misled)

    @property
    def hint_of_sight(self) -> bool:
        """An interval over all items that leaves 0: no words may then say that it does not look."""
        own = self.all.own_picture
        return self.all.gain.above(0.0) or (own.decides and own.above(0.0))

    @property
    def unchanged_by(self) -> str:
        """The probe under which answers stay the same; empty if none."""
        effects = {name: self.evidence.same[name] for name in UNSEEN if name in self.evidence.same}
        same = {name: effect.value or 0.0 for name, effect in effects.items() if effect.n >= FEWEST_ITEMS}
        most = max(same, key=lambda name: same[name], default="")
        return most if most and same[most] >= _SAME else ""

    @property
    def habit(self) -> Habit | None:
        return next(filter(_is_habit, self.evidence.options), None)

    @property
    def yes(self) -> Habit | None:
        """Said too often; fewer questions ask for yes or no than offer options, so this is decided at 5 %."""
        ahead = self.evidence.yes[:1]
        return next((one for one in ahead if one.p < LEVEL and (one.excess.value or 0.0) >= _HABIT_SIZE), None)

    @property
    def detectable(self) -> float | None:
        interval = self.all.weaker.ci95
        return None if interval is None else (interval[1] - interval[0]) * _DETECTABLE


def _is_shown(sight: Sight) -> bool:
    return sight.p is not None and sight.p < LEVEL


def _is_habit(habit: Habit) -> bool:
    return habit.p < _HABIT_LEVEL and (habit.excess.value or 0.0) >= _HABIT_SIZE


def _lost(harmless: Mapping[str, Stability]) -> dict[str, Stability]:
    """Changes that take away more than half of the gain, the fall beyond chance (Holm)."""
    p_values = holm([one.fall.p for one in harmless.values()])
    lost = {}
    for (name, one), p in zip(harmless.items(), p_values):
        gained, remains, fall = one.gained.value or 0.0, one.remains.value or 0.0, one.fall.value or 0.0
        if p is not None and p < LEVEL and fall < 0 < gained and remains < gained / 2:
            lost[name] = one
    return lost


def _cannot_be_told(reader: _Reader) -> bool:
    return not reader.known


def _is_memorised(reader: _Reader) -> bool:
    return bool(reader.seen) and bool(reader.unstable or reader.clings)


def _looks(reader: _Reader) -> bool:
    return reader.shows_sight


def _is_unchanged(reader: _Reader) -> bool:
    return not reader.hint_of_sight and bool(reader.unchanged_by)


def _has_no_room_for_sight(reader: _Reader) -> bool:
    if reader.hint_of_sight:
        return False
    sight = reader.all
    dealt = sight.own_picture
    narrow = dealt.below(_EXCLUDES_A_TENTH) if dealt.decides else sight.gain.below(_EXCLUDES_A_TENTH)
    return narrow and sight.gain.below(_EXCLUDES_A_TENTH + 0.02)


def _reacts(reader: _Reader) -> bool:
    return not reader.hint_of_sight and reader.evidence.reaction.above(_NEGLIGIBLE)


def _guesses(reader: _Reader) -> bool:
    """As often right as chance, without any rule that words or options explain."""
    over, alike = reader.evidence.over_chance, reader.evidence.alike_without
    at_chance = over.known and not over.above(0.0) and over.below(_NEGLIGIBLE)
    opinionated = alike.above(0.25)
    prior = reader.evidence.prior.get(ALL_ITEMS)
    follows = prior is not None and prior.p < _HABIT_LEVEL and prior.excess.above(_HABIT_SIZE)
    return at_chance and not (reader.hint_of_sight or opinionated or follows or reader.habit or reader.yes)


class Kind(NamedTuple):
    """A rule of the decision list."""

    name: str
    holds: Callable[[_Reader], bool]
    looks: Verdict
    summary: str
    """How the diagnosis begins."""


KINDS = (
    Kind("too few", _cannot_be_told, "not tested", "Looks at the image: cannot be told, too few patients or items."),
    Kind("memorised", _is_memorised, "no", "Looks at the image: no; memorised, or does not follow the picture."),
    Kind("looks", _looks, "yes", "Looks at the image: yes."),
    Kind("text only", _is_unchanged, "no", "Looks at the image: no; text only."),
    Kind("reacts", _reacts, "no", "Looks at the image: no; reacts to the pictures without gain."),
    Kind("guesses", _guesses, "no", "Looks at the image: no; guesses."),
    Kind("text only", _has_no_room_for_sight, "no", "Looks at the image: no; text only."),
    Kind("unclear", lambda reader: True, "unclear", "Looks at the image: cannot be told."),
)
"""The first that holds names the reader."""

_FINDING_OF_KIND = {
    "looks": "looks_at_the_image",
    "text only": "text_only",
    "memorised": "memorised",
    "reacts": "reacts_without_gain",
    "guesses": "guesses",
}


def _first_findings(reader: _Reader, kind: Kind) -> dict[str, Finding]:
    """Those of the kind itself: one of them is made, and the others are not."""
    words = _words_of_kind(reader, kind)
    sight = reader.all
    measure = "sight gain with chance credit"
    findings = {"looks_at_the_image": _found(kind.looks, words, measure, sight.gain)}
    undecided = kind.name in ("too few", "unclear")
    for name, finding in _FINDING_OF_KIND.items():
        if finding == "looks_at_the_image":
            continue
        verdict: Verdict = "yes" if kind.name == name else "no"
        if undecided:
            verdict = kind.looks
        elif finding == "memorised" and not (reader.evidence.harmless or reader.evidence.followed):
            verdict = "not tested"
        findings[finding] = _found(verdict, words if verdict == "yes" else _OTHERWISE[verdict], measure, sight.gain)
    return findings


_OTHERWISE = {
    "no": "see looks at the image",
    "unclear": "as above",
    "not tested": "needs probes that change the scan and not the answer: sham, slice-order, convention",
    "yes": "",
}


def _words_of_kind(reader: _Reader, kind: Kind) -> str:
    sight, evidence = reader.all, reader.evidence
    measured = f"sight gain {sight.gain.words}, {_own_picture_words(sight)}"
    match kind.name:
        case "too few":
            needed = f"at least {FEWEST_PATIENTS} patients and {FEWEST_ITEMS} items are needed"
            return f"{sight.gain.n:,} items of {sight.gain.patients:,} patients; {needed}"
        case "memorised":
            return _memorised_words(reader)
        case "looks":
            return f"{_where_it_looks(reader)}: {measured}"
        case "text only" if reader.unchanged_by:
            same = evidence.same[reader.unchanged_by]
            alike = f"its answers are the same with other pictures or none (probe {reader.unchanged_by})"
            return f"{alike}: {same.words}; {measured}"
        case "text only":
            return f"no better with its pictures than without, within narrow limits: {measured}"
        case "reacts":
            return (
                "its answers to the same words differ more between patients with pictures than without, by "
                f"{evidence.reaction.words}, and are no better for it: {measured}"
            )
        case "guesses":
            return f"as often right as a guess, {evidence.over_chance.words} over chance; {measured}"
        case _:
            return f"no sight is shown, and a gain up to {sight.highest:+.3f} is not excluded: {measured}"


def _own_picture_words(sight: Sight) -> str:
    if sight.own_picture.value is None:
        return "no question was asked of two patients with different answers"
    return f"over its own answers to other patients {sight.own_picture.words}"


def _memorised_words(reader: _Reader) -> str:
    parts = [
        f"{name}, which changes no right answer, takes it from {one.gained.value or 0.0:+.3f} to "
        f"{one.remains.value or 0.0:+.3f} over its run without pictures (change {one.fall.words})"
        for name, one in reader.unstable.items()
    ]
    parts += [
        f"where the patient changes it stays with the old answer ({group}: new minus old {effect.words})"
        for group, effect in reader.clings.items()
    ]
    return "; ".join(parts)


def _where_it_looks(reader: _Reader) -> str:
    if not reader.seen:
        return f"the pictures mislead it in {_listed(reader.misled)}"
    mislead = {name for name in reader.misled if name != ALL_ITEMS}
    more = f"; the pictures mislead it in {_listed(mislead)}" if mislead else ""
    if ALL_ITEMS in reader.seen:
        return f"better with the pictures than without{more}"
    return f"better with the pictures than without in {_listed(reader.seen)}{more}"


def _listed(names: Mapping[str, object] | set[str]) -> str:
    return ", ".join("all items together" if name == ALL_ITEMS else name for name in sorted(names))


def _further_findings(reader: _Reader, kind: Kind) -> dict[str, Finding]:
    """Habits, slips and what is not seen: the fixed ones, then those that were made."""
    evidence, looks = reader.evidence, kind.name == "looks"
    rows = {row.cause: row for row in evidence.budget.rows}
    findings = {
        "mirrored": _mirrored(rows.get(Cause.MIRRORED), kind),
        "mm_as_cm": _of_cause(rows.get(Cause.UNIT_SLIP), "numbers are off by a power of ten: mm read as cm"),
        "one_slice_only": _one_slice(reader, kind),
        "follows_the_prior": _prior(reader, rows.get(Cause.PRIOR), kind),
        "ignores_lesions": _ignores_lesions(reader, kind),
        "option_habit": _habit(reader.habit, evidence.options, "questions with options"),
        "yes_bias": _habit(reader.yes, evidence.yes, "yes/no questions"),
        "declines": _declines(evidence.declined),
    }
    if findings["follows_the_prior"].verdict == "yes" and not looks and findings["yes_bias"].verdict == "yes":
        words = f"{findings['yes_bias'].words}, as the prior does"
        findings["yes_bias"] = msgspec.structs.replace(findings["yes_bias"], verdict="no", words=words)
    for cause, words in _CAUSES.items():
        found = _of_cause(rows.get(cause), words)
        if found.verdict == "yes" and (looks or cause not in _NEED_SIGHT):
            findings[cause.value] = found
    for probe, (name, words) in _DECLARED.items():
        stability = evidence.declared.get(probe)
        if looks and stability is not None and probe in _lost({probe: stability}):
            findings[name] = _found("yes", f"{words}: {stability.fall.words}", "after minus before", stability.fall)
    return findings


def _found(verdict: Verdict, words: str, measure: str, effect: Effect) -> Finding:
    return Finding(verdict, words, measure, effect.value, effect.ci95, effect.n, effect.patients)


def _of_cause(row: BudgetRow | None, words: str) -> Finding:
    measure = "excess over chance, where it could show"
    if row is None or row.expected is None:
        return Finding("not tested", "no wrong answer could show it", measure)
    effect = Effect(row.excess, row.ci95, row.p_holm, row.could, row.patients)
    if row.p_holm is None:
        return _found("not tested", f"{row.fits} of {row.could} answers, of too few patients", measure, effect)
    shown = f"{row.fits} of {row.could} answers of {row.patients} patients, {row.expected:.1f} by chance"
    shown += f", p = {row.p_holm:.2g}"
    # A cause that another one explains better is no second finding.
    leads = 2 * row.first >= row.fits
    if row.p_holm < _HABIT_LEVEL and (row.excess or 0.0) >= _HABIT_SIZE and leads:
        return _found("yes", f"{words} ({shown})", measure, effect)
    return _found(_not_shown(effect), f"not shown ({shown})", measure, effect)


def _not_shown(effect: Effect) -> Verdict:
    """`no`, unless its own interval says otherwise."""
    return "unclear" if effect.above(0.0) and (effect.value or 0.0) >= _HABIT_SIZE else "no"


def _mirrored(row: BudgetRow | None, kind: Kind) -> Finding:
    finding = _of_cause(row, "left and right are exchanged")
    if finding.verdict == "yes" and kind.name != "looks":
        words = f"without sight nothing can be mirrored; its opinions lead it to the other side: {finding.words}"
        return msgspec.structs.replace(finding, verdict="no", words=words)
    return finding


def _one_slice(reader: _Reader, kind: Kind) -> Finding:
    volume, same = reader.evidence.volume, reader.evidence.same.get("one-slice")
    measure = "volume gain with chance credit"
    if volume is None:
        return Finding("not tested", "needs the probe one-slice", measure)
    if not volume.known:
        return _found("not tested", "too few patients", measure, volume)
    if kind.name != "looks":
        return _found("no" if kind.looks == "no" else kind.looks, "no use of any slice is shown", measure, volume)
    gain = reader.all.gain.value or 0.0
    if volume.above(0.0):
        return _found("no", f"better with all slices than with one: {volume.words}", measure, volume)
    if same is not None and (same.value or 0.0) >= _SAME:
        return _found("yes", f"its answers are the same with one slice: {same.words}", measure, volume)
    if volume.below(max(_NEGLIGIBLE / 2, gain / 2)):
        as_good = "better with one slice than with all" if volume.below(0.0) else "as good with one slice as with all"
        return _found("yes", f"{as_good}: {volume.words}", measure, volume)
    return _found("unclear", f"more patients would tell: {volume.words}", measure, volume)


def _prior(reader: _Reader, row: BudgetRow | None, kind: Kind) -> Finding:
    measure = "agreement with a confident prior, less a guess's"
    blind_groups = [name for name, group in reader.groups.items() if group.verdict == "none shown"]
    tested = [ALL_ITEMS] if kind.name != "looks" else blind_groups
    followed = []
    for name in tested:
        prior = reader.evidence.prior.get(name)
        if prior is not None and prior.p < _HABIT_LEVEL and prior.excess.above(_HABIT_SIZE):
            followed.append(name)
    if followed:
        effect = reader.evidence.prior[followed[0]].excess
        where = "" if followed == [ALL_ITEMS] else f" for {_listed(set(followed))}"
        return _found("yes", f"it says what the prior says{where}: {effect.words} over a guess", measure, effect)
    errors = _of_cause(row, "its wrong answers are those of the prior")
    if kind.name == "looks" and errors.verdict == "yes":
        return errors
    prior = reader.evidence.prior.get(ALL_ITEMS)
    if prior is None or not prior.excess.known:
        return Finding("not tested", "too few questions on which other patients agree", measure)
    verdict: Verdict = "no" if kind.name == "looks" else _not_shown(prior.excess)
    return _found(verdict, f"agreement over a guess {prior.excess.words}", measure, prior.excess)


def _ignores_lesions(reader: _Reader, kind: Kind) -> Finding:
    lesions, others = reader.evidence.lesions, reader.evidence.not_lesions
    measure = "sight gain on lesions, with chance credit"
    if lesions is None or others is None or not lesions.weaker.known:
        return Finding("not tested", "too few questions on lesions", measure)
    if kind.name != "looks":
        return _found("no", "no sight is shown for anything", measure, lesions.gain)
    elsewhere = others.weaker
    gained = elsewhere.value or 0.0
    if elsewhere.above(0.0) and lesions.highest < max(_NEGLIGIBLE, gained / 2) and not lesions.weaker.above(0.0):
        words = f"no sight on lesions, {lesions.gain.words}; elsewhere {others.gain.words}"
        return _found("yes", words, measure, lesions.gain)
    if lesions.weaker.above(0.0):
        return _found("no", f"it sees lesions, too: {lesions.gain.words}", measure, lesions.gain)
    return _found("unclear", f"more patients would tell: {lesions.gain.words}", measure, lesions.gain)


def _habit(habit: Habit | None, tried: list[Habit], where: str) -> Finding:
    measure = "followed minus right"
    if habit is not None:
        words = f"{habit.name} in {habit.followed:.0%} of the {where}: {habit.excess.words} oftener than right"
        return _found("yes", words, measure, habit.excess)
    if not tried:
        return Finding("not tested", f"no {where}", measure)
    first = tried[0]
    words = f"the nearest to a habit: {first.name}, {first.excess.words} oftener than right"
    return _found(_not_shown(first.excess) if first.excess.known else "not tested", words, measure, first.excess)


def _declines(declined: Effect) -> Finding:
    measure = "share of answers that decline"
    if declined.value is None:
        return Finding("not tested", "nothing was asked", measure)
    often = declined.above(_NEGLIGIBLE / 2) and declined.value >= _NEGLIGIBLE
    words = f"{'often' if often else 'seldom or never'}: {declined.words}"
    return _found("yes" if often else "no", words, measure, declined)


_SAYS = {
    "mirrored": "Mirrored: takes left for right.",
    "mm_as_cm": "Reads mm as cm.",
    "one_slice_only": "Uses one slice only.",
    "follows_the_prior": "Follows the prior.",
    "ignores_lesions": "Ignores lesions.",
    **{cause.value: f"{words[0].upper()}{words[1:]}." for cause, words in _CAUSES.items()},
    **{name: f"{words[0].upper()}{words[1:]}." for name, words in _DECLARED.values()},
}


def _summary(reader: _Reader, kind: Kind, findings: Mapping[str, Finding]) -> str:
    sentences = [kind.summary]
    groups = reader.groups
    if kind.name == "looks" and {group.verdict for group in groups.values()} - {"sees"}:
        sentences += _by_group(groups)
    if kind.name in ("unclear", "guesses", "reacts") and reader.known:
        sentences.append(f"Gains above {reader.all.highest:+.2f} are excluded.")
    for name, finding in findings.items():
        if finding.verdict != "yes":
            continue
        if name in _SAYS:
            sentences.append(_SAYS[name])
        elif name == "option_habit" and reader.habit is not None:
            sentences.append(f"Habit: {reader.habit.name} ({reader.habit.followed:.0%}).")
        elif name == "yes_bias" and reader.yes is not None:
            sentences.append(f"Bias: {reader.yes.name} ({reader.yes.followed:.0%}).")
        elif name == "declines":
            sentences.append(f"Declines {reader.evidence.declined.value or 0.0:.0%} of the questions.")
    return " ".join(sentences)


def _by_group(groups: Mapping[str, GroupSight]) -> list[str]:
    listed: dict[str, list[str]] = {}
    for name, group in sorted(groups.items()):
        listed.setdefault(group.verdict, []).append(name)
    words = {
        "sees": "Sight is shown for",
        "misled": "The pictures mislead it for",
        "none shown": "No sight is shown for",
        "unclear": "Cannot be told for",
    }
    return [f"{start} {', '.join(listed[verdict])}." for verdict, start in words.items() if verdict in listed]
