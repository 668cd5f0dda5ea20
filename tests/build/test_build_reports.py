"""Benches from reports: proved, balanced, private, and found out when anything is changed."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench_rows import rows_of, write_rows
from situs.bench import open_bench
from situs.items import Choice, Item

_SIDES = ("right", "left")
_LOBES = ("upper", "lower")


def write_reports(path: Path, count: int = 24) -> None:
    """Reports whose nodule lies in each of four lobes equally often;
    names that must turn up nowhere."""
    rows = ["id,patient,findings,impression"]
    for n in range(count):
        side, lobe = _SIDES[n % 2], _LOBES[n // 2 % 2]
        rows.append(
            f'MUSTERMANN_{n},DOE_{n // 2},"A nodule is seen in the {lobe} lobe of the {side} lung.'
            f' Secret{n}.",'
        )
    path.write_text("\n".join(rows))


@pytest.fixture
def bench(tmp_path: Path, situs: Callable[..., Any]) -> Path:
    write_reports(tmp_path / "reports.csv")
    ran = situs("build", "reports", tmp_path / "reports.csv", "--out", tmp_path / "bench", "--json")
    assert ran.code == 0, ran.err
    return tmp_path / "bench"


def test_every_answer_is_proved_and_every_text_balanced(
    bench: Path, situs: Callable[..., Any]
) -> None:
    checked = situs("check", bench, "--json").json
    items = list(open_bench(bench).items())
    assert (checked["items"], checked["recomputed"], checked["problems"]) == (
        len(items),
        len(items),
        [],
    )
    assert {item.task for item in items} == {"report_lobe", "report_side"}
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        assert isinstance(item.answer, Choice)
        assert item.answer.value in [option.value for option in item.options]
        if item.twin_group:
            groups[item.twin_group].append(item)
    for twins in groups.values():
        assert len({(item.question, item.split) for item in twins}) == 1
        assert len({item.patient_id for item in twins}) == len(twins) >= 3
    assert "Prior of" in (bench / "README.md").read_text()
    out = bench.with_name("less")
    assert situs("debias", bench, "--out", out).code == 0
    assert situs("check", out).code == 0


def test_no_name_and_no_text_beyond_the_quotes_is_in_the_bench(
    bench: Path, plain_content: Callable[[Path], bytes]
) -> None:
    for path in bench.iterdir():
        if path.name != "locations.json":
            content = plain_content(path)
            assert not re.search(rb"MUSTERMANN|DOE_|Secret\d|reports\.csv", content), path.name
    assert len({item.patient_id for item in open_bench(bench).items()}) >= 8


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ("upper lobe of the right", "upper lobe of the left", "report"),
        ("Secret3", "Secret", "report"),
    ],
)
def test_a_changed_report_is_found(
    before: str, after: str, word: str, bench: Path, situs: Callable[..., Any]
) -> None:
    path = bench.with_name("reports.csv")
    path.write_text(path.read_text().replace(before, after))
    ran = situs("check", bench, "--json")
    assert ran.code == 1
    assert all(
        problem["code"] == "evidence" and word in problem["problem"]
        for problem in ran.json["problems"]
    )


@pytest.mark.parametrize("column", ["answer", "question", "fact", "quote"])
def test_a_changed_bench_is_found(column: str, bench: Path, situs: Callable[..., Any]) -> None:
    name = "facts" if column in ("fact", "quote") else "items"
    rows = rows_of(bench, name)
    row = rows[0]
    if column == "answer":
        row["answer"] = {"type": "choice", "value": "left lower"}
    elif column == "question":
        row["question"] = "In which lobe is it?"
    elif column == "fact":
        row["value"] = (
            "side=left lobe=upper" if "right" in row["value"] else "side=right lobe=upper"
        )
    else:
        row["derivation"]["quote"] = row["derivation"]["quote"].replace("nodule", "cyst")
    write_rows(bench, name, rows)
    ran = situs("check", bench, "--json")
    assert ran.code == 1, ran.out
    assert {problem["code"] for problem in ran.json["problems"]} <= {"item", "fact"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.csv", "id,findings\nA,\n", "neither findings nor an impression"),
        ("r.csv", "name,findings\nA,Text.\n", "has no id"),
        (
            "r.csv",
            'id,findings,x\na,"No nodule seen,x\nb,"A cyst, left kidney.",y\n',
            "r.csv:2: is not valid CSV",
        ),
        ("r.csv", 'id,findings\na,Text.\nb,"Nodule in the right', "r.csv:3: is not valid CSV"),
        ("r.csv", "id,findings\na,No nodule, right lung\n", "has 3 cells, the header 2"),
        ("r.json", "[1]", "not an object"),
        ("r.jsonl", '{"id": "a", "findings": "x"}\n{"id": "a", "findings": "y"}\n', "twice"),
        ("r.json", "{", "not JSON"),
    ],
)
def test_files_that_are_no_reports(
    name: str, content: str, said: str, tmp_path: Path, situs: Callable[..., Any]
) -> None:
    (tmp_path / name).write_text(content)
    ran = situs("build", "reports", tmp_path / name, "--out", tmp_path / "bench")
    assert ran.code == 2
    assert said in ran.err
    assert not (tmp_path / "bench").exists()


@pytest.mark.real
@pytest.mark.skipif("SITUS_REAL_DATA" not in os.environ, reason="needs SITUS_REAL_DATA")
def test_three_hundred_real_reports(tmp_path: Path, situs: Callable[..., Any]) -> None:
    source = (
        Path(os.environ["SITUS_REAL_DATA"]) / "ct-spatialvqa" / "validation_reports_output.json"
    )
    if not source.is_file():
        pytest.skip("the released reports are not there")
    reports = dict(list(json.loads(source.read_text()).items())[:300])
    (tmp_path / "reports.json").write_text(json.dumps(reports))
    assert (
        situs("build", "reports", tmp_path / "reports.json", "--out", tmp_path / "bench").code == 0
    )
    checked = situs("check", tmp_path / "bench", "--json").json
    assert checked["problems"] == []
    assert checked["recomputed"] == checked["items"] > 30
    for item in open_bench(tmp_path / "bench").items():
        assert item.question.endswith("?")
        assert not re.search(r"report|mention|descri|normal|there", item.question)
        assert isinstance(item.answer, Choice)
        side = item.answer.value.split()[0]
        assert side not in ("left", "right") or side not in item.question
        assert item.patient_id.startswith("valid_")
