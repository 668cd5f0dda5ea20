"""How far the place of a slice in its stack tells whether a finding is annotated on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from situs.items.findings.drafts import Draft

__all__ = ["right_by_position"]

_FOLDS = 5
_BANDWIDTH = 1.5
"""Frames: how near a slice of another patient must be to count."""


def right_by_position(drafts: Iterable[Draft]) -> tuple[float, int]:
    """The share of yes/no questions about a slice that its number alone answers right, and how many
    there are.

    It is told what other patients' slices near that number showed of the same finding; a tie counts
    as half.
    """
    groups: dict[tuple[str, ...], list[Draft]] = defaultdict(list)
    for entry in drafts:
        if entry.form == "yes_no" and entry.frame >= 0:
            groups[entry.about].append(entry)
    patients = sorted({entry.patient_id for group in groups.values() for entry in group})
    fold = {patient: number % _FOLDS for number, patient in enumerate(patients)}
    right = 0.0
    for group in groups.values():
        frames = np.array([entry.frame for entry in group], dtype=np.float64)
        answer_signs = np.array([1.0 if entry.key == "yes" else -1.0 for entry in group])
        folds = np.array([fold[entry.patient_id] for entry in group])
        near = np.exp(-0.5 * ((frames[:, None] - frames[None]) / _BANDWIDTH) ** 2)
        near[folds[:, None] == folds[None]] = 0.0
        right += float((0.5 + 0.5 * np.sign(near @ answer_signs) * answer_signs).sum())
    count = sum(len(group) for group in groups.values())
    return (right / count if count else 0.0), count
