"""Annotation files and reviewed lists, read together into one record a volume."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from situs.anatomy import finding_name, finding_of, organ_of_volume
from situs.errors import Problem, Severity, SitusError
from situs.space import FrameBox
from situs.volumes.frames.annotations import AnnotationSet, FrameAnnotation, Mark, SourceCounts
from situs.volumes.frames.coco import CocoVolume, read_coco
from situs.volumes.frames.rows import BadRow, BoxRow, box_of, dirt
from situs.volumes.frames.table import read_box_csv, read_list

__all__ = ["read_annotations"]


def read_annotations(
    files: Sequence[Path], lists: Sequence[Path] = (), *, skip_bad: bool = False
) -> AnnotationSet:
    """Every volume that the files annotate or the lists say was reviewed, in the order of their
    names.

    A volume in a list without a row was read and nothing was found. Rows that cannot be read are an
    error, or left out and reported with `skip_bad`. Whatever was left out is still no proof of
    absence: its volume keeps a mark of it, and every volume does if it names none.
    """
    annotation_set = AnnotationSet([], {}, {}, {}, [], {})
    reviewed = _reviewed(lists)
    unusable: dict[str, set[Mark]] = defaultdict(set)
    organ_of_list: dict[Path, Counter[str]] = defaultdict(Counter)
    for path in files:
        rows, volumes, bad = _usable_rows(path, skip_bad=skip_bad)
        annotation_set.problems += [
            Problem(Severity.ERROR, "row", e.where, e.problem, _left_out(e)) for e in bad
        ]
        battery = list(dirt(rows, (finding_name(row.label)[1] for row in rows)))
        annotation_set.problems += battery
        annotation_set.counts[path.name] = _counts(
            rows, Counter(problem.code for problem in battery)
        )
        by_volume: dict[str, list[BoxRow]] = {volume: [] for volume in volumes}
        for row in rows:
            by_volume.setdefault(row.volume, []).append(row)
            box = box_of(row)
            if box is not None:
                annotation_set.row_of.setdefault((row.volume, box), row.where)
            elif row.frame is not None:
                unusable[row.volume].add(Mark(row.frame, row.name))
        for entry in bad:
            unusable[entry.volume].add(entry.mark)
            if entry.volume:
                by_volume.setdefault(entry.volume, [])
        _refuse_volumes_twice(by_volume, annotation_set.file_of, path)
        organ = _organ(rows)
        for volume, volume_rows in by_volume.items():
            annotation_set.file_of[volume] = path
            if volume in reviewed:
                organ_of_list[reviewed[volume]][organ] += 1
            annotation_set.annotations.append(
                _annotation(volume, volume_rows, organ, volume in reviewed, volumes.get(volume))
            )
    for volume, path in reviewed.items():
        annotation_set.list_of[volume] = path
        if volume in annotation_set.file_of:
            continue
        if not organ_of_list[path]:
            raise SitusError(
                "lists no volume that is annotated",
                where=path,
                fix="give the list of these annotations",
            )
        organ = organ_of_volume(volume) or organ_of_list[path].most_common(1)[0][0]
        annotation_set.file_of[volume] = path
        annotation_set.annotations.append(FrameAnnotation(volume, organ, (), reviewed=True))
    annotation_set.annotations = [
        msgspec.structs.replace(
            volume_rows, unusable=tuple(sorted(unusable[volume_rows.volume] | unusable[""]))
        )
        for volume_rows in annotation_set.annotations
    ]
    _count_lists(annotation_set, files, reviewed)
    annotation_set.annotations.sort(key=lambda annotation: annotation.volume)
    return annotation_set


def _usable_rows(
    path: Path, *, skip_bad: bool
) -> tuple[list[BoxRow], dict[str, CocoVolume], list[BadRow]]:
    """The rows of a file; bad ones are an error, or returned with `skip_bad`."""
    rows, volumes, bad = _rows(path)
    if bad and (not skip_bad or not rows):
        more = f" (and {len(bad) - 1} more rows)" if len(bad) > 1 else ""
        fix = "fix them, or add --skip-bad"
        raise SitusError(bad[0].problem + more, where=bad[0].where, fix=fix)
    if not rows and not volumes:
        raise SitusError("holds no row", where=path, fix="give a file with boxes")
    return rows, volumes, bad


def _refuse_volumes_twice(volumes: Iterable[str], file_of: Mapping[str, Path], path: Path) -> None:
    twice = next((volume for volume in volumes if volume in file_of), None)
    if twice is not None:
        where = f"{file_of[twice].name} and {path.name}"
        raise SitusError(
            "annotate the same volume", where=where, fix="give each volume in one file"
        )


def _rows(path: Path) -> tuple[list[BoxRow], dict[str, CocoVolume], list[BadRow]]:
    volumes: dict[str, CocoVolume] = {}
    if path.suffix.lower() == ".json":
        volumes, entries = read_coco(path)
    else:
        entries = read_box_csv(path)
    rows: list[BoxRow] = []
    bad: list[BadRow] = []
    for entry in entries:
        if isinstance(entry, BoxRow):
            rows.append(entry)
        else:
            bad.append(entry)
    return rows, volumes, bad


def _left_out(row: BadRow) -> str:
    return (
        "left out"
        if row.volume
        else "left out; it could be about any volume, so none counts as read as normal"
    )


def _reviewed(lists: Sequence[Path]) -> dict[str, Path]:
    reviewed: dict[str, Path] = {}
    for path in lists:
        for volume in read_list(path):
            reviewed.setdefault(volume, path)
    return reviewed


def _organ(rows: list[BoxRow]) -> str:
    """The organ most labels of the file belong to; empty where the table does not know them."""
    organs = Counter(finding_of(row.name).organ for row in rows)
    return organs.most_common(1)[0][0] if organs else ""


def _annotation(
    volume: str, rows: list[BoxRow], organ: str, reviewed: bool, listed: CocoVolume | None
) -> FrameAnnotation:
    boxes: dict[FrameBox, None] = {}
    for row in rows:
        box = box_of(row)
        if box is not None:
            boxes[box] = None
    patient = next((row.patient for row in rows if row.patient), "") or (
        listed.patient if listed else ""
    )
    return FrameAnnotation(
        volume,
        organ,
        tuple(sorted(boxes, key=lambda b: (b.frame, b.label, b.x0, b.y0, b.x1, b.y1))),
        tuple(sorted({row.name for row in rows if row.frame is None})),
        reviewed,
        patient,
        listed.frames if listed else 0,
        listed.size if listed else None,
    )


def _counts(rows: list[BoxRow], dirty: Counter[str]) -> SourceCounts:
    boxes = [row for row in rows if row.frame is not None]
    volumes, with_boxes = {row.volume for row in rows}, {row.volume for row in boxes}
    return SourceCounts(
        rows=len(rows),
        box_rows=len(boxes),
        study_rows=len(rows) - len(boxes),
        volumes=len(volumes),
        volumes_with_boxes=len(with_boxes),
        volumes_with_study_labels_only=len(volumes - with_boxes),
        annotated_frames=len({(row.volume, row.frame) for row in boxes}),
        labels=len({row.name for row in rows}),
        box_labels=len({row.name for row in boxes}),
        zero_size=dirty["zero-size"],
        outside=dirty["outside"],
        duplicate_rows=dirty["duplicate"],
        same_box_two_labels=dirty["two-labels"],
        two_study_labels=dirty["two-study-labels"],
        repeated_places=len(rows) - len({row.place for row in rows}),
    )


def _count_lists(
    annotation_set: AnnotationSet, files: Sequence[Path], reviewed: dict[str, Path]
) -> None:
    """Each list belongs to the annotation file that shares most volumes with it."""
    by_list: dict[Path, list[str]] = defaultdict(list)
    for volume, path in reviewed.items():
        by_list[path].append(volume)
    for volumes in by_list.values():
        shared = Counter(annotation_set.file_of[volume] for volume in volumes)
        owner = next((path for path, _ in shared.most_common() if path in files), None)
        if owner is not None:
            counts = annotation_set.counts[owner.name]
            counts.reviewed += len(volumes)
            counts.in_list_only += sum(
                annotation_set.file_of[volume] not in files for volume in volumes
            )
