"""A file of a bench, run, study or station that is none: a pipe, a device, a socket, a link that
leads nowhere or in a circle, a folder, or nothing at all."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable
from pathlib import Path

from attack.apart import begin
from attack.commands import FILES, OF_BENCH, lay_out, spell
from attack.corpus import BENCHES
from attack.program import Ran, complaints, tree

__all__ = ["case"]

_LONGEST_SECONDS = 60.0
"""A pipe that nobody writes to makes a reader wait for ever, at no work."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """One such file, and a command that reads the folder."""
    folder = work / "in"
    folder.mkdir()
    if rng.random() < 0.5:
        name, words = rng.choice(FILES)
        file = lay_out(name, corpus, folder)
        places = {"file": file}
    else:
        kind = rng.choice(BENCHES)
        lay_out(f"benches/{kind}/bench.json", corpus, folder)
        lay_out(f"runs/{kind}/run.json", corpus, folder)
        places = {"bench": folder / "benches" / kind, "run": folder / "runs" / kind}
        words = rng.choice(OF_BENCH)
    here = {path for place in places.values() for path in _files(place)}
    changed = rng.choice(sorted(here))
    replace = rng.choice(_STANDINS)
    changed.unlink()
    replace(changed)
    before = tree(work)
    spelt = spell(words, folder=folder, corpus=corpus, out=work / "out", **places)
    called = begin(*spelt, work=work)
    said = f"{changed.relative_to(folder)} as {replace.__name__.strip('_')}"
    try:
        code = called.end(_LONGEST_SECONDS)
    except TimeoutError:
        return [f"{' '.join(words[:2])}: waits for ever for {said}"]
    ran = Ran(tuple(spelt), code, called.output, called.error, called.kilobytes)
    return [f"{said}: {text}" for text in complaints(ran, work, before)]


def _files(place: Path) -> list[Path]:
    """The file with its neighbours at any depth, or the files of the folder."""
    folder = place if place.is_dir() else place.parent
    return [path for path in folder.rglob("*") if path.is_file()]


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link_to_a_pipe(path: Path) -> None:
    beside = path.with_name(path.name + "-pipe")
    os.mkfifo(beside)
    path.symlink_to(beside)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _terminal(path: Path) -> None:
    path.symlink_to("/dev/tty")


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def _circle(path: Path) -> None:
    path.symlink_to(path)


def _nowhere(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere" / "at" / "all")


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "x").touch()


def _nothing(path: Path) -> None:
    """It is gone."""


def _memory(path: Path) -> None:
    path.symlink_to("/proc/self/mem")


def _endless(path: Path) -> None:
    """One line of three gigabytes, of which nothing lies on the disk."""
    with path.open("wb") as stream:
        stream.truncate(3 << 30)


def _copy_of_a_folder(path: Path) -> None:
    path.symlink_to(path.parent)


_STANDINS: tuple[Callable[[Path], None], ...] = (
    _pipe, _pipe, _pipe, _link_to_a_pipe, _device, _terminal, _socket, _circle, _nowhere, _folder,
    _nothing, _memory, _endless, _copy_of_a_folder,
)  # fmt: skip
