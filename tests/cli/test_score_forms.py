"""`situs score` on boxes, frames, grades and parts, and by the published rules of SGMRI-VQA."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forms import write_bench


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "bench"
    write_bench(
        folder, 4, tasks={"slice box": "localization", "tube": "localization", "seen": "detection"}
    )
    return folder


def values(entries: list[dict[str, Any]]) -> dict[str, float]:
    return {entry["metric"]: entry["value"] for entry in entries}


def test_a_run_of_the_oracle(situs, made, tmp_path) -> None:
    run = tmp_path / "run"
    assert (
        situs("run", made, "--model", "oracle", "--profile", "sgmri-frames", "--out", run).code == 0
    )
    ran = situs("score", made, run)
    assert ran.code == 0
    for word in (
        "box.f1-at-0.5@1",
        "frames.iou@1",
        "grade.quadratic-kappa@1",
        "grounded.accuracy",
        "grid",
        "sub-score",
    ):
        assert word in ran.out
    scores = situs("score", made, run, "--json", "--metrics", "box.f1-at-0.5@1,grade.exact@1").json
    assert values(scores["overall"])["box.f1-at-0.5@1"] == pytest.approx(1.0)
    assert set(scores["baselines"]) >= {"random", "majority", "prior", "grid"}
    assert values(scores["baselines"]["grid"])["box.f1-at-0.5@1"] < 0.1
    assert set(scores["by_subscore"]) == {"size", "number", "percent"}


def test_published_scores_stand_beside_ours(situs, made, tmp_path) -> None:
    """A perfect answer in a form the published reader does not know scores 0 there;
    a grid scores well."""
    run = tmp_path / "run"
    assert (
        situs("run", made, "--model", "oracle", "--profile", "sgmri-frames", "--out", run).code == 0
    )
    ran = situs("score", made, run, "--protocol", "sgmri-vqa", "--metrics", "accuracy")
    assert "SGMRI-VQA as published, image level" in ran.out
    assert "Avg (plain mean)" in ran.out
    scores = situs(
        "score", made, run, "--protocol", "sgmri-vqa", "--metrics", "accuracy", "--json"
    ).json
    tables = scores["published"]
    cells = {(table["level"], cell["column"]): cell for table in tables for cell in table["cells"]}
    image = cells["slice", "localization V"]
    assert image["ours"]["box.f1-at-0.5@1"] == pytest.approx(1.0)
    assert image["blind"]["grid"] > 0.25
    assert image["blind"]["prior?boxes=5"] >= image["blind"]["prior"]
    assert cells["volume", "detection A"]["value"] == 1.0
    assert {table["average"] for table in tables} == {None}
    assert all("no average" in " ".join(table["notes"]) for table in tables)


def test_answers_of_another_tool_name_their_profile(situs, made, tmp_path) -> None:
    """The same words are right in the coordinates they are meant in."""
    run, answers = tmp_path / "run", tmp_path / "answers.jsonl"
    assert (
        situs("run", made, "--model", "oracle", "--profile", "sgmri-gemini", "--out", run).code == 0
    )
    rows = [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]
    answers.write_text(
        "".join(json.dumps({k: row[k] for k in ("item_id", "response")}) + "\n" for row in rows)
    )
    args = ("score", made, answers, "--json", "--metrics", "box.f1-at-0.5@1,places.inferred")
    declared = situs(*args, "--profile", "sgmri-gemini").json
    assert values(declared["overall"]) == {
        "box.f1-at-0.5@1": pytest.approx(1.0),
        "places.inferred": 0.0,
    }
    assert values(situs(*args).json["overall"])["places.inferred"] > 0.5
    refused = situs("score", made, run, "--profile", "default")
    assert (refused.code, "a run has its own profile" in refused.err) == (2, True)


def test_hidden_items_of_a_run_stay_outside_accuracy(situs, made, tmp_path) -> None:
    run = tmp_path / "run"
    assert (
        situs("run", made, "--model", "oracle", "--profile", "sgmri-frames", "--out", run).code == 0
    )
    before = situs(
        "score", made, run, "--json", "--metrics", "accuracy,accuracy.not-answerable"
    ).json["overall"]
    (run / "hidden.jsonl").write_text(
        '{"item_id": "s001-seen", "reasons": ["too small to be seen"]}\n'
    )
    after = situs(
        "score", made, run, "--json", "--metrics", "accuracy,accuracy.not-answerable"
    ).json["overall"]
    assert after[0]["n"] == before[0]["n"] - 1
    assert after[0]["states"]["not answerable"] == before[0]["states"].get("not answerable", 0) + 1
    apart = next(entry for entry in after if entry["metric"] == "accuracy.not-answerable")
    assert (apart["value"], apart["n"]) == (1.0, 1)


def test_an_unknown_protocol_is_named(situs, made, tmp_path) -> None:
    (tmp_path / "a.jsonl").write_text('{"item_id": "s001-seen", "response": "yes"}\n')
    ran = situs("score", made, tmp_path / "a.jsonl", "--protocol", "sgmri")
    assert ran.code == 2
    assert "sgmri-vqa" in ran.err
