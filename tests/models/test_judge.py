"""A real language model as a judge:
whatever it says, its verdicts come back under their ids or are `unjudged`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

ANSWERS = {
    "Where is the nodule?": ("In the left lung.", "Left lung."),
    "Which lobe holds the cyst?": ("The right upper lobe.", "The left lower lobe."),
    "On which side is the effusion?": ("On both sides.", "Bilateral."),
    "At which level is the fracture?": ("T10.", ""),
}


def test_a_language_model_judges(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, situs: Callable[..., Any]
) -> None:
    """No word on its wisdom: 135 million parameters have little."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    pairs = [{"question": question, "answer": gold} for question, (gold, _) in ANSWERS.items()]
    Path("qa.json").write_text(json.dumps({"valid_1_a_1.nii.gz": {"qa_pairs": pairs}}))
    said = [
        {"volume": "valid_1_a_1", "question": q, "prediction": answer}
        for q, (_, answer) in ANSWERS.items()
    ]
    Path("said.json").write_text(json.dumps(said))
    assert situs("import", "ct-spatialvqa", "qa.json", "--out", "bench").code == 0
    assert situs("run", "bench", "--model", "replay:said.json", "--out", "run").code == 0
    judge = f"openai:smollm2@{language}?name=smol&batch=2&max_tokens=250"
    ran = situs("score", "bench", "run", "--judge", judge, "--metrics", "accuracy", "--json")
    assert ran.code == 0, ran.err
    (asked,) = ran.json["judges"]
    assert (asked["subjects"], asked["failed"]) == (4, 0)
    assert asked["answered"] + asked["given_up"] == 4
    assert asked["answered"] > 0, "the empty answer at least, which needs no call"
    assert asked["requests"] >= 2
    assert asked["tokens"]["prompt"] > 0
    rows = [json.loads(line) for line in Path("run/verdicts/smol.jsonl").read_text().splitlines()]
    last = {row["item_id"]: row for row in rows}
    assert Counter(row["state"] for row in last.values()) == Counter(
        done=asked["answered"]
    ) + Counter(given_up=asked["given_up"])
    assert all(
        isinstance(row["is_correct"], bool) == (row["state"] == "done") for row in last.values()
    )
    values = {entry["metric"]: entry for entry in ran.json["overall"]}
    assert values["judge.smol"]["n"] == asked["answered"]
    assert values["jury"]["n"] == 4
    again = situs("score", "bench", "run", "--judge", judge, "--metrics", "accuracy", "--json")
    assert again.json["judges"][0]["requests"] == 0, "the journal holds every verdict"
    assert again.json["overall"] == ran.json["overall"]
