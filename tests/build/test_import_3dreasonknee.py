"""3DReasonKnee's table and answers:
boxes in either order of axes, fields by a map, mistakes named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pytest

from published_make import SPACING, write_set
from situs.anatomy.banks import load_bank
from situs.bench import open_bench
from situs.items import Compound, Grades
from situs.score import Offered, Parsed, parse_grades

BANK = load_bank("moaks-knee")


def test_boxes_in_either_order_of_axes(situs: Callable[..., Any], tmp_path: Path) -> None:
    table, answers = write_set(tmp_path)
    out = tmp_path / "bench"
    ran = situs(
        "import", "3dreasonknee", table, answers, "--images", tmp_path, "--out", out, "--json"
    )
    assert ran.code == 0, ran.err
    assert any("unverified" in note for note in ran.json["notes"])
    items = list(open_bench(out).items())
    assert len(items) == 2
    for item in items:
        assert isinstance(item.answer, Compound)
        assert item.answer.parts["grades"] == Grades({"size": 2, "number": 1, "bml_share": 3})
        (box,) = item.answer.parts["box"].boxes
        # Slices 3–7, rows (y) 4–11, columns (x) 2–9, whole voxels: both arrays have rows along y
        # and columns along z.
        low = (np.array([3, 4, 2]) - 0.5) * SPACING
        high = (np.array([7, 11, 9]) + 0.5) * SPACING
        assert np.allclose(box.lo_mm, low)
        assert np.allclose(box.hi_mm, high)
        assert item.steps[0].text == "A bright area."
    assert "9001" not in (out / "bench.json").read_text()
    assert situs("check", out, "--json").json["given"] == 2


def test_without_images_boxes_are_left_out_and_counted(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    table, answers = write_set(tmp_path)
    ran = situs("import", "3dreasonknee", table, answers, "--out", tmp_path / "bench", "--json")
    assert ran.json["not_asked"] == {
        "its box: the image is not here, so voxels have no millimetres": 2
    }
    assert {item.form for item in open_bench(tmp_path / "bench").items()} == {"grades"}


def test_fields_by_a_map(situs: Callable[..., Any], tmp_path: Path) -> None:
    table, answers = write_set(tmp_path)
    entries = [
        {"meta": {"file": e["image_filepath"], "q": e["question_id"]}, "out": e["answer"]}
        for e in json.loads(answers.read_text())
    ]
    answers.write_text("\n".join(json.dumps(entry) for entry in entries))
    fields = tmp_path / "fields.toml"
    fields.write_text('verified = true\nimage = "meta.file"\nquestion = "meta.q"\nanswer = "out"\n')
    ran = situs(
        "import",
        "3dreasonknee",
        table,
        answers,
        "--fields",
        fields,
        "--out",
        tmp_path / "bench",
        "--json",
    )
    assert ran.json["items"] == 2
    assert not any("unverified" in note for note in ran.json["notes"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"question_id": 70}, "no question '70'"),
        ({"answer": "no idea"}, "no grade of question 1"),
        ({"answer": {"size": 9, "number": 1}}, "not on its scale"),
        ({"bbox": [1, 2, 3]}, "six numbers"),
        ({"bbox": [3, 99, 2, 9, 4, 11]}, "outside the scan"),
        ({"bbox": [0.1, 0.2, 0.1, 0.2, 0.1, 0.2]}, "whole voxels"),
        ({"image_filepath": "other.nii.gz"}, "not in the table"),
    ],
)
def test_entries_that_cannot_be_read(
    changes: dict[str, Any], said: str, situs: Callable[..., Any], tmp_path: Path
) -> None:
    table, answers = write_set(tmp_path, **changes)
    args = (
        "import",
        "3dreasonknee",
        table,
        answers,
        "--images",
        tmp_path,
        "--out",
        tmp_path / "bench",
    )
    ran = situs(*args)
    assert ran.code == 2
    assert said in ran.err
    assert "$[1]" in ran.err
    assert situs(*args, "--skip-bad", "--json").json["items"] == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"question_id": 48, "answer": {"morphology": 7}}, "its grade compares two time points"),
        ({"answer": {"size": 0, "number": 2, "bml_share": 1}}, "its grades contradict each other"),
        ({"image_filepath": "first.nii.gz"}, "an entry that occurs twice"),
    ],
)
def test_answers_that_are_not_asked_are_counted(
    changes: dict[str, Any], reason: str, situs: Callable[..., Any], tmp_path: Path
) -> None:
    table, answers = write_set(tmp_path, **changes)
    ran = situs(
        "import",
        "3dreasonknee",
        table,
        answers,
        "--images",
        tmp_path,
        "--out",
        tmp_path / "bench",
        "--json",
    )
    assert ran.code == 0, ran.err
    assert ran.json["not_asked"] == {reason: 1}
    assert ran.json["items"] == 1


def test_answers_that_contradict_each_other_leave_nothing_to_ask(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    table, answers = write_set(tmp_path, image_filepath="first.nii.gz", bbox=[1, 2, 3, 4, 5, 6])
    ran = situs(
        "import",
        "3dreasonknee",
        table,
        answers,
        "--images",
        tmp_path,
        "--out",
        tmp_path / "bench",
        "--json",
    )
    assert ran.code == 2
    assert "2 × two different answers to one question" in ran.err
    assert not (tmp_path / "bench").exists()


def test_what_an_entry_may_lack(situs: Callable[..., Any], tmp_path: Path) -> None:
    table, answers = write_set(tmp_path)
    entries = json.loads(answers.read_text())
    del entries[0]["reasoning"], entries[0]["bbox"]
    entries[1]["reasoning"], entries[1]["question_id"] = ["Find it.", "Grade it."], "Q1"
    answers.write_text(json.dumps(entries))
    ran = situs(
        "import",
        "3dreasonknee",
        table,
        answers,
        "--images",
        tmp_path,
        "--out",
        tmp_path / "bench",
        "--json",
    )
    assert ran.json["not_asked"] == {
        "its box: the entry has none": 1,
        "its reasoning: the entry has none": 1,
    }
    texts = {step.text for item in open_bench(tmp_path / "bench").items() for step in item.steps}
    assert texts == {"Find it.\nGrade it."}


def test_a_table_without_its_columns(situs: Callable[..., Any], tmp_path: Path) -> None:
    table, answers = write_set(tmp_path)
    table.write_text("patient_id,time\n1,2\n")
    ran = situs("import", "3dreasonknee", table, answers, "--out", tmp_path / "bench")
    assert ran.code == 2
    assert "study_folder" in ran.err


@pytest.mark.parametrize("question", BANK.question, ids=lambda question: question.id)
def test_answers_of_the_published_form_are_read(question: Any) -> None:
    """Each sub-score under its published name, and under the key of the bank."""
    subs = BANK.sub_scores_of(question)
    grades = {
        sub.key: BANK.scales[sub.scale].grades[-1 - place % 2] for place, sub in enumerate(subs)
    }
    told = {sub.published: grades[sub.key] for sub in subs}
    scales = {
        sub.key: Offered({level.grade: level.text for level in scale.levels}, scale.absent_grade)
        for sub in subs
        for scale in [BANK.scales[sub.scale]]
    }
    for said in ({"MOAKS_scores": {question.published: told}}, {question.published: told}, grades):
        assert parse_grades(json.dumps(said), list(grades), scales) == Parsed(grades), said
    if len(subs) == 1:
        flat = {"MOAKS_scores": {question.published: grades[subs[0].key]}}
        assert parse_grades(json.dumps(flat), list(grades), scales) == Parsed(grades), flat


@pytest.mark.parametrize(
    ("shape", "sagittal", "ruled"),
    [
        ((6, 5, 160), 0, 2),
        ((6, 160, 5), 1, 2),
        ((160, 6, 5), 2, 0),
        ((160, 6, 5), 0, None),
        ((6, 5, 160), 2, None),
    ],
)
def test_a_header_that_contradicts_the_released_order_of_axes_stops(
    shape: tuple[int, ...],
    sagittal: int,
    ruled: int | None,
    situs: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """The release: 160 slices first, else transpose(2, 0, 1).

    A box on the wrong axis would be somewhere else.
    """
    table, answers = write_set(tmp_path, bbox=[1, 2, 1, 2, 1, 2])
    order = [sagittal, *(axis for axis in range(3) if axis != sagittal)]
    matrix = np.eye(4)
    matrix[:3, order] = np.diag(SPACING)
    nibabel.save(
        nibabel.Nifti1Image(np.zeros(shape, dtype=np.int16), matrix), tmp_path / "last.nii.gz"
    )
    args = (
        "import",
        "3dreasonknee",
        table,
        answers,
        "--images",
        tmp_path,
        "--out",
        tmp_path / "bench",
    )
    ran = situs(*args)
    assert ran.code == (0 if ruled is None else 2), ran.err
    if ruled is not None:
        assert f"slices on axis {ruled} of" in ran.err
        assert f"the sagittal slices on axis {sagittal}" in ran.err
        assert ran.err.count("\n") == 1
        assert situs(*args, "--skip-bad", "--json").json["items"] == 1


def test_words_of_a_scale_are_read_on_it(situs: Callable[..., Any], tmp_path: Path) -> None:
    """Of a tear's location, none is 3; 0 is the anterior horn."""
    table, answers = write_set(
        tmp_path, question_id=54, answer={"presence": "No", "tear_location": "none"}
    )
    assert situs("import", "3dreasonknee", table, answers, "--out", tmp_path / "bench").code == 0
    told = {
        item.parameters["question"]: item.answer for item in open_bench(tmp_path / "bench").items()
    }
    assert told["54"] == Grades({"presence": 0, "tear_location": 3})
    assert {study.time for study in open_bench(tmp_path / "bench").studies()} == {"V00"}
