"""A bench of changed patients: items `<id>~<probe>` with the answers their patients now have."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
from numpy.typing import NDArray

from situs.base.engines import HERE, Engine, map_on
from situs.base.files import canonical_json, digest, write_atomic
from situs.base.publish import new_folder
from situs.base.workers import Lost
from situs.bench import Bench, Locations, SeriesRecord, StudyRecord, item_problem, open_bench
from situs.build import BenchWriter, BuildOptions, with_sources
from situs.errors import SitusError
from situs.facts import Fact
from situs.items import Item
from situs.probe.changes.origin import OutcomeRow, Outcomes, outcomes_of
from situs.probe.changes.outcome import Derived, derive
from situs.probe.changes.patient import Patient, load_patient
from situs.probe.changes.patients import WHY_NOT, changed, changed_hash, undefined_by_change
from situs.profiles import Profile
from situs.volumes import LabelMap

__all__ = [
    "ChangedBench",
    "ChangedVolumes",
    "changed_bench",
    "changed_study",
    "write_items",
]


class ChangedBench(msgspec.Struct, frozen=True):
    """The bench, None where every item is undefined, and what became of each item."""

    bench: Bench | None
    outcomes: list[OutcomeRow]


def changed_bench(
    source: Bench,
    items: Iterable[Item],
    probe: str,
    profile: Profile,
    out: Path,
    *,
    data: Path | None = None,
    engine: Engine = HERE,
) -> ChangedBench:
    """Make the bench of a probe, or take up the one that is there already;
    `engine` works on the patients."""
    listed = list(items)
    key = _key(source, listed, probe, profile)
    existing = _made(source, out, key)
    if existing is not None:
        return existing
    outcomes: list[OutcomeRow] = []
    by_study = {
        study: list(study_items)
        for study, study_items in groupby(_together(listed), key=lambda item: item.study_id)
    }

    def studies() -> Iterator[tuple[StudyRecord, list[Fact], list[Item]]]:
        jobs = (
            (study, by_study[study.study_id])
            for study in source.studies()
            if study.study_id in by_study
        )
        worker = partial(_open_change, source.folder.resolve(), data, probe, profile)
        with closing(map_on(engine, worker, jobs)) as results:
            for result in results:
                if isinstance(result, Lost):
                    where, fix = result.job[0].study_id, "give it more memory (fewer --jobs)"
                    raise SitusError(result.reason, where=where, fix=fix)
                record, facts, twins, rows = result
                outcomes.extend(rows)
                yield record, facts, twins

    return _written(
        source, studies(), Outcomes(key, outcomes, probe, profile, source.info.content_hash), out
    )


Changed = tuple[StudyRecord, list[Fact], list[Item], list[OutcomeRow]]


def _open_change(
    folder: Path, data: Path | None, probe: str, profile: Profile
) -> Callable[[tuple[StudyRecord, list[Item]]], Changed]:
    """What a worker does with its patients."""
    bench, locations = open_bench(folder), Locations.read(folder, data)

    def change(job: tuple[StudyRecord, list[Item]]) -> Changed:
        rows: list[OutcomeRow] = []
        study, items = job
        return (*changed_study(bench, study, items, probe, profile, locations, rows), rows)

    return change


def write_items(
    source: Bench,
    items: Iterable[Item],
    outcomes: list[OutcomeRow],
    key: str,
    probe: str,
    profile: Profile,
    out: Path,
) -> ChangedBench:
    """A bench of the same studies with other items (such as rotated options),
    or the one that is there already."""
    existing = _made(source, out, key)
    if existing is not None:
        return existing
    by_study: dict[str, list[Item]] = {}
    for item in items:
        by_study.setdefault(item.study_id, []).append(item)
    studies = (
        (s, list[Fact](), by_study[s.study_id]) for s in source.studies() if s.study_id in by_study
    )
    return _written(
        source, studies, Outcomes(key, outcomes, probe, profile, source.info.content_hash), out
    )


def _written(
    source: Bench,
    studies: Iterator[tuple[StudyRecord, list[Fact], list[Item]]],
    made: Outcomes,
    out: Path,
) -> ChangedBench:
    info = source.info
    options = BuildOptions(
        out.name, info.recipe, seed=info.seed, restricted=info.restricted, licence=info.licence
    )
    with new_folder(out, marker="bench.json", overwrite=True) as scratch:
        with BenchWriter(scratch, info.source, options, info.terms) as writer:
            for study, facts, study_items in studies:
                _refuse_contradictions(study_items, study)
                writer.add(study, facts, study_items, {}, {})
        note = f"made by situs probe ({made.probe}) from another bench"
        writer.finish([], (*info.notes, note), may_be_empty=True)
        _point_to(source, scratch, out)
        write_atomic(scratch / "outcomes.json", canonical_json(made) + b"\n")
    counts = Counter(row.outcome for row in made.rows)
    some = counts.total() > counts["undefined"] or not made.rows
    return ChangedBench(open_bench(out) if some else None, made.rows)


def _refuse_contradictions(items: Iterable[Item], study: StudyRecord) -> None:
    """Nothing is written that could not be opened:
    a bench whose tables disagree makes twins that do, too."""
    for item in items:
        problem = item_problem(item, {study.study_id})
        if problem is not None:
            raise SitusError(
                problem, where=item.item_id, fix="the bench contradicts itself: see situs check"
            )


def _point_to(source: Bench, folder: Path, out: Path) -> None:
    """Write where the source lies, as seen from `out`."""
    source_path = os.path.relpath(source.folder.resolve(), out.resolve())
    content = canonical_json({source.info.content_hash: source_path}) + b"\n"
    write_atomic(folder / "locations.json", content, private=True)


def _made(source: Bench, out: Path, key: str) -> ChangedBench | None:
    """The bench if it was made from the same items before."""
    recorded = outcomes_of(out)
    if recorded is None or recorded.source != key:
        return None
    _point_to(source, out, out)
    bench = open_bench(out)
    return ChangedBench(bench if bench.info.counts["items"] else None, recorded.rows)


def _key(source: Bench, items: list[Item], probe: str, profile: Profile) -> str:
    plane = profile.view.plane.value if probe == "reversed" else ""
    return digest(source.info.content_hash, probe, plane, *(item.item_id for item in items))


def _together(items: list[Item]) -> list[Item]:
    return sorted(items, key=lambda item: item.study_id)


def changed_study(
    bench: Bench,
    study: StudyRecord,
    items: list[Item],
    probe: str,
    profile: Profile,
    locations: Locations,
    outcomes: list[OutcomeRow],
) -> tuple[StudyRecord, list[Fact], list[Item]]:
    """The study under a probe, the facts its items rest on
    and the items that have an answer; `outcomes` grows."""
    records, facts, twins = [], list[Fact](), list[Item]()
    for series in study.series:
        series_items = [item for item in items if item.series == series.series]
        record, derived, series_facts = _changed_series(
            bench, study, series, series_items, probe, profile, locations
        )
        records.append(record)
        facts += series_facts
        twins += [one.item for one in derived if one.outcome != "undefined"]
        outcomes += [OutcomeRow(one.item.twin_of, one.outcome, one.reason) for one in derived]
    without = [item for item in items if not item.series]
    outcomes += [
        OutcomeRow(item.item_id, "undefined", "it came without a scan") for item in without
    ]
    return msgspec.structs.replace(study, series=tuple(records)), facts, twins


def _changed_series(
    bench: Bench,
    study: StudyRecord,
    series: SeriesRecord,
    items: list[Item],
    probe: str,
    profile: Profile,
    locations: Locations,
) -> tuple[SeriesRecord, list[Derived], list[Fact]]:
    why = ""
    if not series.image_hash:
        why = "its study has no image"
    elif not series.labels_hash or not series.affine:
        why = "its study has no masks in millimetres"
    patient = None if why else load_patient(bench, study, series, locations)
    new = None if patient is None else changed(patient, probe, profile)
    if new is None:
        reason = why or WHY_NOT.get(probe, "the change cannot be made")
        return series, [_undefined(item, probe, reason) for item in items], []
    free = [item for item in items if not undefined_by_change(item, probe)]
    ledger = new.ledger(bench)
    derived = {one.item.twin_of: one for one in derive(free, ledger, probe)}
    listed = [
        derived.get(item.item_id) or _undefined(item, probe, undefined_by_change(item, probe))
        for item in items
    ]
    wanted = [fact for one in listed if one.outcome != "undefined" for fact in one.item.fact_ids]
    return new.series, listed, with_sources(ledger.known_facts(), wanted)


def _undefined(item: Item, probe: str, reason: str) -> Derived:
    twin = msgspec.structs.replace(item, item_id=f"{item.item_id}~{probe}", twin_of=item.item_id)
    return Derived(twin, "undefined", reason)


class ChangedVolumes:
    """The voxels of changed patients, made from the original files when asked for;
    one patient is kept."""

    def __init__(
        self, source: Bench, probe: str, profile: Profile, *, data: Path | None = None
    ) -> None:
        self._source = source
        self._probe = probe
        self._profile = profile
        self._locations = Locations.read(source.folder, data)
        self._of: dict[str, tuple[StudyRecord, SeriesRecord]] | None = None
        self._latest: Patient | None = None

    def image(self, series: SeriesRecord) -> NDArray[Any]:
        """The changed image."""
        image = self._patient(series).image
        assert image is not None
        return image

    def labels(self, series: SeriesRecord) -> LabelMap:
        """The changed masks."""
        return self._patient(series).labels

    def _patient(self, series: SeriesRecord) -> Patient:
        if self._latest is None or self._latest.series.labels_hash != series.labels_hash:
            self._latest = None
            study, source_series = self._sources()[series.labels_hash]
            made = changed(
                load_patient(self._source, study, source_series, self._locations),
                self._probe,
                self._profile,
            )
            assert made is not None
            self._latest = made
        return self._latest

    def _sources(self) -> dict[str, tuple[StudyRecord, SeriesRecord]]:
        """The changed labels' hash → the series it was made from."""
        if self._of is None:
            self._of = {}
            for study in self._source.studies():
                for series in study.series:
                    self._of[changed_hash(series.labels_hash, self._probe, self._profile)] = (
                        study,
                        series,
                    )
        return self._of
