"""One case of one family, tried in a process of the pool.

It stands apart from `__main__`, which a worker that is started afresh does not load.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

from attack import disk, kills, names, texts, wire
from attack import files as bad_files

__all__ = ["FAMILIES", "attempt"]

Case = Callable[[random.Random, Path, Path], list[str]]
"""Given chance, the corpus and an empty folder to work in: what is wrong, if anything."""

FAMILIES: dict[str, tuple[Case, float]] = {
    "files": (bad_files.case, 0.60),
    "texts": (texts.case, 0.14),
    "names": (names.case, 0.10),
    "kills": (kills.case, 0.08),
    "disk": (disk.case, 0.04),
    "wire": (wire.case, 0.04),
}
"""Family → its cases, and their share of all."""

_HANG_SECONDS = 120


class _Hang(BaseException):
    """A case took too long."""


def attempt(seed: int, root: Path, which: tuple[str, int]) -> list[str]:
    family, number = which

    def hang(*_: object) -> None:
        raise _Hang

    here = Path.cwd()
    with tempfile.TemporaryDirectory(dir=root, prefix=f"{family}-{number}-") as work:
        os.chdir(work)
        signal.signal(signal.SIGALRM, hang)
        signal.alarm(_HANG_SECONDS)
        try:
            return FAMILIES[family][0](random.Random(f"{seed}/{family}/{number}"), root / "corpus", Path(work))
        except _Hang:
            return [f"no end after {_HANG_SECONDS} s"]
        except BaseException as error:
            return [f"{type(error).__name__}: {error}"]
        finally:
            signal.alarm(0)
            os.chdir(here)
