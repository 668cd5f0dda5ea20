"""`--shard I/N` on builds, and the way back: parts of one build put together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from situs.base.remote import is_url, local_input, url_of
from situs.cli.output.printing import echo, print_json

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
    arguments = {name: _restored(value) for name, value in infos[0].arguments.items()}
    callback = commands[infos[0].command].callback
    assert callback is not None
    callback(**(arguments | dict(changed) | {"shard": None, "shards": tuple(parts)}))


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
