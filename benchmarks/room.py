"""What a turn in a reading room costs beyond making its picture, and how memory grows with
sessions.

Beyond the picture is all CPU time of the run but three things: making the pictures that are sent
(layout, resampling, drawing, encoding), reading the image files, which any way of asking pays, and
loading compiled code, once a process. So reading masks, judging which items can be answered (with
the pictures that takes), evidence, words, journal and answers all count.

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
from situs.room import Room, RoomResult, desk, load_room, run_reader
from situs.room.view import opened, scan

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
        # Every kernel that some item needs is loaded, once a process.
        _run(bench, room, Path(scratch) / "run", given.sessions)
        pictures, images, masks, verdicts = _Clock(), _Clock(), _Clock(), _Clock()
        # Timed within the run: the difference of two runs is mostly noise on a busy machine.
        pictures.wrap(desk.Desk, "_show")
        pictures.wrap(scan, "encode")
        images.wrap(FileVolumes, "image")
        masks.wrap(FileVolumes, "labels")
        verdicts.wrap(opened.OpenScan, "verdict")
        begin = time.process_time()
        sessions = turns = 0
        memory = []
        while sessions < given.sessions:
            result = _run(bench, room, Path(scratch) / "run", given.sessions - sessions)
            sessions += result.items
            turns += result.turns
            memory.append((sessions, _resident_mb()))
        total = time.process_time() - begin
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def per_turn(seconds: float) -> str:
        return f"{1000 * seconds / turns:8.2f} ms CPU a turn"

    beyond = total - pictures.seconds - images.seconds
    print(f"{sessions} sessions, {turns} turns, {pictures.calls // 2} pictures")
    print(f"pictures    {per_turn(pictures.seconds)} (made and encoded)")
    print(f"images      {per_turn(images.seconds)} (read from files)")
    print(f"beyond them {per_turn(beyond)} (goal: {GOAL_MS:g})")
    print(f"  of which  {per_turn(verdicts.seconds)} to judge what can be answered,")
    print(f"            {per_turn(masks.seconds)} of it to read masks")
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
