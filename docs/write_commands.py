"""Write the reference of commands, a page each, from what `--help` says.

    python docs/write_commands.py

`tests/docs` holds the pages to the program: after a change of an option, run this again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

FOLDER = Path(__file__).parent / "commands"


def pages() -> dict[str, str]:
    """The text of each page, by its file's name."""
    from situs.cli import program

    context = click.Context(program, info_name="situs", **program.context_settings)
    result = {"index.md": "".join(_index(context))}
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
        result[f"{name}.md"] = "\n".join(_page(command, name, context, 1))
    return result


def _index(context: click.Context) -> Iterator[str]:
    assert isinstance(context.command, click.Group)
    yield (
        "# All commands\n\nEvery command has `--help`, and `--json` for one JSON object on standard"
        " output.\n\n"
    )
    yield "| command | what it does |\n|---|---|\n"
    for name in context.command.list_commands(context):
        command = context.command.get_command(context, name)
        assert command is not None
        yield f"| [`situs {name}`]({name}.md) | {_first_sentence(command)} |\n"


def _first_sentence(command: click.Command) -> str:
    first = _plain(command.help or "").strip().split("\n\n")[0]
    return re.sub(r"\s+", " ", first)


def _plain(text: str) -> str:
    """Help text without the mark that keeps its lines."""
    return text.replace("\b\n", "")


def _page(command: click.Command, name: str, parent: click.Context, depth: int) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    yield f"{'#' * depth} {context.command_path}\n"
    if isinstance(command, click.Group):
        yield f"{_first_sentence(command)}\n"
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from _page(found, child, context, depth + 1)
        return
    yield f"```text\n{command.get_help(context).rstrip()}\n```\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    made = pages()
    for old in FOLDER.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
