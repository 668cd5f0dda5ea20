"""The judge's part of SGMRI-VQA's AR-Score:
over the same judge's rate of the reference, and never a 0 by failure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from situs.score.sgmri import ar_score
from wire import Behaviour, Server, completion, words_of

ANSWERS = ["A tear in the medial meniscus.", "Edema of the bone.", "A cyst behind the knee."]
SAID = ["A tear of the meniscus.", "Edema.", "Nothing of note."]


def _rates(told: list[dict[str, Any]]) -> Behaviour:
    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion(json.dumps({"entries": told})))

    return behave


def judge(number: int, body: dict[str, Any]) -> Behaviour:
    """Rates the reference 8 9 10, other replies 5 6 7,
    and says nothing of edema; every answer is right to it."""
    told = []
    for entry in json.loads(words_of(body)):
        if "reply" not in entry:
            told.append({"id": entry["id"], "correct": True})
        elif entry["reply"] == entry["reference"]:
            told.append({"id": entry["id"], "accuracy": 8, "relevance": 9, "helpfulness": 10})
        elif entry["reply"] != "Edema.":
            told.append({"id": entry["id"], "accuracy": 5, "relevance": 6, "helpfulness": 7})
    return _rates(told)


def test_the_judges_part_of_the_ar_score(
    tmp_path: Path, situs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "no models"))
    monkeypatch.delenv("SITUS_ROBERTA", raising=False)
    about = {
        "num_slices": 30,
        "level": "volume",
        "task": "captioning",
        "type": "open_ended",
        "question": "Describe.",
    }
    rows = [
        about | {"volume_id": f"file100000{n}", "answer": answer}
        for n, answer in enumerate(ANSWERS)
    ]
    (tmp_path / "qa.json").write_text(json.dumps(rows))
    assert situs("import", "sgmri-vqa", tmp_path / "qa.json", "--out", tmp_path / "bench").code == 0
    from situs.bench import open_bench

    said = dict(zip(ANSWERS, SAID))
    lines = [
        json.dumps({"item_id": item.item_id, "response": said[item.answer.references[0]]})  # type: ignore[union-attr]
        for item in open_bench(tmp_path / "bench").items()
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("\n".join(lines) + "\n")
    with Server(judge) as wire:
        args = ("--protocol", "sgmri-vqa", "--judge", f"{wire.spec}?name=j", "--json")
        ran = situs("score", tmp_path / "bench", answers, *args)
    assert ran.code == 0, ran.err
    (table,) = ran.json["published"]
    (lacking,) = (entry for entry in ran.json["not_computed"] if entry["metric"] == "bertscore")
    assert "SITUS_ROBERTA" in lacking["fix"]
    cell = next(cell for cell in table["cells"] if cell["column"] == "captioning AR")
    part = (5 + 6 + 7) / (8 + 9 + 10)
    rated = [(SAID[n], ANSWERS[n]) for n in (0, 2)]
    expected = sum(0.4 * part + 0.6 * ar_score(*pair).ar_score for pair in rated) / 2
    assert cell["n"] == 2, "the reply without a rate is left out, not 0"
    assert cell["value"] == pytest.approx(expected)
    assert any("1 replies have no rate of j" in note for note in table["notes"])
    assert (tmp_path / "answers.verdicts" / "j.rates.jsonl").is_file()
