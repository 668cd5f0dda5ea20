"""The recipes that serve a model and run a bench against it:
their commands parse, and say what they must."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from test_shown_parse import parse

from situs.cli import program
from situs.clients import parse_spec

_VLLM = Path(__file__).parents[2] / "recipes" / "vllm"
_VALUES = {
    "MODEL:?": "/models/qwen",
    "MODEL": "/models/qwen",
    "BENCH": "/bench",
    "OUT": "/out",
    "urls#,": "http://node1:8000/v1,http://node2:8000/v1",
    "SITUS_OPTIONS:-": "--trust-host node1 --trust-host node2",
}


def commands(name: str) -> list[list[str]]:
    """The `situs …` commands of a recipe, with its variables filled in."""
    text = re.sub(r"^\s*#.*$", "", (_VLLM / name).read_text("utf-8"), flags=re.MULTILINE)
    if name == "compose.yaml":
        text = yaml.safe_load(text)["services"]["situs"]["command"][0]
    text = text.replace("\\\n", " ")
    text = re.sub(r"\$\(\(.*?\)\)|\$\(.*?\)", "64", text)
    for variable, value in _VALUES.items():
        text = text.replace(f"${{{variable}}}", value).replace(f"${variable}", value)
    return [shlex.split(line) for line in re.findall(r"\bsitus (?:run|score) [^\n&]*", text)]


@pytest.mark.parametrize(("name", "servers"), [("compose.yaml", 1), ("slurm.sh", 2)])
def test_the_commands_of_a_recipe_parse(name: str, servers: int) -> None:
    run, score = commands(name)
    for words in (run, score):
        parse(program, "situs", words[1:])
    spec = parse_spec(run[run.index("--model") + 1])
    assert (spec.kind, spec.name) == ("openai", "judged")
    assert len(spec.url.split(",")) == servers
    # Without it the run would not resume on the nodes of the next job.
    assert spec.settings["weights"]
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


_STUBS = {
    "scontrol": "echo localhost",
    "basename": 'echo "${1##*/}"',
    "curl": "exit 0",
    "srun": "exec sleep 60",
    "situs": 'echo "$@" >> "$SAID"',
}
"""What stands in for a cluster: one node, whose server is up at once."""


def test_the_script_runs_from_allocation_to_score(tmp_path: Path) -> None:
    for name, script in _STUBS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{script}\n")
        (tmp_path / name).chmod(0o755)
    said = tmp_path / "said"
    env = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "SAID": str(said),
        "MODEL": "/models/Qwen3-VL-8B-Instruct",
        "BENCH": "/data/my bench",
        "OUT": "/data/run",
        "SLURM_JOB_NODELIST": "node[1-2]",
        "SLURM_NNODES": "2",
    }
    subprocess.run(["bash", str(_VLLM / "slurm.sh")], check=True, env=env, timeout=30)
    model = "openai:judged@http://localhost:8000/v1?weights=Qwen3-VL-8B-Instruct"
    assert said.read_text().splitlines() == [
        f"run /data/my bench --model {model} --concurrency 32 --out /data/run",
        "score /data/my bench /data/run",
    ]


def test_the_compose_file_names_the_model_as_vllm_takes_it() -> None:
    """`vllm serve --model …` is an error, and `pip install situs` would fetch a stranger's."""
    services = yaml.safe_load((_VLLM / "compose.yaml").read_text("utf-8"))["services"]
    assert services["model"]["entrypoint"] == ["vllm", "serve"]
    assert services["model"]["command"].startswith("${MODEL")
    assert "pip install" not in (_VLLM / "compose.yaml").read_text("utf-8")
    assert (_VLLM / services["situs"]["build"]).resolve() == _VLLM.parents[1]
