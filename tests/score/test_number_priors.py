"""Whoever says the prior of other patients to a question for a number has no skill."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from situs.bench import open_bench

PATIENTS, QUESTIONS = 60, 3
PRIORS: dict[str, Callable[[list[float]], float]] = {
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: float(np.median(values)),
    "geometric": lambda values: float(np.exp(np.mean(np.log(values)))),
}


def skewed() -> dict[tuple[int, int], float]:
    """Volumes of patients: log-normal, as those of lesions are."""
    rng = np.random.default_rng(11)
    return {
        (patient, question): round(float(np.exp(rng.normal(3 + question / 2, 0.8))), 2)
        for patient in range(PATIENTS)
        for question in range(QUESTIONS)
    }


@pytest.fixture(scope="module")
def bench(situs: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("priors")
    rows = [
        {
            "study": f"s{patient}", "patient": f"p{patient}", "question": f"Volume {question}?",
            "answer": truth, "id": f"{patient}-{question}", "unit": "mL",
            "tolerance": [0.95 * truth, 1.05 * truth],
        }
        for (patient, question), truth in skewed().items()
    ]  # fmt: skip
    given = folder / "given.jsonl"
    given.write_text("\n".join(map(json.dumps, rows)))
    done = situs("import", "items", given, "--ids", "table", "--out", folder / "bench")
    assert done.code == 0, done.err
    return folder / "bench"


@pytest.mark.parametrize("prior", PRIORS)
def test_a_prior_has_no_skill(
    prior: str, bench: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    truths = skewed()
    ids = {item.source_id: item.item_id for item in open_bench(bench).items()}
    replies = []
    for patient, question in truths:
        others = [
            value for (who, what), value in truths.items() if what == question and who != patient
        ]
        said = {"item_id": ids[f"{patient}-{question}"], "response": f"{PRIORS[prior](others)} mL"}
        replies.append(json.dumps(said))
    (tmp_path / "said.jsonl").write_text("\n".join(replies))
    ran = situs("score", bench, tmp_path / "said.jsonl", "--json")
    assert ran.code == 0, ran.err
    skill = ran.json["headline"]["numbers"]
    assert skill["n"] == len(truths)
    # What equals the prior in every answer has no interval: nothing varies.
    assert skill["ci95"][0] <= 0 if skill["ci95"] else skill["value"] == pytest.approx(0, abs=1e-9)
    assert skill["value"] <= 0.03


def test_what_is_usual_has_no_skill_where_few_are_asked_the_same(
    situs: Callable[..., Any], tmp_path: Path
) -> None:
    """Counts of thirty rare findings, each asked of two patients: mostly one, and now and then
    more. Whoever always says one has not looked."""
    rng = np.random.default_rng(3)
    rows = [
        {
            "study": f"s{number}", "patient": f"p{number}", "id": f"{number}",
            "question": f"How many findings of kind {number // 2} are there?",
            "answer": int(1 + rng.poisson(0.5)), "unit": "",
        }
        for number in range(60)
    ]  # fmt: skip
    (tmp_path / "given.jsonl").write_text("\n".join(map(json.dumps, rows)))
    folder = tmp_path / "bench"
    done = situs("import", "items", tmp_path / "given.jsonl", "--ids", "table", "--out", folder)
    assert done.code == 0, done.err
    replies = [
        json.dumps({"item_id": item.item_id, "response": "1"})
        for item in open_bench(folder).items()
    ]
    (tmp_path / "said.jsonl").write_text("\n".join(replies))
    ran = situs("score", folder, tmp_path / "said.jsonl", "--json")
    assert ran.code == 0, ran.err
    skill = ran.json["headline"]["numbers"]
    assert skill["n"] == 60
    assert skill["ci95"] is None or skill["ci95"][0] <= 0
    assert skill["value"] <= 0.02
