"""How a mask follows the edge of what a CT shows, by definition: every voxel and its partner."""

from __future__ import annotations

import numpy as np
import pytest

from situs.facts.masks.edges import edge_contrast, edge_offset
from situs.measure import Regions
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

LIVER, SPLEEN, BODY = 1, 2, 9


def labels_of(layers: list[np.ndarray], spacing: tuple[float, ...] = (4.0, 4.0, 4.0)) -> LabelMap:
    """Liver and spleen in the first layer, the body that holds them in the second, if any."""
    structures = [Structure(LIVER, "liver", 0, LIVER), Structure(SPLEEN, "spleen", 0, SPLEEN)]
    structures += [Structure(BODY, "body", 1, BODY)] if len(layers) > 1 else []
    grid = Grid(layers[0].shape, Affine(np.diag([*spacing, 1.0])))
    return LabelMap(grid, tuple(layers), tuple(structures))


def moved(array: np.ndarray, axis: int, by: int) -> np.ndarray:
    """The values so many voxels further along an axis; -1 beyond the end."""
    wide = np.pad(array, [(abs(by), abs(by)) if a == axis else (0, 0) for a in range(3)],
                  constant_values=-1)  # fmt: skip
    first = abs(by) + by
    return np.take(wide, range(first, first + array.shape[axis]), axis=axis)


def like_organ(layer: np.ndarray, image: np.ndarray, least_spread: float) -> np.ndarray:
    """Voxels within two spreads of the organ's median; a spread is half of what 68 % lie within."""
    dark, middle, bright = np.percentile(image[layer == LIVER], [16, 50, 84])
    reach = 2 * max((bright - dark) / 2, least_spread)
    return (np.abs(image - middle) <= reach).astype(int)


def contrast_by_definition(
    layer: np.ndarray, image: np.ndarray, spacing: tuple[float, ...], least_spread: float
) -> float:
    """Voxels of the mask and their partners 4 mm, or a voxel, off; neither mask's, nor beyond."""
    like, inner, outer, free = like_organ(layer, image, least_spread), 0, 0, 0
    for axis in range(3):
        for sign in (1, -1):
            by = sign * max(1, round(4.0 / spacing[axis]))
            partner = (layer == LIVER) & (moved(layer, axis, by) == 0)
            free += partner.sum()
            inner += like[partner].sum()
            outer += moved(like, axis, by)[partner].sum()
    return (inner - outer) / free


def offset_by_definition(layer: np.ndarray, image: np.ndarray, spacing: tuple[float, ...]) -> float:
    """Three layers on either side of the rim, 1.5 mm or a voxel apart: how much of each is like
    the organ, against the innermost and the outermost."""
    like, counts = like_organ(layer, image, 15.0), np.zeros(6)
    for axis in range(3):
        apart = max(1, round(1.5 / spacing[axis]))
        for sign in (1, -1):
            inside = [-sign * apart * k for k in (2, 1, 0)]
            beyond = [sign * (1 + apart * k) for k in (0, 1, 2)]
            rim = np.all([moved(layer, axis, by) == LIVER for by in inside], axis=0)
            rim &= np.all([moved(layer, axis, by) == 0 for by in beyond], axis=0)
            counts += [moved(like, axis, by)[rim].sum() for by in inside + beyond]
    return float(((counts - counts[-1]) / (counts[0] - counts[-1])).sum()) - 3


def noisy_scan(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A ragged liver at the border of the array, a spleen upon it, and values that overlap."""
    rng = np.random.default_rng(seed)
    layer = np.zeros((26, 24, 22), dtype=np.uint8)
    layer[5:20, 3:19, 0:14] = LIVER
    layer[5:20, 3:19, 14:][rng.random((15, 16, 8)) < 0.1] = LIVER
    layer[6:16, 19:21, 2:12] = SPLEEN
    image = rng.normal(30.0, 25.0, layer.shape)
    solid = np.zeros(layer.shape, dtype=bool)
    solid[4:21, 2:20, 0:15] = True
    image[solid] += 60.0
    return layer, image


@pytest.mark.parametrize("spacing", [(1.0, 2.1, 5.0), (0.7, 4.0, 1.4)])
@pytest.mark.parametrize("seed", range(3))
def test_contrast_and_place_of_a_noisy_edge(seed: int, spacing: tuple[float, ...]) -> None:
    layer, image = noisy_scan(seed)
    for layers in ([layer], [layer, np.full(layer.shape, BODY, dtype=np.uint8)]):
        labels = labels_of(layers, spacing)
        region = Regions(labels)["liver"]
        for least in (15.0, 40.0):
            expected = contrast_by_definition(layer, image, spacing, least)
            found = edge_contrast(region, labels, image, {BODY}, least)
            assert found == pytest.approx(expected)
        expected = offset_by_definition(layer, image, spacing)
        assert edge_offset(region, labels, image, {BODY}) == pytest.approx(expected)
        # Who counts as a neighbour everywhere leaves no free edge.
        if len(layers) > 1:
            assert edge_contrast(region, labels, image, set()) is None
            assert edge_offset(region, labels, image, set()) is None


def plain(shape: tuple[int, ...], size: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """A block of 100 in what is 0 elsewhere, three voxels from the first corner."""
    layer = np.zeros(shape, dtype=np.uint8)
    layer[tuple(slice(3, 3 + n) for n in size)] = LIVER
    return layer, 100.0 * layer


def test_an_edge_of_two_hundred_voxels_tells_and_a_smaller_one_does_not() -> None:
    """2 × 2 × 24 voxels have 200 faces; with one of them covered 199 are free."""
    layer, image = plain((8, 8, 30), (2, 2, 24))
    region = Regions(labels_of([layer]))["liver"]
    assert edge_contrast(region, labels_of([layer]), image, ()) == 1.0
    layer[2, 3, 3] = SPLEEN
    labels = labels_of([layer])
    assert edge_contrast(Regions(labels)["liver"], labels, image, ()) is None


@pytest.mark.parametrize(("covered", "known"), [(0, True), (1, False)])
def test_three_tenths_of_the_edge_must_be_free(covered: int, known: bool) -> None:
    """10 × 10 × 20 voxels have 1000 faces, of which the spleen covers 700 and then one more."""
    layer, image = plain((16, 16, 26), (10, 10, 20))
    block = tuple(slice(3, 3 + n) for n in (10, 10, 20))
    for axis, at in ((0, 2), (0, 13), (1, 2), (2, 2)):
        side = list(block)
        side[axis] = slice(at, at + 1)
        layer[tuple(side)] = SPLEEN
    layer[5, 13, 5 : 5 + covered] = SPLEEN
    labels = labels_of([layer])
    found = edge_contrast(Regions(labels)["liver"], labels, image, ())
    assert found == (1.0 if known else None)


def test_a_mask_a_layer_too_small_or_too_large() -> None:
    """On every side the organ ends a layer farther out, or farther in, than the mask says."""
    for grown in (0, 1, -1):
        layer, _ = plain((46, 45, 47), (40, 39, 41))
        organ = np.zeros(layer.shape)
        organ[tuple(slice(3 - grown, 3 + n + grown) for n in (40, 39, 41))] = 100.0
        labels = labels_of([layer])
        found = edge_offset(Regions(labels)["liver"], labels, organ, ())
        # Where two faces of the organ meet, a few rows leave it sooner, or never enter it.
        assert found == pytest.approx(grown, abs=0.1)


@pytest.mark.parametrize(("around", "alike"), [(70.0, True), (69.0, False), (130.0, True)])
def test_values_within_two_spreads_are_like_the_organ(around: float, alike: bool) -> None:
    """An organ of 100 everywhere: values of one tissue differ by 15 HU at least, so that 70 to 130
    are like it, inside and beyond its edge."""
    layer, image = plain((30, 24, 24), (12, 12, 12))
    image[layer == 0] = around
    labels = labels_of([layer])
    region = Regions(labels)["liver"]
    assert edge_contrast(region, labels, image, ()) == (0.0 if alike else 1.0)
    # A rim of that value, less than 16 % of the organ, in what is not like it.
    image[layer == 0] = 0.0
    image[3, 3:15, 3:15] = around
    rim = 144 / (6 * 144) if not alike else 0.0
    beside = 4 * 12 / (6 * 144) if not alike else 0.0
    found = edge_contrast(region, labels, image, ())
    assert found == pytest.approx(1.0 - rim - beside)
    place = edge_offset(region, labels, image, ())
    assert (place == 0.0) is alike


@pytest.mark.parametrize(("side", "known"), [(0, True), (1, False)])
def test_the_place_of_an_edge_needs_two_hundred_rows(side: int, known: bool) -> None:
    """A plate of 10 × 10 × 3 voxels: 100 rows of three end at either face; with one covered, 199."""
    layer, image = plain((16, 16, 12), (10, 10, 3))
    layer[3 : 3 + side, 3, 8] = SPLEEN
    labels = labels_of([layer])
    # Of the rows along the plate, those at its narrow sides: none is free, all lie at the border.
    layer[:3, :, :], layer[13:, :, :] = SPLEEN, SPLEEN
    layer[:, :3, :], layer[:, 13:, :] = SPLEEN, SPLEEN
    found = edge_offset(Regions(labels)["liver"], labels, image, ())
    assert found == (0.0 if known else None)


@pytest.mark.parametrize(("bright", "known"), [(60, True), (59, False)])
def test_the_place_of_an_edge_needs_three_tenths_of_it_clear(bright: int, known: bool) -> None:
    """A plate of 10 × 10 × 3 voxels whose surroundings are alike but beyond 60 rows of 200."""
    layer, image = plain((16, 16, 12), (10, 10, 3))
    layer[:3, :, :], layer[13:, :, :] = SPLEEN, SPLEEN
    layer[:, :3, :], layer[:, 13:, :] = SPLEEN, SPLEEN
    image[:] = 100.0
    rows = [(3 + n // 10, 3 + n % 10) for n in range(bright)]
    for x, y in rows:
        image[x, y, 6:] = 500.0
    labels = labels_of([layer])
    found = edge_offset(Regions(labels)["liver"], labels, image, ())
    assert found == (0.0 if known else None)


def test_a_large_organ_is_sampled_and_its_edge_is_the_same() -> None:
    layer, image = plain((70, 66, 64), (62, 60, 58))
    labels = labels_of([layer])
    region = Regions(labels)["liver"]
    assert region.voxels > 200_000
    assert edge_contrast(region, labels, image, ()) == 1.0
    assert edge_offset(region, labels, image, ()) == 0.0
