"""Other code, which loads nothing of Situs, comes to the same answers."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nibabel as nib
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

ROOT = Path(__file__).parents[2]


def judged(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.referee", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_answer_about_masks(bench: Path) -> None:
    ran = judged(bench)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert f"'agrees': {pq.read_table(bench / 'items.parquet').num_rows}" in ran.stdout


def test_every_composed_answer(composed: Path) -> None:
    """Programs are worked out from the definitions: every answer of the bench agrees."""
    ran = judged(composed / "bench")
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    rows = pq.read_table(composed / "bench" / "items.parquet").num_rows
    assert ran.stdout.splitlines()[-1] == f"in all {{'agrees': {rows}}}"


def test_every_answer_about_masks_of_many_patients(
    large_cohort: Path, little_of, tmp_path: Path
) -> None:
    """All of them in the sweep; otherwise two, drawn."""
    table = pq.read_table(large_cohort / "items.parquet")
    drawn = little_of(sorted(set(table["study_id"].to_pylist())), 2)
    asked = table.filter(pc.is_in(table["study_id"], pa.array(drawn)))
    ran = judged(part_of(large_cohort, asked, tmp_path), "--data", large_cohort)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    assert f"'agrees': {asked.num_rows}" in ran.stdout


def part_of(bench: Path, items: pa.Table, folder: Path) -> Path:
    """A bench with some of its questions."""
    pq.write_table(items, folder / "items.parquet")
    for name in ("studies.parquet", "locations.json"):
        (folder / name).write_bytes((bench / name).read_bytes())
    return folder


def test_the_referee_reads_segments_that_overlap(tmp_path: Path) -> None:
    """3D Slicer writes them in layers: two segments may have one value, and share voxels."""
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from benchmarks.referee.scan import Scan\n"
        "scan = Scan(Path(sys.argv[1]), {'lung': 1, 'nodule': 2})\n"
        "print([len(scan[name].index) for name in scan.names])\n"
    )
    layers = np.zeros((2, 4, 5, 6), np.uint8)
    layers[0, :, :3], layers[1, 1:3, 1:3, 1:3] = 1, 1
    lines = [
        "NRRD0004",
        "type: unsigned char",
        "dimension: 4",
        "space: left-posterior-superior",
        "sizes: 2 4 5 6",
        "space directions: none (1,0,0) (0,1,0) (0,0,1)",
        "kinds: list domain domain domain",
        "encoding: raw",
        "space origin: (0,0,0)",
    ]
    for number, name in enumerate(("lung", "nodule")):
        head = f"Segment{number}_"
        lines += [f"{head}Name:={name}", f"{head}Layer:={number}", f"{head}LabelValue:=1"]
    path = tmp_path / "two.seg.nrrd"
    path.write_bytes("\n".join(lines).encode() + b"\n\n" + layers.tobytes(order="F"))
    command = [sys.executable, "-c", script, str(path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.stdout == f"[{4 * 3 * 6}, {2 * 2 * 2}]\n", ran.stderr[-2000:]


@pytest.mark.parametrize("name", ["small", "composed"])
def test_the_referee_sees_a_wrong_answer(name: str, request, tmp_path: Path) -> None:
    """Yes and no exchanged, another option called right: it says so of each."""
    bench = request.getfixturevalue(name) / "bench"
    table = pq.read_table(bench / "items.parquet")
    rows = [row for row in table.to_pylist() if row["form"] == "yes_no"][:6]
    for row in rows:
        row["answer"]["yes_no"]["value"] ^= True
    if name == "composed":
        choices = [row for row in table.to_pylist() if row["form"] == "choice"][:6]
        assert rows
        assert choices
        for row in choices:
            right = row["answer"]["choice"]["value"]
            others = [one["value"] for one in row["options"] if one["value"] != right]
            row["answer"]["choice"]["value"] = others[0]
        rows += choices
    wrong = part_of(bench, pa.Table.from_pylist(rows, table.schema), tmp_path)
    ran = judged(wrong, "--data", bench)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (1, f"in all {{'wrong': {len(rows)}}}")


def test_every_answer_about_boxes(situs, tmp_path: Path) -> None:
    """Tables in the published form, with overlaps, gaps and a box that leaves the picture."""
    places = [(3, 40, 30, 20, 12), (4, 42, 31, 22, 12), (4, 50, 33, 22, 12), (9, -1, 8, 30, 9)]
    labels = ("Meniscus Tear", "Joint Effusion", "Bone - Lesion")
    rows = [
        (f"file10000{n:02d}", frame + n % 3, "No", x + n, y, w, h, labels[(n + frame) % 3])
        for n in range(24)
        for frame, x, y, w, h in places[: 2 + n % 3]
    ]
    table = tmp_path / "knee.csv"
    with table.open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [("file", "slice", "study_level", "x", "y", "width", "height", "label"), *rows]
        )
    out = tmp_path / "bench"
    assert situs("build", "boxes", table, "--out", out, "--ids", "table").code == 0
    ran = judged(out, "--boxes", table)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert "agrees" in ran.stdout.splitlines()[-1]


@pytest.mark.sweep
def test_every_answer_about_graded_knees(situs, once: Callable[..., Path]) -> None:
    args = ("build", "phantoms", "--body", "knee", "--studies", 2, "--seed", 5, "--out")
    knees = once("knees", lambda folder: situs(*args, folder / "bench")) / "bench"
    ran = judged(knees, "--grades", knees / "volumes" / "grades.csv")
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert f"'agrees': {pq.read_table(knees / 'items.parquet').num_rows}" in ran.stdout


def test_the_referee_of_knees_measures_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of 1 mm voxels: a lesion in a quarter of half a patella,
    a meniscus 4 mm out in front, 2 mm inwards."""
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.referee import grades
    from benchmarks.referee.scan import Scan

    blocks = {
        "femur": ((10, 10, 30), (30, 30, 50)),
        "tibia": ((10, 10, 0), (30, 30, 20)),
        "patella": ((10, 40, 30), (30, 44, 50)),
        "bone_marrow_lesion": ((10, 40, 30), (20, 42, 40)),
        "medial_meniscus": ((8, 14, 21), (16, 34, 24)),
    }
    for name, (low, high) in blocks.items():
        mask = np.zeros((40, 50, 55), np.uint8)
        mask[tuple(slice(a, b) for a, b in zip(low, high))] = 1
        nib.save(nib.Nifti1Image(mask, np.eye(4)), tmp_path / f"{name}.nii.gz")
    bank = grades.Bank(ROOT / "src/situs/anatomy/banks/data/moaks-knee.toml")
    knee = grades.Knee(Scan(tmp_path, dict.fromkeys(blocks, 1)), "right", tmp_path / "none.json")
    medial = knee.region(bank.regions["patella_medial"])
    assert len(medial.index) == 10 * 4 * 20
    assert knee.lesion_share(medial) == pytest.approx(100.0 * 200 / 800)
    assert knee.lesion_count(medial) == 1
    assert knee.lesion_share(knee.region(bank.regions["patella_lateral"])) == 0.0
    assert knee.extrusion_mm("medial_meniscus", "anterior") == pytest.approx(4.0)
    assert knee.extrusion_mm("medial_meniscus", "outward") == pytest.approx(2.0)
    assert [bank.grade("1", "size", share) for share in (0.0, 25.0, 33.0, 66.0, 67.0)] == [
        0,
        1,
        2,
        2,
        3,
    ]
    assert [bank.grade("44", "grade", mm) for mm in (1.9, 2.0, 4.9, 5.0)] == [0, 1, 2, 3]
