"""The series of a bench with what is known of each:
the facts of the ledger, labels, image and marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Term
from situs.bench import (
    Bench,
    Locations,
    SeriesRecord,
    StudyRecord,
    load_image,
    load_labels,
    load_ledger,
    restrict,
    terms_for,
)
from situs.errors import SitusError
from situs.facts import Fact, Ledger
from situs.items import marks_of
from situs.score.explain import StudyFactsById
from situs.space import Grid, WorldBox
from situs.volumes import LabelMap

__all__ = ["Mark", "Scope", "SeriesEvidence", "evidence_of"]

NO_MILLIMETRES = "series without millimetres"


class Scope(msgspec.Struct, frozen=True):
    """Which studies go out, and where their files lie."""

    split: str | None = None
    limit: int | None = None
    data: Path | None = None
    progress: Callable[[int, int], None] = lambda done, total: None


class Mark(msgspec.Struct, frozen=True):
    """A marked point of a question."""

    item_id: str
    letter: str
    at_mm: tuple[float, float, float]


class SeriesEvidence:
    """One series in millimetres; voxels are read when they are asked for."""

    def __init__(self, cohort: _Cohort, study: StudyRecord, series: SeriesRecord) -> None:
        self.bench = cohort.bench
        self.study = study
        self.series = series
        self._cohort = cohort
        self._locations = cohort.locations

    @property
    def name(self) -> str:
        """Study and series, as they are told apart in messages."""
        return f"{self.study.study_id}/{self.series.series}"

    @property
    def grid(self) -> Grid:
        """The lattice in stored order, RAS+ millimetres."""
        grid = self.series.grid
        if not isinstance(grid, Grid):
            raise SitusError("has no millimetres", where=self.name)
        return grid

    @cached_property
    def facts(self) -> list[Fact]:
        """What the ledger says of this series."""
        stored = self._cohort.facts.of_study(self.study.study_id)
        return [fact for fact in stored.values() if fact.series == self.series.series]

    @cached_property
    def terms(self) -> dict[str, Term]:
        """What each structure's name means."""
        return terms_for(self.series.structures, self.bench.info.terms)

    @cached_property
    def labels(self) -> LabelMap | None:
        """The structures the bench asks about; None where there are no masks."""
        if not self.series.labels_hash:
            return None
        return restrict(load_labels(self.series, self._locations), self.series.structures)

    @cached_property
    def ledger(self) -> Ledger | None:
        """The ledger measured anew, for the places between which a length was measured."""
        if self.labels is None:
            return None
        return load_ledger(self.bench, self.study, self.series, self.labels, None, self.facts)

    def voxels(self) -> NDArray[Any] | None:
        """The image, held to its hash; None where the study has none."""
        if not self.series.image_hash:
            return None
        return load_image(self.series, self._locations).values

    @property
    def marks(self) -> list[Mark]:
        """The marked points of its questions."""
        return self._cohort.marks.get((self.study.study_id, self.series.series), [])


class _Cohort:
    """What is read once for all studies: a bench may have thousands, and half a million items."""

    def __init__(self, bench: Bench, locations: Locations) -> None:
        self.bench = bench
        self.locations = locations
        self.facts = StudyFactsById(bench)

    @cached_property
    def marks(self) -> dict[tuple[str, str], list[Mark]]:
        """Study and series → the marked points of their questions."""
        marks: dict[tuple[str, str], list[Mark]] = {}
        for item in self.bench.items(steps=False):
            for letter, box in marks_of(item).items():
                if isinstance(box, WorldBox):
                    x, y, z = np.add(box.lo_mm, box.hi_mm) / 2.0
                    mark = Mark(item.item_id, letter, (float(x), float(y), float(z)))
                    marks.setdefault((item.study_id, item.series), []).append(mark)
        return marks


def evidence_of(bench: Bench, scope: Scope, left_out: Counter[str]) -> Iterator[SeriesEvidence]:
    """Every series in millimetres of the studies in scope, study by study."""
    locations = Locations.read(bench.folder, scope.data)
    studies = [s for s in bench.studies() if scope.split in (None, s.split)][: scope.limit]
    if not studies:
        raise SitusError(
            "no study to export",
            where=f"--split {scope.split}",
            fix="leave --split out, or name one it has",
        )
    cohort = _Cohort(bench, locations)
    for number, study in enumerate(studies, start=1):
        for series in study.series:
            if series.affine:
                yield SeriesEvidence(cohort, study, series)
            else:
                left_out[NO_MILLIMETRES] += 1
        scope.progress(number, len(studies))
