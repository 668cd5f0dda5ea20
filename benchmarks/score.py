"""Scores, reports, comparisons, checks and exports at the size of published sets: CPU seconds, peak
memory, cost per item. Prints JSON.

Usage: python benchmarks/score.py [--boxes 5000 50000] [--grades 5500 55000 550000] [--keep DIR]
                                  [--commands score report compare check export]

Two kinds of bench, each with one run: questions on frame boxes (as `build boxes` asks of
annotations like fastMRI+'s), and graded joints with a 3D box each (as `build grades` asks of
3DReasonKnee's), both built by the program itself at every size: no two patients are alike, and
`check` passes. The answers are those of a reader who knows three of five answers and guesses the
others, in a model's words.

CPU seconds are user and system time of the command and all its workers, on however many cores;
memory is the sum over its processes, sampled. `report` and `compare` find the runs scored, as they
are after `situs score`, which keeps its columns in them. A goal stands beside each measured value (`goals`),
and whether it is met (`met`). Cost per item should not grow with the number of items.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from situs.anatomy.banks import load_bank
from situs.base.files import digest
from situs.bench import open_bench
from situs.profiles import load_profile
from situs.run import AnswerRow, Spec, Viewing, make_baseline

sys.path.insert(0, str(Path(__file__).parent))
from grades import write_boxes, write_table

GOALS: dict[tuple[str, str, int], dict[str, float]] = {
    ("boxes", "score", 50_000): {"cpu_s": 20.0, "peak_mb": 2000.0},
    ("boxes", "report", 50_000): {"cpu_s": 20.0, "peak_mb": 500.0, "html_mb": 30.0},
    ("grades", "score", 550_000): {"cpu_s": 90.0, "peak_mb": 2000.0},
    ("grades", "report", 550_000): {"cpu_s": 90.0, "peak_mb": 2000.0, "html_mb": 30.0},
    ("grades", "compare", 550_000): {"cpu_s": 90.0, "peak_mb": 2000.0},
    ("grades", "check", 550_000): {"cpu_s": 90.0, "peak_mb": 2000.0},
    ("grades", "export", 550_000): {"cpu_s": 90.0, "peak_mb": 2000.0},
}
"""(bench, command, items) → what is aimed at: CPU seconds, memory, size of the page."""
_KNOWN = 0.6
_RIVAL_KNOWN = 0.5
"""What the second reader of a comparison knows."""
_FINDINGS = (
    "Cartilage - Partial Thickness loss/defect",
    "Bone- Subchondral edema",
    "Meniscus Tear",
    "Joint Effusion",
    "Ligament - ACL Low Grade sprain",
    "Bone - Lesion",
)


def build_boxes(folder: Path, items: int) -> Path:
    """Annotations of knees as fastMRI+ lists them:
    one to four findings a knee, each over a run of slices."""
    rng = random.Random(1)
    rows = ["file,slice,study_level,x,y,width,height,label"]
    for number in range(_studies(items, _BOX_ITEMS)):
        for label in rng.sample(_FINDINGS, rng.randint(1, 4)):
            first, count = rng.randint(5, 22), rng.randint(1, 9)
            x, y, wide, high = (
                rng.randint(*reach) for reach in ((60, 200), (60, 200), (15, 60), (10, 50))
            )
            for place in range(first, first + count):
                moved = (x + rng.randint(-3, 3), y + rng.randint(-3, 3), wide, high)
                rows.append(f"file{number:07d},{place},No,{','.join(map(str, moved))},{label}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "knee.csv").write_text("\n".join(rows) + "\n")
    situs("build", "boxes", folder / "knee.csv", "--out", folder / "bench")
    return folder / "bench"


def build_grades(folder: Path, items: int) -> Path:
    """Knees graded by MOAKS, with a box for every region."""
    bank, rng = load_bank("moaks-knee"), random.Random(1)
    studies = _studies(items, _GRADE_ITEMS)
    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "grades.csv", studies, bank, rng)
    write_boxes(folder / "boxes.csv", studies, bank, rng)
    given = folder / "grades.csv", "--boxes", folder / "boxes.csv"
    situs("build", "grades", *given, "--out", folder / "bench")
    return folder / "bench"


_BOX_ITEMS = 10.2
_GRADE_ITEMS = 69.0
"""Items of a study, about; of boxes, a study of a large bench is asked fewer than one of a small."""


def _studies(items: int, per_study: float) -> int:
    return max(1, round(items / per_study))


BENCHES: dict[str, tuple[Callable[[Path, int], Path], str]] = {
    "boxes": (build_boxes, "sgmri-frames"),
    "grades": (build_grades, "default"),
}
"""Bench → how it is built, and the profile of its run."""


def situs(*arguments: object) -> None:
    """A command of the program; its words are shown if it fails."""
    command = [sys.executable, "-m", "situs", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")


def answer(bench: Path, profile: str, out: Path, share: float = _KNOWN) -> None:
    """A run on a bench: so many of the answers are the oracle's, the others a guess."""
    situs("run", bench, "--model", "oracle", "--profile", profile, "--limit", 1, "--out", out)
    about = json.loads((out / "run.json").read_text())
    about |= {"client": "openai:reader@http://localhost:1/v1", "limit": None}
    (out / "run.json").write_text(json.dumps(about))
    opened = open_bench(bench)
    viewing = Viewing(opened, load_profile(profile))
    oracle, guesser = (
        make_baseline(opened, Spec(name), viewing=viewing) for name in ("oracle", "random")
    )
    with (out / "answers.jsonl").open("wb") as stream:
        for item in opened.items(steps=False):
            is_known = int(digest("known", item.item_id, size=4), 16) < share * 2**32
            words = (oracle if is_known else guesser).answer(item) or ""
            stream.write(msgspec.json.encode(AnswerRow(item.item_id, response=words)) + b"\n")


class Memory(threading.Thread):
    """The resident memory of a process and its children, sampled while it runs."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.peak_mb = 0.0
        self.ended = threading.Event()

    def run(self) -> None:
        """Look ten times a second."""
        while not self.ended.wait(0.1):
            self.peak_mb = max(self.peak_mb, sum(map(_resident_mb, _family(self._pid))))


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(other for child in children for other in _family(int(child)))]


def _resident_mb(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return 0.0


def measure(arguments: list[str]) -> dict[str, float]:
    """CPU and wall seconds and MB of one command, in a process of its own."""
    # An installed program has its modules compiled, whatever the developer's shell says.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "situs", *arguments],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    memory = Memory(process.pid)
    memory.start()
    _, said = process.communicate()
    memory.ended.set()
    if process.returncode:
        raise SystemExit(said.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "cpu_s": round(cpu, 1),
        "wall_s": round(time.perf_counter() - start, 1),
        "peak_mb": round(memory.peak_mb),
    }


def sized(kind: str, items: int, folder: Path) -> tuple[Path, Path]:
    """The bench and run of one size, made unless they are there."""
    build, profile = BENCHES[kind]
    bench, run = folder / f"{kind}-{items}" / "bench", folder / f"{kind}-{items}" / "run"
    if not bench.exists():
        build(bench.parent, items)
    if not run.exists():
        answer(bench, profile, run)
    return bench, run


def rival(kind: str, bench: Path) -> Path:
    """A second run on a bench, made unless it is there."""
    out = bench.parent / "rival"
    if not out.exists():
        answer(bench, BENCHES[kind][1], out, _RIVAL_KNOWN)
    return out


def keep_scores(command: str, kind: str, bench: Path, run: Path) -> None:
    """Have the runs that a command reads scored, as `situs score` leaves them."""
    runs = []
    if command in ("report", "compare"):
        runs.append(run)
    if command == "compare":
        runs.append(rival(kind, bench))
    for one in runs:
        if not (one / "scores.parquet").exists():
            situs("score", bench, one)


def arguments_of(command: str, kind: str, bench: Path, run: Path) -> list[object]:
    """What a command is called with; what it writes lies beside the bench."""
    match command:
        case "score":
            return ["score", bench, run, "--json"]
        case "report":
            return ["report", run, "--out", bench.parent / "report.html", "--pictures", 0]
        case "compare":
            return ["compare", run, rival(kind, bench)]
        case "check":
            return ["check", bench, "--json"]
    out = bench.parent / "export"
    shutil.rmtree(out, ignore_errors=True)
    # Without pictures: what these take is no affair of the answers.
    source, form = (bench, "3dreasonknee") if kind == "grades" else (run, "inspect")
    return ["export", source, "--to", form, "--out", out, "--allow-restricted"]


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--boxes", type=int, nargs="*", default=[5_000, 50_000])
    parser.add_argument("--grades", type=int, nargs="*", default=[5_500, 55_000, 550_000])
    parser.add_argument(
        "--commands",
        nargs="+",
        default=["score", "report"],
        choices=["score", "report", "compare", "check", "export"],
    )
    parser.add_argument(
        "--keep", type=Path, help="Keep the benches here, and use those that are there."
    )
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = given.keep or Path(name)
        for kind, items in [("boxes", n) for n in given.boxes] + [
            ("grades", n) for n in given.grades
        ]:
            bench, run = sized(kind, items, folder)
            count = open_bench(bench).info.counts["items"]
            for command in given.commands:
                if command == "score":
                    for stored in run.glob("scores.*"):
                        stored.unlink()
                else:
                    keep_scores(command, kind, bench, run)
                arguments = arguments_of(command, kind, bench, run)
                one = {"bench": kind, "command": command, "items": count}
                one |= measure(list(map(str, arguments)))
                if command == "report":
                    page = bench.parent / "report.html"
                    one["html_mb"] = round(page.stat().st_size / 1e6, 1)
                one["cpu_us_per_item"] = round(1e6 * one["cpu_s"] / count)
                goals = GOALS.get((kind, command, items))
                # What fewer items take says nothing about the goal.
                if goals is not None and count >= 0.98 * items:
                    one["goals"] = goals
                    one["met"] = all(one[name] <= most for name, most in goals.items())
                found.append(one)
                print(json.dumps(one), file=sys.stderr, flush=True)
    print(json.dumps({"runs": found}, indent=1))


if __name__ == "__main__":
    main()
