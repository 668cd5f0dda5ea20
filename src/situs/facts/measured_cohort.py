"""Measurements of many studies: a table of them,
spread over processes or machines, in the table's order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from situs.base.engines import HERE, Engine, map_on
from situs.base.workers import Lost
from situs.errors import SitusError
from situs.facts.measured import MeasuredFile, MeasuredPair, MeasuredStructure, measure_study
from situs.volumes import StudySource, find_studies

__all__ = ["MeasuredStudy", "is_table", "measure_cohort"]


class MeasuredStudy(msgspec.Struct, frozen=True):
    """One study's numbers, or why there are none."""

    study: str
    structures: list[MeasuredStructure] = []
    pairs: list[MeasuredPair] = []
    warnings: tuple[str, ...] = ()
    problem: str = ""


def is_table(path: Path) -> bool:
    """Whether a path is a table of studies."""
    return path.suffix.lower() in (".csv", ".tsv")


def measure_cohort(
    table: Path,
    *,
    names: str | None,
    pairs: str | None,
    annotation: str,
    details: bool = False,
    engine: Engine = HERE,
) -> Iterator[MeasuredStudy]:
    """Measure every study of a table;
    one that cannot be read is told as such and does not end the others."""
    studies = find_studies(table, keep_missing=True)
    measure = partial(
        measure_study, names=names, pairs=pairs, annotation=annotation, details=details
    )
    with closing(map_on(engine, partial(_open_measure, measure), studies)) as results:
        for source, measured in zip(studies, results):
            if isinstance(measured, Lost):
                yield MeasuredStudy(source.study or source.stem, problem=measured.reason)
            else:
                yield measured


def _open_measure(
    measure: Callable[[Path, StudySource], MeasuredFile],
) -> Callable[[StudySource], MeasuredStudy]:
    return partial(_measured, measure)


def _measured(
    measure: Callable[[Path, StudySource], MeasuredFile], source: StudySource
) -> MeasuredStudy:
    name = source.study or source.stem
    try:
        measured = measure(source.labels, source)
    except SitusError as error:
        return MeasuredStudy(name, problem=str(error))
    except MemoryError:
        return MeasuredStudy(name, problem="not enough memory; give fewer --jobs")
    return MeasuredStudy(name, measured.structures, measured.pairs, measured.warnings)
