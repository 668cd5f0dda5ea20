"""What is said beside the kind: habits, slips, and what is seen and what is not."""

from __future__ import annotations

import msgspec

from situs.probe.diagnosis.effects import Effect
from situs.probe.diagnosis.evidence import ALL_ITEMS, AXIS_SLIPS, VolumeGain
from situs.probe.diagnosis.habits import Habit
from situs.probe.diagnosis.kinds import Kind, listed
from situs.probe.diagnosis.reader import Reader, lost_gains
from situs.probe.diagnosis.records import (
    HABIT_LEVEL,
    HABIT_SIZE,
    LEVEL,
    NEGLIGIBLE,
    SAME,
    Finding,
    Verdict,
    finding_of,
)
from situs.score import holm
from situs.score.explain import BudgetRow, Cause

__all__ = ["CAUSES", "DECLARED", "INVERTS", "further_findings"]

CAUSES = {
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
INVERTS = "says yes for no and no for yes"
DECLARED = {
    "slice-order": (
        "ignores_slice_order",
        "ignores the stated order of the slices",
    ),
    "convention": (
        "ignores_the_convention",
        "ignores which side of the picture is said to be which",
    ),
}


def further_findings(reader: Reader, kind: Kind) -> dict[str, Finding]:
    """Habits, slips and what is not seen: the fixed ones, then those that were made."""
    evidence, looks = reader.evidence, kind.name == "looks"
    rows = {row.cause: row for row in evidence.budget.rows}
    findings = {
        "mirrored": _mirrored(reader, rows.get(Cause.MIRRORED), kind),
        "mm_as_cm": _of_cause(
            rows.get(Cause.UNIT_SLIP), "numbers are off by a power of ten: mm read as cm"
        ),
        "one_slice_only": _one_slice(reader, kind),
        "follows_the_prior": _prior(reader, rows.get(Cause.PRIOR), kind),
        "ignores_lesions": _ignores_lesions(reader, kind),
        "option_habit": _habit(reader.habit, evidence.options, "questions with options"),
        "yes_bias": _habit(reader.yes, evidence.yes, "yes/no questions"),
        "declines": _declines(evidence.declined),
    }
    if (
        findings["follows_the_prior"].verdict == "yes"
        and not looks
        and findings["yes_bias"].verdict == "yes"
    ):
        words = f"{findings['yes_bias'].words}, as the prior does"
        findings["yes_bias"] = msgspec.structs.replace(
            findings["yes_bias"], verdict="no", words=words
        )
    for cause, words in CAUSES.items():
        cause_finding = _of_cause(rows.get(cause), words)
        if cause.value in AXIS_SLIPS and reader.inverts:
            continue
        may_be = cause not in _NEED_SIGHT or (
            looks and not reader.goes_against and _needs_pictures(reader, cause)
        )
        if cause_finding.verdict == "yes" and may_be:
            findings[cause.value] = cause_finding
    if looks and reader.inverts and evidence.inversion is not None:
        effect = evidence.inversion.yes_no
        words = f"{INVERTS}: {effect.words} over a guess in yes/no questions"
        findings["inverts_yes_no"] = finding_of("yes", words, "right minus a guess", effect)
    for probe, (name, words) in DECLARED.items():
        stability = evidence.declared.get(probe)
        if looks and stability is not None and probe in lost_gains({probe: stability}):
            findings[name] = finding_of(
                "yes", f"{words}: {stability.fall.words}", "after minus before", stability.fall
            )
    return findings


def _of_cause(row: BudgetRow | None, words: str) -> Finding:
    measure = "excess over chance, where it could show"
    if row is None or row.expected is None:
        return Finding("not tested", "no wrong answer could show it", measure)
    effect = Effect(row.excess, row.ci95, row.p_holm, row.could, row.patients)
    if row.p_holm is None:
        return finding_of(
            "not tested", f"{row.fits} of {row.could} answers, of too few patients", measure, effect
        )
    counts_words = (
        f"{row.fits} of {row.could} answers of {row.patients} patients, {row.expected:.1f} by"
        " chance"
    )
    counts_words += f", p = {row.p_holm:.2g}"
    # A cause that another one explains better is no second finding.
    leads = 2 * row.first >= row.fits
    if row.p_holm < HABIT_LEVEL and (row.excess or 0.0) >= HABIT_SIZE and leads:
        return finding_of("yes", f"{words} ({counts_words})", measure, effect)
    return finding_of(_not_shown(effect), f"not shown ({counts_words})", measure, effect)


def _not_shown(effect: Effect) -> Verdict:
    """`no`, unless its own interval says otherwise."""
    return "unclear" if effect.above(0.0) and (effect.value or 0.0) >= HABIT_SIZE else "no"


def _needs_pictures(reader: Reader, cause: Cause) -> bool:
    """Whether a slip shows oftener with pictures than without;
    what is not known is not held against it."""
    effect = reader.evidence.slips.get(cause.value)
    return effect is None or not effect.known or effect.above(0.0)


def _mirrored(reader: Reader, row: BudgetRow | None, kind: Kind) -> Finding:
    finding = _of_cause(row, "left and right are exchanged")
    if finding.verdict == "yes" and reader.inverts:
        words = f"yes and no are exchanged, on every axis: {finding.words}"
        return msgspec.structs.replace(finding, verdict="no", words=words)
    if finding.verdict == "yes" and reader.goes_against:
        words = f"it is misled in more than sides: {finding.words}"
        return msgspec.structs.replace(finding, verdict="no", words=words)
    if finding.verdict == "yes" and not _needs_pictures(reader, Cause.MIRRORED):
        words = f"as often without pictures: {finding.words}"
        return msgspec.structs.replace(finding, verdict="no", words=words)
    if finding.verdict == "yes" and kind.name != "looks":
        words = (
            "without sight nothing can be mirrored; its opinions lead it to the other side:"
            f" {finding.words}"
        )
        return msgspec.structs.replace(finding, verdict="no", words=words)
    return finding


def _one_slice(reader: Reader, kind: Kind) -> Finding:
    same = reader.evidence.same.get("one-slice")
    measure = "volume gain with chance credit"
    if not reader.evidence.volume:
        return Finding("not tested", "needs the probe one-slice", measure)
    volume = reader.evidence.volume[ALL_ITEMS].gain
    if not volume.known:
        return finding_of("not tested", "too few patients", measure, volume)
    if kind.name != "looks" or not reader.seen:
        verdict = kind.looks if kind.looks != "yes" else "no"
        return finding_of(verdict, "no use of any slice is shown", measure, volume)
    gains = _volume_where_it_sees(reader)
    if not gains:
        words = f"what it sees is not asked of one slice: {volume.words}"
        return finding_of("unclear", words, measure, volume)
    p_values = holm([one.gain.p for one in gains])
    for one, p in zip(gains, p_values):
        if p is not None and p < LEVEL and (one.gain.value or 0.0) > 0:
            words = f"better with all slices than with one: {one.gain.words}"
            return finding_of("no", words, measure, one.gain)
    if same is not None and (same.value or 0.0) >= SAME:
        words = f"its answers are the same with one slice: {same.words}"
        return finding_of("yes", words, measure, volume)
    if all(one.gain.below((one.sight.value or 0.0) / 2) for one in gains):
        volume = gains[0].gain
        as_good = (
            "better with one slice than with all"
            if volume.below(0.0)
            else "as good with one slice as with all"
        )
        return finding_of("yes", f"{as_good}: {volume.words}", measure, volume)
    return finding_of("unclear", f"more patients are needed: {volume.words}", measure, volume)


def _volume_where_it_sees(reader: Reader) -> list[VolumeGain]:
    """What all slices add to one, where sight is shown on the very items that were asked of one.

    Over all items, and over each group that it sees: where it sees few groups, the others, in
    which no slice adds anything, would hide what all slices add there. Where the pictures mislead
    it in a group of tasks, which fewer pictures then make better, only over the groups it sees.
    """
    names = {*(() if reader.misled else (ALL_ITEMS,)), *(reader.seen.keys() & reader.groups.keys())}
    gains = [one for name, one in reader.evidence.volume.items() if name in names]
    return [one for one in gains if one.gain.known and one.sight.above(0.0)]


def _prior(reader: Reader, row: BudgetRow | None, kind: Kind) -> Finding:
    measure = "agreement with a confident prior, less a guess's"
    blind_groups = [name for name, group in reader.groups.items() if group.verdict == "none shown"]
    # Right answers are often the usual ones, too: where they are known, only groups without sight
    # tell of a prior. What is right with pictures only is no prior whatever the kind.
    gains = reader.all.gain.above(HABIT_SIZE)
    knows = kind.name in ("looks", "memorised") or gains
    tested = blind_groups if knows else [ALL_ITEMS]
    followed = []
    for name in tested:
        prior = reader.evidence.prior.get(name)
        if prior is not None and prior.p < HABIT_LEVEL and prior.excess.above(HABIT_SIZE):
            followed.append(name)
    if followed:
        effect = reader.evidence.prior[followed[0]].excess
        where = "" if followed == [ALL_ITEMS] else f" for {listed(set(followed))}"
        return finding_of(
            "yes",
            f"it says what the prior says{where}: {effect.words} over a guess",
            measure,
            effect,
        )
    errors = _of_cause(row, "its wrong answers are those of the prior")
    if (kind.name == "looks" or gains) and errors.verdict == "yes":
        return errors
    prior = reader.evidence.prior.get(ALL_ITEMS)
    if prior is None or not prior.excess.known:
        return Finding("not tested", "too few questions on which other patients agree", measure)
    verdict: Verdict = "no" if kind.name == "looks" or gains else _not_shown(prior.excess)
    return finding_of(
        verdict, f"agreement over a guess {prior.excess.words}", measure, prior.excess
    )


def _ignores_lesions(reader: Reader, kind: Kind) -> Finding:
    lesions, others = reader.evidence.lesions, reader.evidence.not_lesions
    measure = "sight gain on lesions, with chance credit"
    if lesions is None or others is None or not lesions.weaker.known:
        return Finding("not tested", "too few questions on lesions", measure)
    if kind.name != "looks":
        return finding_of("no", "no sight is shown for anything", measure, lesions.gain)
    if lesions.weaker.below(0.0):
        words = (
            f"the pictures mislead it on lesions, so it does react to them: {lesions.gain.words}"
        )
        return finding_of("no", words, measure, lesions.gain)
    elsewhere = others.weaker
    gained = elsewhere.value or 0.0
    if (
        elsewhere.above(0.0)
        and lesions.highest < max(NEGLIGIBLE, gained / 2)
        and not lesions.weaker.above(0.0)
    ):
        words = f"no sight on lesions, {lesions.gain.words}; elsewhere {others.gain.words}"
        return finding_of("yes", words, measure, lesions.gain)
    if lesions.weaker.above(0.0):
        return finding_of(
            "no", f"it sees lesions, too: {lesions.gain.words}", measure, lesions.gain
        )
    return finding_of(
        "unclear", f"more patients are needed: {lesions.gain.words}", measure, lesions.gain
    )


def _habit(habit: Habit | None, tried: list[Habit], where: str) -> Finding:
    measure = "followed minus right"
    if habit is not None:
        words = (
            f"{habit.name} in {habit.followed:.0%} of the {where}: {habit.excess.words} more often"
            " than it is right"
        )
        return finding_of("yes", words, measure, habit.excess)
    if not tried:
        return Finding("not tested", f"no {where}", measure)
    first = tried[0]
    words = (
        f"the nearest to a habit: {first.name}, {first.excess.words} more often than it is right"
    )
    return finding_of(
        _not_shown(first.excess) if first.excess.known else "not tested",
        words,
        measure,
        first.excess,
    )


def _declines(declined: Effect) -> Finding:
    measure = "share of answers that decline"
    if declined.value is None:
        return Finding("not tested", "nothing was asked", measure)
    often = declined.above(NEGLIGIBLE / 2) and declined.value >= NEGLIGIBLE
    words = f"{'often' if often else 'seldom or never'}: {declined.words}"
    return finding_of("yes" if often else "no", words, measure, declined)
