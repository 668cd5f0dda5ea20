"""Law 1, axis order: the order and direction in which a file stores its axes, or an oblique grid,
changes no fact, answer or side."""

from __future__ import annotations

import itertools

import msgspec
import nibabel
import nrrd
import numpy as np
import pytest
import SimpleITK as sitk  # noqa: N813
from _studies import (
    ORDERS,
    Order,
    close,
    ledger_of,
    phantom_labels,
    reordered,
    reordered_grid,
)

from situs.anatomy import is_spine, lesion_family, load_vocabulary
from situs.facts import Fact, Ledger, measure_file
from situs.items import TASKS, Boxes, Frames, Item, Number, candidates
from situs.measure import EndShape, Regions, flat_ends
from situs.space import AXES, Affine, Grid
from situs.volumes import LabelMap, Structure

COARSE = (7.0, 8.0, 9.0)
VERY_COARSE = (8.5, 9.0, 9.5)
FEW = ("liver", "spleen", "kidney_left", "kidney_right", "aorta", "stomach")
OBLIQUE = 1
"""A patient of population 5 whose scan is tilted."""
SIZE_KINDS = (
    "voxels",
    "volume",
    "centroid",
    "box",
    "components",
    "touches_border",
    *(f"extent.{a}" for a in AXES),
)
PAIR_KINDS = (
    "centre_distance",
    "boundary_distance",
    "surface_gap",
    "touching",
    "contact_area",
    "volume_ratio",
)
AXIS_KINDS = tuple(
    f"{kind}.{axis}" for kind in ("gap", "precedence", "angle", "direction") for axis in AXES
)


def every_fact(ledger: Ledger, *, pairs: bool) -> dict[str, Fact]:
    """All facts of a study by id; with `pairs` also of every two structures."""
    for name in ledger.structures:
        for kind in (*SIZE_KINDS, "right_share", "side"):
            ledger.fact(kind, name)
    for family in {f for name in ledger.structures if (f := lesion_family(name))}:
        ledger.fact("largest", family)
    for a, b in itertools.combinations(ledger.structures, 2) if pairs else ():
        for kind in (*PAIR_KINDS, "enveloping", *AXIS_KINDS):
            ledger.fact(kind, a, b)
    return {fact.fact_id: fact for fact in ledger.known_facts()}


def assert_same_facts(found: dict[str, Fact], expected: dict[str, Fact]) -> None:
    assert found.keys() == expected.keys()
    for fact_id, fact in found.items():
        other = expected[fact_id]
        assert close((fact.value, fact.interval), (other.value, other.interval), 1e-9, 1e-9), (
            fact,
            other,
        )
        assert (fact.flags, fact.derivation) == (other.flags, other.derivation)


def assert_same_items(found: list[Item], expected: list[Item]) -> None:
    assert [item.item_id for item in found] == [item.item_id for item in expected]
    for item, other in zip(found, expected):
        assert close(msgspec.to_builtins(item), msgspec.to_builtins(other), 1e-9, 1e-9), (
            item.question
        )


def ask(ledger: Ledger) -> tuple[list[Item], dict[str, int]]:
    found, not_asked = candidates(ledger, "p", TASKS.values(), seed=0)
    return [candidate.item for candidate in found], dict(not_asked)


class Known:
    """What a study as stored gives: items, reasons and facts, computed once."""

    def __init__(self, labels: LabelMap, *, pairs: bool) -> None:
        self.labels, self.pairs = labels, pairs
        self.ledger = ledger_of(labels)
        self.items, self.reasons = ask(self.ledger)
        self.facts = every_fact(self.ledger, pairs=pairs)
        assert self.items

    def check(self, order: Order) -> None:
        """The same study in another order gives the same."""
        other = ledger_of(reordered(self.labels, order))
        items, reasons = ask(other)
        assert reasons == self.reasons
        assert_same_items(items, self.items)
        assert_same_facts(every_fact(other, pairs=self.pairs), self.facts)


@pytest.fixture(scope="module")
def patient() -> Known:
    """Few structures, since questions grow with the fourth power of their number."""
    labels = phantom_labels(5, 0, VERY_COARSE)
    assert labels.grid.affine.obliquity_degrees > 3.0
    kept = [
        s for s in labels.structures if s.name in FEW or lesion_family(s.name) or is_spine(s.name)
    ]
    return Known(LabelMap(labels.grid, labels.layers, tuple(kept)), pairs=False)


@pytest.fixture(scope="module")
def oblique_patient() -> Known:
    labels = phantom_labels(5, OBLIQUE, COARSE)
    assert labels.grid.affine.obliquity_degrees > 3.0
    return Known(labels, pairs=True)


def test_the_48_orders_are_all_different():
    affine = Affine(np.diag([1.0, 2.0, 3.0, 1.0]))
    assert (
        len({reordered_grid(Grid((3, 4, 5), affine), order).affine.codes for order in ORDERS}) == 48
    )


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_affine_reordered_agrees_with_mapped_voxels(order):
    """`Affine.reordered` puts every voxel of the reordered array where it was."""
    rng = np.random.default_rng(ORDERS.index(order))
    shape = (3, 4, 5)
    affine = Affine(np.vstack([rng.normal(size=(3, 4)) * 30, [0, 0, 0, 1]]))
    axes, flips = order
    new_shape = tuple(shape[a] for a in axes)
    found = affine.reordered(axes, flips, new_shape)
    for index in np.ndindex(*new_shape):
        stored = np.zeros(3)
        for position, a in enumerate(axes):
            stored[a] = (
                new_shape[position] - 1 - index[position] if flips[position] else index[position]
            )
        np.testing.assert_allclose(
            found.to_world(np.array([index])), affine.to_world(stored[None]), atol=1e-10
        )


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("order", ORDERS[1:], ids=str)
def test_items_and_facts_in_every_order(patient, order):
    """Every question, text, answer, step,
    box and reason not to ask, and the facts of every structure."""
    patient.check(order)


@pytest.mark.sampled
@pytest.mark.parametrize("number", [5, 22, 31, 47])
def test_facts_of_all_pairs_of_an_oblique_scan(oblique_patient, number):
    """Distances, contacts and directions between all structures."""
    oblique_patient.check(ORDERS[number])


@pytest.mark.parametrize(
    ("spacing", "normal"),
    [
        ((1.0, 1.0, 2.0), (0.0, 0.0, 1.0)),
        ((1.5, 1.5, 1.5), (-0.6, 0.0, 0.8)),
        ((0.7, 2.1, 0.7), (0.3, -0.8, 0.5)),
    ],
)
def test_planes_in_which_a_structure_ends_in_every_order(spacing, normal):
    """An ellipsoid that a plane cuts off:
    on a regular grid many voxels of its end are equally far out."""
    shape = (31, 34, 20)
    from_centre = np.moveaxis(np.indices(shape), 0, -1) - (15.3, 16.6, 9.4)
    mask = (((from_centre / (12.4, 13.1, 8.2)) ** 2).sum(axis=-1) <= 1.0) & (
        from_centre @ np.array(normal) < 4.0
    )
    grid = Grid(shape, Affine(np.diag([*spacing, 1.0])))
    labels = LabelMap(
        grid, (np.asfortranarray(mask.astype(np.uint8)),), (Structure(1, "liver", 0, 1),)
    )

    def ends(stored: LabelMap) -> list:
        found = flat_ends(Regions(stored)["liver"], EndShape(0.3, -1.0, 0.3, 0.3), 60.0)
        return sorted(
            [*np.round(end.normal, 6), round(end.offset_mm, 6), *end.profile] for end in found
        )

    expected = ends(labels)
    assert expected
    for order in ORDERS[5::14]:
        assert close(ends(reordered(labels, order)), expected, 2e-6, 2e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("index", range(12))
def test_sweep_of_patients_in_all_orders(index, little_of):
    known = Known(phantom_labels(11, index, (4.0, 4.5, 5.0)), pairs=True)
    for order in little_of(ORDERS[1:], 3):
        known.check(order)


@pytest.mark.sampled
@pytest.mark.parametrize("index", range(4))
def test_an_oblique_or_finer_grid_changes_no_answer(index):
    """The same patient scanned upright, tilted and finer:
    what is proved on two grids is the same on both."""
    scans = [
        ask(ledger_of(phantom_labels(7, index, spacing, oblique=oblique)))[0]
        for spacing, oblique in (
            ((6.0, 6.0, 6.0), False),
            ((6.0, 6.0, 6.0), True),
            ((4.0, 4.5, 5.0), True),
        )
    ]
    shared = 0
    for one, two in itertools.combinations(scans, 2):
        answers = {item.item_id: item for item in one}
        for item in two:
            other = answers.get(item.item_id)
            if other is None:
                continue
            shared += 1
            assert item.question == other.question
            if isinstance(item.answer, Number):
                (a, b), (c, d) = item.answer.interval, other.answer.interval
                assert max(a, c) <= min(b, d)
            elif isinstance(item.answer, Boxes):
                assert item.answer.boxes[0].iou(other.answer.boxes[0]) > 0.3
            elif not isinstance(item.answer, Frames):  # another grid has other slices
                assert item.answer == other.answer
    assert shared > 30


# ----------------------------------------------------------------------------------------------
# through files


@pytest.fixture(scope="module")
def organs() -> LabelMap:
    """One layer of a phantom, numbered as TotalSegmentator does,
    on a grid that single precision holds exactly."""
    labels, ids = (
        phantom_labels(5, 3, COARSE, oblique=False),
        load_vocabulary("totalsegmentator").ids,
    )
    layer = np.zeros(labels.grid.shape, dtype=np.uint8)
    for s in labels.structures:
        if s.layer == 0:
            layer[labels.layers[0] == s.value] = ids[s.name]
    directions = np.sign(np.rint(labels.grid.affine.linear / 7.0))
    matrix = np.eye(4)
    matrix[:3, :3] = directions * np.array([6.5, 8.0, 8.75])
    matrix[:3, 3] = (-120.25, 64.5, 512.75)
    return LabelMap(Grid(labels.grid.shape, Affine(matrix)), (layer,), ())


def save(folder, array: np.ndarray, affine: np.ndarray, suffix: str):
    path = folder / f"labels{suffix}"
    if suffix.startswith(".nii"):
        nibabel.save(nibabel.Nifti1Image(array, affine), path)
        return path
    lps = np.diag([-1.0, -1.0, 1.0, 1.0]) @ affine
    if suffix == ".nrrd":
        header = {
            "space": "left-posterior-superior",
            "space directions": lps[:3, :3].T,
            "space origin": lps[:3, 3],
        }
        nrrd.write(str(path), array, header)
        return path
    image = sitk.GetImageFromArray(array.transpose(2, 1, 0))
    spacing = np.sqrt((lps[:3, :3] ** 2).sum(axis=0))
    image.SetSpacing(spacing.tolist())
    image.SetDirection((lps[:3, :3] / spacing).ravel().tolist())
    image.SetOrigin(lps[:3, 3].tolist())
    sitk.WriteImage(image, str(path), useCompression=True)
    return path


def comparable(path) -> dict:
    measured = measure_file(path, names="totalsegmentator", pairs="all", annotation="automatic")
    found = msgspec.to_builtins(measured)
    for structure in found["structures"]:
        del structure["box_index"]
    del found["warnings"]
    return found


@pytest.fixture(scope="module")
def expected(organs, tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("plain")
    return comparable(save(folder, organs.layers[0], organs.grid.affine.matrix, ".nii"))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("suffix", "number"),
    [
        (".nii.gz", 9),
        (".nii.gz", 38),
        (".nii", 20),
        (".mha", 0),
        (".mha", 13),
        (".nrrd", 0),
        (".nrrd", 30),
    ],
)
def test_files_in_any_order_and_format_measure_the_same(organs, expected, tmp_path, suffix, number):
    other = reordered(organs, ORDERS[number])
    path = save(tmp_path, np.asfortranarray(other.layers[0]), other.grid.affine.matrix, suffix)
    found = comparable(path)
    assert len(found["structures"]) > 15
    assert close(found, expected, 1e-9, 1e-9)


def test_a_folder_of_masks_measures_as_one_file(organs, expected, tmp_path):
    """Masks stored in yet another order, one file per structure."""
    names = load_vocabulary("totalsegmentator").labels
    other = reordered(organs, ORDERS[27])
    for value in np.unique(other.layers[0])[1:]:
        mask = np.asfortranarray((other.layers[0] == value).astype(np.uint8))
        nibabel.save(
            nibabel.Nifti1Image(mask, other.grid.affine.matrix),
            tmp_path / f"{names[int(value)]}.nii.gz",
        )
    assert close(comparable(tmp_path), expected, 1e-9, 1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize("suffix", [".nii.gz", ".mha", ".nrrd"])
def test_an_oblique_file_keeps_its_facts_in_another_order(tmp_path, suffix):
    """Headers round an oblique affine (NIfTI to single precision),
    so millimetres agree to that rounding."""
    labels = phantom_labels(5, OBLIQUE, COARSE)
    found = []
    for number in (0, 29):
        other = reordered(labels, ORDERS[number])
        folder = tmp_path / str(number)
        folder.mkdir()
        found.append(
            comparable(
                save(folder, np.asfortranarray(other.layers[0]), other.grid.affine.matrix, suffix)
            )
        )
    assert close(found[0], found[1], 1e-5, 2e-4)
