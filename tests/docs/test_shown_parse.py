"""Every `situs …` line shown in README and docs parses: a renamed command or option fails here."""

from __future__ import annotations

import shlex

import click
import pytest
from shown import PAGES, shown_commands

from situs.cli import program
from situs.errors import SitusError

_SHOWN = [
    pytest.param(command, id=f"{path.name}: {command[:60]}")
    for path in PAGES
    for command in shown_commands(path)
]


def parse(group: click.Command, name: str, words: list[str]) -> None:
    """Parse as click would, to the end, and run nothing; files need not exist."""
    # click keeps a command's help option as it was first asked for.
    context = click.Context(group, info_name=name, help_option_names=["-h", "--help"])
    if isinstance(group, click.Group):
        assert words, f"{name} needs a command"
        found, command, rest = group.resolve_command(context, words)
        assert command is not None
        parse(command, f"{name} {found}", rest)
        return
    parser = group.make_parser(context)
    try:
        parser.parse_args(list(words))
    except click.NoSuchOption as error:
        raise AssertionError(f"{name}: {error.format_message()}") from None


@pytest.mark.parametrize("command", _SHOWN)
def test_a_command_shown_in_the_docs_parses(command: str) -> None:
    words = [word for word in shlex.split(command) if word not in ("…", "...")]
    parse(program, "situs", words[1:])


def test_a_renamed_option_would_be_found() -> None:
    """The check itself can fail."""
    with pytest.raises(AssertionError, match="--rubbish"):
        parse(program, "situs", ["check", "bench", "--rubbish"])
    with pytest.raises(SitusError, match="check"):
        parse(program, "situs", ["chekc", "bench"])


def test_the_pages_show_commands() -> None:
    assert len(_SHOWN) > 60
