"""Tables of grades: long and wide; what cannot be used is named, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from situs.anatomy.banks import load_bank
from situs.errors import SitusError
from situs.facts.grades import GradedStudy, GradeTable, load_columns

BANK = load_bank("moaks-knee")
HEAD = "study,side,question,sub_score,grade"


def read(
    folder: Path, *lines: str, head: str = HEAD, columns: str | None = None, study: str = "k1"
) -> GradedStudy:
    table = folder / "grades.csv"
    table.write_text("\n".join([head, *lines]) + "\n")
    path = None
    if columns is not None:
        path = folder / "columns.toml"
        path.write_text(columns)
    return GradeTable(table, BANK, load_columns(path)).read(study)


def test_grades_by_key_or_by_published_name(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "k1,left,1,size,2",
        "k1,left,1,Number of BML within subregion,1",
        "k1,left,1,bml_share,3",
    )
    assert found.grades == {"1": {"size": 2, "number": 1, "bml_share": 3}}
    assert found.side == "left"
    assert found.not_asked == {"no grade in the table": 115}
    assert found.problems == ()


@pytest.mark.parametrize("cell", ["", "NA", "nan", "."])
def test_a_missing_grade_is_not_guessed(cell: str, tmp_path: Path) -> None:
    found = read(tmp_path, f"k1,R,42,grade,{cell}", "k1,R,43,grade,1")
    assert found.grades == {"43": {"grade": 1}}
    assert found.not_asked == {"no grade in the table": 117}


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["k1,left,42,grade,1", "k1,left,42,grade,2"], "two different grades in the table"),
        (["k1,left,42,grade,4"], "its grade is not on the scale"),
        (["k1,left,42,grade,1.5"], "its grade is not on the scale"),
        (["k1,left,42,grade,-1"], "its grade is not on the scale"),
        (["k1,left,42,grade,mild"], "its grade is not on the scale"),
        (["k1,left,42,grade,1e400"], "its grade is not on the scale"),
        (["k1,left,48,morphology,7"], "its grade compares two time points"),
    ],
)
def test_a_grade_that_cannot_be_used_is_named(
    lines: list[str], reason: str, tmp_path: Path
) -> None:
    found = read(tmp_path, *lines)
    assert found.grades == {}
    assert found.not_asked == {reason: 1, "no grade in the table": 117}
    assert len(found.problems) == 1
    assert reason in found.problems[0]


@pytest.mark.parametrize(
    ("question", "grades", "kept"),
    [
        ("1", {"size": 0, "number": 2}, False),
        ("1", {"size": 1, "number": 0}, False),
        ("1", {"size": 1, "number": 2}, True),
        ("1", {"size": 0, "number": 0, "bml_share": 0}, True),
        ("16", {"size": 0, "depth": 1}, False),
        ("16", {"size": 1, "depth": 0}, True),
    ],
)
def test_grades_that_contradict_each_other(
    question: str, grades: dict[str, int], kept: bool, tmp_path: Path
) -> None:
    found = read(tmp_path, *(f"k1,left,{question},{key},{grade}" for key, grade in grades.items()))
    assert found.grades == ({question: grades} if kept else {})
    assert found.not_asked.get("its grades contradict each other", 0) == (
        0 if kept else len(grades)
    )
    assert bool(found.problems) is not kept


def test_the_same_grade_twice_is_one(tmp_path: Path) -> None:
    assert read(tmp_path, "k1,left,42,grade,1", "k1,left,42,grade,1.0").grades == {
        "42": {"grade": 1}
    }


def test_rows_of_a_study_may_lie_apart(tmp_path: Path) -> None:
    lines = ["k1,left,42,grade,1", "k2,right,42,grade,2", "", 'k1,left,43,"grade",3']
    assert read(tmp_path, *lines).grades == {"42": {"grade": 1}, "43": {"grade": 3}}
    assert read(tmp_path, *lines, study="k2").grades == {"42": {"grade": 2}}


def test_a_wide_table(tmp_path: Path) -> None:
    columns = """
missing = ["97"]
[columns]
study = "ID"
side = "SIDE"
[sides]
"1" = "right"
[grades]
"1.size" = "MBMSPM"
"1.number" = "MBMNPM"
"42.grade" = "MSYIC"
"""
    found = read(tmp_path, "k1,1,2,1,97", head="ID,SIDE,MBMSPM,MBMNPM,MSYIC", columns=columns)
    assert found.side == "right"
    assert found.grades == {"1": {"size": 2, "number": 1}}
    assert found.not_asked == {"no grade in the table": 116}


def test_evidence_knows_no_names_and_every_cell(tmp_path: Path) -> None:
    one = read(tmp_path, "k1,left,42,grade,1").hash
    assert read(tmp_path, "k2,left,42,grade,1", study="k2").hash == one
    assert read(tmp_path, "k1,left,42,grade,2").hash != one
    assert read(tmp_path, "k1,right,42,grade,1").hash != one


@pytest.mark.parametrize(
    ("lines", "head", "columns", "said"),
    [
        (["k1,left,1,sise,1"], HEAD, None, "no sub-score 'sise'"),
        (["k1,left,70,size,1"], HEAD, None, "no question '70'"),
        (["k1,top,1,size,1"], HEAD, None, "unknown side 'top'"),
        (["k1,left,1,size,1", "k1,right,1,number,1"], HEAD, None, "has side 'right'"),
        (["k1,left,1,size"], HEAD, None, "has 4 cells, not 5"),
        ([",left,1,size,1"], HEAD, None, "has no study"),
        (["1,left,1,1"], "question,side,sub_score,grade", None, "has no column 'study'"),
        (["k1,1"], "study,grade", None, "has no column question and sub_score"),
        (["k1,left,1,size,1"], HEAD, "[columns]\nstudi = 'x'", "unknown field 'studi'"),
        (["k1,left,1,size,1"], HEAD, "[grades]\n'1.size' = 'X'", "has no column 'X'"),
        (["k1,left,1,size,1"], HEAD, "[sides]\nx = 'up'", "unknown side 'up'"),
        (
            ["k1,1 2,0,1,size,1"],
            "study,shape,affine,question,sub_score,grade",
            None,
            "shape or affine",
        ),
    ],
)
def test_a_table_that_cannot_be_read(
    lines: list[str], head: str, columns: str | None, said: str, tmp_path: Path
) -> None:
    with pytest.raises(SitusError) as caught:
        read(tmp_path, *lines, head=head, columns=columns)
    assert said in caught.value.one_line()
