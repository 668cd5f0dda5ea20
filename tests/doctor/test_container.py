"""The Dockerfile cannot be built by a test:
what it copies and calls exists, and it ends as a user without rights."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def test_what_it_copies_and_installs_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    for word, rest in instructions():
        if word == "COPY":
            assert all((ROOT / source).exists() for source in shlex.split(rest)[:-1])
        for names in re.findall(r"\.\[([\w,]+)\]", rest):
            assert set(names.split(",")) <= extras.keys()


def test_it_ends_as_a_user_without_rights_and_its_commands_exist(situs: Callable[..., Any]) -> None:
    words = dict(instructions())
    assert words["USER"] == "situs"
    assert words["ENTRYPOINT"] == '["situs"]'
    called = [rest for word, rest in instructions() if word == "RUN" and rest.startswith("situs ")]
    assert [rest.partition(" && ")[0] for rest in called] == ["situs doctor --warm"]
    assert "--warm" in situs("doctor", "--help").out
