"""What the station takes of a bench:
each item as a reader sees it before and after the reveal, and its volume."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from situs.bench import Bench, SeriesRecord, StudyRecord
from situs.errors import SitusError
from situs.facts import Fact
from situs.items import (
    Choice,
    Item,
    Simple,
    YesNo,
    kind_of,
    parts_of,
    right_options,
)
from situs.items import marks_of as drawn_marks
from situs.profiles import FileVolumes
from situs.report.pictures.evidence import Evidence
from situs.report.pictures.marks import marks_of
from situs.report.viewer.fact_rows import FactTable
from situs.report.viewer.flags import series_note
from situs.report.viewer.payload import item_detail
from situs.report.viewer.subjects import subjects_of
from situs.review.key import key_words
from situs.review.station.places import (
    STATION_PROFILE,
    is_solid,
    key_places,
    slice_words,
)
from situs.review.station.slices import store_masks, store_volume
from situs.run import Viewing
from situs.space import FrameBox, Grid, WorldPoints

__all__ = ["ItemSnapshot", "take_snapshots", "wrong_key"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class ItemSnapshot(msgspec.Struct, frozen=True):
    """One item; `shown` is all that stage 1 may tell."""

    item: Item
    shown: dict[str, Any]
    hidden: dict[str, Any]


def take_snapshots(
    bench: Bench,
    items: Sequence[Item],
    volumes: Path,
    *,
    data: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Iterator[ItemSnapshot]:
    """Snapshots in the order of series, one volume in memory at a time;
    volumes go to the folder `volumes`."""
    by_series: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        by_series[item.study_id, item.series].append(item)
    studies = {study.study_id: study for study in bench.studies()}
    viewing = Viewing(bench, STATION_PROFILE)
    source = FileVolumes(bench, data=data)
    done = 0
    for (study_id, name), of_series in by_series.items():
        study = studies[study_id]
        series = next((s for s in study.series if s.series == name), None)
        if series is None or not series.image_hash:
            raise SitusError(
                f"study {study_id} has no image to read",
                where=bench.folder,
                fix="build the bench with images, or choose other items",
            )
        opened = _Series(bench, study, series, source, volumes, viewing)
        for item in of_series:
            yield opened.snapshot(item)
            done += 1
            progress(done, len(items))


class _Series:
    """One series, stored, with what its items need."""

    def __init__(
        self,
        bench: Bench,
        study: StudyRecord,
        series: SeriesRecord,
        source: FileVolumes,
        volumes: Path,
        viewing: Viewing,
    ) -> None:
        self.bench, self.study, self.series, self.shown = bench, study, series, viewing
        self.facts: dict[str, Fact] = {
            fact.fact_id: fact for fact in bench.facts(study_id=study.study_id)
        }
        self.shapes = {
            (fact.kind, fact.subjects[0]): fact
            for fact in self.facts.values()
            if fact.kind in ("centroid", "box") and fact.subjects and fact.series == series.series
        }
        self.folder = volumes / series.image_hash
        self.evidence: Evidence | None = None
        grid = series.grid if isinstance(series.grid, Grid) else None
        self.grid = None if grid is None else grid.in_patient_order()
        if grid is not None and series.labels_hash:
            self.evidence = Evidence(bench, study, series, source)
        array = source.image(series)
        self.info = store_volume(self.folder, array, grid, series.modality, _body_part(study))

    def snapshot(self, item: Item) -> ItemSnapshot:
        """One item of the series."""
        table = FactTable(quotes=True)
        detail = item_detail(item, self.facts, table, self.bench)
        # The key stands by itself; a conclusion in words would give catch trials away.
        steps = tuple(step for step in detail.steps if step.kind != "conclude")
        detail = msgspec.structs.replace(detail, steps=steps)
        used = [self.facts[name] for name in item.fact_ids if name in self.facts]
        note = series_note(self.study, self.series)
        places = key_places(item, self.shown)
        hidden = {
            "item_id": item.item_id,
            "source_id": item.source_id,
            "task": item.task,
            "form": item.form,
            "study_id": item.study_id,
            "volume": self.series.image_hash,
            "key": key_words(item, slice_words(places)),
            "right": _right(item),
            "detail": detail,
            "facts": table.rows,
            "notes": note.flags,
            "places": places,
            **self._overlay(item, used),
        }
        visible = {
            "question": item.question,
            "form": item.form,
            "parts": [_part(name, part) for name, part in parts_of(item.answer).items()],
            "options": [[a, o.text] for a, o in zip(_LETTERS, item.options)],
            "marks": self._marks(item),
            "frames": self._frames(item),
            "size": list(self.info.shape),
        }
        return ItemSnapshot(item, msgspec.to_builtins(visible), msgspec.to_builtins(hidden))

    def _overlay(self, item: Item, used: list[Fact]) -> dict[str, Any]:
        """Structures and measured lines that the reveal draws;
        masks are stored beside the volume."""
        if self.evidence is None:
            return {"structures": [], "overlay": None}
        evidence = self.evidence
        subjects = [
            s for s in subjects_of(item, used, self.bench.info.terms) if s.structure in evidence
        ]
        masks = {s.structure: evidence.mask(s.structure) for s in subjects}
        store_masks(self.folder, masks, self.series.labels_hash)
        jumps = {s.structure: _best_slices(evidence.mask(s.structure)) for s in subjects}
        return {
            "structures": subjects,
            "labels": self.series.labels_hash,
            "jumps": jumps,
            "overlay": marks_of(item, subjects, used, self.shapes, evidence),
        }

    def _frames(self, item: Item) -> list[int]:
        """The slices a question is about, as the station counts them."""
        if item.level != "slice":
            return []
        return (
            list(item.frames) if self.shown.obstacle(item) else self.shown.frames(item, item.frames)
        )

    def _marks(self, item: Item) -> list[list[Any]]:
        """Marks that belong to the question, as patient-ordered index points."""
        result: list[list[Any]] = []
        for letter, box in drawn_marks(item).items():
            if isinstance(box, FrameBox):
                point: Sequence[float] = self._point_on_frame(item, box)
            elif self.grid is not None:
                middle = (np.array(box.lo_mm) + np.array(box.hi_mm)) / 2
                point = self.grid.affine.to_index(WorldPoints(middle[None]))[0]
            else:
                continue
            result.append([letter, [round(float(v), 2) for v in point]])
        return result

    def _point_on_frame(self, item: Item, mark: FrameBox) -> tuple[float, float, int]:
        """A mark of one frame as an index point: pictures begin where the indices are largest."""
        columns, rows, _ = self.info.shape
        # A point has no area, and what has none is not shown: a pixel around it is.
        around = FrameBox(mark.frame, mark.x0 - 0.5, mark.y0 - 0.5, mark.x1 + 0.5, mark.y1 + 0.5)
        (shown,) = self.shown.boxes(item, [around])
        x, y = (shown.x0 + shown.x1) / 2, (shown.y0 + shown.y1) / 2
        return columns - 0.5 - x, rows - 0.5 - y, shown.frame


def wrong_key(snapshot: ItemSnapshot, pick: int) -> dict[str, Any] | None:
    """The hidden part of a catch trial:
    the same item with a key that is plainly wrong; None if it has none."""
    item = snapshot.item
    match item.answer:
        case YesNo(value):
            other: Simple = YesNo(not value)
        case Choice():
            right = right_options(item.answer)
            wrong = [option.value for option in item.options if option.value not in right]
            if not wrong:
                return None
            other = Choice(wrong[pick % len(wrong)])
        case _:
            return None
    changed = msgspec.structs.replace(item, answer=other)
    detail = dict(snapshot.hidden["detail"])
    rows = zip(detail["options"], item.options)
    right = right_options(other)
    detail["options"] = [[a, text, option.value in right] for (a, text, _), option in rows]
    detail["answer"] = key_words(changed)
    return snapshot.hidden | {
        "key": key_words(changed),
        "right": _right(changed),
        "detail": detail,
        "catch": True,
    }


def _right(item: Item) -> list[str]:
    """What a reader chooses if right: letters, or yes or no; empty for other forms."""
    match item.answer:
        case YesNo(value):
            return ["yes" if value else "no"]
        case Choice():
            right = right_options(item.answer)
            return [a for a, option in zip(_LETTERS, item.options) if option.value in right]
        case _:
            return []


def _part(name: str, answer: Simple) -> dict[str, Any]:
    """How a part is answered; never a value."""
    grades = sorted(getattr(answer, "grades", ()))
    return {
        "name": name,
        "form": kind_of(answer),
        "unit": getattr(answer, "unit", ""),
        "grades": grades,
        "solid": is_solid(answer),
    }


def _best_slices(mask: np.ndarray[Any, Any]) -> list[int]:
    """For each patient axis the slice with most of the structure."""
    result = []
    for axis in range(3):
        others = tuple(other for other in range(3) if other != axis)
        result.append(int(np.argmax(np.count_nonzero(mask, axis=others))))
    return result


def _body_part(study: StudyRecord) -> str:
    names = {name for series in study.series for name in series.structures}
    knee = {"meniscus", "tibia", "femoral_cartilage", "femur_cartilage"}
    return "knee" if any(part in name for part in knee for name in names) else ""
