"""What kind of reader a model is, in plain words: the verdicts that follow from the runs of a probe.

A verdict is `yes`, `no`, `unclear` (the interval is too wide to say) or `not tested` (too few patients, or the probe
that would tell was not asked for). The rules:

- It does not look if its answers stay the same when the pictures are taken away or exchanged. Else it looks if the
  sight gain's interval leaves 0, or if the gain of a single task does (exact test by patient, Holm over tasks): a
  mirrored reader wins in some tasks what it loses in others. It does not if the interval holds 0 and ends under 0.1.
  The gain is that of the headline, if that has enough patients: there every text has every answer, so a fixed opinion
  on a text that other words change is no gain.
- Left and right exchanged, and mm read as cm, are causes of wrong answers beyond chance (see `signatures`). Who does
  not look cannot mirror: on questions without twins a fixed opinion is wrong for all patients in the same way. Nor can
  they take front for back, head for feet, or a neighbour for the right one.
- One slice is all it uses if it looks, and does as well with one slice as with all.
- Who looks follows the prior if its wrong answers are the prior's more often than chance lets them: it is right where
  the prior is, so only the prior's errors tell. Who does not look follows it if its answers are the prior's, over
  question texts: its one opinion on a text is one piece of evidence, however many patients are asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

import msgspec
import numpy as np

from situs.bench import Bench
from situs.items import Number, YesNo
from situs.probe._answers import Answers, said_by
from situs.probe._causes import Cause
from situs.probe._sight_gain import SightGain
from situs.probe._signatures import Budget, BudgetRow
from situs.probe._table import ProbeRow
from situs.profiles import Profile
from situs.run import Prior, Spec, Viewing
from situs.score import ALL_STRATA, HEADLINE, Estimate, cluster_mean, cluster_of, holm, paired_difference

__all__ = ["FINDINGS", "Diagnosis", "Finding", "diagnose", "prior_agreement"]

FINDINGS = ("looks_at_the_image", "text_only", "mirrored", "mm_as_cm", "one_slice_only", "follows_the_prior")
"""What is always asked, in this order."""

Verdict = Literal["yes", "no", "unclear", "not tested"]
Interval = tuple[float, float]

_LEVEL = 0.05
_NEGLIGIBLE = 0.1
"""A gain that is surely smaller is no sign of sight."""
_SAME = 0.95
"""Answers that stay the same as often do not depend on what was changed."""
_FEWEST_PATIENTS = 10
_UNSEEN = ("text", "blank", "noise", "other-patient")
"""Probes that take the pictures away or exchange them."""
_MORE = {
    Cause.UP_DOWN: "takes head for feet, or counts slices from the other end",
    Cause.FRONT_BACK: "takes front for back",
    Cause.VOXEL_AS_MM: "reads voxels as millimetres",
    Cause.BOX_SCALE: "gives boxes in another scale",
    Cause.BOX_ORDER: "gives the numbers of a box in another order",
    Cause.OFF_BY_ONE: "counts slices one off",
    Cause.NEIGHBOUR: "names the neighbouring structure or level",
}
_SEEN = (Cause.UP_DOWN, Cause.FRONT_BACK, Cause.OFF_BY_ONE, Cause.NEIGHBOUR)
"""Of these, what only one who looks can do."""


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


class Diagnosis(msgspec.Struct, frozen=True):
    """What kind of reader it is."""

    summary: str
    findings: dict[str, Finding]
    """Those of `FINDINGS`, then other causes that were found."""


def diagnose(
    full: Answers,
    text: Answers,
    gain: SightGain,
    rows: Mapping[str, ProbeRow],
    budget: Budget,
    agreement: Estimate,
) -> Diagnosis:
    """The verdicts on a model from its runs; `agreement` is that with a confident prior, less a guess's."""
    looks = _looks(full, text, gain, rows)
    found = {row.cause: row for row in budget.rows}
    findings = {
        "looks_at_the_image": looks,
        "text_only": _text_only(looks),
        "mirrored": _mirrored(found.get(Cause.MIRRORED), looks),
        "mm_as_cm": _units(found.get(Cause.UNIT_SLIP), full),
        "one_slice_only": _one_slice(gain, rows.get("one-slice"), looks),
        "follows_the_prior": _prior(found.get(Cause.PRIOR), agreement, looks),
    }
    findings |= {
        cause.value: _of_cause(found[cause], words)
        for cause, words in _MORE.items()
        if cause in found and found[cause].beyond_chance and (looks.verdict == "yes" or cause not in _SEEN)
    }
    return Diagnosis(_summary(findings), findings)


def prior_agreement(bench: Bench, full: Answers, profile: Profile) -> Estimate:
    """Where the prior is confident of one option: how much oftener than a guess the model says the same.

    The mean is over question texts, on each of which a reader who does not look has one opinion.
    """
    prior = Prior(bench, Spec("prior"), Viewing(bench, profile))
    by_text: dict[str, list[tuple[bool, float]]] = defaultdict(list)
    for one in full.by_id.values():
        options = len(one.item.options) or (2 if isinstance(one.item.answer, YesNo) else 0)
        said = said_by(one) if one.counts and options > 1 else None
        held = [] if said is None else prior.left_open(one.item)
        if len(held) == 1:
            by_text[one.item.question].append((said == held[0], 1.0 / options))
    same, guess = ([float(np.mean([pair[k] for pair in by_text[text]])) for text in sorted(by_text)] for k in (0, 1))
    return paired_difference(same, guess, sorted(by_text))


def _looks(full: Answers, text: Answers, gain: SightGain, rows: Mapping[str, ProbeRow]) -> Finding:
    twinned = gain.by_stratum.get(HEADLINE)
    own = twinned if twinned is not None and twinned.ci95 is not None else None
    # With too few patients in the headline, all strata together may tell.
    name = "sight gain over all strata" if own is None else "sight gain in the headline"
    shown = own or gain.by_stratum[ALL_STRATA]
    value, interval, n = shown.value, shown.ci95, shown.n
    measured = f"{name} {_signed(value, interval)}"

    def finding(verdict: Verdict, words: str) -> Finding:
        return Finding(verdict, words, name, value, interval, n)

    if interval is None:
        return finding("not tested", f"cannot be said: {gain.note or 'no interval'}")
    same = {probe: rows[probe].kept_old or 0.0 for probe in _UNSEEN if probe in rows}
    most = max(same, key=lambda probe: same[probe], default="")
    if most and same[most] >= _SAME:
        told = f"{same[most]:.0%} of its answers are the same with other pictures or none (probe {most})"
        return finding("no", f"{told}; {measured}")
    low, high = interval
    if low > 0:
        return finding("yes", f"better with the pictures than without: {measured}")
    if high < 0:
        return finding("yes", f"worse with the pictures than without, so they mislead it: {measured}")
    tasks = _moved_tasks(full, text, HEADLINE if own is not None else None)
    if tasks:
        told = ", ".join(f"{task} {moved:+.3f}" for task, moved in tasks.items())
        return finding("yes", f"the pictures change how often it is right in single tasks ({told}): {measured}")
    if high <= _NEGLIGIBLE:
        return finding("no", f"no better with the pictures than without: {measured}")
    return finding("unclear", f"{measured} holds 0 and is wide: more patients would tell")


def _moved_tasks(full: Answers, text: Answers, stratum: str | None) -> dict[str, float]:
    """Tasks in which pictures make it better or worse, with the gain in each."""
    gaps: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for item_id, one in full.by_id.items():
        other = text.by_id.get(item_id)
        if other is not None and one.counts and other.counts and stratum in (None, one.item.stratum):
            gaps[one.item.task].append((cluster_of(one.item), float(one.right) - float(other.right)))
    found = {
        task: cluster_mean([gap for _, gap in own], [patient for patient, _ in own], bounds=(-1.0, 1.0))
        for task, own in sorted(gaps.items())
    }
    tested = {task: one for task, one in found.items() if one.clusters >= _FEWEST_PATIENTS}
    p_values = holm([one.p for one in tested.values()])
    return {
        task: one.value
        for (task, one), p in zip(tested.items(), p_values)
        if one.value is not None and p is not None and p < _LEVEL
    }


def _text_only(looks: Finding) -> Finding:
    opposite: dict[Verdict, Verdict] = {"yes": "no", "no": "yes"}
    words = {
        "yes": "it uses the pictures",
        "no": "it answers from the words alone",
    }.get(looks.verdict, "as above")
    return Finding(opposite.get(looks.verdict, looks.verdict), words, looks.measure, looks.value, looks.ci95, looks.n)


def _of_cause(row: BudgetRow | None, words: str) -> Finding:
    measure = "excess over chance, where it could show"
    if row is None:
        return Finding("not tested", "no answer could show it", measure)
    if row.beyond_chance is None:
        return Finding("not tested", f"{row.fits} of {row.could} answers, of too few patients", measure, n=row.could)
    if not row.fits:
        return Finding("no", f"none of {row.could:,} answers shows it", measure, row.excess, row.ci95, row.could)
    seen = f"{row.fits} of {row.could} answers, {row.expected or 0.0:.1f} by chance, p = {row.p_holm:.2g}"
    verdict: Verdict = "yes" if row.beyond_chance else "no"
    told = f"{words} ({seen})" if row.beyond_chance else f"no more than chance ({seen})"
    return Finding(verdict, told, measure, row.excess, row.ci95, row.could)


def _units(row: BudgetRow | None, full: Answers) -> Finding:
    found = _of_cause(row, "numbers are off by a power of ten: mm read as cm")
    right = sum(isinstance(one.item.answer, Number) and one.right for one in full.by_id.values())
    if row is None and right:
        return msgspec.structs.replace(found, verdict="no", words=f"all {right:,} numbers are right", n=right)
    return found


def _mirrored(row: BudgetRow | None, looks: Finding) -> Finding:
    found = _of_cause(row, "left and right are exchanged")
    if found.verdict == "yes" and looks.verdict != "yes":
        words = f"who does not look cannot mirror; the words alone lead it to the other side: {found.words}"
        verdict: Verdict = "no" if looks.verdict == "no" else "unclear"
        return msgspec.structs.replace(found, verdict=verdict, words=words)
    return found


def _one_slice(gain: SightGain, row: ProbeRow | None, looks: Finding) -> Finding:
    volume = gain.volume_gain
    if volume is None or row is None:
        return Finding("not tested", "needs --probes one-slice", "volume gain")
    measured = f"volume gain {_signed(volume.value, volume.ci95)}"

    def finding(verdict: Verdict, words: str) -> Finding:
        return Finding(verdict, words, "volume gain", volume.value, volume.ci95, volume.n)

    if volume.ci95 is None or volume.value is None or gain.value is None:
        return finding("not tested", f"cannot be said: {volume.note or 'no interval'}")
    if looks.verdict != "yes":
        return finding("no" if looks.verdict == "no" else looks.verdict, "it shows no use of any slice")
    low, high = volume.ci95
    if low > 0:
        return finding("no", f"better with all slices than with one: {measured}")
    if (row.kept_old or 0.0) >= _SAME:
        return finding("yes", f"{row.kept_old:.0%} of its answers are the same with one slice: {measured}")
    if high < max(_NEGLIGIBLE, gain.value / 2):
        return finding("yes", f"as good with one slice as with all: {measured}")
    return finding("unclear", f"{measured} holds 0 and is wide: more patients would tell")


def _prior(row: BudgetRow | None, agreement: Estimate, looks: Finding) -> Finding:
    measure = "agreement with a confident prior, less a guess's"
    interval, said = agreement.ci95, _signed(agreement.value, agreement.ci95)
    more = "more" if (agreement.value or 0.0) > 0 else "no more"
    agrees = f"it says what the prior says {more} often than a guess would: {said}"

    def finding(verdict: Verdict, words: str) -> Finding:
        return Finding(verdict, words, measure, agreement.value, interval, agreement.n)

    if row is not None and row.beyond_chance and looks.verdict == "yes":
        seen = f"{row.fits} wrong answers are the prior's, p = {row.p_holm:.2g}"
        return finding("yes", f"{seen}; {agrees}")
    if looks.verdict != "yes" and interval is not None and interval[0] > 0:
        return finding("yes", agrees)
    if (row is None or row.beyond_chance is None) and interval is None:
        return finding("not tested", "too few questions on which other patients agree")
    if looks.verdict == "yes":
        return finding("no", "where the prior is wrong it says no more often than chance what the prior says")
    return finding("no", f"its answers are not the prior's: {said}")


def _summary(findings: Mapping[str, Finding]) -> str:
    looks = findings["looks_at_the_image"]
    lines = {
        "yes": "Looks at the image: yes.",
        "no": "Looks at the image: no; text only.",
        "unclear": "Looks at the image: unclear.",
        "not tested": "Looks at the image: not tested.",
    }
    words = {
        "mirrored": "Mirrored: takes left for right.",
        "mm_as_cm": "Reads mm as cm.",
        "one_slice_only": "Uses one slice only.",
        "follows_the_prior": "Follows the prior.",
    } | {cause.value: f"{told[0].upper()}{told[1:]}." for cause, told in _MORE.items()}
    found = [words[name] for name, one in findings.items() if name in words and one.verdict == "yes"]
    return " ".join([lines[looks.verdict], *found])


def _signed(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:+.3f}" + ("" if interval is None else f" (95 % {interval[0]:+.3f} to {interval[1]:+.3f})")
