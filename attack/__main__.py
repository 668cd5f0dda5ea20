"""Attack Situs with bad files, kills, full disks, faulty servers, planted names and escape codes.

    python -m attack [--cases 10000] [--seed N] [--family NAME] [--only NUMBER]

A case is made from the seed, its family and its number alone, so that any of them can be tried again:
a complaint ends with the words that do. Nothing leaves this machine; servers listen on loopback.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from attack import corpus, disk, kills, names, texts, wire
from attack import files as bad_files

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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m attack", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: another each time, printed")
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one case of the family")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    os.environ.update(corpus.ENVIRONMENT)
    with tempfile.TemporaryDirectory(prefix="situs-attack-") as scratch:
        root = Path(scratch)
        os.environ |= {name: str(root / name) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
        corpus.make(root / "corpus")
        tried, complaints = _try_all(_plan(given), given.seed, root, given.jobs)
    for complaint in complaints[:40]:
        print(complaint)
    print(", ".join(f"{count} {family}" for family, count in sorted(tried.items())))
    print(f"{sum(tried.values()) - len(complaints)} passed, {len(complaints)} failed")
    sys.exit(1 if complaints else 0)


def _plan(given: argparse.Namespace) -> list[tuple[str, int]]:
    if given.only is not None:
        return [(given.family or "files", given.only)]
    chosen = [given.family] if given.family else list(FAMILIES)
    total = sum(FAMILIES[name][1] for name in chosen)
    counts = {name: max(1, round(given.cases * FAMILIES[name][1] / total)) for name in chosen}
    return [(name, number) for name, count in counts.items() for number in range(count)]


def _try_all(plan: list[tuple[str, int]], seed: int, root: Path, jobs: int) -> tuple[Counter[str], list[str]]:
    tried: Counter[str] = Counter()
    complaints: list[str] = []
    attempt = partial(_attempt, seed, root)
    context = multiprocessing.get_context("spawn")
    with context.Pool(jobs) as pool:
        for (family, number), wrong in zip(plan, pool.imap(attempt, plan, chunksize=4)):
            tried[family] += 1
            if wrong:
                again = f"python -m attack --seed {seed} --family {family} --only {number}"
                complaints.append(f"{'; '.join(wrong)[:600]} [{again}]")
            if sum(tried.values()) % 500 == 0:
                print(f"{sum(tried.values())} of {len(plan)}, {len(complaints)} failed", flush=True)
    return tried, complaints


class _Hang(BaseException):
    """A case took too long."""


def _attempt(seed: int, root: Path, which: tuple[str, int]) -> list[str]:
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


if __name__ == "__main__":
    main()
