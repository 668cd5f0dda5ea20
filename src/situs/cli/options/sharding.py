"""`--shard I/N` on builds, and the way back: parts of one build put together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from situs.base.remote import is_url, local_input, url_of
from situs.cli.output.printing import echo, print_json
from situs.errors import SitusError

__all__ = ["build_from_shards", "shardable"]

_PATH = "path:"
"""Stands before a path in `shard.json`, which holds text only."""


def shardable(source: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds `--shard` to a build command, and ends it well where a part is all there is to do."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--shard",
            metavar="I/N",
            help="Build only part I of N of the studies; `situs merge` combines the parts.",
        )
        @functools.wraps(function)
        def command(**options: Any) -> Any:
            from situs.build import ShardFinished, write_shard_info

            arguments = {name: _stored(value) for name, value in options.items()}
            if options["shard"] is not None:
                # The parts are put together with whole paths, maybe in another folder: a part is
                # built with them, too.
                options = {name: _restored(value) for name, value in arguments.items()}
            try:
                return function(**options)
            except ShardFinished as done:
                import msgspec

                info = msgspec.structs.replace(done.info, command=source, arguments=arguments)
                write_shard_info(options["out"], info)
                _print(options["out"], info, options["as_json"])
                return None

        return command

    return decorate


def _print(out: Path, info: Any, as_json: bool) -> None:
    studies = len(info.shard.of_jobs(info.studies))
    if as_json:
        print_json({"shard": str(info.shard), "studies": studies, "unusable": info.unusable})
        return
    echo(
        f"{out}: part {info.shard}, {studies:,} of {info.studies:,} studies. When all parts are"
        " done: situs merge PARTS… --out BENCH"
    )


def build_from_shards(
    parts: Sequence[Path], commands: Mapping[str, click.Command], changed: Mapping[str, Any]
) -> None:
    """Give the command of the parts once more, for the whole bench."""
    from situs.base.files import read_json
    from situs.build import SHARD_FILE, ShardInfo, check_shards

    infos = [read_json(part / SHARD_FILE, ShardInfo) for part in parts]
    check_shards(dict(zip(parts, infos)))
    where = parts[0] / SHARD_FILE
    if infos[0].command not in commands:
        problem = f"names no build: {infos[0].command!r}"
        raise SitusError(problem, where=where, fix="build the parts anew with --shard I/N")
    command = commands[infos[0].command]
    arguments = _checked(command, infos[0].arguments, where)
    assert command.callback is not None
    command.callback(**(arguments | dict(changed) | {"shard": None, "shards": tuple(parts)}))


def _checked(command: click.Command, stored: Mapping[str, Any], where: Path) -> dict[str, Any]:
    """The arguments of a part, each as the command itself would take it."""
    context = click.Context(command)
    restored: dict[str, Any] = {}
    for parameter in command.params:
        name = parameter.name or ""
        value = _restored(stored.get(name))
        default = parameter.get_default(context)
        if value is None and isinstance(default, str | int | float):
            value = default
        try:
            restored[name] = parameter.type_cast_value(context, value)
            if parameter.required and parameter.value_is_missing(restored[name]):
                raise click.BadParameter("is missing")
        except (click.BadParameter, AttributeError, TypeError, ValueError) as error:
            problem = f"has a {name!r} that the build does not take ({error})"
            fix = "build the parts anew with --shard I/N"
            raise SitusError(problem, where=where, fix=fix) from error
    return restored


def _stored(value: Any) -> Any:
    if isinstance(value, Path):
        return f"{_PATH}{url_of(value) or value.absolute()}"
    if isinstance(value, tuple | list):
        return [_stored(entry) for entry in value]
    return value


def _restored(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_PATH):
        text = value.removeprefix(_PATH)
        return local_input(text) if is_url(text) else Path(text)
    if isinstance(value, list):
        return tuple(_restored(entry) for entry in value)
    return value
