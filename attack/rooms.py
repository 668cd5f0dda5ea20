"""Models that misbehave in a reading room, turn by turn, and all that is made of their sessions."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from attack.program import call, complaints, tree
from attack.server import Answer, serve
from attack.texts import HOSTILE

__all__ = ["case"]

_ACTIONS = (
    "look", "strip", "window", "mark", "measure", "segmentation", "note", "answer", "teleport",
    "Look ", "", "__class__", "do", None, 3,
)  # fmt: skip
_FIELDS = (
    "plane", "slice", "at_mm", "window", "zoom", "centre", "from", "to", "n", "low", "high",
    "point", "point_mm", "a",
    "b", "a_mm", "b_mm", "structure", "other", "text", "answer", "width_px", "",
)  # fmt: skip
_ODD: tuple[Any, ...] = (
    float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e-320, 10**30, -1, 0, True, None,
    [], {}, "", "9" * 500,
    [float("nan"), 1.0], [1e308, 1e308], [1, 2, 3, 4], [[1, 2]], "../../x", "1 to 2",
    "-1e308 to 1e308", "5 to 5",
    "nan to inf", "\ud800", ["x", "y"], 2.5, "12", "12.0", "½", 1e6, -1e6, [1e9, 5, 5], [0, 5, 5],
    [1.5, 5, 5],
)  # fmt: skip
_SOUND: tuple[dict[str, Any], ...] = (
    {"action": "look", "plane": "axial", "slice": 14},
    {"action": "look", "plane": "coronal", "slice": 9, "zoom": 3},
    {"action": "look", "plane": "sagittal", "at_mm": 0.0},
    {"action": "strip", "plane": "axial", "n": 4},
    {"action": "window", "low": -100, "high": 300},
    {"action": "mark", "point": [20, 20]},
    {"action": "measure", "a": [1, 10, 10], "b": [1, 30, 30]},
    {"action": "segmentation", "structure": "liver"},
    {"action": "note", "text": "nothing is wrong"},
)
_TOOLS = (
    "none", "callipers", "segmentation", "segmentation:noisy", "segmentation:lying:wrong-side",
    "segmentation:lying:cm-for-mm", "segmentation:lying:constant", "segmentation:lying:other-organ",
)  # fmt: skip
_MOST_NESTED = 3000


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Sessions of a model whose turns are odd;
    then their scores, their pages, and what is learnt from them."""
    bench, run = corpus / "benches" / "scans", work / "run"
    chance = random.Random(rng.random())
    room = ("--room", corpus / "room.toml", "--tools", rng.choice(_TOOLS))
    ask = ("--tries", "1", "--timeout", "20", "--limit", "2", "--concurrency", "2")
    with serve(lambda _: _turn(chance)) as server:
        model = ("--model", f"openai:m@{server.url}", "--turns", rng.choice(["schema", "tools"]))
        wrong = _tried(work, "run", bench, *model, *room, *ask, "--out", run)
    later: list[tuple[Any, ...]] = [
        ("score", bench, run, "--json"),
        ("score", bench, run, "--breakdowns", "--stratum", "all"),
        ("report", run, "--bench", bench, "--out", work / "report.html", "--tables", work / "tables"),
        ("export", run, "--bench", bench, "--to", "traces", "--out", work / "traces"),
        ("export", run, "--bench", bench, "--to", "inspect", "--out", work / "log"),
        *(("show", run, "--item", item_id, "--out", work / "shown.html") for item_id in _items(run)),
    ]  # fmt: skip
    for words in rng.sample(later, 2):
        wrong += _tried(work, *words)
    return wrong


def _tried(work: Path, *words: Any) -> list[str]:
    before = tree(work)
    return complaints(call(*words), work, before)


def _items(run: Path) -> list[str]:
    path = run / "answers.jsonl"
    if not path.exists():
        return []
    return [json.loads(line)["item_id"] for line in path.read_bytes().splitlines()][:1]


def _turn(chance: random.Random) -> Answer:
    """One reply: mostly an action of some kind, as words or as a native call."""
    told = _said(chance)
    message: dict[str, Any] = {"role": "assistant", "content": told}
    if chance.random() < 0.3:
        named = chance.choice(_ACTIONS)
        function = {"name": named, "arguments": chance.choice([told, _action(chance), None, []])}
        tool = {"id": chance.choice(["1", "", None, 7]), "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [tool] * chance.choice([1, 1, 3])}
    ended = chance.choice(["stop", "stop", "length", "tool_calls", None])
    reply = {"choices": [{"message": message, "finish_reason": ended}]}
    if chance.random() < 0.3:
        reply["usage"] = chance.choice([{"prompt_tokens": 10}, {"prompt_tokens": 1e308}, []])  # type: ignore[assignment]
    return Answer(json.dumps(reply).encode(), 200, {"Content-Type": "application/json"})


def _said(chance: random.Random) -> str:
    depth = chance.randrange(1, _MOST_NESTED)
    return chance.choice(
        [
            json.dumps(chance.choice(_SOUND)),
            json.dumps(chance.choice(_SOUND)),
            json.dumps(_action(chance)),
            json.dumps(_action(chance)),
            json.dumps({"action": "answer", "answer": chance.choice([*HOSTILE, "A", "yes"])}),
            json.dumps({"action": "note", "text": chance.choice(HOSTILE)}),
            json.dumps(chance.choice(_SOUND))[:-1],
            '{"action": ' * depth + '"look"' + "}" * depth,
            '{"action": {"name": ' * depth,
            "{" * depth,
            "<think>" * depth + json.dumps(chance.choice(_SOUND)),
            " " * 5000,
            chance.choice(HOSTILE),
            "",
        ]
    )


def _action(chance: random.Random) -> dict[str, Any]:
    """An action of which one thing or everything is odd."""
    if chance.random() < 0.6:
        sound = dict(chance.choice(_SOUND))
        return sound | {chance.choice([*sound, *_FIELDS]): chance.choice(_ODD)}
    fields = {chance.choice(_FIELDS): chance.choice(_ODD) for _ in range(4)}
    return {"action": chance.choice(_ACTIONS)} | fields
