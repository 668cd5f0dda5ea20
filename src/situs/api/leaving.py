"""Functions that write to addresses such as s3://bucket/bench:
made here, published when all went well."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from situs.api.results import path_of, text_of
from situs.base.files import read_json
from situs.base.remote import is_url
from situs.errors import SitusError

if TYPE_CHECKING:
    from situs.base.remote.outputs import Outgoing

__all__ = ["is_restricted", "refuse_restricted", "writes"]

_READ = ("bench", "source", "runs")
"""Arguments of functions that name benches and runs."""

Given = ParamSpec("Given")
Made = TypeVar("Made")


def writes(
    moved: Callable[[Any, str], Any],
    *,
    resumes: bool = False,
    builds: bool = False,
    synthetic: bool = False,
) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Lets a function with an `out` write to addresses; restricted data only with `allow_remote`.

    `moved` makes the result that is returned from what the function returned and the address.
    `resumes`: what was published before is fetched first, and continued. `builds`: it takes a
    licence, which tells whether data are restricted, and what it made but could not publish is not
    made again (`moved` is given None). `synthetic`: what it builds from is nobody's data.
    """

    def decorate(function: Callable[Given, Made]) -> Callable[Given, Made]:
        shape = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Given.args, **options: Given.kwargs) -> Made:
            bound = shape.bind(*args, **options)
            url = text_of(bound.arguments.get("out") or "")
            leaving = _outgoing(url)
            if leaving is None:
                return function(*args, **options)
            settings = dict(bound.arguments)
            settings |= settings.pop("settings", {})
            if synthetic:
                settings.setdefault("restricted", False)
            elif builds:
                settings.setdefault("licence", "")
            if not settings.get("allow_remote"):
                refuse_restricted(leaving.url, settings)
            overwrite = bool(settings.get("overwrite"))
            bound.arguments["out"] = leaving.path
            key = repr(sorted((name, repr(value)) for name, value in settings.items()))
            made = None
            if not (builds and leaving.is_finished_by(key)):
                leaving.begin(resumes=resumes, overwrite=overwrite)
                made = function(*bound.args, **bound.kwargs)
            leaving.publish(key, replaces=overwrite)
            published: Made = moved(made, url)
            return published

        return call

    return decorate


def _outgoing(url: str) -> Outgoing | None:
    if not is_url(url):
        return None
    from situs.base.remote.outputs import outgoing

    return outgoing(url)


def refuse_restricted(url: str, arguments: Mapping[str, Any]) -> None:
    """Raise if a result made with these options may not leave this machine."""
    if is_restricted(arguments):
        fix = "write to a local path, or add --allow-remote if the data may be stored there"
        raise SitusError("the data are restricted", where=url, fix=fix)


def is_restricted(arguments: Mapping[str, Any]) -> bool:
    """By the licence of what is built, else by the benches and runs among the options.

    Other data are.
    """
    from situs.bench import open_bench
    from situs.build import SHARD_FILE, ShardInfo, is_open_licence
    from situs.run import open_run

    if "licence" in arguments:
        return bool(arguments.get("restricted")) or not is_open_licence(arguments["licence"])
    if "restricted" in arguments:  # synthetic patients
        return bool(arguments["restricted"])
    restricted = []
    for path in _paths(arguments):
        if (path / "bench.json").is_file():
            restricted.append(open_bench(path).info.restricted)
        elif (path / "run.json").is_file():
            restricted.append(open_run(path, arguments.get("bench"))[1].info.restricted)
        elif (path / SHARD_FILE).is_file():
            restricted.append(is_restricted(read_json(path / SHARD_FILE, ShardInfo).arguments))
    return not restricted or any(restricted)


def _paths(arguments: Mapping[str, Any]) -> Iterator[Path]:
    """What is read: paths and results, and text where it can only be a path or an address."""
    for name, value in arguments.items():
        if name != "out":
            read = str | os.PathLike if name in _READ else os.PathLike
            for entry in value if isinstance(value, tuple | list) else (value,):
                if isinstance(entry, read):
                    yield path_of(entry)
