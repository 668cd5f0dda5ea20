"""A build in parts, for job arrays: each part works on some of the studies, and a merge makes the
bench of them.

A part is a folder with `shard.json` and the finished outcomes of its studies. Putting the parts
together is the same build, which finds every study worked on: so the bench is the one that a single
build makes, byte for byte.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from situs import __version__
from situs.base.files import canonical_json, read_json, write_atomic
from situs.base.publish import FinishedEarly
from situs.base.shard import Shard
from situs.build.spool import Spool
from situs.errors import SitusError

__all__ = [
    "SHARD_FILE",
    "ShardFinished",
    "ShardInfo",
    "adopt_shards",
    "check_shards",
    "finished_shard",
    "write_shard_info",
]

SHARD_FILE = "shard.json"


class ShardInfo(msgspec.Struct, frozen=True):
    """`shard.json`."""

    shard: Shard
    studies: int
    """In the whole build."""
    unusable: int
    """Studies of this part that could not be used."""
    key: str
    """Equal for all parts of one build."""
    situs: str = __version__
    command: str = ""
    """The source: masks, boxes or grades."""
    arguments: dict[str, Any] = {}
    """Of the build command."""


class ShardFinished(FinishedEarly):
    """The part is done; there is nothing more to make of it alone."""

    def __init__(self, folder: Path, info: ShardInfo) -> None:
        super().__init__(folder)
        self.info = info


def finished_shard(
    shard: Shard, name: str, studies: int, unusable: int, work: Path
) -> ShardFinished:
    """Put a part's outcomes into a folder of its own, to be published instead of a bench."""
    folder = work.with_name("shard")
    folder.mkdir(mode=0o700)
    # Linked, not moved: whoever is killed before this part is put in its place finds them again.
    shutil.copytree(work / name, folder / name, copy_function=_link_or_copy)
    info = ShardInfo(shard, studies, unusable, (work / "key").read_text())
    write_shard_info(folder, info)
    return ShardFinished(folder, info)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def write_shard_info(folder: Path, info: ShardInfo) -> None:
    """Write `shard.json`, which names paths: private to its owner."""
    write_atomic(folder / SHARD_FILE, canonical_json(info) + b"\n", private=True)


def check_shards(parts: Mapping[Path, ShardInfo]) -> None:
    """Stop unless these are all parts of one build, each once."""
    first_folder, first = next(iter(parts.items()))
    seen: dict[int, Path] = {}
    for folder, info in parts.items():
        if (info.key, info.shard.of) != (first.key, first.shard.of):
            problem = f"is not a part of the same build as {first_folder}"
            fix = "build all parts from the same files, with the same options and version of Situs"
            raise SitusError(problem, where=folder, fix=fix)
        if _decisive(info) != _decisive(first):
            name = _first_difference(info, first)
            problem = f"was built with a different {name} from {first_folder}"
            raise SitusError(problem, where=folder, fix="build all parts with the same options")
        if info.shard.number in seen:
            problem = f"is part {info.shard}, and so is {seen[info.shard.number]}"
            raise SitusError(problem, where=folder, fix="give each part once")
        seen[info.shard.number] = folder
    missing = [str(n) for n in range(1, first.shard.of + 1) if n not in seen]
    if missing:
        problem = f"of {first.shard.of} parts, {', '.join(missing[:20])} are missing"
        raise SitusError(problem, where=first_folder.parent, fix="build them with --shard I/N")


_OF_ONE_CALL = ("shard", "out", "jobs", "engine", "as_json", "overwrite", "shards")
"""Arguments that may differ from part to part."""


def _decisive(info: ShardInfo) -> dict[str, Any]:
    """The given arguments that make the bench; one that is null was not given."""
    return {
        name: value
        for name, value in info.arguments.items()
        if value is not None and name not in _OF_ONE_CALL
    }


def _first_difference(one: ShardInfo, other: ShardInfo) -> str:
    a, b = _decisive(one), _decisive(other)
    name = next(name for name in sorted({*a, *b}) if a.get(name) != b.get(name))
    return f"--{name.replace('_', '-')}"


def adopt_shards(
    shards: Sequence[Path], spool: Spool[Any], total: int, work: Path, source: tuple[str, Any]
) -> None:
    """Take over what the parts of this build, which has `total` studies, have worked out.

    `source` is the name of the outcomes' folder, and what one of them is.
    """
    key = (work / "key").read_text()
    name, outcome = source
    for folder in shards:
        info = read_json(folder / SHARD_FILE, ShardInfo)
        if (info.key, info.studies) != (key, total):
            fix = "build all parts from the same files, with the same options and version of Situs"
            raise SitusError("is a part of another build", where=folder, fix=fix)
        done = Spool(folder / name, outcome)
        for number in info.shard.of_jobs(info.studies):
            if number in done and number not in spool:
                spool.adopt(number, done)
