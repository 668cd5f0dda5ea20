"""The reference of commands says what `--help` says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import click
from test_named_options import COMMANDS

_DOCS = Path(__file__).parents[2] / "docs"


def test_the_pages_are_those_of_this_program() -> None:
    spec = importlib.util.spec_from_file_location("write_commands", _DOCS / "write_commands.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = {path.name: path.read_text("utf-8") for path in (_DOCS / "commands").glob("*.md")}
    assert stored == module.pages(), "run python docs/write_commands.py"


def test_every_option_says_what_it_is_for() -> None:
    """A name and a default are no help."""
    silent = [
        f"{' '.join(path)} {option.opts[0]}"
        for path, command in COMMANDS.items()
        for option in command.params
        if isinstance(option, click.Option) and not option.hidden and not option.help
    ]
    assert silent == []
