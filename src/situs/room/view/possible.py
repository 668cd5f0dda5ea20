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
from situs.room.view.scan import Look, Scan
from situs.volumes import LabelMap

__all__ = ["possible"]

_TRIES = 12
"""Slices of a plane that are tried, the largest sections first."""


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
        window = next(iter(self._scan.windows))
        clear = 0
        for plane, index in self._slices(name):
            look = Look(plane, (index,), window)
            picture = self._scan.picture(look, self._scan.windows[window], {})
            for one in sightings_on(picture, self._item, (target,), self._scan, self._masks):
                views.append(SliceView(one.plane, one.index, one.width_px or 0, one.contrast))
                clear += one.is_clear
            if clear >= limits.slices:
                break
        return views

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
