"""`export --to dicom-seg|dicom-sr`:
what highdicom and pydicom read back is what nibabel and the ledger say."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import highdicom as hd
import msgspec
import nibabel
import numpy as np
import pydicom
import pytest

from situs.bench import open_bench
from situs.errors import SitusError
from situs.export import Scope, export_bench
from situs.export.dicom.frames import SliceStack
from situs.items import marks_of
from situs.space import Affine, Grid

LPS_TO_RAS = np.diag([-1.0, -1.0, 1.0, 1.0])


@pytest.fixture(scope="session")
def exported(bench: Path, once: Callable[..., Path]) -> Path:
    """The first two studies as DICOM with their reports. Do not change it."""
    return (
        once(
            "dicom_sr",
            lambda folder: export_bench(bench, "dicom-sr", folder / "out", Scope(limit=2)),
        )
        / "out"
    )


def series_folders(exported: Path) -> list[Path]:
    return sorted({path.parent for path in exported.rglob("segmentation-1.dcm")})


def world_points(mask: np.ndarray, affine: np.ndarray) -> np.ndarray:
    """The centres of a mask's voxels, in the order of their coordinates."""
    points = np.argwhere(mask) @ affine[:3, :3].T + affine[:3, 3]
    rounded = np.round(points, 3) + 0.0
    return rounded[np.lexsort(rounded.T)]


def evidence_files(bench: Path, folder: Path) -> Path:
    """Where the masks of an exported series lie, by its hash."""
    opened = open_bench(bench)
    study = next(s for s in opened.studies() if s.study_id == folder.parent.name)
    table = msgspec.json.decode((bench / "locations.json").read_bytes())
    path = Path(table[study.series[0].labels_hash])
    return path if path.is_absolute() else bench / path


def test_segments_lie_where_the_masks_lie(bench: Path, exported: Path) -> None:
    for folder in series_folders(exported):
        masks = evidence_files(bench, folder)
        masks = masks / "segmentations" if (masks / "segmentations").is_dir() else masks
        seen = set()
        for path in sorted(folder.glob("segmentation-*.dcm")):
            segmentation = hd.seg.segread(path)
            for number in segmentation.segment_numbers:
                name = segmentation.get_segment_description(number).segment_label
                volume = segmentation.get_volume(segment_numbers=[number])
                source = nibabel.load(masks / f"{name}.nii.gz")
                expected = world_points(np.asanyarray(source.dataobj) > 0, source.affine)
                points = world_points(volume.array[..., 0] > 0, LPS_TO_RAS @ volume.affine)
                assert points.shape == expected.shape, name
                np.testing.assert_allclose(points, expected, atol=2e-3)
                seen.add(name)
        assert seen == {path.name.removesuffix(".nii.gz") for path in masks.glob("*.nii.gz")}


def test_images_hold_the_values_at_their_places(bench: Path, exported: Path) -> None:
    (folder, *_) = series_folders(exported)
    volume = hd.get_volume_from_series([pydicom.dcmread(p) for p in (folder / "images").iterdir()])
    (source,) = (p for p in evidence_files(bench, folder).parent.glob("*.nii.gz"))
    image = nibabel.load(source)
    values = np.asanyarray(image.dataobj)
    index = np.array(list(np.ndindex(values.shape)))[:: values.size // 500]
    to_read = np.linalg.inv(LPS_TO_RAS @ volume.affine) @ image.affine
    moved = index @ to_read[:3, :3].T + to_read[:3, 3]
    np.testing.assert_allclose(moved, np.rint(moved), atol=1e-4)
    i, j, k = np.rint(moved).astype(int).T
    step = (values.max() - values.min()) / 2**16
    np.testing.assert_allclose(volume.array[i, j, k], values[tuple(index.T)], atol=max(step, 1e-9))


def numbers_of(report: Any) -> dict[str, tuple[float, str, dict[str, float]]]:
    """Fact id → value, unit and uncertainties,
    as any reader of structured reports finds them in the tree."""
    result = {}
    for item in report.iterall():
        if item.tag != pydicom.datadict.tag_for_keyword("ContentSequence"):
            continue
        for node in item.value:
            if node.get("ValueType") != "NUM" or "ContentSequence" not in node:
                continue
            children = list(node.ContentSequence)
            ids = [
                c.TextValue
                for c in children
                if c.ValueType == "TEXT"
                and c.ConceptNameCodeSequence[0].CodeMeaning == "Tracking Identifier"
            ]
            measured = node.MeasuredValueSequence[0]
            spread = {
                c.ConceptNameCodeSequence[0].CodeMeaning[0]: float(
                    c.MeasuredValueSequence[0].FloatingPointValue
                )
                for c in children
                if c.ValueType == "NUM"
            }
            unit = measured.MeasurementUnitsCodeSequence[0].CodeValue
            result[ids[0]] = (float(measured.FloatingPointValue), unit, spread)
    return result


UCUM = {"mL": "mL", "mm": "mm", "mm²": "mm2", "cm²": "cm2", "°": "deg", "fraction": "1", "": "1"}


def test_the_report_has_every_number_of_the_ledger_to_the_last_digit(
    bench: Path, exported: Path
) -> None:
    opened = open_bench(bench)
    for folder in series_folders(exported):
        facts = [
            fact
            for fact in opened.facts(study_id=folder.parent.name)
            if isinstance(fact.value, int | float) and not isinstance(fact.value, bool)
        ]
        numbers = numbers_of(pydicom.dcmread(folder / "report.dcm"))
        assert {fact.fact_id for fact in facts} == numbers.keys()
        for fact in facts:
            value, unit, spread = numbers[fact.fact_id]
            assert (value, unit) == (fact.value, UCUM[fact.unit])
            if fact.interval is not None and np.isfinite(fact.interval).all():
                low, high = fact.interval
                assert value + spread["+"] == pytest.approx(high, rel=1e-12, abs=1e-12)
                assert value - spread["-"] == pytest.approx(low, rel=1e-12, abs=1e-12)


def test_highdicom_finds_each_structure_with_its_segment_and_the_marks(
    bench: Path, exported: Path
) -> None:
    opened = open_bench(bench)
    points_read = 0
    for folder in series_folders(exported):
        report = hd.sr.srread(folder / "report.dcm")
        labels = {}
        for path in folder.glob("segmentation-*.dcm"):
            segmentation = hd.seg.segread(path)
            for number in segmentation.segment_numbers:
                name = segmentation.get_segment_description(number).segment_label
                labels[segmentation.SOPInstanceUID, number] = name
        volumes = {
            fact.subjects[0]: fact.value
            for fact in opened.facts(study_id=folder.parent.name, kind="volume")
        }
        groups = report.content.get_volumetric_roi_measurement_groups()
        read = {}
        for group in groups:
            segment = group.referenced_segment
            (number,) = np.atleast_1d(segment.referenced_segment_numbers)
            name = labels[segment.referenced_sop_instance_uid, number]
            assert group.tracking_identifier == name
            for one in group.get_measurements(name=pydicom.sr.codedict.codes.SCT.Volume):
                read[name] = one.value
        assert read == pytest.approx(volumes, rel=1e-12)
        marks = {
            f"{item.item_id} mark {letter}": np.array(box.lo_mm)
            for item in opened.items()
            if item.study_id == folder.parent.name
            for letter, box in marks_of(item).items()
        }
        points = {
            group.tracking_identifier: np.ravel(group.roi.value) * [-1, -1, 1]
            for group in report.content.get_planar_roi_measurement_groups()
        }
        assert points.keys() == marks.keys()
        points_read += len(points)
        for key, point in points.items():
            # Coordinates of a report are single-precision floats by the standard.
            np.testing.assert_allclose(point, marks[key], rtol=1e-6, atol=1e-4)
    assert points_read


def test_headers_name_nobody_and_the_same_bench_gives_the_same_bytes(
    bench: Path, exported: Path, tmp_path: Path
) -> None:
    files = sorted(exported.rglob("*.dcm"))
    patients = {study.patient_id for study in open_bench(bench).studies()}
    for path in files:
        header = pydicom.dcmread(path, stop_before_pixels=True)
        assert not str(header.PatientName)
        assert header.PatientID in patients
        dated = [(e.VR, str(e.value)) for e in header.iterall() if e.VR in ("PN", "DA")]
        assert {value for kind, value in dated if kind == "PN"} <= {""}
        assert {value for kind, value in dated if kind == "DA"} <= {"", "19000101"}
    export_bench(bench, "dicom-sr", tmp_path / "again", Scope(limit=1))
    for path in sorted((tmp_path / "again").rglob("*.dcm")):
        assert path.read_bytes() == (exported / path.relative_to(tmp_path / "again")).read_bytes()


def turned_grid(order: tuple[int, ...], signs: tuple[float, ...], oblique: bool) -> Grid:
    """A grid of 3 × 4 × 5 voxels with its axes in any order and direction,
    perhaps turned in space."""
    linear = np.zeros((3, 3))
    for stored, (world, sign) in enumerate(zip(order, signs, strict=True)):
        linear[world, stored] = sign * (0.7, 1.1, 2.3)[stored]
    if oblique:
        a, b = 0.3, -0.5
        about_z = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
        about_x = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
        linear = about_z @ about_x @ linear
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, (-31.7, 12.3, 104.9)
    return Grid((3, 4, 5), Affine(matrix))


@pytest.mark.sampled
@pytest.mark.parametrize("oblique", [False, True])
@pytest.mark.parametrize("signs", list(itertools.product((1.0, -1.0), repeat=3)))
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_every_axis_order_reads_back_at_its_place(
    bench: Path, order: tuple[int, ...], signs: tuple[float, ...], oblique: bool
) -> None:
    grid = turned_grid(order, signs, oblique)
    values = np.arange(60, dtype=np.int16).reshape(3, 4, 5)
    opened = open_bench(bench)
    study = next(opened.studies())
    datasets = SliceStack(grid, "here").datasets(opened.info, study, study.series[0], values)
    volume = hd.get_volume_from_series(datasets)
    index = np.array(list(np.ndindex(3, 4, 5)))
    world = index @ grid.affine.linear.T + grid.affine.matrix[:3, 3]
    back = np.linalg.inv(LPS_TO_RAS @ volume.affine)
    read = world @ back[:3, :3].T + back[:3, 3]
    np.testing.assert_allclose(read, np.rint(read), atol=1e-7)
    assert (volume.array[tuple(np.rint(read).astype(int).T)] == values[tuple(index.T)]).all()


def test_axes_that_are_not_at_right_angles_are_refused() -> None:
    matrix = np.eye(4)
    matrix[0, 1] = 0.4
    with pytest.raises(SitusError, match="right angles"):
        SliceStack(Grid((3, 4, 5), Affine(matrix)), "here")
