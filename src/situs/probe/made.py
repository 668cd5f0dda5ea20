"""A bench that a probe made: it has no files of its own;
its voxels are those of its source, changed anew each time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from situs.bench import Bench, CheckResult, Locations, StudyRecord, content_hash, open_bench
from situs.errors import SitusError
from situs.facts import Fact
from situs.items import Item
from situs.probe.changes.origin import OutcomeRow, Outcomes, outcomes_of
from situs.profiles import FileVolumes, Volumes

__all__ = ["check_made", "source_of_made", "volumes_of"]

_SAME_SCANS = "rotations"
"""The probe that changes options and no scan."""


def source_of_made(folder: Path) -> tuple[Bench, Outcomes] | None:
    """The bench a probe's bench was made from, and how; None for any other bench."""
    made = outcomes_of(folder)
    if made is None:
        return None
    source = open_bench(Locations.read(folder).find(made.source_hash))
    if source.info.content_hash != made.source_hash:
        fix = "restore that bench, or run situs probe again"
        raise SitusError("the bench it was made from has changed", where=folder, fix=fix)
    return source, made


def volumes_of(bench: Bench, data: Path | None = None) -> Volumes:
    """The voxels of a bench: its files, or what a probe makes of those of its source."""
    source_and_outcomes = source_of_made(bench.folder)
    if source_and_outcomes is None:
        return FileVolumes(bench, data=data)
    from situs.probe.changes.bench import ChangedVolumes

    source, made = source_and_outcomes
    if made.probe == _SAME_SCANS:
        return FileVolumes(source, data=data)
    return ChangedVolumes(source, made.probe, made.profile, data=data)


def check_made(folder: Path, data: Path | None = None) -> CheckResult | None:
    """Derive every item of a probe's bench anew from its source's evidence files; None for any
    other bench.

    The source's own answers are checked by checking the source.
    """
    source_and_outcomes = source_of_made(folder)
    if source_and_outcomes is None:
        return None
    (source, made), bench, result = source_and_outcomes, open_bench(folder), CheckResult()
    fix = "remove the folder and run situs probe again"
    if content_hash(folder) != bench.info.content_hash:
        result.error("content", "bench.json", "the tables have changed since they were made", fix)
    stored: dict[str, list[Item]] = defaultdict(list)
    known: dict[str, list[Fact]] = defaultdict(list)
    for item in bench.items():
        stored[item.study_id].append(item)
    for fact in bench.facts():
        known[fact.study_id].append(fact)
    studies = {study.study_id: study for study in bench.studies()}
    anew: list[OutcomeRow] = []
    for study, facts, items in _anew(source, made, data, anew, result):
        stored_study = studies.pop(study.study_id, None)
        result.items += len(stored[study.study_id])
        result.recomputed += len(items)
        if stored_study != study:
            result.error("study", study.study_id, "is not what the change makes of its source", fix)
        for code, rows, there in (
            ("fact", {f.fact_id: f for f in facts}, {f.fact_id: f for f in known[study.study_id]}),
            ("item", {i.item_id: i for i in items}, {i.item_id: i for i in stored[study.study_id]}),
        ):
            for name in sorted(rows.keys() | there.keys()):
                if rows.get(name) != there.get(name):
                    result.error(
                        code, name, "does not follow from the changed volume and masks", fix
                    )
    for name in studies:
        result.error("study", name, "was not made from the source", fix)
    if made.probe != _SAME_SCANS and sorted(anew, key=_by_id) != sorted(made.rows, key=_by_id):
        result.error(
            "outcomes", "outcomes.json", "what becomes of the answers is not what it says", fix
        )
    return result


def _by_id(row: OutcomeRow) -> str:
    return row.item_id


def _anew(
    source: Bench,
    made: Outcomes,
    data: Path | None,
    outcomes: list[OutcomeRow],
    result: CheckResult,
) -> Iterator[tuple[StudyRecord, list[Fact], list[Item]]]:
    """The studies of the probe's bench, made once more."""
    from situs.probe.changes.bench import changed_study
    from situs.probe.rotations import rotated

    turned = made.probe == _SAME_SCANS
    wanted = {row.item_id.partition("~")[0] if turned else row.item_id for row in made.rows}
    by_study: dict[str, list[Item]] = defaultdict(list)
    for item in source.items():
        if item.item_id in wanted:
            by_study[item.study_id].append(item)
    locations = Locations.read(source.folder, data)
    for study in source.studies():
        items = by_study.get(study.study_id)
        if not items:
            continue
        if turned:
            yield study, [], list(rotated(items))
            continue
        try:
            yield changed_study(source, study, items, made.probe, made.profile, locations, outcomes)
        except SitusError as error:
            result.error(
                "evidence", study.study_id, error.problem, error.fix or "restore the evidence"
            )
