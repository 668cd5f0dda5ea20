"""Small copies of public formats, from the command line as a stranger would:
measure, build, check; all axis orders."""

from __future__ import annotations

import itertools
import json

import msgspec
import nibabel as nib
import numpy as np
import pytest

from situs.anatomy import load_vocabulary
from situs.facts import measure_file


def ellipsoid(shape, centre, radii) -> np.ndarray:
    grid = np.ogrid[tuple(slice(n) for n in shape)]
    return sum(((g - c) / r) ** 2 for g, c, r in zip(grid, centre, radii)) <= 1


def save(path, array: np.ndarray, affine: np.ndarray):
    path.parent.mkdir(parents=True, exist_ok=True)
    nib.save(nib.Nifti1Image(array, affine), path)
    return path


def kits(root):
    """Slices first, as published: down, backwards and to the left."""
    shape = (30, 64, 64)
    affine = np.array([[0, 0, -5.0, 160], [0, -5.0, 0, 150], [-6.0, 0, 0, 90], [0, 0, 0, 1.0]])
    for number in range(2):
        labels = np.zeros(shape, np.uint8)
        labels[
            ellipsoid(shape, (14, 38, 46), (8, 5, 5.5)) | ellipsoid(shape, (15, 38, 18), (8, 5, 5))
        ] = 1
        labels[ellipsoid(shape, (11, 38, 46 - 28 * number), (3, 3, 3))] = 2
        labels[ellipsoid(shape, (19, 38, 18), (2, 2.4, 2))] = 3
        image = np.where(
            labels > 0, 120, np.where(ellipsoid(shape, (15, 32, 32), (90, 24, 29)), 40, -1000)
        )
        image[:, :, :2] = -2000
        save(root / f"case_{number:05d}" / "imaging.nii.gz", image.astype(np.int16), affine)
        save(root / f"case_{number:05d}" / "segmentation.nii.gz", labels, affine)
    return root / "case_00000", root / "case_00000" / "segmentation.nii.gz", "kits"


def brats(root, code: int = 4):
    shape, affine = (
        (48, 48, 32),
        np.array([[-5.0, 0, 0, 120], [0, -5.0, 0, 120], [0, 0, 5.0, -70], [0, 0, 0, 1.0]]),
    )
    centre = (32, 20, 18)
    core = ellipsoid(shape, centre, (4.4, 4.8, 3.5))
    labels = np.where(core, 1, np.where(ellipsoid(shape, centre, (8, 9, 7)), 2, 0)).astype(np.uint8)
    labels[core & ~ellipsoid(shape, centre, (2.7, 3, 2.2))] = code
    case, mark, kinds = ("BraTS20_Training_001", "_", ("t1", "t1ce", "t2", "flair"))
    if code == 3:
        case, mark, kinds = ("BraTS-GLI-00001-000", "-", ("t1n", "t1c", "t2w", "t2f"))
    for kind in kinds:
        image = np.where(
            ellipsoid(shape, (24, 24, 16), (15, 19, 13)), 300 + 100 * labels.astype(int), 0
        )
        save(root / case / f"{case}{mark}{kind}.nii.gz", image.astype(np.int16), affine)
    path = save(root / case / f"{case}{mark}seg.nii.gz", labels, affine)
    return root / case, path, "brats2020" if code == 4 else "brats2023"


def atlas(root, vocabulary: str = "aal116"):
    """A cell for each of the 116 regions on the side that its name says,
    in MNI space with x stored leftward."""
    names = load_vocabulary(vocabulary).labels
    ids = {name: label for label, name in names.items()}
    affine = np.array([[-4.0, 0, 0, 90], [0, 4.0, 0, -126], [0, 0, 4.0, -72], [0, 0, 0, 1.0]])
    labels = np.zeros((46, 55, 46), np.uint16)
    cells = itertools.product(range(3), range(6), range(4))
    for (label, name), (x, y, z) in zip(
        ((i, n) for i, n in names.items() if n.endswith("_left")), cells
    ):
        for side, value in ((-1, label), (1, ids[name.replace("_left", "_right")])):
            centre = np.linalg.solve(affine, [side * (14 + 22 * x), -90 + 28 * y, -50 + 30 * z, 1])[
                :3
            ]
            labels[ellipsoid(labels.shape, centre, (2.4, 2.6, 2.8))] = value
    middle = [label for label, name in names.items() if not name.endswith(("_left", "_right"))]
    for number, label in enumerate(middle):
        labels[22:24, 8 + 5 * number : 11 + 5 * number, 2:5] = label
    tissue = (
        20 + np.indices(labels.shape).sum(axis=0) % 5
    )  # no value is so common as to be a background
    save(root / "t1.nii.gz", np.where(labels > 0, 100, tissue).astype(np.int16), affine)
    path = save(root / "labels.nii.gz", labels, affine)
    (root / "atlas.csv").write_text("study,patient,image,labels\nmni,mni,t1.nii.gz,labels.nii.gz\n")
    return root / "atlas.csv", path, "aal"


FORMATS = {
    "kits": kits,
    "brats 2020": brats,
    "brats 2023": lambda root: brats(root, 3),
    "aal": atlas,
    "aal codes": lambda root: atlas(root, "aal116_codes"),
}


def measured(path, names: str) -> dict[str, float | str | bool | None]:
    """All values that do not speak of indices, by their path."""
    found: dict = {}

    def walk(value, key: str) -> None:
        if isinstance(value, dict):
            for name, inner in value.items():
                if "index" not in name and "slice" not in name:
                    walk(inner, f"{key}.{name}")
        elif isinstance(value, list | tuple):
            for number, inner in enumerate(value):
                walk(inner, f"{key}.{number}")
        else:
            found[key] = value

    report = measure_file(path, names=names, pairs="touching", annotation="manual", details=True)
    walk(msgspec.to_builtins(report), "")
    return found


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("name", FORMATS)
def test_measure_build_and_check(name, situs, tmp_path):
    place, _, names = FORMATS[name](tmp_path / "data")
    root = place if place.suffix == ".csv" else place.parent
    # The atlas here is a lattice of cells, on their sides but not in the order of a brain.
    given = ("--names", names, "--trust", "mni") if names == "aal" else ()
    ran = situs("build", "masks", root, "--out", tmp_path / "bench", "--json", *given)
    assert ran.code == 0, ran.err
    built = json.loads(ran.out)
    assert built["items"] > 0
    checked = situs("check", tmp_path / "bench", "--json")
    report = json.loads(checked.out)
    untrusted = [problem for problem in report["problems"] if "trusted" not in problem["problem"]]
    assert (checked.code, untrusted) == (0, [])
    assert report["recomputed"] == built["items"]


@pytest.mark.parametrize("name", ["kits", "brats 2020", "brats 2023"])
def test_a_case_folder_names_its_own_labels(name, situs, tmp_path):
    place, labels, names = FORMATS[name](tmp_path)
    ran = situs("measure", place, "--json")
    assert ran.code == 0, ran.err
    named = json.loads(situs("measure", labels, "--names", names, "--json").out)
    found = json.loads(ran.out)
    assert [s["name"] for s in found["structures"]] == [s["name"] for s in named["structures"]]
    assert not any(s["name"].startswith("label_") for s in found["structures"])


@pytest.mark.parametrize("vocabulary", ["aal116", "aal116_codes"])
def test_every_region_of_an_atlas_lies_on_its_side(vocabulary, situs, tmp_path):
    _, labels, _ = atlas(tmp_path, vocabulary)
    found = json.loads(situs("measure", labels, "--names", "aal", "--json").out)["structures"]
    assert len(found) == 116
    for s in found:
        x = s["centroid_mm"][0]
        assert s["side"] == ("right" if x > 8 else "left" if x < -8 else None), s["name"]


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("name", ["kits", "brats 2020"])
def test_no_fact_changes_in_any_axis_order(name, tmp_path, little_of):
    _, path, names = FORMATS[name](tmp_path)
    expected = measured(path, names)
    image = nib.load(path)
    orders = list(
        itertools.product(itertools.permutations(range(3)), itertools.product((1, -1), repeat=3))
    )
    for order, signs in little_of(orders, 12):
        turn = np.array([order, signs]).T
        array = nib.orientations.apply_orientation(np.asarray(image.dataobj), turn)
        affine = image.affine @ nib.orientations.inv_ornt_aff(turn, image.shape)
        found = measured(save(tmp_path / "turned.nii", array, affine), names)
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            assert found[key] == (
                pytest.approx(value, abs=1e-6) if isinstance(value, float) else value
            ), key


def test_an_atlas_keeps_its_facts_in_another_order(tmp_path):
    _, path, names = atlas(tmp_path)
    image, expected = nib.load(path), measured(path, names)
    for turn in (np.array([[2, -1], [0, 1], [1, -1]]), np.array([[1, 1], [2, 1], [0, -1]])):
        array = nib.orientations.apply_orientation(np.asarray(image.dataobj), turn)
        affine = image.affine @ nib.orientations.inv_ornt_aff(turn, image.shape)
        found = measured(save(tmp_path / "turned.nii", array, affine), names)
        for key, value in expected.items():
            assert found[key] == (
                pytest.approx(value, abs=1e-6) if isinstance(value, float) else value
            ), key


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["kits", "brats 2023", "aal codes"])
def test_a_mirrored_patient_swaps_left_and_right_and_nothing_else(name, tmp_path):
    """Reflected about the volume's centre plane, each sided region renamed to its partner."""
    _, path, names = FORMATS[name](tmp_path)
    image, vocabulary = nib.load(path), load_vocabulary(names)
    axis = next(i for i, code in enumerate(nib.aff2axcodes(image.affine)) if code in "LR")
    array = np.flip(np.asarray(image.dataobj), axis)
    renamed = array.copy()
    present = {int(label): vocabulary.labels[int(label)] for label in np.unique(array)[1:]}
    ids = {structure: label for label, structure in present.items()}
    for label, structure in present.items():
        renamed[array == label] = ids[vocabulary.term(structure).mirrored_name]
    mirrored = save(tmp_path / "mirrored.nii.gz", renamed, image.affine)
    one, two = (
        measure_file(p, names=names, pairs="touching", annotation="manual")
        for p in (path, mirrored)
    )
    middle = 2 * nib.affines.apply_affine(image.affine, (np.array(image.shape) - 1) / 2)[0]
    others = {s.name: s for s in two.structures}
    for s in one.structures:
        other = others[vocabulary.term(s.name).mirrored_name]
        assert (other.voxels, other.components, other.cut) == (s.voxels, s.components, s.cut)
        assert other.centroid_mm == pytest.approx((middle - s.centroid_mm[0], *s.centroid_mm[1:]))
        assert other.extent_mm == pytest.approx(s.extent_mm)
        assert other.volume_ml_interval == pytest.approx(s.volume_ml_interval)
        assert {s.side, other.side} in ({None}, {"left", "right"})
    swap = {"left": "right", "right": "left"}
    pairs = {frozenset((p.a, p.b)): p for p in two.pairs}
    assert len(pairs) == len(one.pairs)
    for pair in one.pairs:
        a, b = (vocabulary.term(structure).mirrored_name for structure in (pair.a, pair.b))
        other = pairs[frozenset((a, b))]
        assert other.contact_mm2 == pytest.approx(pair.contact_mm2)
        assert other.boundary_distance_mm == pytest.approx(pair.boundary_distance_mm)
        expected = pair.direction["left_right"]
        if other.a == a:
            assert other.direction["left_right"] == swap.get(expected, expected)


def test_the_image_beside_masks_tells_what_padding_cuts(situs, tmp_path):
    """The liver touches voxels of -2000, outside the reconstructed circle;
    without the image nothing tells."""
    image = np.full((32, 26, 24), -60, np.int16)
    image[:5] = -2000
    liver, spleen = np.zeros(image.shape, np.uint8), np.zeros(image.shape, np.uint8)
    liver[5:9, 10:15, 10:13] = spleen[16:20, 10:15, 10:13] = 1
    image[(liver | spleen) > 0] = 60
    affine = np.diag([2.0, 2.0, 3.0, 1.0])
    for folder, with_image in (("with", True), ("without", False)):
        save(tmp_path / folder / "liver.nii.gz", liver, affine)
        save(tmp_path / folder / "spleen.nii.gz", spleen, affine)
        if with_image:
            save(tmp_path / folder / "ct.nii.gz", image.transpose(2, 0, 1), affine[:, [2, 0, 1, 3]])
        found = json.loads(situs("measure", tmp_path / folder, "--json").out)["structures"]
        assert {s["name"]: s["cut"] for s in found} == {"liver": with_image, "spleen": False}
        assert not any(s["touches_border"] for s in found)


@pytest.mark.parametrize(
    ("name", "warned"), [("kits", False), ("brats 2020", False), ("aal", True)]
)
def test_a_head_that_may_show_a_face_is_warned_about(name, warned, situs, tmp_path):
    """Kidneys are no head; the brain stripped of its skull is an ellipsoid of under 2.2 L;
    the atlas fills its box."""
    place, _, names = FORMATS[name](tmp_path / "data")
    root = place if place.suffix == ".csv" else place.parent
    given = ("--names", names, "--trust", "mni") if names == "aal" else ()
    ran = situs("build", "masks", root, "--out", tmp_path / "bench", "--json", *given)
    codes = [problem["code"] for problem in json.loads(ran.out)["problems"]]
    assert ("face" in codes) is warned


def test_several_studies_are_listed(situs, tmp_path):
    kits(tmp_path)
    ran = situs("measure", tmp_path)
    assert ran.code == 2
    assert (
        "holds 2 sets of labels: case_00000/segmentation.nii.gz, case_00001/segmentation.nii.gz"
        in ran.err
    )
