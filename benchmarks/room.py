"""What a turn in a reading room costs beyond making its picture, and how memory grows with sessions.

python benchmarks/room.py [--sessions 200] [--studies 4]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from situs.bench import open_bench
from situs.build import BuildOptions, build_phantoms
from situs.clients import Spec
from situs.facts import load_recipe
from situs.profiles import Presenter
from situs.room import load_room, run_reader
from situs.room.desk import Desk
from situs.room.view.opened import OpenScans

_LOOKS = 5
GOAL_MS = 3.0


class _Clock:
    """CPU seconds spent in a method."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wrap(
        self, owner: type, name: str, also: Callable[[Any], object] = lambda result: None
    ) -> None:
        """Time a method from now on, with what else is done to its result."""
        method = getattr(owner, name)

        def timed(*args: Any, **more: Any) -> Any:
            begin = time.process_time()
            result = method(*args, **more)
            also(result)
            self.seconds += time.process_time() - begin
            return result

        setattr(owner, name, timed)


def main() -> None:
    """Print CPU milliseconds a turn, with and without pictures, and the memory after each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--bench", type=Path, help="a bench to use instead of phantoms")
    parser.add_argument("--studies", type=int, default=4)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.bench
        if folder is None:
            folder = Path(scratch) / "bench"
            build_phantoms(given.studies, folder, BuildOptions("phantoms", load_recipe()))
        bench = open_bench(folder)
        room = load_room("free")
        profile = room.profile()
        out = Path(scratch) / "run"
        spec = Spec("driller", settings={"looks": str(_LOOKS), "answers": "oracle"})
        presenter = Presenter(bench, profile)
        # Kernels are loaded by the first sessions, once a process.
        warm = Path(scratch) / "warm"
        run_reader(bench, spec, profile, warm, room=room, presenter=presenter, limit=given.sessions)
        rendering, opening = _Clock(), _Clock()
        # Timed within the run: the difference of two runs is mostly noise on a busy machine.
        rendering.wrap(Desk, "_shown", lambda done: done.picture.image)
        opening.wrap(OpenScans, "peek")
        begin = time.process_time()
        result = run_reader(
            bench, spec, profile, out, room=room, presenter=presenter, limit=given.sessions
        )
        total = time.process_time() - begin
        beyond = 1000 * (total - rendering.seconds - opening.seconds) / result.turns
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{result.items} sessions, {result.turns} turns, {result.looks} pictures")
        print(
            f"rendering   {1000 * rendering.seconds / max(1, result.looks):8.2f} ms CPU a picture"
        )
        print(
            f"beyond it   {beyond:8.2f} ms CPU a turn (goal: {GOAL_MS:g}; evidence, words, journal)"
        )
        print(f"memory      {memory:8.0f} MB at most")


if __name__ == "__main__":
    main()
