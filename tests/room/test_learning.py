"""Training data from sessions: what is learnt is what was sent and replied,
and only where the model saw."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scripted
from scripted import Seen

from situs.base.files import digest
from situs.tune import check_data, open_data
from tune_cohort import make_bench, reseal

SAW, UNSEEN, WRONG = range(3)
LIMIT = 17
"""As many items as open with words of their own, by which the scripted reader knows them."""


def mixed(seen: Seen) -> scripted.Act:
    """One third reads and is right after a slip,
    one third knows without looking, one third reads and is wrong."""
    items = [item.item_id for item in seen.known.items.values()]
    kind = items.index(seen.item.item_id) % 3
    if kind == UNSEEN:
        return seen.answer()
    if seen.turn == 0:
        return "Let me look first."
    frames = sorted({box.frame for box in seen.item.boxes} | set(seen.item.frames))
    if seen.turn <= len(frames):
        return {"action": "look", "plane": "frame", "slice": frames[seen.turn - 1] + 1}
    return seen.answer(right=kind == SAW)


def sent_words(body: dict[str, Any]) -> list[Any]:
    """Role, texts and hashes of the pictures of every message that went over the wire."""
    found = []
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = [part["text"] for part in parts if part["type"] == "text"]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        pictures = [digest(base64.b64decode(url.partition("base64,")[2])) for url in urls]
        found.append([message["role"], texts, pictures])
    return found


@pytest.fixture(scope="session")
def learnt(once: Callable[..., Path], situs: Callable[..., Any]) -> Path:
    """`run` (sessions of `mixed`), `data` (built from it), `built.json`, and what went over the
    `wire.json`, with the `learnable.json` items. Do not change it."""
    bench = once("tune", lambda folder: make_bench(folder, situs)) / "bench"

    def make(folder: Path) -> None:
        known = scripted.Known(bench, "free", None, LIMIT)
        with pytest.MonkeyPatch.context() as patch, scripted.server(known, mixed) as server:
            patch.setenv("SITUS_CACHE", str(folder / "cache"))
            patch.delenv("OPENAI_API_KEY", raising=False)
            ran = situs(
                *("run", bench, "--model", server.spec, "--room", "free", "--limit", LIMIT),
                *("--out", folder / "run"),
            )
        assert ran.code == 0, ran.err
        built = situs("tune", "build", folder / "run", "--out", folder / "data", "--json")
        assert built.code == 0, built.err
        learnable = [
            item.item_id
            for number, item in enumerate(known.items.values())
            if number % 3 == SAW
            and item.split in ("train", "val")
            and item.form != "text"  # nobody judged those
            and known.targets[item.item_id]
        ]
        wire = [sent_words(body) for body in server.bodies]
        for name, content in (("built", built.json), ("wire", wire), ("learnable", learnable)):
            (folder / f"{name}.json").write_text(json.dumps(content))

    return once("learnt", make)


def test_every_action_of_a_right_session_that_saw_is_an_example(learnt: Path) -> None:
    data = open_data(learnt / "data")
    assert data.manifest.target == "sessions"
    learnable = set(json.loads((learnt / "learnable.json").read_text()))
    wire = json.loads((learnt / "wire.json").read_text())
    examples = [example for split in ("train", "val") for example in data.examples(split)]
    for example in examples:
        names = iter(Path(name).stem for name in example.pictures)
        shown = [
            [turn.role, list(turn.texts), [next(names) for _ in range(turn.pictures)]]
            for turn in example.turns
        ]
        assert shown in wire  # byte for byte what the server got
        assert json.loads(example.completion)["action"] in ("look", "answer")
    assert learnable
    assert {example.item_id.partition("#")[0] for example in examples} == learnable
    left_out = json.loads((learnt / "built.json").read_text())["left_out"]
    assert left_out["right without having seen the evidence"] > 0
    assert left_out["not right"] > 0
    assert left_out["a reply was no action that could be done"] == len(learnable)
    assert check_data(learnt / "data").problems == ()


def test_a_session_that_was_changed_is_found(learnt: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(learnt / "data", tmp_path / "data"))
    path = out / "train.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["completion"] = '{"action": "answer", "answer": "99"}'
    rows[1]["item_id"] = "another#1"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reseal(out)
    assert check_data(out).by_code == {"session-differs": 1, "no-session": 1}


def test_exports_of_sessions_supervise_the_last_reply_only(
    learnt: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    for to in ("trl", "ms-swift", "llama-factory", "openai"):
        out = tmp_path / to
        ran = situs("tune", "export", learnt / "data", "--to", to, "--out", out, "--json")
        assert ran.code == 0, ran.err
    lines = {
        to: [json.loads(line) for line in (tmp_path / to / "train.jsonl").read_text().splitlines()]
        for to in ("trl", "ms-swift", "openai")
    }
    several = next(n for n, row in enumerate(lines["trl"]) if len(row["prompt"]) > 2)
    assert [m["role"] for m in lines["trl"][several]["completion"]] == ["assistant"]
    for to, mark in (("ms-swift", ("loss", False)), ("openai", ("weight", 0))):
        replies = [m for m in lines[to][several]["messages"] if m["role"] == "assistant"]
        assert [m.get(mark[0]) == mark[1] for m in replies] == [True] * (len(replies) - 1) + [False]
    assert "mask_history: true" in (tmp_path / "llama-factory" / "train.yaml").read_text()
    # Qwen's script supervises every reply of a session, so no example may go there.
    refused = situs("tune", "export", learnt / "data", "--to", "qwen", "--out", tmp_path / "qwen")
    assert refused.code == 2
    assert "several turns" in refused.err
    assert not (tmp_path / "qwen").exists()


def test_what_may_not_be_learnt_from_sessions_is_refused(
    learnt: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    """Choices that sessions have made already, the test split, and sessions that saw nothing."""
    out = tmp_path / "d"
    bench = learnt.parent / "tune" / "bench"
    unseen = situs(
        *("run", bench, "--model", "oracle", "--room", "free", "--limit", 3),
        *("--out", tmp_path / "unseen"),
    )
    assert unseen.code == 0, unseen.err
    for run, options, word in (
        (learnt / "run", ("--target", "boxes"), "--target"),
        (learnt / "run", ("--split", "test"), "evaluation only"),
        (tmp_path / "unseen", (), "no example of train is left"),
    ):
        refused = situs("tune", "build", run, "--out", out, *options)
        assert refused.code == 2
        assert word in refused.err
        assert not out.exists()
