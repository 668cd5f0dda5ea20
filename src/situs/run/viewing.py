"""What the pictures of a run hold of each item: the space in which places are spoken of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from situs.bench import Bench
from situs.errors import SitusError
from situs.items import Answer, Box, Boxes, Compound, Item, boxes_in, frames_in
from situs.profiles import (
    AnswerSpace,
    Layout,
    Profile,
    Stack,
    layout_of,
    options_text,
    prompt_text,
)
from situs.space import FrameBox, FrameBoxes, Grid, PixelGrid, WorldBox

__all__ = ["NATIVE", "Viewing", "volume_hull"]

Made = TypeVar("Made")
_MOST_PICTURES = 8000
"""Pictures of all layouts that are remembered; each holds a few kilobytes."""

NATIVE = msgspec.convert(
    {
        "name": "native",
        "view": {"slices": "item"},
        "window": {"any": {"low_percentile": 0.0, "high_percentile": 100.0}},
    },
    Profile,
)
"""Every acquired frame, or the item's, at its own pixels:
what is assumed of answers that come without a profile."""


_MOST_BOXES = 20_000
"""Answers whose boxes on the pictures are remembered:
scoring, blind rows and tables each ask for them."""
_MOST_ITEMS = 4000
"""Items whose pictures are remembered by the record itself:
about two batches, in which each is asked for often."""


@dataclass(slots=True)
class _Seen:
    """An item with what was worked out of its pictures."""

    item: Item
    layout: Layout
    obstacle: str | None = None
    boxes: tuple[tuple[Box, ...], FrameBoxes] | None = None
    """Those asked for last, and what is shown of them."""
    frames: tuple[tuple[int, ...], list[int]] | None = None
    """The same of frames: every metric of every answer asks for them."""


class Viewing:
    """The pictures of every item under a profile, as pure geometry."""

    def __init__(self, bench: Bench, profile: Profile | None = None) -> None:
        self.profile = profile or NATIVE
        self._bench = bench
        self._grids: dict[tuple[str, str], Grid | PixelGrid] | None = None
        self._open_ended: frozenset[tuple[str, str]] = frozenset()
        self._known: dict[Hashable, Any] = {}
        self._layouts: dict[Hashable, Layout] = {}
        self._pictures = 0
        self._seen: dict[int, _Seen] = {}
        self._obstacles: dict[tuple[int, bool], tuple[Layout, str]] = {}
        self._boxes: dict[tuple[int, tuple[Box, ...]], tuple[Layout, FrameBoxes]] = {}

    def once(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """What is worked out of all items of the bench, once for all who look at it in this way."""
        if name not in self._known:
            self._known[name] = make()
        known: Made = self._known[name]
        return known

    @property
    def space(self) -> AnswerSpace:
        """How frames and boxes are spoken of."""
        return self.profile.answer

    def layout(self, item: Item) -> Layout:
        """The pictures of an item; items of one series, or of alike ones, mostly share them."""
        return self._look(item).layout

    def _look(self, item: Item) -> _Seen:
        """What is known of an item's pictures; it is asked for again and again."""
        seen = self._seen.get(id(item))
        # The record is held, so that no other item can have its id.
        if seen is None or seen.item is not item:
            if len(self._seen) >= _MOST_ITEMS:
                self._seen.clear()
            seen = self._seen[id(item)] = _Seen(item, self._layout(item))
        return seen

    def _layout(self, item: Item) -> Layout:
        grid = self.grid(item)
        if isinstance(grid, PixelGrid) and not grid.frames:
            return self._counted(layout_of(self.profile, grid, item))  # as many as it speaks of
        marks = tuple([box for box in item.boxes if box.label[:5] == "mark:"])
        key = (id(grid), item.level, item.frames, marks)
        if key not in self._layouts:
            layout = self._counted(layout_of(self.profile, grid, item))
            self._layouts[key] = layout
        return self._layouts[key]

    def _counted(self, layout: Layout) -> Layout:
        """A new layout; when there are too many pictures, all earlier ones are forgotten."""
        self._pictures += len(layout.frames)
        if self._pictures > _MOST_PICTURES:
            for known in (self._layouts, self._obstacles, self._seen):
                known.clear()
            self._pictures = len(layout.frames)
        return layout

    def prompt(self, item: Item) -> str:
        """The words a model is given;
        the question and its options where the pictures cannot be told."""
        try:
            layout = self.layout(item)
            if self.has_open_end(item):
                # How many frames there are is known from the answers only: to tell it would tell
                # them.
                layout = Layout(layout.lattice, layout.frames, is_counted=False)
            return prompt_text(item, self.profile, layout, item.series)
        except SitusError:
            return f"{item.question}\n{options_text(item)}"

    def obstacle(self, item: Item) -> str:
        """Why places cannot be spoken of under the profile; empty if they can."""
        try:
            seen = self._look(item)
        except SitusError as error:
            return error.problem
        if seen.obstacle is None:
            layout, asked = seen.layout, _asks_for_boxes(item)
            known = self._obstacles.get((id(layout), asked))
            if known is None or known[0] is not layout:
                known = self._obstacles[id(layout), asked] = layout, _obstacle(layout, asked)
            seen.obstacle = known[1]
        return seen.obstacle

    def sizes(self, item: Item) -> list[tuple[float, float]]:
        """Width and height of each picture; infinite where the file's size is not known."""
        return self.layout(item).sizes

    def boxes(self, item: Item, boxes: Iterable[Box]) -> FrameBoxes:
        """The item's boxes on its pictures;
        where one box per volume is asked for, the hull of each label."""
        seen, wanted = self._look(item), tuple(boxes)
        if seen.boxes is not None and seen.boxes[0] is wanted:
            return seen.boxes[1]
        layout = seen.layout
        key = id(layout), wanted
        known = self._boxes.get(key)
        if known is None or known[0] is not layout:
            drawn = [box for box in layout.shown_boxes(wanted) if box.area > 0]
            rectangles = volume_hull(drawn) if self.space.box_form == "volume" else drawn
            if len(self._boxes) >= _MOST_BOXES:
                self._boxes.clear()
            self._boxes[key] = known = layout, FrameBoxes.of(rectangles)
        seen.boxes = wanted, known[1]
        return known[1]

    def look_ahead(self, items: Sequence[Item]) -> None:
        """Work out the boxes of many items at once, where their pictures are stacks of slices:
        whoever asks for `boxes` of one of them then finds them."""
        if self.space.box_form == "volume":
            return
        by_stack: dict[int, tuple[Stack, list[tuple[_Seen, tuple[WorldBox, ...]]]]] = {}
        for item in items:
            solid = _solid_boxes(item)
            if not solid or self.obstacle(item):
                continue
            seen = self._look(item)
            stack = seen.layout.stack
            if stack is not None and seen.boxes is None:
                by_stack.setdefault(id(stack), (stack, []))[1].append((seen, solid))
        for stack, waiting in by_stack.values():
            drawn = stack.cuts_of_many([boxes for _, boxes in waiting])
            for (seen, boxes), own in zip(waiting, drawn):
                if own is not None:
                    seen.boxes = boxes, own

    def frames(self, item: Item, frames: Iterable[int]) -> list[int]:
        """Positions of the pictures that show these frames."""
        seen, wanted = self._look(item), tuple(frames)
        if seen.frames is None or seen.frames[0] != wanted:
            seen.frames = wanted, seen.layout.shown_frames(wanted)
        return list(seen.frames[1])

    def has_open_end(self, item: Item) -> bool:
        """Whether more frames may exist than are known of:
        there is no image, and the last one named is the last."""
        self.grid(item)
        return not item.frames and (item.study_id, item.series) in self._open_ended

    def grid(self, item: Item) -> Grid | PixelGrid:
        """The lattice of the item's series."""
        if self._grids is None:
            self._grids, self._open_ended = _grids_of(self._bench)
        try:
            return self._grids[item.study_id, item.series]
        except KeyError as error:
            problem = f"the bench has no series {item.series!r} of study {item.study_id!r}"
            raise SitusError(problem, where=item.item_id, fix="rebuild the bench") from error


def _solid_boxes(item: Item) -> tuple[WorldBox, ...]:
    """The boxes that an item asks for, if all of them are in millimetres; else none."""
    answer = item.answer
    for part in answer.parts.values() if isinstance(answer, Compound) else (answer,):
        if isinstance(part, Boxes):
            boxes: tuple[Any, ...] = part.boxes
            return boxes if all(isinstance(box, WorldBox) for box in boxes) else ()
    return ()


def _asks_for_boxes(item: Item) -> bool:
    answer = item.answer
    parts = answer.parts.values() if isinstance(answer, Compound) else (answer,)
    return any(isinstance(part, Boxes) for part in parts)


def _obstacle(layout: Layout, boxes: bool) -> str:
    """Why frames, or boxes, cannot be told on these pictures; empty if they can."""
    try:
        _ = layout.sizes
        if boxes:
            _ = [frame.tiles[0].matrix for frame in layout.frames[:1]]
    except SitusError as error:
        return error.problem
    return ""


def _grids_of(
    bench: Bench,
) -> tuple[dict[tuple[str, str], Grid | PixelGrid], frozenset[tuple[str, str]]]:
    """The grid of every series, and the series whose number of frames is not known.

    Those go as far as the study's items name them.
    """
    grids: dict[tuple[str, str], Grid | PixelGrid] = {}
    alike: dict[Hashable, Grid | PixelGrid] = {}
    sides: dict[tuple[str, str], tuple[int, int]] = {}
    reach: dict[str, int] = {}
    for study in bench.studies():
        for series in study.series:
            key = (study.study_id, series.series)
            if series.affine or series.shape[0]:
                grids[key] = _shared(alike, series.grid)
            else:
                sides[key] = series.shape[1:]
                reach[study.study_id] = 1
        if not study.series:
            reach[study.study_id] = 1
    for item in bench.items(steps=False) if reach else ():
        if item.study_id in reach and (item.study_id, item.series) not in grids:
            named = [frame + 1 for frame in (*item.frames, *_frames_in(item.answer))]
            reach[item.study_id] = max([reach[item.study_id], *named])
            sides.setdefault((item.study_id, item.series), (0, 0))
    for key, (height, width) in sides.items():
        grids[key] = _shared(alike, PixelGrid(reach[key[0]], width or None, height or None))
    return grids, frozenset(sides)


def _shared(alike: dict[Hashable, Grid | PixelGrid], grid: Grid | PixelGrid) -> Grid | PixelGrid:
    """The first grid that is equal to the last bit:
    thousands of series have one, and then one layout."""
    if isinstance(grid, PixelGrid):
        return alike.setdefault((grid.frames, grid.width, grid.height), grid)
    return alike.setdefault((grid.shape, grid.affine.matrix.tobytes()), grid)


def _frames_in(answer: Answer) -> list[int]:
    """The frames that an answer names, also by its boxes."""
    boxes = boxes_in(answer)
    return [*frames_in(answer), *(box.frame for box in boxes if isinstance(box, FrameBox))]


def volume_hull(boxes: Iterable[FrameBox]) -> list[FrameBox]:
    """For each label the box around all its boxes, on every picture from its first to its last."""
    by_label: dict[str, list[FrameBox]] = {}
    for box in boxes:
        by_label.setdefault(box.label, []).append(box)
    return [
        FrameBox(
            frame,
            min(box.x0 for box in label_boxes),
            min(box.y0 for box in label_boxes),
            max(box.x1 for box in label_boxes),
            max(box.y1 for box in label_boxes),
            label,
        )
        for label, label_boxes in by_label.items()
        for frame in range(
            min(box.frame for box in label_boxes), max(box.frame for box in label_boxes) + 1
        )
    ]
