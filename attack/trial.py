"""One case of one family, tried in a process of the pool.

It stands apart from `__main__`, which a worker that is started afresh does not load.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from attack import (
    benches,
    bombs,
    disk,
    egress,
    kills,
    names,
    numbers,
    options,
    paths,
    races,
    readers,
    rooms,
    secrets,
    sources,
    standins,
    streams,
    surroundings,
    texts,
    wire,
)
from attack import files as bad_files
from attack.apart import end_all, work_so_far
from attack.kills import stops_so_far
from attack.program import vary_starts

__all__ = ["FAMILIES", "attempt"]

Case = Callable[[random.Random, Path, Path], list[str]]
"""Given chance, the corpus and an empty folder to work in: what is wrong, if anything."""

FAMILIES: dict[str, tuple[Case, float]] = {
    "files": (bad_files.case, 0.18),
    "benches": (benches.case, 0.18),
    "numbers": (numbers.case, 0.1),
    "kills": (kills.case, 0.028),
    "options": (options.case, 0.08),
    "texts": (texts.case, 0.05),
    "sources": (sources.case, 0.03),
    "standins": (standins.case, 0.03),
    "names": (names.case, 0.04),
    "wire": (wire.case, 0.04),
    "secrets": (secrets.case, 0.04),
    "egress": (egress.case, 0.04),
    "readers": (readers.case, 0.05),
    "rooms": (rooms.case, 0.03),
    "disk": (disk.case, 0.03),
    "streams": (streams.case, 0.04),
    "races": (races.case, 0.01),
    "paths": (paths.case, 0.04),
    "bombs": (bombs.case, 0.01),
    "surroundings": (surroundings.case, 0.012),
}
"""Family → its cases, and their share of all.

A case of kills stops a program three or four times.
"""

_HANG_CPU_SECONDS, _HANG_SECONDS = 60, 1800
"""Of work, which no load on the machine changes; and in all, for what waits for ever."""


class _Hang(BaseException):
    """A case took too long."""


def attempt(seed: int, root: Path, which: tuple[str, int]) -> tuple[list[str], int, float]:
    """What is wrong with the case, if anything; how often it stopped a program; its seconds of
    work."""
    family, number = which
    stops_before, work_before = stops_so_far(), work_so_far()

    def hang(*_: object) -> None:
        raise _Hang

    here = Path.cwd()
    vary_starts(f"{seed}/{family}/{number}/starts")
    with tempfile.TemporaryDirectory(dir=root, prefix=f"{family}-{number}-") as work:
        os.chdir(work)
        for number_of_signal in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number_of_signal, hang)
        signal.alarm(_HANG_SECONDS)
        signal.setitimer(signal.ITIMER_PROF, _HANG_CPU_SECONDS)
        # Machine code does not hear the alarm: then the whole process goes, and says where it was.
        faulthandler.dump_traceback_later(2 * _HANG_SECONDS, exit=True)
        try:
            wrong = FAMILIES[family][0](
                random.Random(f"{seed}/{family}/{number}"), root / "corpus", Path(work)
            )
        except _Hang:
            wrong = [f"no end after {_HANG_CPU_SECONDS} s of work, or {_HANG_SECONDS} s in all"]
        except BaseException as error:
            frames = traceback.extract_tb(error.__traceback__)[-3:]
            at = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))
            wrong = [f"{type(error).__name__}: {str(error)[:300]} at {at}"]
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            end_all()
            faulthandler.cancel_dump_traceback_later()
            os.chdir(here)
    return wrong, stops_so_far() - stops_before, work_so_far() - work_before
