"""Every counterfactual answer is the answer of a bench
built anew from the changed image and masks on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from situs.bench import Locations, open_bench
from situs.items import Boxes, Choice, Frames, Item, Number, YesNo, marks_of
from situs.probe import Patient, changed, changed_bench, derive, load_patient
from situs.probe.changes.patients import CHANGES
from situs.profiles import load_profile
from situs.space import Grid

REAL = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes"


def write(patient: Patient, folder: Path) -> None:
    """As a public set would give it: an image, and a mask for each structure."""
    matrix = patient.labels.grid.affine.matrix
    (folder / "segmentations").mkdir(parents=True)
    nibabel.save(
        nibabel.Nifti1Image(np.ascontiguousarray(patient.image), matrix), folder / "ct.nii.gz"
    )
    for structure in patient.labels.structures:
        mask = np.ascontiguousarray(patient.labels.mask(structure).astype(np.uint8))
        nibabel.save(
            nibabel.Nifti1Image(mask, matrix), folder / "segmentations" / f"{structure.name}.nii.gz"
        )


def assert_same_answer(one: Item, other: Item) -> None:
    a, b = one.answer, other.answer
    assert type(a) is type(b)
    match a:
        case Number():
            assert b.value == pytest.approx(a.value, rel=1e-3, abs=1e-3)
            assert b.interval == pytest.approx(a.interval, rel=1e-3, abs=1e-3)
        case Boxes():
            for box, there in zip(a.boxes, b.boxes, strict=True):
                assert box.label == there.label
                assert (box.lo_mm, box.hi_mm) == (
                    pytest.approx(there.lo_mm, abs=0.01),
                    pytest.approx(there.hi_mm, abs=0.01),
                )
        case Choice() if marks_of(one):
            # Which letter is right is the arrangement's choice; where the right mark lies is the
            # patient's.
            here, there = (marks_of(i)[i.answer.value] for i in (one, other))
            assert here.lo_mm == pytest.approx(there.lo_mm, abs=0.01)
        case YesNo() | Choice() | Frames():
            assert a == b
        case _:
            raise AssertionError(a)


def check(
    probe: str,
    source: Path,
    work: Path,
    situs: Callable[..., Any],
    stems: dict[str, str],
    *args: object,
) -> int:
    """How many answers were compared with those of the bench built anew."""
    bench, profile = open_bench(source), load_profile("default")
    locations = Locations.read(bench.folder)
    taken = {}
    for study in bench.studies():
        if study.study_id in stems:
            new = changed(load_patient(bench, study, study.series[0], locations), probe, profile)
            if new is not None:
                write(new, work / "data" / stems[study.study_id])
                taken[study.study_id] = new
    assert taken
    assert situs("build", "masks", work / "data", *args, "--out", work / "anew").code == 0
    anew = open_bench(work / "anew")
    items = [item for item in bench.items() if item.study_id in taken]
    made = changed_bench(bench, items, probe, profile, work / "bench-probe")
    assert made.bench is not None
    twins = {item.twin_of: item for item in made.bench.items()}
    compared = 0
    for item in anew.items():
        if item.item_id in twins:
            assert_same_answer(twins[item.item_id], item)
            compared += 1
    # What the new bench did not choose to ask is posed to its evidence as well.
    for study in anew.studies():
        patient = load_patient(anew, study, study.series[0], Locations.read(anew.folder))
        own = [item for item in items if item.study_id == study.study_id]
        for derived in derive(own, patient.ledger(anew), probe):
            twin = twins.get(derived.item.twin_of)
            if twin is not None:
                assert derived.outcome != "undefined", (derived.reason, derived.item.question)
                assert_same_answer(twin, derived.item)
                compared += 1
    own = situs("check", work / "bench-probe", "--json")
    assert (own.code, own.json["problems"]) == (0, [])
    assert own.json["recomputed"] == own.json["items"] == len(twins)
    return compared


def is_oblique(grid: Grid) -> bool:
    return bool((np.count_nonzero(np.abs(grid.affine.linear) > 1e-3, axis=0) > 1).any())


def studies_for(source: Path, probe: str) -> dict[str, str]:
    """Study id → its folder, for two that can be changed so; oblique ones first."""
    bench, table, profile = open_bench(source), Locations.read(source), load_profile("default")
    found: dict[str, str] = {}
    for study in sorted(bench.studies(), key=lambda study: not is_oblique(study.series[0].grid)):
        if changed(load_patient(bench, study, study.series[0], table), probe, profile) is not None:
            found[study.study_id] = table.find(study.series[0].image_hash).parent.name
        if len(found) == 2:
            break
    return found


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("probe", sorted(CHANGES))
def test_the_answers_are_those_of_a_bench_built_anew(
    tiny: Path, tmp_path: Path, situs, probe: str
) -> None:
    args = ("--annotation", "exact", "--licence", "CC0-1.0")
    assert (
        check(probe, tiny / "bench", tmp_path, situs, studies_for(tiny / "bench", probe), *args)
        > 10
    )


def test_check_finds_what_does_not_follow_from_the_changed_scan(
    tiny: Path, tmp_path: Path, situs
) -> None:
    bench, out = open_bench(tiny / "bench"), tmp_path / "bench-mirror"
    items = [item for item in bench.items() if item.study_id == next(bench.studies()).study_id]
    changed_bench(bench, items, "mirror", load_profile("default"), out)
    kept = (out / "outcomes.json").read_text()
    assert '"outcome":"changed"' in kept
    (out / "outcomes.json").write_text(
        kept.replace('"outcome":"changed"', '"outcome":"unchanged"', 1)
    )
    assert [p["code"] for p in situs("check", out, "--json").json["problems"]] == ["outcomes"]
    (out / "outcomes.json").write_text(kept.replace('"probe":"mirror"', '"probe":"flip-ap"'))
    found = situs("check", out, "--json")
    assert found.code == 1
    assert {"study", "fact", "item"} <= {p["code"] for p in found.json["problems"]}
    (out / "locations.json").write_text("{}")
    gone = situs("check", out)
    assert gone.code == 2
    assert "no location" in gone.err


def coarse_copy(source: Path, target: Path, step: int) -> None:
    """The patient with every voxel, or every second along each axis and the forty largest masks."""
    (target / "segmentations").mkdir(parents=True)
    masks = sorted(
        (source / "segmentations").glob("*.nii.gz"), key=lambda path: path.stat().st_size
    )
    for path in (source / "ct.nii.gz", *(masks if step == 1 else masks[-40:])):
        voxels = nibabel.load(path).slicer[::step, ::step, ::step]
        nibabel.save(voxels, target / path.relative_to(source))


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="SITUS_REAL_DATA is not set")
@pytest.mark.parametrize(
    ("probe", "step"),
    [
        ("mirror", 2),
        pytest.param("mirror", 1, marks=pytest.mark.sweep),
        pytest.param("flip-ap", 1, marks=pytest.mark.sweep),
    ],
)
def test_so_are_those_of_a_real_patient(tmp_path: Path, situs, probe: str, step: int) -> None:
    source, patient = tmp_path / "source", tmp_path / "totalseg_s0009"
    coarse_copy(REAL / "totalseg_s0009", patient, step)
    args = ("--annotation", "corrected", "--ids", "stem")
    assert situs("build", "masks", patient, *args, "--out", source).code == 0
    stems = {study.study_id: "totalseg_s0009" for study in open_bench(source).studies()}
    assert check(probe, source, tmp_path, situs, stems, *args) > 5
