"""What a profile truly tells a model, read from its settings and words."""

from __future__ import annotations

import re
from string import Formatter

from situs.profiles.planes import Plane
from situs.profiles.schema import Profile, View

__all__ = ["derived_gives", "slots_of"]

_ANCHOR_SLICES = 16
"""A stack with fewer slices than this may miss the vertebrae by which levels are counted."""


def slots_of(text: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def derived_gives(profile: Profile) -> set[str]:
    """The needs of items that the profile meets, for a series with millimetres."""
    view, words = profile.view, profile.prompt.intro
    slots = slots_of(words)
    order_is_named = (
        ("order" in slots or {"first", "last"} <= slots)
        and view.kind == "stack"
        and not _is_one(view)
    )
    gives = set()
    if (
        profile.draw.side_letters
        or "sides" in slots
        or re.search(r"patient[’']s (right|left)", words)
    ):
        gives |= (
            {"view_convention"} if _is_sagittal(view) else {"side_convention", "view_convention"}
        )
    if _is_sagittal(view) and order_is_named:
        gives.add("side_convention")
    if re.search(r"\b(front|anterior)\b", words):
        gives.add("view_convention")
    if _tells_scale(profile, slots):
        gives.add("scale")
    if slots & {"frames", "what"}:
        gives.add("frame_count")
    upright = view.kind == "three_views" or view.plane is not Plane.AXIAL
    if (upright and "view_convention" in gives) or (order_is_named and not upright):
        gives.add("slice_order")
    if view.kind == "stack" and not upright and not _is_one(view):
        gives.add("axial_slices")
    if _shows_all(profile):
        gives.add("anchor")
    return gives


def _is_sagittal(view: View) -> bool:
    """Only the order of such slices tells left from right."""
    return view.kind == "stack" and view.plane is Plane.SAGITTAL


def _is_one(view: View) -> bool:
    return view.kind == "stack" and (view.slices == 1 or view.limit == 1)


def _tells_scale(profile: Profile, slots: set[str]) -> bool:
    """How long a pixel is, the same both ways or told for both, and how far apart pictures are."""
    view = profile.view
    if "spacing" in slots:
        return True
    even = view.size_px is not None or (view.width_px is not None and view.fit == "pad")
    in_plane = even and (profile.draw.scale_bar or "mm_per_pixel" in slots)
    return in_plane and (view.kind == "three_views" or _is_one(view) or "mm_between" in slots)


def _shows_all(profile: Profile) -> bool:
    """From end to end, so that what numbers the vertebrae is inside where the scan holds it."""
    view, crop = profile.view, profile.crop
    is_unlimited = view.index_range is None and view.fraction_range is None and view.limit is None
    if not is_unlimited or (crop.shape or crop.size_mm or (0, 0, 0))[2]:
        return False
    if view.kind == "three_views" or view.plane is not Plane.AXIAL:
        return True
    return view.slices != "item" and (
        not isinstance(view.slices, int) or view.slices >= _ANCHOR_SLICES
    )
