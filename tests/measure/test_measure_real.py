"""Real segmentations against SimpleITK, and every left and right structure on its side.

Set SITUS_REAL_DATA.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from _random_labels import Referee

from situs.anatomy import Naming, load_vocabulary, term
from situs.measure import Regions
from situs.volumes import open_labels

ROOT = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not ROOT.is_dir(), reason="SITUS_REAL_DATA is not set"),
]

NAMED = [
    "totalseg_s0009/segmentations",
    *(str(p.relative_to(ROOT)) for p in ROOT.glob("totalseg_testref/*_seg*.nii.gz")),
]
OTHERS = [
    str(p.relative_to(ROOT))
    for pattern in (
        "tptbox_spine/**/*seg*.nii.gz",
        "slicerio_ctchest/*.seg.nrrd",
        "dcmqi_seg/*.nrrd",
    )
    for p in ROOT.glob(pattern)
]


def load(name: str):
    names = (
        load_vocabulary("totalsegmentator").labels if name in NAMED and "_mr" not in name else {}
    )
    return open_labels(ROOT / name, names).load()


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*NAMED, *OTHERS] or ["none"])
def test_statistics_agree_with_simpleitk(name):
    labels = load(name)
    if labels.grid.affine.is_sheared:
        pytest.skip("SimpleITK knows no sheared grid")
    regions = Regions(labels)
    for layer, array in enumerate(labels.layers):
        referee = Referee(array, labels.grid.affine)
        for structure in (s for s in labels.structures if s.layer == layer):
            region, value = regions[structure.name], structure.value
            assert region.voxels == referee.voxels(value)
            assert (region.box_index.lo, region.box_index.hi) == referee.box(value)
            assert region.volume_ml == pytest.approx(referee.volume_ml(value), rel=1e-6)
            np.testing.assert_allclose(
                region.centroid_mm, referee.centroid_mm(value), rtol=1e-6, atol=1e-4
            )


@pytest.mark.parametrize("name", [n for n in NAMED if "_mr" not in n] or ["none"])
def test_every_pair_lies_on_its_sides(name):
    """RAS+: the right one of a pair has the larger x."""
    regions = Regions(load(name))
    pairs = 0
    for region in regions:
        entry = term(region.name)
        if entry.naming is Naming.POSITIONAL and entry.side == "left" and entry.partner in regions:
            assert regions[entry.partner].centroid_mm[0] > region.centroid_mm[0], region.name
            pairs += 1
    assert pairs >= 3
