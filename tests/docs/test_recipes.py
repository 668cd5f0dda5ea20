"""The recipes that serve a model and run a bench against it:
their commands parse, and say what they must."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from test_shown_parse import parse

from situs.cli import program
from situs.clients import parse_spec

_VLLM = Path(__file__).parents[2] / "recipes" / "vllm"
_VALUES = {
    "MODEL": "/models/qwen",
    "BENCH": "/bench",
    "OUT": "/out",
    "urls#,": "http://node1:8000/v1,http://node2:8000/v1",
    "SITUS_OPTIONS:-": "--trust-host node1 --trust-host node2",
}


def commands(name: str) -> list[list[str]]:
    """The `situs …` commands of a recipe, with its variables filled in."""
    text = re.sub(r"^\s*#.*$", "", (_VLLM / name).read_text("utf-8"), flags=re.MULTILINE)
    text = re.sub(r"\$\(\(.*?\)\)", "64", text)
    for variable, value in _VALUES.items():
        text = text.replace(f"${{{variable}}}", value).replace(f"${variable}", value)
    found = re.findall(r"\bsitus (?:run|score) [^\n&]*", text)
    return [shlex.split(line.rstrip('" ')) if '"' not in line else _words(line) for line in found]


def _words(line: str) -> list[str]:
    return shlex.split(line if line.count('"') % 2 == 0 else line.rstrip('"'))


@pytest.mark.parametrize(("name", "servers"), [("compose.yaml", 1), ("slurm.sh", 2)])
def test_the_commands_of_a_recipe_parse(name: str, servers: int) -> None:
    run, score = commands(name)
    for words in (run, score):
        parse(program, "situs", words[1:])
    spec = parse_spec(run[run.index("--model") + 1])
    assert (spec.kind, spec.name) == ("openai", "judged")
    assert len(spec.url.split(",")) == servers
    # What is scored is what was run.
    assert score[-1] == run[run.index("--out") + 1]
    assert score[-2] == run[2]


def test_the_servers_keep_what_a_study_shows_and_are_asked_by_their_name() -> None:
    for name in ("compose.yaml", "slurm.sh"):
        text = (_VLLM / name).read_text("utf-8")
        assert "--enable-prefix-caching" in text
        assert "--served-model-name judged" in text


def test_the_script_is_valid_shell() -> None:
    subprocess.run(["bash", "-n", str(_VLLM / "slurm.sh")], check=True)
