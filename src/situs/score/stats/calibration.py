"""Judges against human readers: how often they are right,
and what accuracy would be without their errors."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.score.stats.exact import clopper_pearson
from situs.score.stats.prediction_powered import PredictionPowered, prediction_powered

__all__ = ["Calibration", "calibrate"]

_NORMAL_95 = 1.959963984540054
"""How many standard errors a normal interval of 95 % reaches to either side."""


class Calibration(msgspec.Struct, frozen=True):
    """A judge (or the jury) compared with human verdicts on the same answers."""

    judge: str
    n: int
    """Answers with a human verdict and one of the judge."""
    sensitivity: float | None
    """The share of humanly right answers that the judge calls right."""
    sensitivity_ci95: tuple[float, float] | None
    specificity: float | None
    """The share of humanly wrong answers that the judge calls wrong."""
    specificity_ci95: tuple[float, float] | None
    accuracy: float | None
    """What the judge says of all answers."""
    corrected_accuracy: float | None
    """Rogan and Gladen (1978): (accuracy + specificity −
    1) / (sensitivity + specificity − 1), cut to 0 and 1."""
    corrected_ci95: tuple[float, float] | None
    """By the delta method of the same paper; treats answers as independent."""
    note: str = ""
    prediction_powered: PredictionPowered | None = None
    """Human verdicts where there are any, the judge's elsewhere, less its bias;
    patients are clusters."""


def calibrate(
    judge: str, verdicts: NDArray[np.float64], human: NDArray[np.float64], clusters: Sequence[str]
) -> Calibration:
    """Compare verdicts (1, 0, NaN) with human ones;
    accuracy is over all verdicts, the rest where humans spoke."""
    judged = ~np.isnan(verdicts)
    both = judged & ~np.isnan(human)
    right, wrong = both & (human == 1), both & (human == 0)
    positives, negatives = int(right.sum()), int(wrong.sum())
    hits, rejections = int((verdicts[right] == 1).sum()), int((verdicts[wrong] == 0).sum())
    accuracy = float(verdicts[judged].mean()) if judged.any() else None
    sensitivity = hits / positives if positives else None
    specificity = rejections / negatives if negatives else None
    corrected, interval, note = None, None, ""
    if sensitivity is None or specificity is None:
        note = "needs humanly right and humanly wrong answers"
    elif sensitivity + specificity <= 1:
        note = "the judge tells right from wrong no better than chance: nothing to correct with"
    elif accuracy is not None:
        youden = sensitivity + specificity - 1
        raw = (accuracy + specificity - 1) / youden
        corrected = min(max(raw, 0.0), 1.0)
        variance = accuracy * (1 - accuracy) / int(judged.sum())
        variance += raw**2 * sensitivity * (1 - sensitivity) / positives
        variance += (1 - raw) ** 2 * specificity * (1 - specificity) / negatives
        half = _NORMAL_95 * float(np.sqrt(variance)) / youden
        interval = (max(raw - half, 0.0), min(raw + half, 1.0))
    return Calibration(
        judge,
        int(both.sum()),
        sensitivity,
        clopper_pearson(hits, positives) if positives else None,
        specificity,
        clopper_pearson(rejections, negatives) if negatives else None,
        accuracy,
        corrected,
        interval,
        note,
        prediction_powered(verdicts, human, clusters),
    )
