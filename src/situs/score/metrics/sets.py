"""Scores of frames and of several options: sets against sets."""

from __future__ import annotations

from collections.abc import Collection, Hashable

__all__ = [
    "CHOICES_EXACT",
    "CHOICES_F1",
    "FRAMES_ENDS_WITHIN_ONE",
    "FRAMES_F1",
    "FRAMES_IOU",
    "ends_within_one",
    "set_f1",
    "set_iou",
]

FRAMES_IOU = "frames.iou@1"
FRAMES_F1 = "frames.f1@1"
FRAMES_ENDS_WITHIN_ONE = "frames.ends-within-one@1"
CHOICES_EXACT = "choices.exact@1"
CHOICES_F1 = "choices.f1@1"


def set_f1(truth: Collection[Hashable], said: Collection[Hashable]) -> float:
    """2 |A ∩ B| / (|A| + |B|); 1 where both are empty."""
    total = len(truth) + len(said)
    return 2 * len(set(truth) & set(said)) / total if total else 1.0


def set_iou(truth: Collection[Hashable], said: Collection[Hashable]) -> float:
    """|A ∩ B| / |A ∪ B|; 1 where both are empty."""
    union = set(truth) | set(said)
    return len(set(truth) & set(said)) / len(union) if union else 1.0


def ends_within_one(truth: Collection[int], said: Collection[int]) -> bool:
    """Whether the first and the last frame are each at most one picture off."""
    if not truth or not said:
        return not truth and not said
    return abs(min(truth) - min(said)) <= 1 and abs(max(truth) - max(said)) <= 1
