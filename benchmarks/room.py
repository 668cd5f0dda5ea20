"""What a turn in a reading room costs beyond making its picture, and how memory grows with
sessions.

python benchmarks/room.py [--sessions 200] [--studies 4] [--size 448]
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from situs.bench import Bench, open_bench
from situs.build import BuildOptions, build_phantoms
from situs.clients import Spec
from situs.facts import load_recipe
from situs.profiles import FileVolumes, Presenter
from situs.room import Room, RoomResult, load_room, run_reader
from situs.room.view import scan

_LOOKS = 5
GOAL_MS = 3.0
_MOMENTS = 10
"""At which memory is looked at."""


class _Clock:
    """CPU seconds spent in what it wraps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = 0

    def wrap(self, owner: Any, name: str) -> None:
        """Time a function or method from now on."""
        method = getattr(owner, name)

        def timed(*args: Any, **more: Any) -> Any:
            begin = time.process_time()
            try:
                return method(*args, **more)
            finally:
                self.seconds += time.process_time() - begin
                self.calls += 1

        setattr(owner, name, timed)


def main() -> None:
    """Print CPU milliseconds a turn, with and without pictures,
    and the memory as sessions go by."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--bench", type=Path, help="a bench to use instead of phantoms")
    parser.add_argument("--studies", type=int, default=4)
    parser.add_argument("--size", type=int, help="longest side of a picture, if not the room's")
    given = parser.parse_args()
    room = load_room("free")
    if given.size:
        room = msgspec.structs.replace(room, size_px=given.size)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.bench
        if folder is None:
            folder = Path(scratch) / "bench"
            build_phantoms(given.studies, folder, BuildOptions("phantoms", load_recipe()))
        bench = open_bench(folder)
        _run(bench, room, Path(scratch) / "run", 8)  # kernels are loaded once a process
        rendering, reading = _Clock(), _Clock()
        # Timed within the run: the difference of two runs is mostly noise on a busy machine.
        rendering.wrap(scan.Scan, "picture")
        rendering.wrap(scan, "encode")
        reading.wrap(FileVolumes, "image")
        reading.wrap(FileVolumes, "labels")
        begin = time.process_time()
        sessions = turns = 0
        memory = []
        while sessions < given.sessions:
            result = _run(bench, room, Path(scratch) / "run", given.sessions - sessions)
            sessions += result.items
            turns += result.turns
            memory.append((sessions, _resident_mb()))
        total = time.process_time() - begin
    beyond = 1000 * (total - rendering.seconds - reading.seconds) / turns
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{sessions} sessions, {turns} turns")
    print(f"rendering   {1000 * rendering.seconds / turns:8.2f} ms CPU a turn")
    print(f"reading     {1000 * reading.seconds / turns:8.2f} ms CPU a turn (images and masks)")
    print(f"beyond them {beyond:8.2f} ms CPU a turn (goal: {GOAL_MS:g}; evidence, words, journal)")
    for done, now in memory[:: max(1, len(memory) // _MOMENTS)]:
        print(f"memory      {now:8.0f} MB after {done} sessions")
    print(f"            {most:8.0f} MB at most")


def _run(bench: Bench, room: Room, out: Path, limit: int) -> RoomResult:
    """One run over the bench, from the beginning."""
    spec = Spec("driller", settings={"looks": str(_LOOKS), "answers": "oracle"})
    profile = room.profile()
    shutil.rmtree(out, ignore_errors=True)
    return run_reader(
        bench, spec, profile, out, room=room, presenter=Presenter(bench, profile), limit=limit
    )


def _resident_mb() -> float:
    """What the process holds now, by Linux' account of it."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1024**2


if __name__ == "__main__":
    main()
