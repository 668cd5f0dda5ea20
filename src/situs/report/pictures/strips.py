"""What a model saw of an item:
its very pictures, in order, with true and predicted places on them."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from situs.bench import Bench
from situs.errors import SitusError
from situs.items import Item, boxes_in, frames_in, marks_of
from situs.profiles import Layout, Presenter, Profile, Volumes
from situs.report.scored import ReportedRun
from situs.run import Viewing
from situs.space import FrameBox

__all__ = ["PlacedBox", "Strip", "StripFrame", "StripStore", "fewer_frames"]

_MOST_FRAMES = (40, 24, 12, 6, 2)
"""Pictures per item; the next smaller number is taken
when they would not fit its share of the file."""


class PlacedBox(msgspec.Struct, frozen=True, array_like=True):
    """A rectangle on one picture, in its pixels."""

    frame: int
    x0: float
    y0: float
    x1: float
    y1: float
    label: str


class StripFrame(msgspec.Struct, frozen=True, array_like=True):
    """One picture."""

    place: int
    """Its position among those shown, from 0."""
    key: str
    """Into the shared pictures; empty where there are no pixels."""
    width: float
    height: float
    source: int
    """The acquired slice or stored frame, from 0."""


class Strip(msgspec.Struct, frozen=True):
    """The pictures of one item under one profile."""

    profile: str
    runs: tuple[int, ...]
    """Runs that were shown these; baselines and runs without pictures were not."""
    frame_base: int
    total: int
    frames: tuple[StripFrame, ...]
    truth: tuple[PlacedBox, ...]
    said: dict[int, tuple[PlacedBox, ...]]
    """Run → the boxes it gave."""
    true_frames: tuple[int, ...]
    """Positions that are the answer, where frames are asked for."""
    opening: int
    note: str = ""


class StripStore:
    """Strips of items, their pictures shared by content."""

    def __init__(
        self, bench: Bench, runs: Sequence[ReportedRun], volumes: Volumes, *, pixels: bool
    ) -> None:
        self.pictures: dict[str, str] = {}
        self.strips: dict[str, list[Strip]] = {}
        self.bytes = 0
        self.shortened = 0
        self.unreadable: set[str] = set()
        self._runs = runs
        self._pixels = pixels
        self._views = {
            key: _View(bench, profile, places, volumes)
            for key, (profile, places) in _by_profile(runs).items()
        }

    def add(self, item: Item, allowance: int, *, imaged: bool) -> bool:
        """Embed the item's pictures; True if any pixels or boxes are to be seen."""
        strips = []
        for view in self._views.values():
            asked = tuple(n for n in view.runs if self._runs[n].covers(item.item_id))
            if not asked:
                continue
            strip = self._strip(
                item, view, asked, allowance // len(self._views), imaged and self._pixels
            )
            if strip is not None:
                strips.append(strip)
        if strips:
            self.strips[item.item_id] = strips
        return any(frame.key for strip in strips for frame in strip.frames)

    def _strip(
        self, item: Item, view: _View, asked: tuple[int, ...], allowance: int, imaged: bool
    ) -> Strip | None:
        try:
            layout = view.viewing.layout(item)
            rough = ", approximate" if "approximate" in item.tags else ""
            truth = [_placed(box, rough) for box in view.viewing.boxes(item, boxes_in(item.answer))]
            true_frames = tuple(view.viewing.frames(item, frames_in(item.answer)))
        except SitusError:
            return None
        boxes_of_run = {
            run: tuple(_placed(box) for box in self._runs[run].outcome(item.item_id).boxes)
            for run in asked
        }
        # A box opens in its middle, where what it holds is seen best.
        wanted = [box.frame for box in truth[len(truth) // 2 :] + truth[: len(truth) // 2]] + list(
            true_frames
        )
        wanted += [box.frame for boxes in boxes_of_run.values() for box in boxes]
        wanted += [box.frame for box in layout.shown_boxes(tuple(marks_of(item).values()))]
        opening = wanted[0] if wanted else len(layout.frames) // 2
        frames: tuple[StripFrame, ...] = ()
        if imaged:
            frames = self._pictured(item, view, wanted or [opening], allowance)
        if not frames and not truth:
            return None
        if not frames:
            frames = _empty(layout, truth, boxes_of_run, wanted)
        positions = {frame.place for frame in frames}
        return Strip(
            profile=view.profile.name,
            runs=tuple(run for run in asked if _saw_pictures(self._runs[run])),
            frame_base=view.profile.answer.frame_base,
            total=len(layout.frames),
            frames=frames,
            truth=tuple(truth),
            said=boxes_of_run,
            true_frames=true_frames,
            opening=opening if opening in positions else frames[0].place,
            note=(
                ""
                if frames[0].key
                else "No image is embedded: the boxes are drawn on empty frames."
            ),
        )

    def _pictured(
        self, item: Item, view: _View, wanted: Sequence[int], allowance: int
    ) -> tuple[StripFrame, ...]:
        try:
            presented = view.presenter.present(item)
        except SitusError:
            self.unreadable.add(item.item_id)
            return ()
        uris = {
            image.digest: (
                f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"
            )
            for image in presented.images
        }
        for most in _MOST_FRAMES:
            places = fewer_frames(len(presented.images), wanted, most)
            # In the order of the frames: a set would give the file other bytes each time.
            keys = dict.fromkeys(presented.images[position].digest for position in places)
            new = {key: uris[key] for key in keys if key not in self.pictures}
            cost = sum(len(uri) + len(key) + 6 for key, uri in new.items())
            if cost <= allowance:
                break
        else:
            return ()
        self.shortened += most != _MOST_FRAMES[0] and len(places) < len(presented.images)
        self.pictures.update(new)
        self.bytes += cost
        return tuple(
            StripFrame(
                position,
                presented.images[position].digest,
                presented.images[position].width,
                presented.images[position].height,
                presented.layout.frames[position].source_index,
            )
            for position in places
        )


class _View:
    """One profile and the runs under it."""

    def __init__(
        self, bench: Bench, profile: Profile, runs: tuple[int, ...], volumes: Volumes
    ) -> None:
        self.profile = profile
        self.runs = runs
        self.viewing = Viewing(bench, profile)
        self.presenter = Presenter(bench, profile, volumes=volumes)


def _by_profile(runs: Sequence[ReportedRun]) -> Mapping[str, tuple[Profile, tuple[int, ...]]]:
    """Profiles in the order of the runs, models' before baselines'."""
    order = sorted(range(len(runs)), key=lambda n: bool(runs[n].baseline))
    runs_of: dict[str, tuple[Profile, tuple[int, ...]]] = {}
    for run in order:
        if runs[run].info.room:
            continue  # it asked for its pictures: its sessions show them
        profile = runs[run].info.profile
        earlier = runs_of.get(profile.hash, (profile, ()))
        runs_of[profile.hash] = (profile, (*earlier[1], run))
    return runs_of


def _saw_pictures(run: ReportedRun) -> bool:
    return not (run.baseline or run.info.withheld)


def fewer_frames(count: int, wanted: Iterable[int], most: int) -> list[int]:
    """At most so many of `count` pictures:
    those wanted and their neighbours first, then evenly spread ones."""
    if count <= most:
        return list(range(count))
    near = sorted({position for position in wanted if 0 <= position < count})
    chosen = list(
        dict.fromkeys([*near, *(p for n in near for p in (n - 1, n + 1) if 0 <= p < count)])
    )[:most]
    spread = [round(step * (count - 1) / max(1, most - 1)) for step in range(most)]
    for position in spread:
        if len(chosen) < most and position not in chosen:
            chosen.append(position)
    return sorted(chosen)


def _placed(box: FrameBox, rough: str = "") -> PlacedBox:
    x0, y0, x1, y1 = (round(float(v), 2) for v in (box.x0, box.y0, box.x1, box.y1))
    return PlacedBox(box.frame, x0, y0, x1, y1, box.label + rough)


def _empty(
    layout: Layout,
    truth: Sequence[PlacedBox],
    boxes_of_run: Mapping[int, Sequence[PlacedBox]],
    wanted: Iterable[int],
) -> tuple[StripFrame, ...]:
    """Frames without pixels, as large as the bench knows them or as the boxes reach."""
    boxes = [*truth, *(box for run_boxes in boxes_of_run.values() for box in run_boxes)]
    reach = [max((getattr(box, name) for box in boxes), default=1.0) for name in ("x1", "y1")]
    places = fewer_frames(len(layout.frames), wanted, _MOST_FRAMES[1])
    frames = []
    for position in places:
        frame = layout.frames[position]
        width, height = (
            (frame.width, frame.height)
            if frame.is_size_known
            else (1.15 * reach[0], 1.15 * reach[1])
        )
        frames.append(
            StripFrame(position, "", math.ceil(width), math.ceil(height), frame.source_index)
        )
    return tuple(frames)
