"""The recipe's part for boxes on frames."""

from __future__ import annotations

import msgspec

__all__ = ["BoxRules"]


class BoxRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Thresholds of questions about boxes, and how many are asked."""

    link_iou: tuple[float, ...] = (0.0, 0.1, 0.25)
    """Boxes of one label on neighbouring frames are
    one finding if they overlap by more than this."""
    link_gaps: tuple[int, ...] = (0, 1)
    """So many frames between them may be without a box."""
    count_most: int = 6
    clear_frames: int = 2
    """A slice is a negative only this far from a label and what it may be mistaken for."""
    boxes_most: int = 24
    """More boxes than this are not asked for at once."""
    largest_margin: float = 0.1
    """The largest frame is asked for only if the next is smaller by this share."""
    side_share: float = 0.9
    """Share of a box's width that must lie on one side of the midline."""
    midline_half_width: float = 0.01
    """The midline is known no better than this share of the picture's width."""
    compartment_band: float = 0.05
    """A box nearer to the middle of a knee than this
    share of the width is neither medial nor lateral."""
    options: int = 4
    several_options: int = 5
    sheet_share: float = 0.5
    """Of the patients with findings, those of whom questions with countable answers are drawn;
    the others are asked for boxes, frames and words."""
    sheet: int = 4
    """At most so many yes/no questions of a task and level on a patient's sheet."""
    mix: dict[str, int] = {}
    """Task and level (`detection.slice`) → at most so many questions a study,
    instead of what the task declares."""
