"""What a shell offers after Tab: values of options, and folders that are benches or runs.

Options are completed by their names wherever they occur, so that a command need not know of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import click
from click.shell_completion import CompletionItem

__all__ = ["complete_values", "is_completing"]

_VARIABLE = "_SITUS_COMPLETE"


def is_completing() -> bool:
    """Whether a shell asks for values rather than for the command."""
    return _VARIABLE in os.environ


def complete_values(command: click.Command) -> None:
    """Give a command's parameters, and those of its own commands, their values."""
    if isinstance(command, click.Group):
        for child in command.commands.values():
            complete_values(child)
    for param in command.params:
        values = _VALUES.get(param.opts[0]) or _FOLDERS.get(param.opts[0])
        if values is not None:
            # The method of this one object: click takes a function only when an option is made.
            param.shell_complete = _completer(values)  # type: ignore[method-assign,assignment]


def _completer(
    values: Callable[[str], Mapping[str, str]],
) -> Callable[[click.Context, str], list[CompletionItem]]:
    def complete(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # Of a list with commas, the last entry is being written.
        before, comma, last = incomplete.rpartition(",")
        return [
            CompletionItem(before + comma + name, help=about)
            for name, about in values(last).items()
            if name.startswith(last)
        ]

    return complete


def _profiles(_: str) -> Mapping[str, str]:
    from situs.profiles import shipped_profiles

    return shipped_profiles()


def _rooms(_: str) -> Mapping[str, str]:
    from situs.room import shipped_rooms

    return shipped_rooms()


def _tasks(_: str) -> Mapping[str, str]:
    from situs.base.docstrings import summary
    from situs.items import all_tasks

    return {name: summary(task) for name, task in all_tasks().items()}


def _formats(_: str) -> Mapping[str, str]:
    from situs.export import known_formats

    return known_formats()


def _probes(_: str) -> Mapping[str, str]:
    from situs.probe import PROBES

    return {name: probe.about for name, probe in PROBES.items()}


def _metrics(_: str) -> Mapping[str, str]:
    from situs.score import known_metrics

    return {name: metric.about for name, metric in known_metrics().items()}


def _models(_: str) -> Mapping[str, str]:
    from situs.run import known_models

    return known_models()


def _annotations(_: str) -> Mapping[str, str]:
    from situs.facts import load_recipe

    return dict.fromkeys(load_recipe().annotation, "")


def _layouts(_: str) -> Mapping[str, str]:
    from situs.volumes import LAYOUTS

    return LAYOUTS


def _strata(_: str) -> Mapping[str, str]:
    from situs.score import STRATA

    return dict.fromkeys(STRATA, "")


def _folders_with(*markers: str) -> Callable[[str], Mapping[str, str]]:
    """Folders that hold one of these files, and folders on the way to them."""

    def folders(incomplete: str) -> Mapping[str, str]:
        parent = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
        return dict(_marked(parent, markers))

    return folders


def _marked(parent: Path, markers: Iterable[str]) -> Iterable[tuple[str, str]]:
    try:
        children = sorted(child for child in parent.iterdir() if child.is_dir())
    except OSError:
        return
    for child in children:
        if child.name.startswith("."):
            continue
        text = child.as_posix()
        if any((child / marker).is_file() for marker in markers):
            yield text, ""
        else:
            yield f"{text}/", ""


_VALUES: dict[str, Callable[[str], Mapping[str, str]]] = {
    "--profile": _profiles,
    "--room": _rooms,
    "--tasks": _tasks,
    "--to": _formats,
    "--probes": _probes,
    "--metrics": _metrics,
    "--model": _models,
    "--annotation": _annotations,
    "--layout": _layouts,
    "--stratum": _strata,
}
_FOLDERS = {
    "bench": _folders_with("bench.json"),
    "folder": _folders_with("bench.json"),
    "run": _folders_with("run.json"),
    "runs": _folders_with("run.json"),
    "source": _folders_with("bench.json", "run.json"),
}
"""Arguments by name. Where other files are meant as well, the shell is left to complete them."""
