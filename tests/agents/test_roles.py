"""Models that write, vet and sort, over real HTTP:
rules run before and after them, and nothing goes by position."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from wire import Behaviour, Server, completion, words_of

REPORTS = {
    "valid_1_a_1.nii.gz": {
        "Findings_EN": (
            "A 12 mm nodule is observed in the upper lobe of the right lung. No pleural effusion"
            " was detected. There is a cyst in the lower pole of the left kidney. Consolidation in"
            " the left lung (pneumonia?)."
        ),
        "Impressions_EN": "Nodule in the right lung.",
    },
    "valid_2_a_1.nii.gz": {
        "Findings_EN": (
            "Minimal pleural effusion is observed on the left. In the previous examination it was"
            " on the right."
        ),
        "Impressions_EN": "Not given.",
    },
}
GOOD = {
    "question": "In which part of the left kidney is the cyst?",
    "answer": "In the lower pole",
    "quote": "There is a cyst in the lower pole of the left kidney.",
    "dimension": "Longitudinal (Vertical) Position",
}
BAD = {
    "rules: the quote is not in the report": (
        GOOD | {"quote": "There is a cyst in the upper pole of the left kidney."}
    ),
    "rules: its side is not that of its sentence": (
        GOOD | {"question": "Which kidney has the cyst?", "answer": "The right kidney"}
    ),
    "rules: it speaks of the report": (
        GOOD | {"question": "Where is the cyst described in the report?"}
    ),
    "rules: the question contains its answer": (
        GOOD | {"question": "Is the lower pole of the kidney where it lies?"}
    ),
    "rules: its sentence is hedged": {
        "question": "Which lung has the consolidation?",
        "answer": "The left lung",
        "quote": "Consolidation in the left lung (pneumonia?).",
    },
    "rules: it asks whether something is there or normal": {
        "question": "Is there a pleural effusion on either side?",
        "answer": "No",
        "quote": "No pleural effusion was detected.",
    },
    "rules: its answer says …, its sentence does not": (
        GOOD | {"answer": "In the lower pole, posteriorly"}
    ),
}


def _says(text: str) -> Behaviour:
    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion(text, 100))

    return behave


def server(reply: Callable[[dict[str, Any]], dict[str, Any]]) -> Server:
    """Answers every entry it is given, the last first."""

    def behave(number: int, body: dict[str, Any]) -> Behaviour:
        told = [{"id": entry["id"]} | reply(entry) for entry in json.loads(words_of(body))]
        return _says(json.dumps({"entries": told[::-1]}))

    return Server(behave)


def writes(entry: dict[str, Any]) -> dict[str, Any]:
    return {"questions": [GOOD, *BAD.values()] if "kidney" in entry["findings"] else []}


def vets(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "is_spatial": True,
        "is_relevant": True,
        "supported": True,
        "ambiguous": "nodule" in entry["question"],
    }


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "reports.json"
    path.write_text(json.dumps(REPORTS))
    return path


def test_rules_stand_around_writer_and_validator(reports: Path, situs: Callable[..., Any]) -> None:
    out = reports.parent / "bench"
    with server(writes) as writer, server(vets) as validator:
        spec = validator.spec.replace("openai:test", "openai:other")
        args = (
            "build",
            "reports",
            reports,
            "--writer",
            writer.spec,
            "--validator",
            spec,
            "--out",
            out,
        )
        ran = situs(*args, "--json")
        assert ran.code == 0, ran.err
        assert [len(json.loads(words_of(body))) for body in writer.bodies] == [1, 1]
        calls = len(writer.bodies) + len(validator.bodies)
        assert situs(*args, "--overwrite", "--no-cache").code == 0
        assert len(writer.bodies) + len(validator.bodies) == calls, "the journals hold every reply"
    assert ran.json["items"] == 1
    assert [(held["name"], held["answered"], held["cost"]) for held in ran.json["asked"]] == [
        ("test", 2, 0),
        ("other", 1, 0),
    ]
    assert dict.fromkeys(BAD, 1).items() <= ran.json["not_asked"].items()
    checked = situs("check", out, "--json").json
    assert (checked["recomputed"], checked["problems"]) == (1, [])
    sheet = list(
        csv.DictReader(
            (reports.parent / "bench.asked" / "validator_sheet.csv").read_text().splitlines()
        )
    )
    assert [(row["rater"], row["spatial"], row["correct"]) for row in sheet] == [
        ("other", "yes", "yes")
    ]
    audit = situs(
        "audit", "import", out, reports.parent / "bench.asked" / "validator_sheet.csv", "--json"
    )
    assert audit.code == 0, audit.err
    assert audit.json["raters"] == {"other": 1}


def test_a_validator_also_vets_what_rules_wrote(reports: Path, situs: Callable[..., Any]) -> None:
    out = reports.parent / "bench"
    with server(vets) as validator:
        ran = situs(
            "build", "reports", reports, "--validator", validator.spec, "--out", out, "--json"
        )
    assert ran.json["not_asked"]["the validator: ambiguous"] == 2
    assert all("nodule" not in question for question in _questions(out))
    assert situs("check", out).code == 0


def _questions(bench: Path) -> list[str]:
    from situs.bench import open_bench

    return [item.question for item in open_bench(bench).items()]


def test_one_model_in_both_roles_is_said(reports: Path, situs: Callable[..., Any]) -> None:
    with server(writes) as writer, server(vets) as validator:
        args = (
            "--writer",
            writer.spec,
            "--validator",
            validator.spec,
            "--out",
            reports.parent / "bench",
            "--json",
        )
        ran = situs("build", "reports", reports, *args)
    assert ["it vets its own" in problem["problem"] for problem in ran.json["problems"]] == [True]


def test_a_writer_needs_a_validator_and_restricted_reports_stay_here(
    reports: Path, situs: Callable[..., Any]
) -> None:
    out = reports.parent / "bench"
    alone = situs(
        "build", "reports", reports, "--writer", "openai:x@http://127.0.0.1:9/v1", "--out", out
    )
    away = "openai:x@https://example.org/v1"
    far = situs("build", "reports", reports, "--writer", away, "--validator", away, "--out", out)
    assert (alone.code, far.code) == (2, 2)
    assert "validator" in alone.err
    assert "restricted" in far.err
    assert not out.exists()
    assert not out.with_name("bench.asked").exists()


def test_labels_by_a_model_go_by_id(reports: Path, situs: Callable[..., Any]) -> None:
    from situs.bench import open_bench

    pairs = [
        {"question": f"Where is finding {n}?", "answer": "left" if n % 2 else "front"}
        for n in range(11)
    ]
    questions = reports.parent / "qa.json"
    questions.write_text(json.dumps({"valid_1_a_1.nii.gz": {"qa_pairs": pairs}}))
    left, front = "Laterality & Bilateral Symmetry", "Anterior-Posterior (Depth) Relations"
    with server(
        lambda entry: {"dimensions": [left if entry["answer"] == "left" else front]}
    ) as wire:
        args = (
            "import",
            "ct-spatialvqa",
            questions,
            "--categories",
            wire.spec,
            "--out",
            reports.parent / "bench",
        )
        assert situs(*args).code == 0
        assert len(wire.bodies) == 3, "eleven questions, five at a time"
    for item in open_bench(reports.parent / "bench").items():
        assert item.tags == ((left if item.answer.references == ("left",) else front),)  # type: ignore[union-attr]
