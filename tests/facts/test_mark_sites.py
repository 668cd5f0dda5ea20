"""Where marks may lie: in the largest part of a structure, and of that mostly in the core."""

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
    slices = mark_sites(ledger_of_study(study)).anywhere.values()
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


def cores(study: Study, name: str) -> np.ndarray:
    slices = mark_sites(ledger_of_study(study)).cores.values()
    return np.concatenate([sites.get(name, np.empty((0, 3))) for sites in slices])


def test_cores_lie_at_a_third_of_the_greatest_depth_of_their_section() -> None:
    """A liver of 72 × 72 mm: its voxels lie up to 36 mm deep (to the centre of the first voxel
    outside), and a core begins at 35 % of that: 12.6, so at 14."""
    labels = block_labels((100, 90, 48), 2.0, **ORGANS)
    (x0, y0, _), (x1, y1, _) = ORGANS["liver"]
    points = cores(Study(labels), "liver")
    index = points / 2.0
    depth = 2.0 * np.minimum.reduce(
        [index[:, 0] - x0 + 1, x1 - index[:, 0], index[:, 1] - y0 + 1, y1 - index[:, 1]]
    )
    assert depth.max() == (x1 - x0) / 2.0 * 2.0
    assert depth.min() == 14.0
    assert len(points) < len(site_points(Study(labels), "liver"))


def test_no_core_lies_in_a_thin_neighbour_drawn_with_it() -> None:
    """A vessel of 14 mm, drawn under the name of the liver below it, has room for marks, but its
    7 mm are under a quarter of the liver's 36."""
    labels = block_labels((100, 90, 90), 2.0, **{n: _raised(c, 40) for n, c in ORGANS.items()})
    vessel = np.zeros(labels.grid.shape, dtype=bool)
    vessel[18:25, 35:42, 4:44] = True
    study = Study(redrawn(labels, {"liver": mask_of(labels, "liver") | vessel}))
    below = 2.0 * 44
    assert (site_points(study, "liver")[:, 2] < below).any()
    assert len(cores(study, "liver"))
    assert not (cores(study, "liver")[:, 2] < below).any()


def _raised(corners: tuple[tuple[int, ...], ...], by: int) -> tuple[tuple[int, ...], ...]:
    return tuple((x, y, z + by) for x, y, z in corners)


def test_gut_bears_no_mark_where_the_next_stretch_of_it_has_no_mask() -> None:
    """Whoever names a stomach and no duodenum may have drawn both as one: a mark in each would lie
    in one mask, not in one organ."""
    organs = {
        "liver": ((4, 20, 4), (30, 56, 44)),
        "stomach": ((44, 20, 14), (64, 56, 44)),
        "spleen": ((70, 20, 14), (94, 56, 44)),
        "pancreas": ((44, 2, 4), (64, 16, 24)),
        "esophagus": ((66, 2, 30), (74, 12, 46)),
    }
    alone = Study(block_labels((100, 60, 48), 2.0, **organs))
    assert len(site_points(alone, "stomach"))
    assert len(cores(alone, "liver"))
    assert not len(cores(alone, "stomach"))
    organs["duodenum"] = ((32, 20, 4), (42, 56, 12))
    assert len(cores(Study(block_labels((100, 60, 48), 2.0, **organs)), "stomach"))
