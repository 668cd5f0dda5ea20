"""Benches of graded questions: from table and masks to a score, and back by `situs check`."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from banks import KELLGREN_LAWRENCE, SUSPICION
from situs.bench import open_bench, visit_of
from situs.errors import SitusError
from situs.facts.grades import from_published, to_published
from situs.items import Compound, Grades
from situs.profiles import load_profile
from situs.run import AnswerRow, Viewing, make_baseline, parse_spec
from situs.score import score_answer
from situs.space import Affine, Grid, WorldBox

AFFINE = "0.7 0 0 -56 0 0.36 0 -70 0 0 0.36 -70 0 0 0 1"


@pytest.fixture(scope="session")
def knees(once: Callable[..., Path], situs: Callable[..., Any]) -> Path:
    """Two phantom knees with their grades. Do not change it."""
    args = ("build", "phantoms", "--body", "knee", "--studies", 2, "--seed", 5, "--out")
    return once("knees", lambda folder: situs(*args, folder / "bench")) / "bench"


def test_knees_go_the_whole_way(knees: Path, situs: Callable[..., Any], tmp_path: Path) -> None:
    bench = open_bench(knees)
    items = list(bench.items())
    readers = [item for item in items if item.task.startswith("grade.")]
    assert len(readers) == 2 * (15 + 14 + 4)
    assert all(isinstance(item.answer, Compound) for item in items)
    run = tmp_path / "run"
    assert (
        situs("run", knees, "--model", "oracle", "--profile", "3dreasonknee-o1", "--out", run).code
        == 0
    )
    scores = situs("score", knees, run, "--json").json
    entry = {e["metric"]: e for e in scores["overall"]}
    assert entry["accuracy"]["value"] == 1.0
    assert entry["grounded.accuracy"]["value"] == 1.0
    assert entry["box.hit-3d-at-0.25@1"]["value"] == 1.0
    assert "1.size" in scores["by_subscore"]
    assert {"family:bml", "region:patella_medial"} <= set(scores["by_tag"])
    assert "region:patella_medial" in scores["baselines_by_tag"]["majority"]
    assert {"graded", "graded.partly-shown", "geometry"} == set(scores["by_stratum"])


@pytest.mark.parametrize("profile", ["default", "3dreasonknee-qwen"])
def test_the_oracle_is_right_under_every_profile(knees: Path, profile: str) -> None:
    bench, shown = open_bench(knees), load_profile(profile)
    viewing, oracle = Viewing(bench, shown), make_baseline(bench, parse_spec("oracle"), shown)
    for item in list(bench.items())[::6]:
        scored = score_answer(
            item, AnswerRow(item.item_id, response=oracle.answer(item) or ""), None, shown=viewing
        )
        assert scored.outcome.right, (item, scored.outcome)
        assert scored.values["box.iou-3d@1"] > 0.98


def test_geometry_is_apart_from_the_reader(knees: Path) -> None:
    bench = open_bench(knees)
    facts = {fact.fact_id: fact for fact in bench.facts()}
    for item in bench.items():
        kinds = {facts[own].kind for own in item.fact_ids if facts[own].kind.startswith("grade.")}
        assert kinds == {"grade.reader" if item.task.startswith("grade.") else "grade.geometry"}
        if item.task.startswith("geometry."):
            assert "MOAKS" not in item.question + "".join(step.text for step in item.steps)
            assert item.stratum == "geometry"
    reader, geometry = (
        [f for f in facts.values() if f.kind == f"grade.{who}"] for who in ("reader", "geometry")
    )
    assert {type(fact.derivation).__name__ for fact in reader} == {"Cell"}
    assert {type(fact.derivation).__name__ for fact in geometry} == {"Measured"}


def test_boxes_by_rule_are_approximate(knees: Path) -> None:
    tags = {item.parameters["question"]: item.tags for item in open_bench(knees).items()}
    assert "approximate" in tags["1"]
    assert "approximate" not in tags["45"], "a whole meniscus is a mask of its own"


def test_check_recomputes_and_finds_what_was_changed(
    knees: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    result = situs("check", knees, "--json")
    assert result.code == 0
    assert result.json["recomputed"] == result.json["items"] > 0
    copy = Path(shutil.copytree(knees, tmp_path / "bench"))
    table = copy / "volumes" / "grades.csv"
    rows = list(csv.reader(table.read_text().splitlines()))
    rows[1][-1] = "1" if rows[1][-1] != "1" else "2"
    table.write_text("\n".join(",".join(row) for row in rows) + "\n")
    changed = situs("check", copy, "--json")
    assert changed.code == 1
    assert {problem["code"] for problem in changed.json["problems"]} == {"evidence"}
    shutil.copy(knees / "volumes" / "grades.csv", table)
    masks = copy / "volumes" / rows[1][0] / "segmentations"
    shutil.copy(masks / "medial_meniscus.nii.gz", masks / "lateral_meniscus.nii.gz")
    assert situs("check", copy, "--json").code == 1


def write_table(folder: Path, *rows: str, bank: str = "") -> Path:
    head = "study,patient,side,shape,affine,question,sub_score,grade"
    path = folder / "grades.csv"
    path.write_text(
        "\n".join(
            [
                head,
                *(
                    f"{row.split(',')[0]},p,left,160 384 384,{AFFINE},{row.split(',', 1)[1]}"
                    for row in rows
                ),
            ]
        )
        + "\n"
    )
    return path


def test_a_table_with_boxes_worked_out_before(situs: Callable[..., Any], tmp_path: Path) -> None:
    table = write_table(
        tmp_path,
        "k1,1,size,1",
        "k1,1,number,2",
        "k1,44,grade,3",
        "k1,42,grade,1",
        "k1,48,morphology,7",
    )
    boxes = tmp_path / "boxes.csv"
    boxes.write_text(
        "study,region,x0,y0,z0,x1,y1,z1,approximate\nk1,patella_medial,0,0,0,9,8,7,\nk1,medial_meniscus,1,1,1,5,5,5,yes\n"
    )
    ran = situs(
        "build",
        "grades",
        table,
        "--boxes",
        boxes,
        "--words",
        "both",
        "--out",
        tmp_path / "bench",
        "--json",
    )
    assert ran.code == 0, ran.err
    assert ran.json["items"] == 6
    assert ran.json["not_asked"] == {
        "no grade in the table": 113,
        "its grade compares two time points": 1,
    }
    assert "7" in ran.json["problems"][0]["problem"]
    items = {
        (i.parameters["question"], i.parameters["words"]): i
        for i in open_bench(tmp_path / "bench").items()
    }
    one = items["1", "plain"]
    assert isinstance(one.answer, Compound)
    assert one.answer.parts["grades"] == Grades({"size": 1, "number": 2})
    assert one.answer.parts["box"].boxes == (WorldBox((0, 0, 0), (9, 8, 7), "medial patella"),)
    assert "bml_share" not in one.question, "what nobody graded is not asked"
    assert len(items["1", "guided"].question) > len(one.question)
    assert items["42", "plain"].form == "grades", "no box is known for the fat pad"
    assert items["44", "plain"].needs == ("scale",)
    assert "approximate" in items["44", "plain"].tags
    assert [step.kind for step in one.steps] == ["find", "describe", "measure", "grade"]
    assert situs("check", tmp_path / "bench", "--json").code == 0
    boxes.write_text(boxes.read_text().replace("9,8,7", "9,8,6"))
    assert situs("check", tmp_path / "bench", "--json").code == 1


def test_a_box_that_some_studies_lack_does_not_change_the_question(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    """Whether a box is asked for would tell the grade, if only knees with the finding had one."""
    table = write_table(
        tmp_path, "k1,65,presence,1", "k2,65,presence,0", "k1,62,signal,0", "k2,62,signal,1"
    )
    boxes = tmp_path / "boxes.csv"
    boxes.write_text(BOXES + "k1,popliteal_fossa,5,20,30,90,40,80\n")
    ran = situs("build", "grades", table, "--boxes", boxes, "--out", tmp_path / "bench", "--json")
    forms = sorted(
        (i.parameters["question"], i.form) for i in open_bench(tmp_path / "bench").items()
    )
    assert forms == [("62", "grades"), ("62", "grades"), ("65", "compound")]
    assert (
        ran.json["not_asked"]["its region has no mask or box here, as it has in other studies"] == 1
    )


BOXES = "study,region,start_slice,end_slice,x_min,x_max,y_min,y_max\n"


@pytest.mark.parametrize(
    ("row", "boxes", "said"),
    [
        ("k1,70,size,1", "", "grades.csv:2: bank moaks-knee has no question '70'"),
        ("k1,1,siz,1", "", "grades.csv:2: question 1 has no sub-score 'siz'"),
        ("k1,1,size,1", "k1,patella_medial,100,200,3,9,3,9\n", "outside the scan"),
        ("k1,1,size,1", "k1,patella_medial,-1,20,3,9,3,9\n", "outside the scan"),
        ("k1,1,size,1", "k1,patella_medial,0.1,0.2,0.1,0.2,0.1,0.2\n", "whole voxels"),
        ("k1,1,size,1", "k9,patella_medial,1,2,3,9,3,9\n", "boxes of no study of the table"),
    ],
)
def test_rows_that_cannot_be_meant(
    row: str, boxes: str, said: str, situs: Callable[..., Any], tmp_path: Path
) -> None:
    table, places = write_table(tmp_path, row), tmp_path / "boxes.csv"
    places.write_text(BOXES + boxes)
    given = ("--boxes", places) if boxes else ()
    ran = situs("build", "grades", table, *given, "--out", tmp_path / "bench")
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "bench").exists()


def test_the_published_form_goes_out_and_comes_back(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    table, boxes = (
        write_table(tmp_path, "k1,1,size,1", "k1,1,number,2", "k1,44,grade,3"),
        tmp_path / "boxes.csv",
    )
    head, *rows = table.read_text().splitlines()
    table.write_text("\n".join([f"{head},time", *(f"{row},24m" for row in rows)]) + "\n")
    boxes.write_text(BOXES + "k1,patella_medial,5,20,30,90,40,80\nk1,medial_meniscus,1,2,3,4,5,6\n")
    situs(
        "build",
        "grades",
        table,
        "--boxes",
        boxes,
        "--licence",
        "CC0-1.0",
        "--out",
        tmp_path / "bench",
    )
    out = tmp_path / "out"
    assert (
        situs("export", tmp_path / "bench", "--to", "3dreasonknee", "--out", out, "--json").json[
            "items"
        ]
        == 2
    )
    records = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert {record["question_id"]: record["bbox"] for record in records} == {
        "1": [5, 20, 30, 90, 40, 80],
        "44": [1, 2, 3, 4, 5, 6],
    }
    assert records[0]["approximate"]
    assert [
        row["time"] for row in csv.DictReader((out / "split.csv").read_text().splitlines())
    ] == ["24m"]
    assert "oblique" in (out / "README.md").read_text()
    back = situs(
        "import",
        "3dreasonknee",
        out / "split.csv",
        out / "answers.jsonl",
        "--out",
        tmp_path / "back",
        "--json",
    )
    assert back.json["items"] == 2, back.err
    items = {item.parameters["question"]: item for item in open_bench(tmp_path / "back").items()}
    assert items["1"].answer == Grades({"size": 1, "number": 2})
    assert items["44"].question.startswith("This is a left knee.")


@pytest.mark.sweep
def test_a_report_draws_the_box_and_says_where_it_is_approximate(
    knees: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    situs(
        "run",
        knees,
        "--model",
        "oracle",
        "--profile",
        "3dreasonknee-o1",
        "--limit",
        4,
        "--out",
        run,
    )
    assert situs("report", run, "--out", tmp_path / "report.html", "--pictures", 1).code == 0
    text = (tmp_path / "report.html").read_text()
    data = json.loads(text.split('id="payload">', 1)[1].split("</script>", 1)[0])
    (name,) = data["shared"]["views"]
    view, (strip,) = data["shared"]["views"][name], data["shared"]["strips"][name]
    item = next(item for item in open_bench(knees).items() if item.item_id == name)
    (box,) = item.answer.parts["box"].boxes
    assert view["boxed"]
    assert view["structures"] == [item.tags[2].removeprefix("structure:")]
    (mark,) = view["marks"]["boxes"]
    assert mark["label"] == "approximate box"
    # The sides of the drawn box, in voxels, are those of the answer, in mm.
    a, *_, b = np.array(mark["corners"]) * view["spacing"]
    assert np.linalg.norm(a - b) == pytest.approx(
        np.linalg.norm(np.subtract(box.hi_mm, box.lo_mm)), rel=0.01
    )
    assert strip["truth"][0][5] == f"{box.label}, approximate"
    assert strip["said"]["0"][0][:5] == pytest.approx(strip["truth"][0][:5], abs=0.02)
    assert any(
        "approximate box: a part of the mask defined by rule" in words
        for _, words in data["details"][name]["flags"]
    )


def test_another_grading_system_is_one_file(situs: Callable[..., Any], tmp_path: Path) -> None:
    bank = tmp_path / "kl.toml"
    bank.write_text(KELLGREN_LAWRENCE)
    table = write_table(tmp_path, "k1,KL,kl,3", "k2,KL,kl,0")
    out = tmp_path / "bench"
    assert (
        situs("build", "grades", table, "--bank", bank, "--out", out, "--json").json["items"] == 2
    )
    assert situs("check", out, "--json").code == 0
    item = next(iter(open_bench(out).items()))
    assert "4 = bone on bone" in item.question
    assert item.stratum == "graded"


def test_a_grading_system_of_another_organ_has_boxes_from_its_masks(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    labels = np.zeros((20, 20, 12), dtype=np.uint8)
    labels[4:16, 4:16, 2:11] = 1
    labels[7:13, 7:13, 4:8] = 2
    nibabel.save(
        nibabel.Nifti1Image(labels, np.diag([1.0, 1.0, 3.0, 1.0])), tmp_path / "labels.nii.gz"
    )
    (tmp_path / "names.csv").write_text("label,name\n1,prostate\n2,transition_zone\n")
    (tmp_path / "bank.toml").write_text(SUSPICION)
    table = tmp_path / "grades.csv"
    table.write_text(
        "study,labels,question,sub_score,grade\ns,labels.nii.gz,TZ,suspicion,2\ns,labels.nii.gz,APEX,suspicion,5\n"
    )
    names, out = tmp_path / "names.csv", tmp_path / "bench"
    ran = situs(
        "build",
        "grades",
        table,
        "--bank",
        tmp_path / "bank.toml",
        "--label-map",
        names,
        "--out",
        out,
        # A miniature: 4 mL, less than any adult's.
        "--trust",
        "s",
        "--json",
    )
    assert ran.json["items"] == 2, ran.err
    items = {item.parameters["question"]: item for item in open_bench(out).items()}
    # Voxel faces: centres lie at 0, 1, 2 … mm and every 3 mm; the lowest of three thirds of nine
    # slices.
    assert items["TZ"].answer.parts["box"].boxes[0].lo_mm == (6.5, 6.5, 10.5)
    assert items["TZ"].answer.parts["box"].boxes[0].hi_mm == (12.5, 12.5, 22.5)
    assert items["APEX"].answer.parts["box"].boxes[0].lo_mm == (3.5, 3.5, 4.5)
    assert items["APEX"].answer.parts["box"].boxes[0].hi_mm == (15.5, 15.5, 13.5)
    assert "approximate" in items["APEX"].tags
    assert "absent:suspicion:" in items["TZ"].tags, "no grade means that nothing is there"
    assert situs("check", out, "--json").code == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--bank", "moaks"], "did you mean"),
        (["--tasks", "grade.bmll"], "unknown task"),
        (["--columns", "none.toml"], "no such file"),
        (["--boxes", "grades.csv"], "lacks columns of boxes"),
        (["--annotation", "sloppy"], "sloppy"),
    ],
)
def test_mistakes_are_named(
    args: list[str],
    said: str,
    situs: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_table(tmp_path, "k1,1,size,1")
    monkeypatch.chdir(tmp_path)
    ran = situs("build", "grades", "grades.csv", *args, "--out", "bench")
    assert ran.code == 2
    assert said in ran.err
    assert not (tmp_path / "bench").exists()


def test_the_published_form_of_a_box_goes_there_and_back() -> None:
    rng = np.random.default_rng(2)
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        matrix = np.eye(4)
        matrix[:3, :3] = np.diag([0.7, 0.36, 0.36])[:, order]
        shape = tuple(np.array([160, 384, 384])[list(order)].tolist())
        grid = Grid(shape, Affine(matrix))
        sagittal = order.index(0)
        rows, columns = (axis for axis in range(3) if axis != sagittal)
        for _ in range(20):
            low = rng.integers(0, 100, 3)
            high = low + rng.integers(0, 50, 3)
            numbers = [
                low[sagittal],
                high[sagittal],
                low[columns],
                high[columns],
                low[rows],
                high[rows],
            ]
            box = from_published([int(v) for v in numbers], grid)
            assert to_published(box, grid) == tuple(numbers)
            volume = np.prod(high - low + 1) * 0.7 * 0.36 * 0.36
            assert box.volume_mm3 == pytest.approx(volume)
    with pytest.raises(SitusError, match="inside out"):
        from_published([5, 4, 0, 1, 0, 1], grid)
    for numbers in ([0, 10**30, 0, 1, 0, 1], [-(10**30), 4, 0, 1, 0, 1]):
        with pytest.raises(SitusError, match="outside the scan"):
            from_published(numbers, grid)


def test_jobs_change_nothing(situs: Callable[..., Any], tmp_path: Path) -> None:
    rows = [f"k{n},42,grade,{n % 4}" for n in range(40)]
    table = write_table(tmp_path, *rows)
    for jobs in (1, 2):
        assert (
            situs(
                "build", "grades", table, "--jobs", jobs, "--out", tmp_path / f"b{jobs}" / "bench"
            ).code
            == 0
        )
    one, two = (
        json.loads((tmp_path / f"b{jobs}" / "bench" / "bench.json").read_text()) for jobs in (1, 2)
    )
    assert one["content_hash"] == two["content_hash"]


def test_the_published_box_of_an_oblique_scan_holds_the_one_in_mm() -> None:
    """A mask that fills voxels 10 to 19 of a scan turned by 10 degrees about z:
    by the corners of its box in mm."""
    turn = np.radians(10)
    matrix = np.eye(4)
    matrix[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    grid = Grid((40, 40, 40), Affine(matrix))
    box = from_published([10, 19, 10, 19, 10, 19], grid)
    # A square of side a has a box of side a (cos + sin) in mm, and that one of a (cos + sin)² in
    # voxels.
    wide = 10 * (np.cos(turn) + np.sin(turn)) ** 2
    first, last, x0, x1, y0, y1 = to_published(box, grid)
    assert (x0, x1) == (10, 19)
    assert wide <= last - first + 1 <= wide + 2
    assert wide <= y1 - y0 + 1 <= wide + 2


@pytest.mark.parametrize(
    ("time", "kept"),
    [("00m", "00m"), ("V06", "V06"), ("24 months", "24 months"), ("baseline", "baseline"), ("", "")]
    + [
        (date, "")
        for date in (
            "2019-03-02",
            "20190302",
            "3/2/19",
            "02.03.19",
            "March 2019",
            "2 Mar 19",
            "12:30",
            "Jane Doe",
        )
    ],
)
def test_a_visit_is_kept_and_a_date_is_not(time: str, kept: str) -> None:
    assert visit_of(time) == kept


def block_knees(folder: Path, spacing_mm: tuple[float, float, float]) -> Path:
    """A table of two left knees of blocks, the second without a ligament;
    bones are six voxels wide."""
    cube = np.zeros((8, 8, 20), dtype=np.uint8)
    parts = {"tibia": cube.copy(), "femur": cube.copy(), "acl": cube.copy()}
    parts["tibia"][1:7, 1:7, 1:7] = 1
    parts["femur"][1:7, 1:7, 12:19] = 1
    parts["acl"][3:5, 3:5, 8:11] = 1
    rows = ["study,side,labels,question,sub_score,grade"]
    for study, grade in (("whole", 0), ("torn", 1)):
        (folder / study).mkdir()
        for name in ("femur", "tibia", "acl")[: 3 - grade]:
            image = nibabel.Nifti1Image(parts[name], np.diag([*spacing_mm, 1.0]))
            nibabel.save(image, folder / study / f"{name}.nii.gz")
        rows.append(f"{study},left,{study},60,complete_tear,{grade}")
    (folder / "grades.csv").write_text("\n".join(rows) + "\n")
    return folder / "grades.csv"


def test_masks_that_only_some_studies_have_are_warned_about(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    """Without a label map a folder's files are all that is known:
    nothing tells that a ligament could be there."""
    block_knees(tmp_path, (8.0, 8.0, 6.0))
    ran = situs("build", "grades", tmp_path / "grades.csv", "--out", tmp_path / "bench", "--json")
    assert ran.code == 0, ran.err
    (problem,) = ran.json["problems"]
    assert (problem["code"], problem["where"]) == ("form", "question 60")
    assert "with a box 1 times, without 1" in problem["problem"]


@pytest.mark.parametrize(
    ("spacing_mm", "doubt", "reason"),
    [
        ((0.8, 0.8, 0.6), "scale", "the scale is in doubt in this study"),
        ((8.0, 8.0, -6.0), "up_down", "up and down are in doubt in this study"),
    ],
)
def test_what_rests_on_masks_that_look_wrong_is_not_asked(
    situs: Callable[..., Any],
    tmp_path: Path,
    spacing_mm: tuple[float, float, float],
    doubt: str,
    reason: str,
) -> None:
    """The box around the ligament rests on the masks;
    the grade of the torn one stands in the table alone."""
    table = block_knees(tmp_path, spacing_mm)
    ran = situs("build", "grades", table, "--ids", "table", "--out", tmp_path / "bench", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["items"] == 1
    assert ran.json["not_asked"][reason] == 1
    assert {
        suspect["study_id"] for suspect in ran.json["suspects"] if suspect["doubt"] == doubt
    } == {"torn", "whole"}
    assert any("--trust whole:" in problem["fix"] for problem in ran.json["problems"])
    assert f"| whole | {doubt} |" in (tmp_path / "bench" / "README.md").read_text("utf-8")
    assert situs("check", tmp_path / "bench").code == 0
    trusted = situs(
        "build",
        "grades",
        table,
        "--ids",
        "table",
        "--trust",
        "whole",
        "--out",
        tmp_path / "trusted",
        "--json",
    )
    assert trusted.json["items"] == 2
    assert situs("check", tmp_path / "trusted").code == 0


def test_a_name_that_no_study_has_cannot_be_trusted(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    table = block_knees(tmp_path, (8.0, 8.0, 6.0))
    ran = situs(
        "build", "grades", table, "--ids", "table", "--trust", "whoel", "--out", tmp_path / "bench"
    )
    assert ran.code == 2
    assert "did you mean whole" in ran.err
