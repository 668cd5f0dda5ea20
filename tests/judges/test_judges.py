"""Judges over real HTTP: whatever a judge's server does,
no verdict ever moves to another answer."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from wire import Behaviour, Server, completion, words_of

QUESTIONS = 23
WRONG = frozenset(range(0, QUESTIONS, 3))
"""Answers that name the other side."""


def _says(text: str) -> Behaviour:
    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(completion(text, 100))

    return behave


def asked_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries a judge was given."""
    entries: list[dict[str, Any]] = json.loads(words_of(body))
    return entries


def honest(entry: dict[str, Any]) -> dict[str, Any]:
    """The verdict that follows from what the judge was shown, and from nothing else."""
    return {
        "id": entry["id"],
        "correct": entry["answer"] in entry["reference"],
        "reason": entry["answer"],
    }


def drops_one_in_five(number: int, given: list[dict[str, Any]]) -> str:
    return json.dumps(
        {"entries": [honest(entry) for entry in given if len(given) == 1 or entry is not given[-1]]}
    )


def shuffles(number: int, given: list[dict[str, Any]]) -> str:
    told = [honest(entry) for entry in given]
    random.Random(number).shuffle(told)
    return "Here you are:\n```json\n" + json.dumps(told) + "\n```"


def repeats(number: int, given: list[dict[str, Any]]) -> str:
    told = [honest(entry) for entry in given]
    if len(told) > 1:
        told[1] = told[0] | {"correct": not told[0]["correct"]}
    return json.dumps({"verdicts": told})


def prose_for_batches(number: int, given: list[dict[str, Any]]) -> str:
    return (
        "All of them look right to me!"
        if len(given) > 1
        else json.dumps({"entries": [honest(given[0])]})
    )


def invents_ids(number: int, given: list[dict[str, Any]]) -> str:
    told = [honest(entry) for entry in given]
    return json.dumps(
        {"entries": [{"id": str(n), "correct": True} for n in range(5)] + told[len(told) > 1 :]}
    )


def malformed(number: int, given: list[dict[str, Any]]) -> str:
    told = [honest(entry) for entry in given]
    if len(told) > 1:
        told[0]["correct"] = "maybe"
    return json.dumps({"entries": told})


def echoes(number: int, given: list[dict[str, Any]]) -> str:
    """Thinks of other verdicts first, and repeats what it was given."""
    draft = [honest(entry) | {"correct": True} for entry in given]
    told = [honest(entry) for entry in given[1:] or given]
    return (
        f"<think>{json.dumps(draft)}</think>Given: {json.dumps(given)}. Verdicts:"
        f" {json.dumps(told)}"
    )


@pytest.fixture
def judged(
    tmp_path: Path, situs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, Path]:
    """A bench of free-text questions and a run with wrong answers at known places."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rows = [
        {
            "study": f"v{n}",
            "question": f"On which side is finding {n}?",
            "answer": "left" if n % 2 else "right",
        }
        for n in range(QUESTIONS)
    ]
    other = {"left": "right", "right": "left"}
    said = [
        row
        | {
            "prediction": other[row["answer"]] if n in WRONG else row["answer"],
            "case_id": row["study"],
        }
        for n, row in enumerate(rows)
    ]
    for name, held in (("items.jsonl", rows), ("said.jsonl", said)):
        (tmp_path / name).write_text("\n".join(json.dumps(row) for row in held))
    bench, run = tmp_path / "bench", tmp_path / "run"
    assert situs("import", "items", tmp_path / "items.jsonl", "--out", bench).code == 0
    assert (
        situs("run", bench, "--model", f"replay:{tmp_path / 'said.jsonl'}", "--out", run).code == 0
    )
    return bench, run


def server(judge: Callable[[int, list[dict[str, Any]]], str]) -> Server:
    return Server(lambda number, body: _says(judge(number, asked_of(body))))


def verdicts_of(run: Path, name: str) -> dict[str, Any]:
    rows = [
        json.loads(line) for line in (run / "verdicts" / f"{name}.jsonl").read_text().splitlines()
    ]
    return {row["item_id"]: row["is_correct"] for row in rows}


def truth(bench: Path) -> dict[str, bool]:
    from situs.bench import open_bench

    return {
        item.item_id: int(item.question.split()[-1].rstrip("?")) not in WRONG
        for item in open_bench(bench).items()
    }


def accuracy(scores: dict[str, Any], metric: str) -> dict[str, Any]:
    return next(entry for entry in scores["overall"] if entry["metric"] == metric)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "judge",
    [drops_one_in_five, shuffles, repeats, prose_for_batches, invents_ids, malformed, echoes],
    ids=lambda judge: judge.__name__,
)
def test_a_faulty_judge_costs_calls_but_shifts_no_verdict(
    judge: Callable[[int, list[dict[str, Any]]], str],
    judged: tuple[Path, Path],
    situs: Callable[..., Any],
) -> None:
    bench, run = judged
    with server(judge) as wire:
        ran = situs("score", bench, run, "--judge", f"{wire.spec}?name=j", "--json")
    assert ran.code == 0, ran.err
    assert verdicts_of(run, "j") == truth(bench)
    entry = accuracy(ran.json, "judge.j")
    assert (entry["n"], entry["value"]) == (QUESTIONS, (QUESTIONS - len(WRONG)) / QUESTIONS)
    batches = -(-QUESTIONS // 5)
    assert len(wire.bodies) == batches if judge is shuffles else len(wire.bodies) > batches
    assert ran.json["judges"][0]["requests"] == len(wire.bodies)


def test_judges_are_asked_from_python(judged: tuple[Path, Path]) -> None:
    import situs as package

    bench, run = judged
    with server(drops_one_in_five) as wire:
        scored = package.score(bench, run, judges=[f"{wire.spec}?name=j"])
        calls = len(wire.bodies)
        again = package.score(bench, run, judges=f"{wire.spec}?name=j")
    assert len(wire.bodies) == calls > 0, "verdicts are kept with the run"
    assert verdicts_of(run, "j") == truth(bench)
    for result in (scored, again):
        (entry,) = (one for one in result.overall if one.metric == "judge.j")
        assert (entry.n, entry.value) == (QUESTIONS, (QUESTIONS - len(WRONG)) / QUESTIONS)
        assert "judges" in {table.name for table in result.tables()}


def test_the_judge_sees_question_reference_and_answer_and_no_model(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    with server(shuffles) as wire:
        assert situs("score", bench, run, "--judge", f"{wire.spec}?batch=4", "--json").code == 0
    assert all(
        set(entry) == {"id", "question", "reference", "answer"}
        for b in wire.bodies
        for entry in asked_of(b)
    )
    assert Counter(len(asked_of(body)) for body in wire.bodies) == {
        4: QUESTIONS // 4,
        QUESTIONS % 4: 1,
    }
    assert all("replay" not in json.dumps(body) and "batch" not in body for body in wire.bodies)
    assert all(body["response_format"]["type"] == "json_schema" for body in wire.bodies)


def test_what_never_comes_back_is_unjudged(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    with server(lambda number, given: "I would rather not say.") as wire:
        ran = situs("score", bench, run, "--judge", f"{wire.spec}?name=j", "--json")
        assert ran.code == 0
        calls = len(wire.bodies)
        again = situs("score", bench, run, "--judge", f"{wire.spec}?name=j", "--json")
    assert calls == -(-QUESTIONS // 5) + QUESTIONS
    assert len(wire.bodies) == calls, "what was given up is not asked again"
    assert set(verdicts_of(run, "j").values()) == {None}
    for held in (ran, again):
        assert accuracy(held.json, "jury")["states"]["undecided"] == QUESTIONS
        assert any("incomplete" in text for text in held.json["warnings"])
        assert held.json["judges"][0]["given_up"] == QUESTIONS


def test_judging_goes_on_where_it_stopped(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    with server(drops_one_in_five) as wire:
        spec = f"{wire.spec}?name=j"
        assert situs("score", bench, run, "--judge", spec, "--no-cache").code == 0
        calls = len(wire.bodies)
        journal = run / "verdicts" / "j.jsonl"
        kept = journal.read_text().splitlines(keepends=True)[:10]
        journal.write_text("".join(kept) + '{"item_id": "torn')
        assert situs("score", bench, run, "--judge", spec, "--no-cache").code == 0
        assert calls < len(wire.bodies) < 2 * calls
        assert journal.read_text().startswith("".join(kept))
        done = len(wire.bodies)
        assert situs("score", bench, run, "--judge", spec, "--no-cache").code == 0
        assert len(wire.bodies) == done, "nothing is left to ask"
    assert verdicts_of(run, "j") == truth(bench)


def test_a_dry_run_tells_what_judging_would_take_and_asks_nobody(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    with server(shuffles) as wire:
        command = ("score", bench, run, "--judge", f"{wire.spec}?name=j&batch=5", "--no-cache")
        ran = situs(*command, "--dry-run", "--json")
        assert ran.code == 0, ran.err
        assert not wire.bodies
        assert not (run / "verdicts").exists()
        assert ran.json["requests"] == -(-QUESTIONS // 5)
        assert ran.json["pictures"] == 0
        both = situs(*command, "--judge", f"{wire.spec}?name=k&batch=10", "--dry-run", "--json")
        assert both.json["requests"] == -(-QUESTIONS // 5) + -(-QUESTIONS // 10)
        assert situs(*command).code == 0
        assert situs(*command, "--dry-run", "--json").json["requests"] == 0
    nobody = situs("score", bench, run, "--dry-run")
    assert nobody.code == 2
    assert "--judge" in nobody.err


def test_a_journal_belongs_to_one_judge(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    with server(shuffles) as wire:
        assert situs("score", bench, run, "--judge", f"{wire.spec}?name=j").code == 0
        other = situs("score", bench, run, "--judge", f"{wire.spec}?name=j&temperature=1")
        twice = situs(
            "score", bench, run, "--judge", f"{wire.spec}?name=j", "--judge", f"{wire.spec}?name=j"
        )
    assert (other.code, twice.code) == (2, 2)
    assert "name=second" in other.err
    assert "given twice" in twice.err


def test_a_verdict_on_an_earlier_answer_is_no_verdict_on_this_one(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    with server(shuffles) as wire:
        assert situs("score", bench, run, "--judge", f"{wire.spec}?name=j").code == 0
        answers = run / "answers.jsonl"
        rows = [json.loads(line) for line in answers.read_text().splitlines()]
        changed = rows[4]["item_id"]
        rows[4]["response"] = "nowhere"
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
        before = situs(
            "score", bench, run, "--verdicts", f"j={run / 'verdicts' / 'j.jsonl'}", "--json"
        ).json
        assert accuracy(before, "judge.j")["states"]["unjudged"] == 1
        after = situs("score", bench, run, "--judge", f"{wire.spec}?name=j", "--json").json
    assert accuracy(after, "judge.j")["states"]["unjudged"] == 0
    assert [entry["id"] for entry in asked_of(wire.bodies[-1])] == [changed]
    assert verdicts_of(run, "j")[changed] is False


def test_restricted_answers_go_to_no_judge_elsewhere(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    ran = situs("score", bench, run, "--judge", "openai:gpt@https://judge.example.org/v1")
    assert ran.code == 2
    assert "restricted" in ran.err
    assert not (run / "verdicts").exists()


def test_a_jury_of_three_and_a_family_warning(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    info = json.loads((run / "run.json").read_text()) | {
        "client": "openai:qwen3-vl@http://127.0.0.1/v1"
    }
    (run / "run.json").write_text(json.dumps(info))
    always = json.dumps
    with (
        server(shuffles) as good,
        server(lambda n, g: always([{"id": e["id"], "correct": True} for e in g])) as lax,
    ):
        named = good.spec.replace("openai:test", "openai:qwen2.5-72b")
        judges = [f"{named}?name=a", f"{good.spec}?name=b", f"{lax.spec}?name=c"]
        args = [word for spec in judges for word in ("--judge", spec)]
        ran = situs("score", bench, run, *args, "--json")
    assert accuracy(ran.json, "jury")["value"] == (QUESTIONS - len(WRONG)) / QUESTIONS
    assert accuracy(ran.json, "judge.c")["value"] == 1.0
    family = [text for text in ran.json["warnings"] if "one family" in text]
    assert len(family) == 1
    assert "judge a" in family[0]
    assert "Qwen" in family[0]


def test_an_empty_answer_is_wrong_without_a_call(
    judged: tuple[Path, Path], situs: Callable[..., Any]
) -> None:
    bench, run = judged
    answers = run / "answers.jsonl"
    rows = [json.loads(line) | {"response": "  "} for line in answers.read_text().splitlines()]
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with server(shuffles) as wire:
        ran = situs("score", bench, run, "--judge", f"{wire.spec}?name=j", "--json")
    assert wire.bodies == []
    assert accuracy(ran.json, "judge.j")["value"] == 0.0
