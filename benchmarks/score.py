"""Scores, reports and comparisons at the size of published sets: CPU seconds, peak memory, cost per
item. Prints JSON.

Usage: python benchmarks/score.py [--boxes 5000 50000] [--grades 5500 55000 550000] [--keep DIR]
                                  [--commands score report compare]

Two kinds of bench, each with one run: questions on frame boxes (as `build boxes` asks of
annotations like fastMRI+'s), and graded joints with a 3D box each (as `build grades` asks of
3DReasonKnee's). A few studies are built by the program itself and then copied under new ids. The
answers are those of a reader who knows three of five answers and guesses the others, in a model's
words; no two copies place a box alike, so that no reply with a box comes twice.

CPU seconds are user and system time of the command and all its workers, on however many cores;
memory is the sum over its processes, sampled. A goal stands beside each measured value (`goals`),
and whether it is met (`met`). Cost per item should not grow with the number of items.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from situs.anatomy.banks import load_bank
from situs.base.files import digest
from situs.bench import Bench, open_bench
from situs.bench.folder import content_hash, encode_info

sys.path.insert(0, str(Path(__file__).parent))
from grades import write_boxes, write_table

GOALS: dict[tuple[str, str, int], dict[str, float]] = {
    ("boxes", "score", 50_000): {"cpu_s": 20.0, "peak_mb": 2000.0},
    ("boxes", "report", 50_000): {"cpu_s": 20.0, "peak_mb": 500.0, "html_mb": 30.0},
    ("grades", "score", 550_000): {"cpu_s": 90.0, "peak_mb": 2000.0},
    ("grades", "report", 550_000): {"cpu_s": 90.0, "peak_mb": 2000.0, "html_mb": 30.0},
    ("grades", "compare", 550_000): {"cpu_s": 90.0, "peak_mb": 2000.0},
}
"""(bench, command, items) → what is aimed at: CPU seconds, memory, size of the page."""
_KNOWN = 0.6
_RIVAL_KNOWN = 0.5
"""What the second reader of a comparison knows."""
_SIDE = re.compile(r"(?<=[ \[])[0-9]+\.[0-9]+(?=[,\]])")
"""A side of a box in a reply."""
_ID = "^[ifsp][0-9a-f]{12,16}$"
_FINDINGS = (
    "Cartilage - Partial Thickness loss/defect",
    "Bone- Subchondral edema",
    "Meniscus Tear",
    "Joint Effusion",
    "Ligament - ACL Low Grade sprain",
    "Bone - Lesion",
)


def build_boxes(folder: Path, studies: int = 220) -> Path:
    """Annotations of knees as fastMRI+ lists them:
    one to four findings a knee, each over a run of slices."""
    rng = random.Random(1)
    rows = ["file,slice,study_level,x,y,width,height,label"]
    for number in range(studies):
        for label in rng.sample(_FINDINGS, rng.randint(1, 4)):
            first, count = rng.randint(5, 22), rng.randint(1, 9)
            x, y, wide, high = (
                rng.randint(*reach) for reach in ((60, 200), (60, 200), (15, 60), (10, 50))
            )
            for place in range(first, first + count):
                moved = (x + rng.randint(-3, 3), y + rng.randint(-3, 3), wide, high)
                rows.append(f"file{number:07d},{place},No,{','.join(map(str, moved))},{label}")
    folder.mkdir(parents=True)
    (folder / "knee.csv").write_text("\n".join(rows) + "\n")
    situs("build", "boxes", folder / "knee.csv", "--out", folder / "bench")
    return folder / "bench"


def build_grades(folder: Path, studies: int = 40) -> Path:
    """Knees graded by MOAKS, with a box for every region."""
    bank, rng = load_bank("moaks-knee"), random.Random(1)
    folder.mkdir(parents=True)
    write_table(folder / "grades.csv", studies, bank, rng)
    write_boxes(folder / "boxes.csv", studies, bank, rng)
    given = folder / "grades.csv", "--boxes", folder / "boxes.csv"
    situs("build", "grades", *given, "--out", folder / "bench")
    return folder / "bench"


BENCHES: dict[str, tuple[Callable[[Path], Path], str]] = {
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


def enlarge(small: Path, out: Path, items: int) -> dict[str, int]:
    """A bench of about so many items: copies of the studies of a small one, each with ids of its
    own.

    Returns how many copies there are, and how many items.
    """
    info = open_bench(small).info
    copies = -(-items // info.counts["items"])
    out.mkdir(parents=True)
    for table in ("studies", "facts"):
        _copy_table(small / f"{table}.parquet", out / f"{table}.parquet", copies)
    name = "items.parquet"
    written = _copy_table(small / name, out / name, copies, most=items)
    counts = {name: count * copies for name, count in info.counts.items()} | {"items": written}
    info = msgspec.structs.replace(info, counts=counts, content_hash=content_hash(out))
    (out / "bench.json").write_bytes(encode_info(info))
    return {"copies": copies, "items": written}


def _copy_table(source: Path, out: Path, copies: int, most: int | None = None) -> int:
    """The rows of a table again and again, with the number of the copy behind every id in them."""
    table = pq.read_table(source).combine_chunks()
    left = copies * len(table) if most is None else most
    written = left
    with pq.ParquetWriter(out, table.schema, compression="zstd") as writer:
        for copy in range(copies):
            part = table.slice(0, left)
            columns = [_renamed(column.chunk(0), _suffix(copy)) for column in part.columns]
            renamed = pa.Table.from_arrays(columns, schema=table.schema)
            writer.write_table(renamed, row_group_size=2000)
            left -= len(part)
    return written


def _renamed(array: pa.Array, suffix: str) -> pa.Array:
    """A column in which every id, however deep it lies, ends in the suffix."""
    kind, holes = array.type, array.is_null() if array.null_count else None
    if pa.types.is_string(kind):
        named = pc.binary_join_element_wise(array, suffix, "")
        return pc.if_else(pc.match_substring_regex(array, _ID), named, array)
    if pa.types.is_struct(kind):
        fields = [_renamed(array.field(index), suffix) for index in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=holes)
    if pa.types.is_map(kind):
        keys, values = array.keys, _renamed(array.items, suffix)
        return pa.MapArray.from_arrays(array.offsets, keys, values, type=kind, mask=holes)
    if pa.types.is_list(kind):
        values = _renamed(array.values, suffix)
        return pa.ListArray.from_arrays(array.offsets, values, type=kind, mask=holes)
    return array


def _suffix(copy: int) -> str:
    return f"{copy:04x}"


def answer(
    small: Path, bench: Bench, profile: str, out: Path, copies: int, share: float = _KNOWN
) -> None:
    """A run on the large bench: so many of the answers are the oracle's, the others a guess."""
    known: dict[str, str] = {}
    guessed: dict[str, str] = {}
    for model, answers in (("oracle", known), ("random", guessed)):
        run = small.parent / model
        if not run.exists():
            situs("run", small, "--model", model, "--profile", profile, "--out", run)
        for line in (run / "answers.jsonl").read_text().splitlines():
            row = json.loads(line)
            answers[row["item_id"]] = line
    out.mkdir(parents=True)
    about = json.loads((small.parent / "oracle" / "run.json").read_text())
    about |= {
        "client": "openai:reader@http://localhost:1/v1",
        "bench_hash": bench.info.content_hash,
    }
    about["bench"] = f"../{bench.folder.name}"
    (out / "run.json").write_text(json.dumps(about))
    ids = pq.read_table(bench.folder / "items.parquet", columns=["item_id"])
    asked = set(ids["item_id"].to_pylist())
    with (out / "answers.jsonl").open("w") as stream:
        for copy in range(copies):
            for item_id, line in known.items():
                new = item_id + _suffix(copy)
                lucky = int(digest("known", new, size=4), 16) < share * 2**32
                if new in asked:
                    reply = (line if lucky else guessed[item_id]).replace(item_id, new, 1)
                    stream.write(_SIDE.sub(rf"\g<0>{copy:03d}", reply) + "\n")


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


def sized(kind: str, items: int, folder: Path) -> tuple[Path, Path, int]:
    """The bench and run of one size, made unless they are there."""
    build, profile = BENCHES[kind]
    small, bench, run = (
        folder / kind / "bench",
        folder / kind / f"bench-{items}",
        folder / kind / f"run-{items}",
    )
    if not small.exists():
        build(folder / kind)
    if not (run / "answers.jsonl").exists():
        copied = enlarge(small, bench, items)
        answer(small, open_bench(bench), profile, run, copied["copies"])
    return bench, run, open_bench(bench).info.counts["items"]


def rival(kind: str, items: int, folder: Path) -> Path:
    """A second run on the bench of one size, made unless it is there."""
    small, bench = folder / kind / "bench", folder / kind / f"bench-{items}"
    out = folder / kind / f"rival-{items}"
    if not (out / "answers.jsonl").exists():
        copies = -(-items // open_bench(small).info.counts["items"])
        answer(small, open_bench(bench), BENCHES[kind][1], out, copies, _RIVAL_KNOWN)
    return out


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
        choices=["score", "report", "compare"],
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
            bench, run, count = sized(kind, items, folder)
            for command in given.commands:
                for stored in run.glob("scores.*"):
                    stored.unlink()
                page = folder / "report.html"
                arguments: dict[str, list[object]] = {
                    "score": ["score", bench, run, "--json"],
                    "report": ["report", run, "--out", page, "--pictures", 0],
                }
                if command == "compare":
                    arguments[command] = ["compare", run, rival(kind, items, folder)]
                one = {"bench": kind, "command": command, "items": count}
                one |= measure(list(map(str, arguments[command])))
                if command == "report":
                    one["html_mb"] = round(page.stat().st_size / 1e6, 1)
                one["cpu_us_per_item"] = round(1e6 * one["cpu_s"] / count)
                goals = GOALS.get((kind, command, items))
                if goals is not None:
                    one["goals"] = goals
                    one["met"] = all(one[name] <= most for name, most in goals.items())
                found.append(one)
                print(json.dumps(one), file=sys.stderr, flush=True)
    print(json.dumps({"runs": found}, indent=1))


if __name__ == "__main__":
    main()
