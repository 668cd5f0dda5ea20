"""The reference of commands says what `--help` says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

_DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_are_those_of_this_program() -> None:
    spec = importlib.util.spec_from_file_location("write_commands", _DOCS / "write_commands.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = {path.name: path.read_text("utf-8") for path in (_DOCS / "commands").glob("*.md")}
    assert stored == module.pages(), "run python docs/write_commands.py"
