"""Every `situs …` line shown in README and docs is run,
on small files under the names that the page uses."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from shown import PAGES, shown_commands
from worlds import MODEL, USUAL, WORLDS, World

import wire

pytestmark = pytest.mark.docs

ELSEWHERE = {
    r"hf:|Qwen.*-Instruct|tune (check|eval)|launch-files": "make test-models, make test-tune",
    r"--engine ray": "make test-cluster",
    r"adapter-check openai": "tests/build/test_adapter_check.py, with models that see and do not",
    r"--images CT-RATE": "tests/build/test_report_images.py, with small volumes",
    r"qwen3-32b": "reports-and-judges.md, on fewer answers",
    r"--to traces": "tests/room, with readers that look",
    r"audit-reward": "tests/tune/test_rewards.py",
    r"audit import bench results": "tests/review, where people have read",
    r"--writer|--planner|validator_sheet": "tests/agents, with writers whose words are known",
    r"serve mcp|situs view": "make test-mcp, tests/view",
    r"review serve|postgresql://": "make test-review",
    r"(anthropic|gemini):": "tests/clients, against servers of their shape",
    r"\$|head:10001": "written for a cluster's own variables",
    r"s3://|gs://|az://|hf://|https://example": "make test-remote",
    r"merge hospital": "tests/build/test_merge_benches.py",
    r"tune build bench --jobs": "make test-cluster",
}
"""Commands that need more than this target installs, and what runs them."""
PLACEHOLDERS = {
    "BENCH": "bench",
    "RUN": "runs/new",
    "PROBES": "probes/new",
    "SPEC": "random",
    "mine.toml": "default",
    f"openai:MODEL@{MODEL}": f"openai:m@{MODEL}",
}
_ASKED = "3"
"""Questions that a model is asked where the page asks all."""
_MOST = {"--studies": "2", "--items": "4", "--concurrency": "4", "--jobs": "1"}
"""Numbers that only cost time."""
_ACTS = {"action": "answer", "answer": "A"}


def _answer(number: int, body: dict[str, Any]) -> wire.Behaviour:
    """A model that says "A"; in a room as an action."""
    text = json.dumps(_ACTS) if "action" in json.dumps(body) else "A"
    return wire.raw(json.dumps(wire.completion(text)).encode())


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with wire.Server(_answer) as server:
        yield f"http://127.0.0.1:{server.port}/v1"


@pytest.fixture(scope="module")
def worlds(
    tmp_path_factory: pytest.TempPathFactory,
    small: Path,
    situs: Callable[..., Any],
    model: str,
) -> Callable[[str, str], World]:
    """The world of a command; those that use the same names share one."""
    made: dict[int, World] = {}

    def run(command: str) -> None:
        ran = situs(*shlex.split(_at(command, model))[1:])
        assert ran.code == 0, f"{command}: {ran.err}"

    def world_of(page: str, command: str) -> World:
        fitting = [inputs for key, inputs in WORLDS.items() if key == page or key in command]
        inputs = fitting[0] if fitting else USUAL
        if id(inputs) not in made:
            folder = tmp_path_factory.mktemp("world") / "here"
            made[id(inputs)] = World(folder, small, inputs, run)
        return made[id(inputs)]

    return world_of


def _at(command: str, model: str) -> str:
    """The command with the tests' server in place of the pages' models."""
    return re.sub(r"http://localhost:80\d\d/v1", model, command)


def _plain(command: str) -> str:
    """The command with names in place of what the page leaves to the reader."""
    command = re.sub(r"@URL\b", f"@{MODEL}", command.replace("/data/", "data/"))
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(command) if word != "…"]
    return shlex.join(words)


def _spread(words: list[str], folder: Path) -> list[str]:
    """Patterns as a shell would expand them."""
    expanded = [
        sorted(str(path.relative_to(folder)) for path in folder.glob(word))
        if "*" in word
        else [word]
        for word in words
    ]
    return [word for group in expanded for word in group]


def _moved_out(words: list[str], world: World) -> list[str]:
    """What the command writes goes to a folder of its own, so that no input is replaced."""
    fresh = world.folder / "out"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    if words[1:3] == ["review", "init"]:
        return [*words[:3], str(fresh / words[3]), *words[4:]]
    if "--out" in words:
        at = words.index("--out") + 1
        return [*words[:at], str(fresh / Path(words[at]).name), *words[at + 1 :]]
    return words


def _fewer(words: list[str]) -> list[str]:
    """The same with fewer questions and patients."""
    if words[1] in ("run", "probe") and not {"--limit", "--split"} & set(words):
        words = [*words, "--limit", _ASKED]
    for option, most in _MOST.items():
        if option in words and int(words[words.index(option) + 1]) > int(most):
            words[words.index(option) + 1] = most
    return words


def _without_out(command: str) -> str:
    return re.sub(r"--out \S+", "", command)


_SHOWN = [
    pytest.param(path.name, command, id=f"{path.name}: {command[:70]}")
    for path in PAGES
    for command in shown_commands(path)
]


@pytest.mark.parametrize(("page", "command"), _SHOWN)
def test_a_shown_command_runs(
    page: str,
    command: str,
    worlds: Callable[[str, str], World],
    situs: Callable[..., Any],
    model: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for pattern, where in ELSEWHERE.items():
        if re.search(pattern, command):
            pytest.skip(f"run by {where}")
    world = worlds(page, command)
    monkeypatch.chdir(world.folder)
    monkeypatch.syspath_prepend(str(world.folder))
    plain = _plain(command)
    world.provide(_without_out(plain))
    words = _moved_out(_spread(shlex.split(_at(plain, model)), world.folder), world)
    if "ID" in words:
        from situs.bench import open_bench

        words[words.index("ID")] = next(open_bench(world.folder / "bench").items()).item_id
    words = _fewer(words)
    ran = situs(*words[1:])
    assert ran.code == 0, ran.err
