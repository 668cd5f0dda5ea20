"""Whether an item can be answered under a profile, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec

from situs.anatomy import term
from situs.bench import SeriesRecord
from situs.errors import SitusError
from situs.items import Answer, Box, Item, boxes_in, frames_in, marks_of, mask_task
from situs.profiles.files import unmet_needs
from situs.profiles.geometry.layout import Layout
from situs.profiles.geometry.marks import marks_on
from situs.profiles.schema import Profile
from situs.profiles.sight.structures import Role, shown_part
from situs.profiles.sight.visibility import SliceView, load_thresholds
from situs.space import Grid
from situs.volumes import LabelMap

__all__ = ["Evidence", "Verdict", "judge_item"]

_SEES = "sees:"
_OF_MILLIMETRES = ("side_convention", "view_convention", "scale", "axial_slices", "anchor")
"""What no profile can give of a series without them; its frames do come in order."""


class Verdict(msgspec.Struct, frozen=True):
    """What stands between an item and its answer."""

    hidden: tuple[str, ...]
    """Reasons why it cannot be answered."""
    unknown: tuple[str, ...]
    """What could not be decided: the item counts as answerable."""


class Evidence(Protocol):
    """Masks and how they look, loaded when asked for."""

    def labels(self) -> LabelMap | None: ...
    def views(self, layout: Layout, labels: LabelMap) -> dict[str, list[SliceView]]: ...
    def role(
        self, layout: Layout, labels: LabelMap, name: str, boxes: tuple[Box, ...]
    ) -> Role | None: ...
    def shares_outside(self, layout: Layout, labels: LabelMap) -> dict[str, float]: ...


def judge_item(
    item: Item, profile: Profile, series: SeriesRecord, layout: Layout, evidence: Evidence
) -> Verdict:
    """All reasons that hide an item under a profile."""
    hidden = [f"needs {need}" for need in unmet_needs(item, profile.gives)]
    unknown: list[str] = []
    if not isinstance(series.grid, Grid):
        metric_needs = [
            need for need in item.needs if need in profile.gives and need in _OF_MILLIMETRES
        ]
        hidden += [f"needs {need}, and the series has no millimetres" for need in metric_needs]
    for reasons in (
        _marks(item, profile, layout),
        _frames(item, layout),
        _places(item.answer, layout),
    ):
        try:
            hidden += reasons
        except SitusError as error:
            unknown.append(error.one_line())
    seen = [need.removeprefix(_SEES) for need in item.needs if need.startswith(_SEES)]
    if seen:
        _judge_sight(item, series, layout, evidence, seen, hidden, unknown)
    return Verdict(tuple(dict.fromkeys(hidden)), tuple(dict.fromkeys(unknown)))


def _marks(item: Item, profile: Profile, layout: Layout) -> Iterator[str]:
    letters = sorted(marks_of(item))
    if letters and not profile.draw.marks:
        yield "its marks are not drawn"
    elif letters:
        drawn = {
            letter
            for of_frame in marks_on(layout, item)
            for of_tile in of_frame.values()
            for letter in of_tile
        }
        yield from (
            f"mark {letter} lies outside the pictures" for letter in letters if letter not in drawn
        )


def _frames(item: Item, layout: Layout) -> Iterator[str]:
    if item.level == "slice":
        shown_frames = {
            tile.source_index
            for frame in layout.frames
            for tile in frame.tiles
            if tile.plane in (None, "axial")
        }
        yield from (
            f"frame {frame} is not shown" for frame in item.frames if frame not in shown_frames
        )


def _places(answer: Answer, layout: Layout) -> Iterator[str]:
    """What is to be found must be on a picture."""
    frames, boxes = frames_in(answer), boxes_in(answer)
    if frames and not layout.shown_frames(frames):
        yield "none of the frames it asks for is shown"
    if boxes and not layout.shown_boxes(boxes):
        yield "what it asks to locate lies outside the pictures"


def _judge_sight(
    item: Item,
    series: SeriesRecord,
    layout: Layout,
    evidence: Evidence,
    names: list[str],
    hidden: list[str],
    unknown: list[str],
) -> None:
    try:
        labels = evidence.labels()
    except SitusError as error:
        labels = None
        unknown.append(error.one_line())
    if labels is None:
        _judge_boxes(item, layout, names, hidden, unknown)
        return
    if not series.image_hash:
        unknown.append("contrast, for there is no image")
    # Of masks that the bench does not list, nothing is known of how they look.
    masked = {s.name for s in labels.structures if s.name in series.structures}
    views = evidence.views(layout, labels) if masked & set(names) else {}
    task = mask_task(item)
    needs_whole = task is not None and task.rules.whole and _is_cropped(layout)
    outside = evidence.shares_outside(layout, labels) if needs_whole else {}
    for name in names:
        sighting = (
            Role(views[name], outside.get(name, 0.0))
            if name in masked
            else evidence.role(layout, labels, name, item.boxes)
        )
        if sighting is None:
            unknown.append(f"whether {name} is seen: no mask of it")
        elif why := _why_unseen(item, sighting.views):
            hidden.append(f"{_spoken(name)} is not seen: {why}")
        elif needs_whole and sighting.outside > load_thresholds().cut_share:
            hidden.append(
                f"{_spoken(name)} is not seen whole: {sighting.outside:.0%} of it lies outside the"
                " pictures"
            )


def _spoken(name: str) -> str:
    """A structure's name; a role in words (`largest:*` is the largest lesion)."""
    role, _, family = name.rpartition(":")
    words = {"largest": "the largest", "second": "the second largest"}.get(role)
    return name if words is None else f"{words} {'lesion' if family == '*' else term(family).plain}"


def _is_cropped(layout: Layout) -> bool:
    """Whether any acquired voxel lies beyond what is shown."""
    return any(
        part.start > 0 or part.stop < (axis.acquired or 0)
        for part, axis in zip(shown_part(layout), layout.lattice.axes, strict=True)
    )


def _why_unseen(item: Item, views: list[SliceView]) -> str:
    """Empty if it is seen on enough slices."""
    limits = load_thresholds()
    about = (
        [v for v in views if v.source_index in item.frames]
        if item.level == "slice" and item.frames
        else views
    )
    needed = 1 if about is not views else limits.slices
    wide = {(v.plane, v.source_index) for v in about if v.width_px >= limits.width_px}
    clear = {
        (v.plane, v.source_index)
        for v in about
        if v.width_px >= limits.width_px and (v.contrast is None or v.contrast >= limits.contrast)
    }
    if len(clear) >= needed:
        return ""
    if not about:
        return "it is on no picture"
    if len(wide) < needed:
        return f"it is {limits.width_px} px wide on {_slices(len(wide))}, and {needed} are needed"
    return f"it stands out from its surroundings on {_slices(len(clear))}, and {needed} are needed"


def _judge_boxes(
    item: Item, layout: Layout, names: list[str], hidden: list[str], unknown: list[str]
) -> None:
    """Without masks: whether the structures' boxes are on the pictures and large enough there."""
    limits = load_thresholds()
    unknown.append("contrast, for there are no masks")
    for name in names:
        boxes = [box for box in item.boxes if box.label == name]
        if not boxes:
            unknown.append(f"whether {name} is seen: neither mask nor box")
            continue
        try:
            rectangles = layout.shown_boxes(boxes)
        except SitusError as error:
            unknown.append(error.one_line())
            continue
        wide = {
            box.frame
            for box in rectangles
            if min(box.x1 - box.x0, box.y1 - box.y0) >= limits.width_px
        }
        needed = (
            1
            if item.level == "slice" or all(hasattr(box, "frame") for box in boxes)
            else limits.slices
        )
        if len(wide) < needed:
            what = f"its box is {limits.width_px} px wide on {_slices(len(wide))}"
            hidden.append(f"{_spoken(name)} is not seen: {what}, and {needed} are needed")


def _slices(count: int) -> str:
    return f"{count} slice" if count == 1 else f"{count} slices"
