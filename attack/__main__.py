"""Attack Situs: bad files and benches, odd numbers, options and streams, kills, full disks,
servers, names, keys.

    python -m attack [--cases 10000] [--seed N] [--family NAME] [--only NUMBER] [--part I/N]

A case is made from the seed, its family and its number alone, so that any of them can be tried
again: a complaint ends with the words that do. Nothing leaves this machine; servers listen on
loopback.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

from attack import corpus
from attack.files import check_good
from attack.options import check_complete
from attack.trial import FAMILIES, attempt

_STOPS = "stops"
"""Not a family: how often a program was stopped."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m attack", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="default: another each time, printed"
    )
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one case of the family")
    parser.add_argument(
        "--part", type=_part, default=(1, 1), metavar="I/N", help="every N-th case, from the I-th"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    os.environ.update(corpus.ENVIRONMENT)
    with tempfile.TemporaryDirectory(prefix="situs-attack-") as scratch:
        root = Path(scratch)
        os.environ |= {name: str(root / name) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
        check_complete()
        corpus.make(root / "corpus")
        check_good(root / "corpus", root / "good")
        tried, work, complaints = _try_all(_plan(given), given.seed, root, given.jobs)
    stops = tried.pop(_STOPS, 0)
    print(", ".join(f"{n} {name} ({work[name]:.0f} s)" for name, n in sorted(tried.items())))
    print(f"a program was stopped {stops} times; {sum(os.times()[:4]):.0f} s of work")
    print(f"{sum(tried.values()) - len(complaints)} passed, {len(complaints)} failed")
    sys.exit(1 if complaints else 0)


def _plan(given: argparse.Namespace) -> list[tuple[str, int]]:
    if given.only is not None:
        return [(given.family or "files", given.only)]
    chosen = [given.family] if given.family else list(FAMILIES)
    total = sum(FAMILIES[name][1] for name in chosen)
    counts = {name: max(1, round(given.cases * FAMILIES[name][1] / total)) for name in chosen}
    # All families go forward alike, so that a run that is cut short has tried each of them.
    order = sorted(
        (number / count, name) for name, count in counts.items() for number in range(count)
    )
    first, parts = given.part
    plan = [(name, round(share * counts[name])) for share, name in order]
    if parts > 1:  # families come round like the hands of a clock: a stride would miss some
        random.Random(given.seed).shuffle(plan)
    return plan[first - 1 :: parts]


def _part(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    first, parts = int(number), int(of)
    if not 1 <= first <= parts:
        raise ValueError(text)
    return first, parts


def _try_all(
    plan: list[tuple[str, int]], seed: int, root: Path, jobs: int
) -> tuple[Counter[str], dict[str, float], list[str]]:
    tried: Counter[str] = Counter()
    work: dict[str, float] = defaultdict(float)
    complaints: list[str] = []
    for count, ((family, number), wrong, stops, seconds) in enumerate(
        _outcomes(plan, seed, root, jobs), start=1
    ):
        tried[family] += 1
        tried[_STOPS] += stops
        work[family] += seconds
        if wrong:
            again = f"python -m attack --seed {seed} --family {family} --only {number}"
            complaints.append(f"{'; '.join(wrong)[:600]} [{again}]")
            print(complaints[-1], flush=True)
        if count % 50 == 0:
            done = f"{count} of {len(plan)}, {tried[_STOPS]} stops"
            print(f"{done}, {len(complaints)} failed", flush=True)
    return tried, work, complaints


def _outcomes(
    plan: list[tuple[str, int]], seed: int, root: Path, jobs: int
) -> Iterator[tuple[tuple[str, int], list[str], int, float]]:
    """What is wrong with each case, in order. One that ends its process does not end the others."""
    left = deque(plan)
    alone = 0
    while left:
        # After a death, those that were under way are tried one by one, to see which it was.
        batch = [left[0]] if alone else list(left)
        try:
            with _pool(1 if alone else jobs) as pool:
                for wrong, stops, work in pool.map(partial(attempt, seed, root), batch):
                    yield left.popleft(), wrong, stops, work
            alone = max(0, alone - 1)
        except BrokenProcessPool:
            if alone:
                yield left.popleft(), ["the process was ended from within"], 0, 0.0
            alone = 2 * jobs


def _pool(jobs: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, context)


if __name__ == "__main__":
    main()
