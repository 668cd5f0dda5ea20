"""Every `situs …` line shown in README and docs parses: a renamed command or option fails here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from situs.cli import _situs as program
from situs.errors import SitusError

_ROOT = Path(__file__).parents[2]
_PAGES = [_ROOT / "README.md", _ROOT / "CONTRIBUTING.md", *sorted((_ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    (situs .*)$", re.MULTILINE)
_COMMENT = re.compile(r"\s+#.*$")


def _lines(text: str) -> Iterator[str]:
    for language, block in _FENCE.findall(text):
        if language in ("", "sh", "bash", "console"):
            yield from block.replace("\\\n", " ").splitlines()
    yield from _INDENTED.findall(_FENCE.sub("", text))


def _commands(path: Path) -> Iterator[str]:
    for line in _lines(path.read_text("utf-8")):
        for part in re.split(r"&&|\|(?!\|)|;", _COMMENT.sub("", line)):
            words = part.strip().removeprefix("$ ")
            if words.startswith("situs "):
                yield words


_SHOWN = [
    pytest.param(command, id=f"{path.name}: {command[:60]}")
    for path in _PAGES
    for command in dict.fromkeys(_commands(path))
]


def _parse(group: click.Command, name: str, words: list[str]) -> None:
    """Parse as click would, to the end, and run nothing; files need not exist."""
    context = click.Context(group, info_name=name, resilient_parsing=False)
    if isinstance(group, click.Group):
        assert words, f"{name} needs a command"
        found, command, rest = group.resolve_command(context, words)
        assert command is not None
        _parse(command, f"{name} {found}", rest)
        return
    parser = group.make_parser(context)
    try:
        parser.parse_args(list(words))
    except click.NoSuchOption as error:
        raise AssertionError(f"{name}: {error.format_message()}") from None


@pytest.mark.parametrize("command", _SHOWN)
def test_a_command_shown_in_the_docs_parses(command: str) -> None:
    words = [word for word in shlex.split(command) if word not in ("…", "...")]
    _parse(program, "situs", words[1:])


def test_a_renamed_option_would_be_found() -> None:
    """The check itself can fail."""
    with pytest.raises(AssertionError, match="--rubbish"):
        _parse(program, "situs", ["check", "bench", "--rubbish"])
    with pytest.raises(SitusError, match="check"):
        _parse(program, "situs", ["chekc", "bench"])


def test_the_pages_show_commands() -> None:
    assert len(_SHOWN) > 60
