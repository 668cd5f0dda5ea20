"""A structure is cut where it touches the limit of the scan, ends bluntly near it, or where its
labels stop early.

Organs are ellipsoids, whose sections follow from a formula; images have noise, as scans do.
"""

from __future__ import annotations

import numpy as np
import pytest

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    ScanValues,
    is_cut,
    load_recipe,
)
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure, doubled_slices, padding_of

SHAPE = (64, 64, 64)
TISSUE, FAT = 60.0, -100.0


def grid_of(shape) -> np.ndarray:
    return np.stack(np.meshgrid(*(np.arange(n, dtype=float) for n in shape), indexing="ij"))


def ellipsoid(centre, axes, shape=SHAPE) -> np.ndarray:
    index = grid_of(shape)
    far = sum(((i - c) / a) ** 2 for i, c, a in zip(index, centre, axes))
    return far <= 1.0


def scan_of(organ: np.ndarray, seed: int = 0) -> np.ndarray:
    """A CT of the organ in fat, with noise."""
    noise = np.random.default_rng(seed).normal(0.0, 12.0, organ.shape)
    image = np.where(organ, TISSUE, FAT) + noise
    image[0, 0, 0] = -900.0  # air in a corner: it is a CT
    return np.rint(image).astype(np.int16)


def ledger_of(
    mask: np.ndarray, image: np.ndarray | None = None, annotation: str = "manual", **others
) -> Ledger:
    names = {"liver": mask, **others}
    layers = tuple(np.asfortranarray(layer.astype(np.uint8)) for layer in names.values())
    structures = tuple(Structure(n + 1, name, n, 1) for n, name in enumerate(names))
    return Ledger(
        LabelMap(Grid(mask.shape, Affine(np.diag([1.5, 1.5, 1.5, 1.0]))), layers, structures),
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation=annotation, side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={name: term(name) for name in names},
        scan=ScanValues(image=image),
    )


WHOLE = ellipsoid((31.5, 31.5, 31.5), (18.0, 14.0, 24.0))


def test_an_organ_that_tapers_is_whole_though_it_ends_near_the_border() -> None:
    """Its tip lies two voxels from the last slice; with and without an image."""
    near = ellipsoid((31.5, 31.5, 41.0), (18.0, 14.0, 20.5))
    assert near.any(axis=(0, 1)).nonzero()[0][-1] == 61
    for mask in (WHOLE, near):
        assert not ledger_of(mask, scan_of(mask)).is_cut("liver")
        assert not ledger_of(mask).is_cut("liver")


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("gap", [0, 1, 2, 3, 4])
def test_labels_that_stop_before_the_border_at_a_large_section_are_cut(
    axis: int, upper: bool, gap: int
) -> None:
    """The organ's middle lies on the border; its labels end some voxels before."""
    centre = [31.5, 31.5, 31.5]
    centre[axis] = 63.0 if upper else 0.0
    organ = ellipsoid(centre, (24.0, 24.0, 24.0))
    index = np.arange(64) if not upper else 63 - np.arange(64)
    mask = organ & (np.moveaxis(np.broadcast_to(index, SHAPE), 2, axis) >= gap)
    ledger = ledger_of(mask)
    assert ledger.is_cut("liver")
    assert is_cut(ledger.fact("volume", "liver"))
    assert ("through" in ledger.cut_flags("liver")) is (gap == 0)


def test_a_partial_last_slice_hides_no_cut() -> None:
    """Resampled labels end in a slice that holds a third of the section, as of a real brain."""
    mask = ellipsoid((31.5, 31.5, 63.0), (24.0, 24.0, 40.0))
    mask[:, :, 62:] = False
    mask[:, :, 61] &= ellipsoid((31.5, 31.5, 61.0), (13.0, 13.0, 4.0))[:, :, 61]
    assert ledger_of(mask).is_cut("liver")


def test_one_loop_that_leaves_the_scan_cuts_a_structure_that_is_larger_elsewhere() -> None:
    body = ellipsoid((31.5, 31.5, 24.0), (26.0, 26.0, 20.0))
    index = grid_of(SHAPE)
    loop = (np.hypot(index[0] - 31.5, index[1] - 31.5) <= 4.0) & (index[2] >= 30) & (index[2] <= 61)
    assert loop.sum(axis=(0, 1)).max() < 0.05 * body.sum(axis=(0, 1)).max()
    assert ledger_of(body | loop).is_cut("liver")
    assert not ledger_of(body).is_cut("liver")


@pytest.mark.sampled
@pytest.mark.parametrize("fill", [0, 17, -1024, -2000, -3024, 3000])
@pytest.mark.parametrize("thick", [1, 6])
def test_slices_of_one_value_are_the_limit_of_the_scan(fill: int, thick: int) -> None:
    organ = ellipsoid((31.5, 31.5, 58.0), (24.0, 24.0, 24.0))
    image = scan_of(organ)
    image[:, :, 64 - thick :] = fill
    mask = organ & (grid_of(SHAPE)[2] < 64 - thick)
    assert ledger_of(mask, image).cut_flags("liver") == ("cut", "through")
    small = ellipsoid((31.5, 31.5, 31.5), (18.0, 14.0, 20.0))
    assert not ledger_of(small, np.where(image == fill, fill, scan_of(small))).is_cut("liver")


@pytest.mark.parametrize(("gap", "cut"), [(0, True), (3, True), (4, True), (6, False)])
def test_a_blunt_end_within_four_voxels_of_what_was_filled_in_is_cut(gap: int, cut: bool) -> None:
    """Fat lies between: nothing but the way to the filled slices speaks of a cut."""
    index = grid_of(SHAPE)
    organ = ellipsoid((31.5, 31.5, 58.0), (24.0, 24.0, 24.0)) & (index[2] < 58 - gap)
    image = scan_of(organ)
    image[:, :, 58:] = -2000
    assert ledger_of(organ, image).is_cut("liver") is cut


def test_a_fill_slice_that_is_askew_to_the_array_is_found() -> None:
    """Resampling onto a turned grid leaves a wedge; in its thinnest slice only a part is filled."""
    organ = ellipsoid((31.5, 31.5, 62.0), (24.0, 24.0, 40.0))
    index = grid_of(SHAPE)
    image = scan_of(organ)
    wedge = index[2] > 62.5 - 0.02 * index[0]
    image[wedge] = 0
    padding = padding_of(image)
    assert padding is not None
    assert (padding == wedge).mean() > 0.999
    assert ledger_of(organ & ~wedge & (index[2] < 61), image).is_cut("liver")


@pytest.mark.sampled
@pytest.mark.parametrize("fill", [-2048, -1024, 0])
def test_the_reconstructed_circle_cuts(fill: int) -> None:
    index = grid_of(SHAPE)
    outside = np.hypot(index[0] - 31.5, index[1] - 31.5) > 31.5
    organ = ellipsoid((60.0, 31.5, 31.5), (20.0, 20.0, 20.0))
    image = scan_of(organ)
    image[outside] = fill
    assert ledger_of(organ & ~outside, image).is_cut("liver")
    assert not ledger_of(WHOLE, np.where(outside, fill, scan_of(WHOLE))).is_cut("liver")


def test_a_missing_slice_cuts_what_it_runs_through() -> None:
    for missing in ("empty", "repeated"):
        image = scan_of(WHOLE)
        image[:, :, 30] = 0 if missing == "empty" else image[:, :, 29]
        assert ledger_of(WHOLE, image).is_cut("liver"), missing
        beside = ellipsoid((31.5, 31.5, 14.0), (14.0, 14.0, 10.0))
        assert not ledger_of(beside, image).is_cut("liver"), missing


def test_slices_that_lie_there_twice_put_the_study_in_doubt() -> None:
    """A third of the scan, merged from two overlapping series: its liver would be a third longer."""
    twice = np.repeat(np.arange(64), np.where((np.arange(64) // 21) == 1, 2, 1))
    for order, doubted in ((np.arange(64), False), (twice, True)):
        ledger = ledger_of(WHOLE[:, :, order], scan_of(WHOLE)[:, :, order])
        assert any("repeat" in one.problem for one in ledger.doubts) is doubted


@pytest.mark.parametrize("factor", [1.2, 2.0])
def test_an_enlarged_image_has_no_missing_slices(factor: float) -> None:
    nearest = (np.arange(int(64 * factor)) / factor).astype(int)
    image = scan_of(WHOLE)[:, :, nearest]
    assert padding_of(image) is None
    assert doubled_slices(image) == 0


def test_single_voxels_beside_metal_are_no_padding() -> None:
    image = scan_of(WHOLE)
    image[50, 31, 31] = -2000
    assert padding_of(image) is None


def test_background_and_drawn_images_are_no_padding() -> None:
    """Around a brain stripped of its skull an MR is 0;
    around drawn organs a CT may be -1000 throughout."""
    for background in (0, -1000):
        image = np.where(WHOLE, scan_of(WHOLE) + 1000, background).astype(np.int16)
        ledger = ledger_of(WHOLE, image)
        assert not ledger.is_cut("liver")
    spleen, liver = (ellipsoid((x, 31.5, 31.5), (8.0, 8.0, 8.0)) for x in (16.0, 44.0))
    drawn = np.where(spleen | liver, 60, -1000).astype(np.int16)
    assert padding_of(drawn) is None, "slices between two organs are empty, not missing"


def test_an_mr_that_was_cut_ends_at_full_size() -> None:
    brain = ellipsoid((31.5, 31.5, 40.0), (28.0, 28.0, 34.0))
    brain[:, :, 52:] = False
    image = np.where(brain, 400 + scan_of(brain), 0).astype(np.int16)
    assert ledger_of(brain, image).is_cut("liver")


@pytest.mark.parametrize(("top", "cut"), [(40, True), (60, False)])
def test_labels_of_a_part_of_the_scan_cut_what_goes_on(top: int, cut: bool) -> None:
    """A label file of the lower slices only, laid onto the image,
    as 3D Slicer saves it; the organ ends at 55."""
    organ = WHOLE[:, :, :top].astype(np.uint8)
    affine = Affine(np.diag([1.5, 1.5, 1.5, 1.0]))
    part = LabelMap(
        Grid(organ.shape, affine), (np.asfortranarray(organ),), (Structure(1, "liver", 0, 1),)
    )
    whole = part.padded(Grid(SHAPE, affine), (0, 0, 0))
    ledger = Ledger(
        whole,
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="manual", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={"liver": term("liver")},
        # The picture shows nothing of it beyond the labels, so that only the block can tell.
        scan=ScanValues(image=scan_of(whole.layers[0] > 0)),
    )
    assert ledger.is_cut("liver") is cut


PLANES = {
    "along an axis": (0.0, 0.0, 1.0),
    "tilted": (0.3, 0.1, 0.95),
    "oblique": (0.6, -0.5, 0.62),
    "sideways": (0.9, 0.43, 0.0),
}


@pytest.mark.sampled
@pytest.mark.parametrize("normal", PLANES.values(), ids=PLANES)
def test_labels_that_stop_at_a_plane_are_cut_where_the_tissue_goes_on(normal) -> None:
    index = grid_of(SHAPE)
    height = sum(n * (i - 31.5) for n, i in zip(normal, index))
    mask = WHOLE & (height < 4.0)
    assert ledger_of(mask, scan_of(WHOLE)).is_cut("liver")
    assert ledger_of(mask).is_cut("liver")
    assert ledger_of(mask).cut_flags("liver") == ("cut",)
    # The organ itself ends there: a flat one in fat, or one that lies against another.
    assert not ledger_of(mask, scan_of(mask)).is_cut("liver")
    assert not ledger_of(mask, scan_of(WHOLE), spleen=WHOLE & ~mask).is_cut("liver")


@pytest.mark.sampled
@pytest.mark.parametrize("ragged", [False, True])
@pytest.mark.parametrize("normal", PLANES.values(), ids=PLANES)
def test_a_cut_near_the_tip_is_seen_in_the_image(normal, ragged: bool) -> None:
    """Sections behind such a cut still grow, so that the shape alone does not tell;
    a ragged one hides it further."""
    index = grid_of(SHAPE)
    height = sum(n * (i - 31.5) for n, i in zip(normal, index)) / np.linalg.norm(normal)
    noise = np.random.default_rng(3).uniform(-0.5, 0.5, SHAPE) if ragged else 0.0
    tip = float(height[WHOLE].max())
    mask = WHOLE & (height + noise < 0.5 * tip)
    assert ledger_of(mask, scan_of(WHOLE)).is_cut("liver")
    assert not ledger_of(mask, scan_of(mask)).is_cut("liver")


def test_exact_masks_end_where_they_end() -> None:
    """By construction they are the truth: only touching the border leaves something out."""
    block = np.zeros(SHAPE, dtype=np.bool_)
    block[20:40, 20:40, 2:30] = True
    assert not ledger_of(block, annotation="exact").is_cut("liver")
    block[:, :, 0:2] = block[:, :, 2:3]
    assert ledger_of(block, annotation="exact").is_cut("liver")
    middle = np.zeros(SHAPE, dtype=np.bool_)
    middle[20:40, 20:40, 20:40] = True
    assert not ledger_of(middle).is_cut("liver")


BALL = ellipsoid((31.5, 31.5, 31.5), (5.0, 5.0, 5.0))
LESION_CONTRAST = 40.0


def scan_with_lesion(organ: np.ndarray, lesion: np.ndarray) -> np.ndarray:
    return scan_of(organ) + np.where(lesion, LESION_CONTRAST, 0.0).astype(np.int16)


@pytest.mark.sampled
@pytest.mark.parametrize("share", [0.3, 0.5])
@pytest.mark.parametrize("normal", PLANES.values(), ids=PLANES)
def test_half_a_small_lesion_is_cut_where_the_image_shows_the_rest(normal, share: float) -> None:
    """A ball of ten voxels: it has too few layers for its shape alone to tell."""
    height = sum(n * (i - 31.5) for n, i in zip(normal, grid_of(SHAPE)))
    part = BALL & (height < np.quantile(height[BALL], 1.0 - share))
    image = scan_with_lesion(WHOLE, BALL)
    assert ledger_of(WHOLE, image, liver_lesion=part).is_cut("liver_lesion")
    assert not ledger_of(WHOLE, image, liver_lesion=BALL).is_cut("liver_lesion")
    # The lesion itself is flat there.
    image = scan_with_lesion(WHOLE, part)
    assert not ledger_of(WHOLE, image, liver_lesion=part).is_cut("liver_lesion")


def test_an_organ_is_cut_with_its_lesions_too() -> None:
    """A lesion that reaches beyond the plane hides that organ and lesion together end in one."""
    lesion = ellipsoid((31.5, 31.5, 45.0), (6.0, 6.0, 7.0))
    mask = WHOLE & ~lesion & (grid_of(SHAPE)[2] < 40.0)
    ledger = ledger_of(mask, scan_with_lesion(WHOLE, lesion), liver_lesion=lesion)
    whole = ledger.whole("liver")
    assert whole != "liver"
    assert ledger.is_cut("liver")
    assert ledger.is_cut(whole)
    assert ledger.fact("volume", whole).flags == ("cut",)


def grazing(depth: float, *, bump_at: float | None = None) -> np.ndarray:
    """An ellipsoid that leaves the scan to one side by so many voxels; or one inside, with a bump
    that does."""
    if bump_at is None:
        return ellipsoid((18.0 - depth, 31.5, 31.5), (18.0, 14.0, 24.0))
    bump = ellipsoid((9.0, 31.5, bump_at), (10.0, 8.0, 6.0))
    return ellipsoid((22.0, 31.5, 31.5), (18.0, 14.0, 24.0)) | bump


@pytest.mark.parametrize(
    ("mask", "cut_ends"),
    [
        (grazing(1.0), ""),  # its flank is off by a voxel: both poles are far from there
        (grazing(12.0), "top+bottom"),  # cut through
        (grazing(0.0, bump_at=50.0), "top"),  # what is missing may lie higher than the upper end
    ],
)
def test_an_organ_that_grazes_a_side_has_its_true_ends(mask: np.ndarray, cut_ends: str) -> None:
    ledger = ledger_of(mask, scan_of(mask))
    assert ledger.is_cut("liver")
    assert ledger.fact("ends_cut", "liver").value == cut_ends


def test_a_stalk_that_leaves_the_scan_may_end_anywhere() -> None:
    mask = ellipsoid((31.5, 31.5, 31.5), (18.0, 14.0, 24.0))
    mask[:20, 30:33, 30:33] = True
    assert ledger_of(mask, scan_of(mask)).fact("ends_cut", "liver").value == "top+bottom"
