"""Where marks may lie: in the largest part of a structure only."""

from __future__ import annotations

import numpy as np
from _blocks import block_labels

from attacks import Study, ledger_of_study
from attacks._study import mask_of, redrawn
from situs.facts.masks.marks.sites import mark_sites

ORGANS = {
    "liver": ((4, 20, 4), (40, 56, 44)),
    "stomach": ((44, 20, 4), (64, 56, 44)),
    "spleen": ((70, 20, 4), (94, 56, 44)),
}
PANCREAS = ((30, 64, 4), (60, 84, 44))


def site_points(study: Study, name: str) -> np.ndarray:
    slices = mark_sites(ledger_of_study(study)).values()
    return np.concatenate([sites.get(name, np.empty((0, 3))) for sites in slices])


def test_marks_keep_to_the_largest_part() -> None:
    """A pancreas that is drawn under the liver's name, apart from the liver, bears no mark: who is
    asked for the liver would be shown the pancreas."""
    labels = block_labels((100, 90, 48), 2.0, **ORGANS, pancreas=PANCREAS)
    joined = mask_of(labels, "liver") | mask_of(labels, "pancreas")
    study = Study(redrawn(labels, {"liver": joined, "pancreas": np.zeros_like(joined)}))
    points = site_points(study, "liver")
    assert len(points)
    assert (points[:, 1] < 2.0 * ORGANS["liver"][1][1]).all()
    assert len(site_points(study, "spleen"))
