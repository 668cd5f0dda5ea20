"""Phantom patients as voxels and files."""

import itertools
import subprocess
import sys
from pathlib import Path

import msgspec
import nibabel
import numpy as np
import pytest

from situs.errors import SitusError
from situs.volumes.phantoms import (
    Cuboid,
    PhantomPatient,
    PhantomTruth,
    make_patient,
    plan_patient,
    rasterize,
    write_patient,
)

PATIENTS = 2
COARSE = (4.0, 4.0, 4.0)


@pytest.fixture(scope="module")
def patients() -> list[PhantomPatient]:
    return [make_patient(3, index) for index in range(PATIENTS)]


def on_border(mask: np.ndarray) -> bool:
    inner = mask[1:-1, 1:-1, 1:-1]
    return bool(mask.sum() > inner.sum())


def cut_patients(count: int) -> list[PhantomPatient]:
    found = (
        n
        for n in range(200)
        if any(s.cut and s.name != "body" for s in plan_patient(3, n).truth.structures)
    )
    return [make_patient(3, n) for n in itertools.islice(found, count)]


def test_same_seed_same_bytes(patients: list[PhantomPatient]) -> None:
    again = make_patient(3, 1)
    assert again.image.tobytes() == patients[1].image.tobytes()
    assert [layer.tobytes() for layer in again.layers] == [
        layer.tobytes() for layer in patients[1].layers
    ]
    assert again.grid == patients[1].grid
    assert not np.array_equal(patients[0].image.ravel()[:1000], patients[1].image.ravel()[:1000])


def test_arrays_are_in_stored_order_and_typed(patients: list[PhantomPatient]) -> None:
    for patient in patients:
        assert patient.image.dtype == np.int16
        assert patient.image.shape == patient.grid.shape
        assert all(
            layer.dtype == np.uint8 and layer.shape == patient.grid.shape
            for layer in patient.layers
        )
        assert {s.name for s in patient.truth.structures} == set(patient.names)


def test_masks_are_exclusive_but_for_lesions_and_body(patients: list[PhantomPatient]) -> None:
    """Each structure rasterised on its own:
    organs never share a voxel, nor do lesions among each other."""
    for patient in patients:
        organs = np.zeros(patient.grid.shape, np.uint8)
        lesions = np.zeros(patient.grid.shape, np.uint8)
        body = patient.mask("body")
        for structure in patient.truth.structures:
            mask = rasterize(structure.shape, patient.grid)
            assert np.array_equal(mask, patient.mask(structure.name)), structure.name
            assert (mask <= body).all()
            if structure.inside is not None:
                lesions += mask
                assert (mask <= patient.mask(structure.inside)).all()
            elif structure.name != "body":
                organs += mask
        assert organs.max() == 1
        assert lesions.max() <= 1


def test_voxel_volume_is_near_the_closed_form(patients: list[PhantomPatient]) -> None:
    """3 % for round structures from 30 mL up.

    A block's flat faces may each gain or lose up to half a voxel.
    """
    for patient in patients:
        for structure in patient.truth.structures:
            if structure.cut or structure.volume_ml < 30.0:
                continue
            bound = 0.03
            if isinstance(structure.shape, Cuboid):
                edges = 2.0 * np.array(structure.shape.half_edges_mm)
                bound = float(np.prod(1.0 + max(patient.grid.affine.spacing_mm) / edges) - 1.0)
            measured = (
                patient.mask(structure.name).sum() * patient.grid.affine.voxel_volume_mm3 / 1000.0
            )
            assert measured == pytest.approx(structure.volume_ml, rel=bound), structure.name


def test_volume_and_centroid_converge_as_spacing_shrinks() -> None:
    errors = []
    for spacing in ((5.0, 5.0, 8.0), (1.3, 1.3, 2.0)):
        plan = plan_patient(3, 0, spacing_mm=spacing, reorder=False)
        relative, apart = [], []
        for structure in plan.truth.structures:
            if structure.cut:
                continue
            mask = rasterize(structure.shape, plan.grid)
            relative.append(
                mask.sum() * plan.grid.affine.voxel_volume_mm3 / (1000.0 * structure.volume_ml)
                - 1.0
            )
            centre = plan.grid.affine.to_world(np.argwhere(mask).mean(axis=0)[None])
            apart.append(np.linalg.norm(centre[0] - structure.centroid_mm))
        errors.append((np.sqrt(np.mean(np.square(relative))), np.mean(apart)))
    assert errors[1][0] < 0.5 * errors[0][0]
    assert errors[1][1] < 0.5 * errors[0][1]


def test_cut_is_what_touches_the_border(patients: list[PhantomPatient]) -> None:
    cut = cut_patients(1)
    assert cut
    for patient in (*patients, *cut):
        for structure in patient.truth.structures:
            mask = patient.mask(structure.name)
            assert mask.any(), structure.name
            assert on_border(mask) == structure.cut, structure.name
            full = structure.volume_ml * 1000.0 / patient.grid.affine.voxel_volume_mm3
            if structure.cut:
                assert mask.sum() < 1.02 * full


def test_options_change_neither_anatomy_nor_pose() -> None:
    base = plan_patient(5, 2).truth
    plain = make_patient(
        5, 2, spacing_mm=COARSE, oblique=False, reorder=False, modality="mr", noise=False
    )
    assert plain.grid.affine.codes == "RAS"
    assert plain.grid.affine.obliquity_degrees == 0.0
    assert plain.grid.affine.spacing_mm == pytest.approx(COARSE)
    assert plain.modality == "mr"
    shapes = {s.name: s.shape for s in base.structures}
    assert all(shapes[s.name] == s.shape for s in plain.truth.structures if s.name in shapes)


def test_stored_order_does_not_change_the_scan() -> None:
    """The same field of view stored in another order holds the same masks."""
    one = make_patient(5, 4, spacing_mm=COARSE, oblique=False)
    other = make_patient(5, 4, spacing_mm=COARSE, oblique=False, reorder=False)
    order, flips = one.grid.to_patient_order()
    turn = tuple(slice(None, None, -1) if flip else slice(None) for flip in flips)
    for a, b in zip(one.layers, other.layers):
        assert np.array_equal(a.transpose(order)[turn], b)


def test_ct_looks_like_hounsfield_units() -> None:
    patient = make_patient(4, 1, modality="ct")

    def median(name: str) -> float:
        return float(np.median(patient.image[patient.mask(name)]))

    assert np.median(patient.image[~patient.mask("body")]) < -950
    assert 55 < median("liver") < 115
    assert 95 < median("spleen") < 135
    assert median("aorta") > median("inferior_vena_cava") > 130
    assert median("vertebrae_L1") > 180
    assert -150 < np.median(patient.image[patient.mask("body") & (patient.layers[0] == 0)]) < 80


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("modality", ["ct", "mr"])
def test_lesions_stand_out_from_their_organ(modality: str) -> None:
    seen = 0
    for index in range(2):
        patient = make_patient(6, index, modality=modality, spacing_mm=(2.4, 2.4, 3.0))  # type: ignore[arg-type]
        for lesion in patient.truth.lesions:
            assert lesion.inside is not None
            inside = patient.image[patient.mask(lesion.name)]
            organ = patient.image[patient.mask(lesion.inside) & (patient.layers[1] == 0)]
            contrast = abs(float(np.median(inside)) - float(np.median(organ)))
            assert contrast > 20.0
            seen += 1
    assert seen


def test_mr_is_positive_and_noise_can_be_left_out() -> None:
    noisy = make_patient(6, 1, modality="mr", spacing_mm=COARSE)
    quiet = make_patient(6, 1, modality="mr", spacing_mm=COARSE, noise=False)
    assert noisy.image.min() >= 1
    outside = ~noisy.mask("body")
    assert noisy.image[outside].std() > quiet.image[outside].std()
    assert np.array_equal(noisy.layers[0], quiet.layers[0])


def test_written_folder_reads_back_and_repeats_to_the_byte(tmp_path: Path) -> None:
    patient = make_patient(9, 1, spacing_mm=COARSE)
    write_patient(patient, tmp_path / "a")
    write_patient(make_patient(9, 1, spacing_mm=COARSE), tmp_path / "b")
    files = sorted(
        p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file()
    )
    assert all(
        (tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files
    )
    assert {f.name[:-7] for f in files if f.parent.name == "segmentations"} == set(patient.names)
    image = nibabel.load(
        tmp_path / "a" / ("ct.nii.gz" if patient.modality == "ct" else "mri.nii.gz")
    )
    assert np.array_equal(image.dataobj, patient.image)
    assert np.array_equal(image.affine, patient.grid.affine.matrix)
    assert image.header.get_qform() == pytest.approx(image.affine, abs=1e-3)
    assert (int(image.header["sform_code"]), int(image.header["qform_code"])) == (1, 1)
    for name in patient.names:
        mask = nibabel.load(tmp_path / "a" / "segmentations" / f"{name}.nii.gz")
        assert mask.get_data_dtype() == np.uint8
        assert np.array_equal(np.asarray(mask.dataobj), patient.mask(name))
    truth = msgspec.json.decode((tmp_path / "a" / "truth.json").read_bytes(), type=PhantomTruth)
    assert truth == patient.truth


def test_unknown_structure_is_told(patients: list[PhantomPatient]) -> None:
    with pytest.raises(SitusError, match="did you mean liver"):
        patients[0].mask("livr")
    with pytest.raises(SitusError, match="did you mean spleen"):
        patients[0].truth["splen"]


def test_importing_is_light() -> None:
    code = (
        "import sys, situs.volumes.phantoms; print([m for m in ('scipy', 'nibabel') if m in"
        " sys.modules])"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"
