"""Whether a room lets anyone answer an item:
the rule of profiles, over every picture that could be asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from situs.items import Box, Item
from situs.profiles import Layout, Verdict
from situs.profiles.sight.hidden import judge_item
from situs.profiles.sight.structures import Role
from situs.profiles.sight.visibility import SliceView, load_thresholds
from situs.room.view.evidence import Masks, Target, sightings_on
from situs.room.view.scan import Look, Picture, Scan
from situs.volumes import LabelMap

__all__ = ["possible"]

_TRIES = 12
"""Slices of a plane that are tried, the largest sections first."""
_LARGEST = 2
"""Of these, the ones that are tried in other windows and magnified."""
_ZOOMS = (2.0, 4.0, 8.0)
_PICTURES = 24
"""Whole slices that are kept of a series, for the structures of the items to come."""


def possible(item: Item, scan: Scan, masks: Masks | None) -> Verdict:
    """All reasons that hide an item in a room."""
    evidence = _Evidence(item, scan, masks)
    return judge_item(item, scan.profile, scan.series, scan.answer_layout, evidence)


class _Evidence:
    """What the judgement of an item looks at:
    a structure on the slices that show it best, in any plane."""

    def __init__(self, item: Item, scan: Scan, masks: Masks | None) -> None:
        self._item = item
        self._scan = scan
        self._masks = masks

    def labels(self) -> LabelMap | None:
        """The masks."""
        return None if self._masks is None else self._masks.labels

    def views(self, layout: Layout, labels: LabelMap) -> dict[str, list[SliceView]]:
        """How structures look, worked out for those that are asked for."""
        return _Views(self)  # type: ignore[return-value]

    def role(
        self, layout: Layout, labels: LabelMap, name: str, boxes: tuple[Box, ...]
    ) -> Role | None:
        """How a lesion looks that has no mask of its own; the room shows the whole scan."""
        assert self._masks is not None
        known = self._masks.region(name, self._item) is not None
        return Role(self.best_views(name), 0.0) if known else None

    def shares_outside(self, layout: Layout, labels: LabelMap) -> dict[str, float]:
        """Nothing lies outside what can be asked for."""
        return {}

    def best_views(self, name: str) -> list[SliceView]:
        """The structure on its largest sections, until enough of them are clear;
        kept for the items to come."""
        assert self._masks is not None
        item = self._item
        frames = item.frames if item.level == "slice" else ()
        box = next((one for one in item.boxes if one.label == name), None)
        known = self._masks.best_views
        key = f"{name}/{box}/{frames}"
        if key not in known:
            known[key] = self._best_views(name)
        return known[key]

    def _best_views(self, name: str) -> list[SliceView]:
        limits, views = load_thresholds(), list[SliceView]()
        target = Target(name, "mask", limits.slices)
        needed = 1 if self._item.level == "slice" and self._item.frames else limits.slices
        clear: set[tuple[str, int]] = set()
        for look in self._looks(name):
            picture = self._picture(look)
            for one in sightings_on(picture, self._item, (target,), self._scan, self._masks):
                views.append(SliceView(one.plane, one.index, one.width_px or 0, one.contrast))
                if one.is_clear:
                    clear.add((one.plane, one.index))
            if len(clear) >= needed:
                break
        return views

    def _picture(self, look: Look) -> Picture:
        """Drawn once for all structures that it may show; only whole slices are met again."""
        assert self._masks is not None
        drawn = self._masks.pictures
        if look in drawn:
            return drawn[look]
        picture = self._scan.picture(look, self._scan.windows[look.window], {})
        if look.zoom == 1.0:
            if len(drawn) >= _PICTURES:
                del drawn[next(iter(drawn))]
            drawn[look] = picture
        return picture

    def _looks(self, name: str) -> Iterator[Look]:
        """Whole slices in the first window, as a session begins; then, for what is too small or too
        faint there, other windows and magnified looks at the largest sections."""
        assert self._masks is not None
        first, *others = self._scan.windows
        slices = list(self._slices(name))
        whole = [Look(plane, (index,), first) for plane, index in slices]
        # Which slices come first decides nothing, so those that are drawn already do.
        drawn = self._masks.pictures
        yield from sorted(whole, key=lambda look: look not in drawn)
        largest = [
            one
            for plane in self._scan.planes
            for one in [one for one in slices if one[0] == plane][:_LARGEST]
        ]
        yield from (Look(plane, (at,), name) for name in others for plane, at in largest)
        zooms = [zoom for zoom in _ZOOMS if zoom <= self._scan.room.most_zoom]
        for zoom in zooms if self._scan.has_mm else ():
            for plane, index in largest:
                middle = self._middle(name, Look(plane, (index,), first))
                yield from (
                    Look(plane, (index,), window, zoom, middle) for window in (first, *others)
                )

    def _middle(self, name: str, look: Look) -> tuple[float, float, float]:
        """Where a magnified look at a structure has its centre."""
        assert self._masks is not None
        layout = self._scan.layout(look)
        (tile,) = layout.frames[0].tiles
        region = self._masks.region(name, self._item)
        mask = None if region is None else region.on(layout, tile)
        assert mask is not None
        rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
        shares = [
            (0.5 * (ends[0] + ends[-1]) + 0.5) / count
            for ends, count in ((columns, mask.shape[1]), (rows, mask.shape[0]))
        ]
        left, top = tile.corner
        at = [left + shares[0] * tile.size[0] - 0.5, top + shares[1] * tile.size[1] - 0.5]
        x, y, z = tile.to_source(np.array([at]))[0]
        return float(x), float(y), float(z)

    def _slices(self, name: str) -> Iterator[tuple[str, int]]:
        assert self._masks is not None
        region = self._masks.region(name, self._item)
        assert region is not None
        of_slice = self._item.frames if self._item.level == "slice" else ()
        for plane in self._scan.planes:
            if of_slice and plane in ("axial", "frame"):
                yield from ((plane, frame) for frame in of_slice)
                continue
            areas = region.areas(self._scan, plane)
            order = np.argsort(-areas, kind="stable")[:_TRIES]
            yield from ((plane, int(index)) for index in order if areas[index])


class _Views(Mapping[str, list[SliceView]]):
    """Structure → its views, made when asked for."""

    def __init__(self, evidence: _Evidence) -> None:
        self._evidence = evidence

    def __getitem__(self, name: str) -> list[SliceView]:
        return self._evidence.best_views(name)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0
