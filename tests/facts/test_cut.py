"""A structure is cut where the scan ends: at the array's border, and at the padding around the reconstructed field."""

from __future__ import annotations

import numpy as np
import pytest

from situs.anatomy import term
from situs.facts import Ledger, is_cut, load_recipe
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure, padding_of


def _ledger(padding: np.ndarray | None) -> Ledger:
    array = np.zeros((20, 20, 20), np.uint8)
    array[8:12, 8:12, 8:12] = 1
    array[0:3, 8:12, 8:12] = 2
    structures = (Structure(1, "liver", 0, 1), Structure(2, "spleen", 0, 2))
    return Ledger(
        LabelMap(Grid(array.shape, Affine(np.eye(4))), (array,), structures),
        labels_hash="",
        study_id="s",
        series="ct",
        recipe=load_recipe(),
        annotation="exact",
        side_basis="affine",
        terms={"liver": term("liver"), "spleen": term("spleen")},
        padding=padding,
    )


@pytest.mark.parametrize(
    ("place", "cut"), [((12, 9, 9), True), ((13, 9, 9), False), ((12, 12, 9), False), ((7, 8, 8), True)]
)
def test_padding_that_shares_a_face_cuts(place: tuple[int, int, int], cut: bool) -> None:
    """Voxels 8 to 11 are the liver's: 12 and 7 share a face with it, 13 does not, an edge is not a face."""
    image = np.full((20, 20, 20), 40, np.int16)
    image[place] = -2000
    ledger = _ledger(padding_of(image))
    assert ledger.is_cut("liver") is cut
    assert is_cut(ledger.fact("volume", "liver")) is cut


def test_the_arrays_border_cuts_and_air_does_not() -> None:
    assert padding_of(np.full((4, 4, 4), -1024, np.int16)) is None
    ledger = _ledger(None)
    assert ledger.is_cut("spleen")
    assert not ledger.is_cut("liver")
