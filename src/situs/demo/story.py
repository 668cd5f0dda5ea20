"""The demo end to end: build a bench, check it, probe two readers, write the report."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import msgspec

from situs.base.engines import Engine
from situs.bench import CheckResult, check_bench, open_bench
from situs.build import BuildOptions, BuildResult, build_phantoms
from situs.clients import Asking
from situs.errors import SitusError
from situs.facts import load_recipe
from situs.probe import ProbeOptions, ProbeResult, probe
from situs.profiles import load_profile
from situs.report import ReportOptions, write_report
from situs.run import read_hidden, respondent_of
from situs.run.respondent import ItemProgress, RunProgress
from situs.score import Scores, score_run

__all__ = ["READERS", "DemoResult", "DemoRow", "run_demo"]

READERS = {
    "reader": "plugin:situs.demo:PhantomReader",
    "guesser": "plugin:situs.demo:ConfidentGuesser",
}
_BLIND_ROWS = ("random", "majority", "prior")
_TASKS = "volume,extent,comparison,lesion_side"
"""Enough for a story of a minute."""
_PICTURES = 5
_REPORT_BYTES = 8_000_000


class DemoRow(msgspec.Struct, frozen=True):
    """One line of the demo's table."""

    name: str
    headline: float | None
    headline_ci95: tuple[float, float] | None
    without_pictures: float | None
    sight_gain: float | None
    sight_gain_ci95: tuple[float, float] | None
    verdict: str


class DemoResult(msgspec.Struct, frozen=True):
    """What came of it."""

    built: BuildResult
    checked: CheckResult
    rows: tuple[DemoRow, ...]
    probes: dict[str, ProbeResult]
    report_bytes: int


def run_demo(
    folder: Path,
    studies: int,
    seed: int,
    jobs: int,
    *,
    stage: ItemProgress = lambda name: nullcontext(lambda done, total: None),
    asking: RunProgress = lambda name: nullcontext(lambda tally, before, total: None),
) -> DemoResult:
    """Leave `bench`, `probes/reader`, `probes/guesser` and `report.html` in the folder.

    `stage` and `asking` show how far it has come: on its own steps, and while a reader is asked.
    """
    # All in one split: the headline needs several patients with each answer, and these are few.
    recipe = msgspec.structs.replace(load_recipe(), splits={"test": 1.0})
    options = BuildOptions(
        "demo",
        recipe,
        seed=seed,
        engine=Engine(jobs=jobs),
        tasks=_TASKS,
        restricted=False,
        licence="synthetic",
    )
    with stage("step 1 of 5, making patients and questions") as progress:
        built = build_phantoms(studies, folder / "bench", options, progress)
    with stage("step 2 of 5, recomputing every answer") as progress:
        checked = check_bench(folder / "bench", progress=progress)
    if checked.errors:
        raise SitusError(f"the check found {checked.errors} errors", fix="report this as a bug")
    probes, scores = {}, {}
    for number, (name, spec) in enumerate(READERS.items(), start=3):
        probes[name] = _probed(folder, name, spec, f"step {number} of 5, asking the {name}", asking)
        scores[name] = score_run(folder / "bench", folder / "probes" / name / "original")
    with stage("step 5 of 5, writing the report"):
        report = write_report(
            [folder / "probes" / name / "original" for name in READERS],
            folder / "report.html",
            ReportOptions(
                bench=folder / "bench",
                names=list(READERS),
                pictures=_PICTURES,
                max_bytes=_REPORT_BYTES,
            ),
        )
    rows = (
        *(_reader_row(name, scores[name], probes[name]) for name in READERS),
        *(_blind_row(name, scores["reader"]) for name in _BLIND_ROWS),
    )
    return DemoResult(built, checked, rows, probes, report.bytes)


def _probed(folder: Path, name: str, spec: str, words: str, asking: RunProgress) -> ProbeResult:
    """One reader, asked with its pictures, without them, and without them and without saying so."""
    asker = respondent_of(
        spec,
        Asking(no_cache=True),
        where="demo",
        run_progress=lambda probed: asking(f"{words} ({_ASKED.get(probed, probed)})"),
    )
    bench, profile = open_bench(folder / "bench"), load_profile("default")
    # Both are shown the same: what the pictures hide from the first they hide from the second.
    first = folder / "probes" / next(iter(READERS)) / "original"
    hidden = read_hidden(first / "hidden.jsonl") if first.exists() else None
    options = ProbeOptions(hidden=hidden)
    try:
        return probe(bench, profile, ["swap"], folder / "probes" / name, asker, options)
    finally:
        asker.close()


_ASKED = {
    "original": "with pictures",
    "text": "without pictures",
    "silent": "without pictures, and not told so",
}


def _reader_row(name: str, scores: Scores, probed: ProbeResult) -> DemoRow:
    headline, gain = scores.headline, probed.sight_gain
    return DemoRow(
        name,
        None if headline is None else headline.value,
        None if headline is None else headline.ci95,
        gain.text if gain.against == "text" else gain.silent,
        gain.value,
        gain.ci95,
        _VERDICTS.get(probed.diagnosis.kind, "cannot be told"),
    )


def _blind_row(name: str, scores: Scores) -> DemoRow:
    headline = scores.baselines[name].headline
    value, ci95 = (None, None) if headline is None else (headline.value, headline.ci95)
    return DemoRow(name, value, ci95, None, None, None, "sees no picture")


_VERDICTS = {
    "looks": "looked",
    "guesses": "guessed",
    "text only": "did not look",
    "reacts": "reacts, gains nothing",
    "memorised": "memorised",
}
