"""Every option named in running text exists:
in the prose of README and docs, and in what the program itself says."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from shown import PAGES, prose_spans

from situs.cli import program
from situs.errors import SitusError

_SOURCE = Path(__file__).parents[2] / "src" / "situs"
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*\w")
_OTHER_PROGRAMS = re.compile(
    r"^(?:pytest|python|python3|pip|make|vllm|llama-server|gpg|git|docker|ollama|inspect|SOURCE_DATE_EPOCH)\b"
)
"""Spans that show a command of another program."""
_OTHERS_OPTIONS = {
    "local-models.md": {"--mmproj"},  # of llama-server
    "reference.md": {"--model_args"},  # of lmms-eval
    "tune-traps.md": {"--strict"},  # of ms-swift
}
_OTHERS_FOLDERS = {"tune/exports", "tune/training", "export"}
"""Packages that write commands of other programs."""
_OTHERS_FILES = {
    "base/ray_engine.py": {"--head"},  # of ray
    "review/station/demo.py": {"--exit"},  # of its own, `python -m`
    "score/text/minilm.py": {"--no-deps"},  # of pip
    "volumes/dicom/pixels.py": {"--raw"},  # of dcmconv
}


def commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command, with the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, (*path, name))


def options_of(command: click.Command) -> set[str]:
    """Its options by all their names."""
    return {name for one in command.params for name in [*one.opts, *one.secondary_opts]} | {
        "--help"
    }


COMMANDS = dict(commands(program))
OPTIONS = {option for command in COMMANDS.values() for option in options_of(command)}


def unknown_options(span: str) -> list[str]:
    """The options in a piece of code that no command has, or not the command it calls."""
    known = OPTIONS
    if span.startswith("situs "):
        words = shlex.split(span.replace("'", ""))[1:]
        path = max((p for p in COMMANDS if tuple(words[: len(p)]) == p), key=len)
        # A group may stand for all of its commands: `situs build … --tasks angle`.
        known = {o for p, c in COMMANDS.items() if p[: len(path)] == path for o in options_of(c)}
    return [option for option in _OPTION.findall(span) if option not in known]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_the_prose_of_a_page_exist(page: Path) -> None:
    others = _OTHERS_OPTIONS.get(page.name, set())
    unknown = {
        (option, span)
        for span in prose_spans(page)
        if not _OTHER_PROGRAMS.match(span)
        for option in unknown_options(span)
        if option not in others
    }
    assert not unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_prose_of_a_page_exist(page: Path) -> None:
    for span in prose_spans(page):
        words = span.split()
        if words[0] != "situs" or len(words) == 1 or not re.fullmatch(r"[a-z-]+", words[1]):
            continue
        try:
            program.resolve_command(click.Context(program, info_name="situs"), words[1:])
        except SitusError as error:
            raise AssertionError(f"`{span}`: {error}") from None


def test_options_that_messages_name_exist() -> None:
    unknown = set()
    for path in _SOURCE.rglob("*.py"):
        name = path.relative_to(_SOURCE).as_posix()
        if any(name.startswith(f"{folder}/") for folder in _OTHERS_FOLDERS):
            continue
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if _OPTION.search(text) else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for option in _OPTION.findall(node.value):
                    if option not in OPTIONS | _OTHERS_FILES.get(name, set()):
                        unknown.add((name, option))
    assert not unknown


def test_a_renamed_option_would_be_found() -> None:
    """The check itself can fail."""
    assert unknown_options("situs check bench --rubbish") == ["--rubbish"]
    assert unknown_options("situs check bench --pictures 3") == ["--pictures"]
    assert unknown_options("--rubbish") == ["--rubbish"]
    assert not unknown_options("situs build … --tasks angle")
