"""Did it look? The answer for every probed run, for the top of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from situs.probe import Diagnosis, SightGain, probed_beside
from situs.report.scored import ReportedRun
from situs.report.tables.standing import Gain, Standings

__all__ = ["Verdict", "verdicts_of", "with_probed_gains"]

_WORDS = {
    "looks": ("yes", "It looked"),
    "memorised": ("no", "It does not follow the picture"),
    "guesses": ("no", "It guessed"),
    "text only": ("no", "It did not look"),
    "reacts": ("no", "It reacts to pictures without gaining from them"),
}
"""Kind of reader → how the verdict is coloured, and what it says. Any other kind cannot be told."""


class Verdict(msgspec.Struct, frozen=True):
    """What the probes say of one run."""

    run: str
    looked: str
    """`yes`, `no` or `unclear`."""
    words: str
    gain: str
    """Sight gain with its interval, in points."""
    accuracies: str
    """With pictures and without."""
    summary: str
    decided_on: str = ""
    """What shows that it looked, where this gain does not."""


def verdicts_of(folders: Sequence[Path], runs: Sequence[ReportedRun]) -> list[Verdict]:
    """One for each run that `situs probe` made, in the order given."""
    verdicts = []
    for folder, run in zip(folders, runs):
        probed = probed_beside(folder)
        if probed is None or run.kind == "baseline":
            continue
        gain, diagnosis = probed.sight_gain, probed.diagnosis
        looked, words = _WORDS.get(diagnosis.kind, ("unclear", "Cannot be told"))
        read_out = _gain(gain)
        verdicts.append(
            Verdict(
                run.name,
                looked,
                words,
                "not computed" if read_out is None else f"{read_out.text} points",
                _accuracies(gain),
                diagnosis.summary,
                _decided_on(diagnosis, read_out) if looked == "yes" else "",
            )
        )
    return verdicts


def _decided_on(diagnosis: Diagnosis, read_out: Gain | None) -> str:
    """The evidence that it looked; empty if the headline's own gain, shown above it, is that."""
    if read_out is not None and read_out.low is not None and read_out.low > 0:
        return ""
    words = diagnosis.findings["looks_at_the_image"].words
    return f"Decided on {diagnosis.items}: {words}." if words else ""


def with_probed_gains(
    standings: Standings, folders: Sequence[Path], runs: Sequence[ReportedRun]
) -> Standings:
    """The standings, the sight gain of a probed run taken from its probes.

    They know both of its runs without pictures; a report may be given one of them, and a gain over
    that one alone would contradict the verdict above it.
    """
    gains = dict(standings.gains)
    for folder, run in zip(folders, runs):
        probed = probed_beside(folder)
        if probed is None or run.kind != "model":
            continue
        gain = _gain(probed.sight_gain)
        if gain is not None and _of_its_headline(probed.sight_gain, run):
            gains[run.name] = gain
    return msgspec.structs.replace(standings, gains=gains)


def _of_its_headline(gain: SightGain, run: ReportedRun) -> bool:
    """Whether a gain is of the questions that the report calls the headline: both may be told to
    take another stratum."""
    headline = run.scores.headline
    if headline is None or headline.value is None or gain.model is None:
        return False
    return headline.n == gain.n and math.isclose(headline.value, gain.model)


def _gain(gain: SightGain) -> Gain | None:
    if gain.value is None:
        return None
    low, high = (100.0 * v for v in gain.ci95) if gain.ci95 else (None, None)
    return Gain(100.0 * gain.value, low, high, gain.n, gain.against)


def _accuracies(gain: SightGain) -> str:
    blind = {"text": gain.text, "silent": gain.silent}.get(gain.against)
    if gain.model is None or blind is None:
        return ""
    return (
        f"{100 * gain.model:.0f} % right with pictures, {100 * blind:.0f} % without, "
        f"on the same {gain.n:,} questions of {gain.patients:,} patients"
    )
