"""A mask that holds several lesions is split into them, whatever order its axes are stored in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from situs.anatomy import load_vocabulary, term
from situs.facts import (
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

SIZES = {
    "largest": (slice(2, 8), slice(2, 8), slice(2, 8)),
    "middle": (slice(12, 16), slice(3, 7), slice(3, 7)),
}
SMALL = (slice(12, 14), slice(12, 14), slice(12, 14))


def _labels(order: tuple[int, int, int], flips: tuple[bool, bool, bool]) -> LabelMap:
    array = np.zeros((20, 18, 17), np.uint8)
    array[:10, :10, :10] = 1
    for place in (*SIZES.values(), SMALL):
        array[place] = 2
    turned = array.transpose(order)[tuple(slice(None, None, -1 if flip else 1) for flip in flips)]
    affine = Affine(np.diag([1.0, 1.5, 2.0, 1.0])).reordered(order, flips, turned.shape)
    structures = (Structure(1, "kidney_left", 0, 1), Structure(2, "kidney_tumour", 0, 2))
    return LabelMap(Grid(turned.shape, affine), (turned,), structures)


def _ledger(labels: LabelMap) -> Ledger:
    kits = load_vocabulary("kits")
    return Ledger(
        labels,
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="manual", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={"kidney_left": term("kidney_left"), "kidney_tumour": kits.term("kidney_tumour")},
    )


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("flips", [(False, False, False), (True, False, True)])
def test_parts_are_numbered_from_the_largest_down(
    order: tuple[int, int, int], flips: tuple[bool, bool, bool]
) -> None:
    ledger = _ledger(_labels(order, flips))
    names = [name for name in ledger.structures if "tumour" in name]
    assert names == ["kidney_tumour_1", "kidney_tumour_2", "kidney_tumour_3"]
    assert [ledger.regions[name].voxels for name in names] == [6**3, 4**3, 2**3]
    assert ledger.fact("largest", "kidney_tumour").value == "kidney_tumour_1"
    # Voxel centres of the largest run from 2 to 7 on every axis.
    assert ledger.regions["kidney_tumour_1"].centroid_mm == pytest.approx(
        [4.5, 4.5 * 1.5, 4.5 * 2.0]
    )


def test_the_vocabularys_word_that_all_are_annotated_stays_with_the_parts() -> None:
    ledger = _ledger(_labels((0, 1, 2), (False, False, False)))
    assert ledger.terms["kidney_tumour_2"].exhaustive
    # The smallest part has eight voxels, fewer than a count may rest on.
    assert ledger.fact("lesion_count", "kidney_tumour").value == 3
    assert "unstable" in ledger.fact("lesion_count", "kidney_tumour").flags


def test_a_mask_of_one_lesion_is_left_alone() -> None:
    labels = _labels((0, 1, 2), (False, False, False))
    array = labels.layers[0].copy()
    array[SIZES["middle"]] = 0
    array[SMALL] = 0
    ledger = _ledger(LabelMap(labels.grid, (array,), labels.structures))
    assert ledger.structures == ["kidney_left", "kidney_tumour"]


def test_an_island_does_not_shorten_the_gap() -> None:
    """Two 10-voxel cubes 20 mm apart;
    one stray voxel halfway is under 1 % and set aside, 20 voxels are not."""
    for stray, expected in ((1, 20.0), (20, 9.0)):
        array = np.zeros((50, 20, 20), np.uint8)
        array[0:10, 5:15, 5:15] = 1
        array[30:40, 5:15, 5:15] = 2
        array[19 : 19 + min(stray, 2), 5 : 5 + max(1, stray // 2), 9] = 2
        structures = (Structure(1, "liver", 0, 1), Structure(2, "spleen", 0, 2))
        ledger = Ledger(
            LabelMap(Grid(array.shape, Affine(np.eye(4))), (array,), structures),
            MaskedSeries(
                study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
            ),
            recipe=load_recipe(),
            terms={"liver": term("liver"), "spleen": term("spleen")},
        )
        assert ledger.fact("surface_gap", "liver", "spleen").value == pytest.approx(9.0)
        assert ledger.fact("main_gap", "liver", "spleen").value == pytest.approx(expected)


def test_of_a_mask_of_dust_the_largest_grain_is_the_main_part() -> None:
    """Interpolated labels leave such rims: no part is one in a hundred of the structure."""
    array = np.zeros((20, 18, 17), np.uint8)
    array[::3, ::3, ::3] = 1
    array[0, 0, 1] = 1
    grid = Grid(array.shape, Affine(np.eye(4)))
    structures = (Structure(1, "kidney_left", 0, 1),)
    assert _ledger(LabelMap(grid, (array,), structures)).main_region("kidney_left").voxels == 2
