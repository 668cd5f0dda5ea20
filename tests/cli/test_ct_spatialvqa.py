"""CT-SpatialVQA by the command line: import, replay, verdicts, the published rule, blind rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Situs = Callable[..., Any]

QUESTIONS = {
    "valid_1_a_1.nii.gz": [
        ("Where is the nodule?", "In the left lung.", ["Laterality & Bilateral Symmetry"])
    ],
    "valid_1_a_2.nii.gz": [
        ("Where is the nodule?", "In the right lung.", ["Medial-Lateral Orientation"])
    ],
    "valid_2_b_1.nii.gz": [
        ("Where is the nodule?", "In the left lung.", []),
        ("Where is it?", "Up.", ["Extent?"]),
    ],
    "valid_3_a_1.nii.gz": [("Where is a cyst?", "Liver.", []), ("Where is a cyst?", "Liver.", [])],
}
REPORTS = {
    "valid_1_a_1.nii.gz": ("same  text", "x"), "valid_1_a_2.nii.gz": ("other", "x"),
    "valid_2_b_1.nii.gz": ("same text", "x"), "valid_3_a_1.nii.gz": ("third", None),
}  # fmt: skip


def write_release(folder: Path, *, categories: bool = True) -> None:
    """A tiny release in the published form."""
    pairs: dict[str, Any] = {}
    for volume, rows in QUESTIONS.items():
        held = [
            {"question": q, "answer": a} | ({"category": c} if categories else {})
            for q, a, c in rows
        ]
        pairs[volume] = {"qa_pairs": held}
    (folder / "qa.json").write_text(json.dumps(pairs))
    reports = {v: {"Findings_EN": a, "Impressions_EN": b} for v, (a, b) in REPORTS.items()}
    (folder / "reports.json").write_text(json.dumps(reports))


def rows_of(answers: list[str]) -> list[dict[str, Any]]:
    flat = [(volume, q, a) for volume, rows in QUESTIONS.items() for q, a, _ in rows]
    return [
        {
            "image_path": f"/x/{v.removesuffix('.nii.gz')}.npy",
            "question": q,
            "prediction": said,
            "answer": a,
        }
        for (v, q, a), said in zip(flat, answers)
    ]


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def imported(situs: Situs, work: Path) -> Path:
    write_release(work)
    ran = situs(
        "import",
        "ct-spatialvqa",
        "qa.json",
        "--reports",
        "reports.json",
        "--out",
        "bench",
        "--json",
    )
    assert ran.code == 0, ran.err
    assert ran.json["items"] == 6
    return work


def items_of(bench: Path) -> list[Any]:
    from situs.bench import open_bench

    return list(open_bench(bench).items())


def test_import_keeps_ids_and_merges_patients(imported: Path) -> None:
    items = items_of(imported / "bench")
    assert [item.source_id for item in items][:4] == [
        "valid_1_a_1.nii.gz::0", "valid_1_a_2.nii.gz::0", "valid_2_b_1.nii.gz::0",
        "valid_2_b_1.nii.gz::1",
    ]  # fmt: skip
    # Two reconstructions are one patient, and valid_2 shares a report text with it.
    assert [item.patient_id for item in items] == ["valid_1"] * 4 + ["valid_3"] * 2
    assert items[1].tags[0] == "Medial-Lateral Orientation (Centricity)"
    assert "shared report" in items[0].tags
    assert "repeated question" in items[0].tags
    assert "shared report" not in items[1].tags
    assert len({item.item_id for item in items}) == 6


def test_check_counts_the_answers_as_given(situs: Situs, imported: Path) -> None:
    ran = situs("check", "bench", "--json")
    assert ran.code == 0, ran.out
    assert ran.json["given"] == 6


def test_categories_from_a_second_file(situs: Situs, work: Path) -> None:
    write_release(work)
    Path("qa.json").rename("labels.json")
    write_release(work, categories=False)
    ran = situs(
        "import",
        "ct-spatialvqa",
        "qa.json",
        "--categories",
        "labels.json",
        "--out",
        "bench",
        "--json",
    )
    assert ran.code == 0, ran.err
    assert items_of(work / "bench")[0].tags[0] == "Laterality & Bilateral Symmetry"
    ran = situs(
        "import", "ct-spatialvqa", "qa.json", "--categories", "rules", "--out", "ruled", "--json"
    )
    assert "Laterality & Bilateral Symmetry" in items_of(work / "ruled")[0].tags


def test_replay_never_says_the_gold(situs: Situs, imported: Path) -> None:
    rows = rows_of(["A###</s>", "", "C", "D", "E", "F"])
    Path("p.jsonl").write_text(jsonl(list(reversed(rows))))
    ran = situs("run", "bench", "--model", "replay:p.jsonl", "--out", "run", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["notes"] == []
    said = {
        row["item_id"]: row["response"]
        for row in map(json.loads, Path("run/answers.jsonl").read_text().splitlines())
    }
    # The same question twice of one volume: rows in file order, here reversed.
    assert [said[item.item_id] for item in items_of(imported / "bench")] == [
        "A###</s>",
        "",
        "C",
        "D",
        "F",
        "E",
    ]
    info = json.loads(Path("run/run.json").read_text())
    assert info["client"].startswith("replay:p.jsonl#")


def test_what_cannot_be_joined_is_listed(situs: Situs, imported: Path) -> None:
    rows = rows_of(["A", "B", "C", "D", "E", "F"])[:4]
    rows += [
        {"image_path": "valid_9_a_1.npy", "question": "Where is the nodule?", "prediction": "?"}
    ]
    rows += [
        {"image_path": "valid_1_a_1.npy", "question": "Where is the nodule?", "prediction": "other"}
    ]
    rows += [{"question": "Where is a cyst?", "prediction": "no volume"}]
    Path("p.jsonl").write_text(jsonl(rows))
    ran = situs("run", "bench", "--model", "replay:p.jsonl", "--out", "run", "--json")
    assert ran.code == 0, ran.err
    joined = json.loads(Path("run/joined.json").read_text())
    assert joined["joined"] == 4
    assert len(joined["rows_without_item"]) == 2
    assert "valid_9_a_1" in joined["rows_without_item"][0]
    assert joined["items_without_row"] == ["valid_3_a_1.nii.gz::0", "valid_3_a_1.nii.gz::1"]
    assert len(joined["ambiguous"]) == 1
    assert ran.json["states"] == {"answered": 4, "failed": 2}
    assert len(ran.json["notes"]) == 3


def test_replay_refuses_files_without_answers(refused: Callable[..., str], imported: Path) -> None:
    Path("gold.jsonl").write_text(
        jsonl([{"image_path": "valid_1_a_1", "question": "Where is the nodule?", "answer": "x"}])
    )
    assert "no model reply" in refused(
        "run", "bench", "--model", "replay:gold.jsonl", "--out", "run"
    )
    assert "no such file" in refused("run", "bench", "--model", "replay:none.jsonl", "--out", "run")
    assert "replay needs a file" in refused("run", "bench", "--model", "replay", "--out", "run")


def judged(answers: list[str], verdicts: list[bool | None]) -> str:
    rows = rows_of(answers)
    return json.dumps([{k: r[k] for k in ("question", "answer", "prediction")} | {"is_correct": v, "case_id": None}
                       for r, v in zip(rows, verdicts)])  # fmt: skip


def test_verdicts_make_a_jury(situs: Situs, imported: Path) -> None:
    """Three judges; the first lacks its first verdict.
    By hand: i0 T T –, i1 T F T, i2 F F –(null), i3–i5 F F F."""
    answers = ["In the left lung.", "left", "x", "y", "Liver.", "z"]
    Path("p.jsonl").write_text(jsonl(rows_of(answers)))
    assert situs("run", "bench", "--model", "replay:p.jsonl", "--out", "run").code == 0
    first = json.loads(judged(answers, [True, True, None, False, False, False]))[1:]
    Path("a.json").write_text(json.dumps(first))
    Path("b.json").write_text(judged(answers, [True, False, False, False, False, False]))
    Path("c.json").write_text(judged(answers, [True, True, False, False, False, False]))
    given = (
        "--verdicts",
        "gemini=a.json",
        "--verdicts",
        "gpt=b.json",
        "--verdicts",
        "qwen=c.json",
        "--human",
        "c.json",
    )
    ran = situs(
        "score",
        "bench",
        "run",
        *given,
        "--protocol",
        "ct-spatialvqa",
        "--metrics",
        "accuracy,exact",
        "--json",
    )
    assert ran.code == 0, ran.err
    values = {entry["metric"]: (entry["value"], entry["n"]) for entry in ran.json["overall"]}
    assert values["judge.gemini"] == (1 / 4, 4)
    assert values["judge.gpt"] == (1 / 6, 6)
    assert values["judge.qwen"] == (2 / 6, 6)
    assert values["jury"] == values["accuracy"] == (2 / 6, 6)
    # By position: rows (T,T,T), (null,F,T), then (F,F,F) three times: one of five right, that of
    # gemini's first row.
    assert values["jury.published"] == (1 / 5, 5)
    assert values["judge.gemini.published"] == (1 / 4, 4), "of five rows one has no verdict"
    assert values["exact"] == (2 / 6, 6)
    # Against the third judge as the human: gpt finds one of two right answers and all four wrong
    # ones.
    gpt = next(held for held in ran.json["jury"]["calibration"] if held["judge"] == "gpt")
    assert (gpt["n"], gpt["sensitivity"], gpt["specificity"]) == (6, 0.5, 1.0)
    assert gpt["corrected_accuracy"] == pytest.approx((1 / 6 + 1.0 - 1) / 0.5)
    assert ran.json["published"]["changed"] == 1
    assert any("differ in length" in text for text in ran.json["warnings"])
    assert set(ran.json["baselines"]) >= {"majority", "nearest", "other-patient", "side-flipped"}
    tag = {
        e["metric"]: e["value"]
        for e in ran.json["by_tag"]["Medial-Lateral Orientation (Centricity)"]
    }
    assert (tag["jury"], tag["jury.published"]) == (1.0, 1.0)
    shown = situs(
        "score", "bench", "run", *given, "--protocol", "ct-spatialvqa", "--metrics", "accuracy"
    )
    assert "DIFFERS" in shown.out
    assert "THE PUBLISHED RULE IS WRONG HERE" in shown.out
    # A judge that says nothing is named, and of two judges leaves no majority to be had.
    Path("d.json").write_text(judged(answers, [None] * 6))
    silent = situs(
        "score",
        "bench",
        "run",
        "--verdicts",
        "x=b.json",
        "--verdicts",
        "y=d.json",
        "--metrics",
        "accuracy",
        "--json",
    ).json
    values = {entry["metric"]: (entry["value"], entry["n"]) for entry in silent["overall"]}
    assert (values["judge.x"], values["judge.y"], values["jury"]) == (
        (1 / 6, 6),
        (None, 0),
        (None, 0),
    )
    assert {missing["metric"] for missing in silent["not_computed"]} >= {"judge.y", "jury"}
    assert any("y: no verdict" in text for text in silent["warnings"])
    assert any("of 6 items 6 are unjudged" in text for text in silent["warnings"]), (
        "all were answered"
    )


def test_mistakes_are_one_line(refused: Callable[..., str], imported: Path, situs: Situs) -> None:
    Path("p.jsonl").write_text(jsonl(rows_of(["a"] * 6)))
    assert situs("run", "bench", "--model", "replay:p.jsonl", "--out", "run").code == 0
    Path("v.json").write_text("[]")
    assert "holds no row" in refused("score", "bench", "run", "--verdicts", "a=v.json")
    assert "NAME=FILE" in refused("score", "bench", "run", "--verdicts", "v.json")
    assert "unknown protocol" in refused("score", "bench", "run", "--protocol", "spatial")
    assert "needs verdicts" in refused("score", "bench", "run", "--protocol", "ct-spatialvqa")
    Path("bad.json").write_text('{"a.nii.gz": {"qa_pairs": [{"question": "Q"}]}}')
    assert "no answer" in refused("import", "ct-spatialvqa", "bad.json", "--out", "b2")


@pytest.mark.real
def test_released_files_give_the_published_numbers(situs: Situs, work: Path) -> None:
    """M3D: the table of the specification,
    the six categories by the released rule and by the correct join."""
    root = os.environ.get("SITUS_REAL_DATA")
    if not root or not (Path(root) / "ct-spatialvqa").is_dir():
        pytest.skip("no ct-spatialvqa under SITUS_REAL_DATA")
    data = Path(root) / "ct-spatialvqa"
    reports = data / "validation_reports_output.json"
    questions = data / "spatial_qa_filtered_full_with_categories.json"
    assert (
        situs("import", "ct-spatialvqa", questions, "--reports", reports, "--out", "bench").code
        == 0
    )
    model = f"replay:{data}/predictions/m3d_predictions_full.jsonl"
    ran = situs("run", "bench", "--model", model, "--out", "run", "--json")
    assert ran.json["states"] == {"answered": 9077}
    names = {"gemini": "gemini2.5_eval_full", "gpt": "gpt_eval", "qwen": "qwen_eval"}
    given = [
        part
        for n, f in names.items()
        for part in ("--verdicts", f"{n}={data}/llm_eval/m3d_{f}.json")
    ]
    ran = situs(
        "score",
        "bench",
        "run",
        *given,
        "--protocol",
        "ct-spatialvqa",
        "--metrics",
        "accuracy",
        "--json",
    )
    values = {entry["metric"]: round(100 * entry["value"], 2) for entry in ran.json["overall"]}
    expected = {
        "judge.gemini": 34.67,
        "judge.gpt": 31.09,
        "judge.qwen": 31.21,
        "jury": 31.23,
        "jury.published": 30.57,
    }
    assert {name: values[name] for name in expected} == expected
    assert ran.json["published"]["changed"] / 9077 == pytest.approx(0.266, abs=5e-4)
    kappa = {(pair["a"], pair["b"]): pair["kappa"] for pair in ran.json["jury"]["pairs"]}
    assert kappa["gemini", "gpt"] == pytest.approx(0.76, abs=0.005)
    printed = {
        "Adjacency": 27.4,
        "Anterior": 27.5,
        "Laterality": 29.9,
        "Longitudinal": 27.2,
        "Medial": 30.0,
    }
    printed["Spatial Extent"] = 31.2
    rule = {
        tag: next(entry["value"] for entry in entries if entry["metric"] == "jury.published")
        for tag, entries in ran.json["by_tag"].items()
    }
    # The paper's table was rounded twice: 1,911 of 6,403 are 29.845, by way of 29.85 printed as
    # 29.9.
    assert rule["Laterality & Bilateral Symmetry"] == pytest.approx(1911 / 6403, abs=1e-12)
    shown = {
        start: round(round(100 * v, 2), 1)
        for start in printed
        for tag, v in rule.items()
        if tag.startswith(start)
    }
    assert shown == printed
