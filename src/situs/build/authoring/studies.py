"""All that can be asked of one study in the language, measured anew from its evidence.

Runs in a worker process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec

from situs.bench import (
    Bench,
    LoadedImage,
    Locations,
    SeriesRecord,
    StudyRecord,
    load_image,
    load_labels,
    load_ledger,
    open_bench,
    suspect_studies,
)
from situs.build.study import StudyOutcome, basic_facts, with_sources
from situs.errors import SitusError
from situs.facts import Fact
from situs.items import Candidate, candidates, task_named
from situs.items.programs import program_of

__all__ = ["LANGUAGE_TASKS", "AuthorJob", "open_author"]

LANGUAGE_TASKS = (
    "compose",
    "contact",
    "count",
    "distance",
    "extent",
    "lesion_pair",
    "lesion_side",
    "level",
    "reach",
    "volume",
)
"""Tasks whose questions the language has, as far as they are worth planning."""


class AuthorJob(msgspec.Struct, frozen=True):
    """One study of a bench."""

    study: StudyRecord
    seed: int
    per_study: int | None = None
    """Questions of the study at most."""

    @property
    def where(self) -> str:
        """How messages on the terminal call it."""
        return self.study.study_id


def open_author(folder: Path, data: Path | None) -> Callable[[AuthorJob], StudyOutcome]:
    """What a worker does with its studies."""
    bench, locations = open_bench(folder), Locations.read(folder, data)
    return lambda job: _outcome(bench, locations, job)


def _outcome(bench: Bench, locations: Locations, job: AuthorJob) -> StudyOutcome:
    study = job.study
    facts: list[Fact] = []
    basics: list[str] = []
    asked: list[Candidate] = []
    not_asked: Counter[str] = Counter()
    places: dict[str, str] = {}
    suspects = []
    for series in study.series:
        if not series.affine or not series.labels_hash:
            continue
        labels = load_labels(series, locations)
        image = _image(series, locations)
        stored = () if image is not None else tuple(bench.facts(study_id=study.study_id))
        ledger = load_ledger(bench, study, series, labels, image, stored)
        tasks = [task_named(name) for name in LANGUAGE_TASKS]
        offered, reasons = candidates(
            ledger, study.patient_id, tasks, seed=job.seed, per_study=job.per_study
        )
        not_asked.update(reasons)
        asked += [one for one in offered if program_of(one.item) is not None]
        series_basics = basic_facts(ledger)
        basics += series_basics
        wanted = [*series_basics, *(id_ for c in asked for id_ in c.item.fact_ids)]
        known = ledger.known_facts()
        ids = {fact.fact_id for fact in known}
        facts += with_sources(known, [id_ for id_ in wanted if id_ in ids])
        suspects += suspect_studies(study.study_id, ledger)
        places |= {labels.hash: str(locations.find(series.labels_hash))}
        if image is not None:
            places[series.image_hash] = str(locations.find(series.image_hash))
    return StudyOutcome(
        study, facts, basics, asked, dict(sorted(not_asked.items())), [], places, suspects
    )


def _image(series: SeriesRecord, locations: Locations) -> LoadedImage | None:
    """The image, where it is at hand: it tells where the scan ends."""
    if not series.image_hash:
        return None
    try:
        return load_image(series, locations)
    except SitusError:
        return None
