"""Building and checking the published knee set at its full size from a table of grades and boxes
worked out before.

7,970 volumes with 69 questions each, at 1 %, 10 % and 100 %: seconds, peak memory and bytes of each
build, and CPU seconds of its check, each in a process of its own. Prints one JSON object. Linear
means that `seconds_per_item` stays about the same. Aimed at for the check of all: 90 s of CPU, 2
GB.

    python benchmarks/grades.py [--shares 0.01,0.1,1] [--jobs 1]
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from situs.anatomy.banks import Bank, load_bank

VOLUMES = 7970
SHAPE = "160 384 384"
AFFINE = "0.7 0 0 -56 0 0.36 0 -70 0 0 0.36 -70 0 0 0 1"


def write_table(path: Path, volumes: int, bank: Bank, rng: random.Random) -> int:
    """A long table with mostly zeros, as readers give them;
    grades of one question do not contradict each other."""
    rows = 0
    with path.open("w") as stream:
        stream.write("study,patient,side,time,shape,affine,question,sub_score,grade\n")
        for number in range(volumes):
            side = "left" if number % 2 else "right"
            own = f"k{number:05d},p{number // 2:05d},{side},V00,{SHAPE},{AFFINE}"
            for question in bank.question:
                zero = rng.random() < 0.8
                for sub in bank.sub_scores_of(question):
                    scale = bank.scales[sub.scale]
                    grades = [
                        grade
                        for grade in scale.grades
                        if grade and grade not in scale.follow_up_only
                    ]
                    stream.write(
                        f"{own},{question.id},{sub.key},{0 if zero else rng.choice(grades)}\n"
                    )
                    rows += 1
    return rows


def write_boxes(path: Path, volumes: int, bank: Bank, rng: random.Random) -> None:
    """One box a region, somewhere in the volume."""
    with path.open("w") as stream:
        stream.write("study,region,x0,y0,z0,x1,y1,z1\n")
        for number in range(volumes):
            for region in bank.regions:
                low = [rng.uniform(-50.0, 20.0) for _ in range(3)]
                high = [value + rng.uniform(10.0, 30.0) for value in low]
                stream.write(
                    f"k{number:05d},{region},{','.join(f'{value:.2f}' for value in (*low, *high))}\n"
                )


def build(folder: Path, jobs: int) -> dict[str, float]:
    """Build in a process of its own, and say what it took."""
    out = folder / "bench"
    command = [sys.executable, "-m", "situs", "build", "grades", str(folder / "grades.csv")]
    command += [
        "--boxes",
        str(folder / "boxes.csv"),
        "--out",
        str(out),
        "--jobs",
        str(jobs),
        "--json",
    ]
    before = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - before
    result = json.loads(done.stdout)
    size = sum(file.stat().st_size for file in out.iterdir())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    check = [sys.executable, "-m", "situs", "check", str(out), "--json"]
    subprocess.run(check, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "studies": result["studies"],
        "items": result["items"],
        "seconds": seconds,
        "bench_mb": size / 1e6,
        "check_cpu_s": after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime,
    }


def main() -> None:
    """Measure every share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shares", default="0.01,0.1,1")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--one", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is None:
        command = [sys.executable, __file__, "--jobs", str(given.jobs), "--one"]
        shares = given.shares.split(",")
        # A process a share: peak memory of children is that of the largest one so far.
        found = [
            json.loads(subprocess.run([*command, s], check=True, capture_output=True).stdout)
            for s in shares
        ]
        print(json.dumps({"runs": found}, indent=1))
        return
    bank, rng = load_bank("moaks-knee"), random.Random(0)
    volumes = max(1, round(VOLUMES * given.one))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = write_table(folder / "grades.csv", volumes, bank, rng)
        write_boxes(folder / "boxes.csv", volumes, bank, rng)
        result = build(folder, given.jobs)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    each = result["seconds"] / result["items"]
    print(
        json.dumps(
            {"share": given.one, "rows": rows, **result, "peak_mb": peak, "seconds_per_item": each}
        )
    )


if __name__ == "__main__":
    main()
