"""Building a bench from masks: studies per second and memory, at two sizes and with one and two
jobs. Prints JSON.

Usage: python benchmarks/build.py [--studies 2 4] [--jobs 1 2] [--shape 256 256 320] [--structures
80] [--folder DIR]

Studies are phantoms of TotalSegmentator's size, one mask file a structure, each shifted a little so
that none is a copy of another. With twice the studies the memory should stay and the time double.
Memory is the largest of any process of a build, from the kernel's own account of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from isal import igzip
from nibabel.nifti1 import Nifti1Image

from situs.anatomy import load_vocabulary


def write(path: Path, array: np.ndarray) -> None:
    """A NIfTI file, compressed fast."""
    image = Nifti1Image(array, np.diag([1.5, 1.5, 1.5, 1.0]))
    path.write_bytes(igzip.compress(image.to_bytes(), compresslevel=1))


def write_study(folder: Path, shape: tuple[int, int, int], structures: int, seed: int) -> None:
    """An image and one mask per structure, ellipsoids that do not overlap."""
    layout, jitter = np.random.default_rng(0), np.random.default_rng(seed)
    (folder / "segmentations").mkdir(parents=True)
    labels = np.zeros(shape, dtype=np.uint8, order="F")
    names = list(load_vocabulary("totalsegmentator").ids)[:structures]
    for value in range(1, len(names) + 1):
        centre = [layout.uniform(0.1, 0.9) * n + jitter.uniform(-3, 3) for n in shape]
        radius = layout.uniform(4, 30, 3)
        box = tuple(
            slice(max(0, int(c - r)), min(n, int(c + r) + 2))
            for c, r, n in zip(centre, radius, shape)
        )
        inside = sum(((g - c) / r) ** 2 for g, c, r in zip(np.ogrid[box], centre, radius)) <= 1
        labels[box][inside & (labels[box] == 0)] = value
    write(folder / "ct.nii.gz", labels.astype(np.int16))
    for value, name in enumerate(names, start=1):
        write(folder / "segmentations" / f"{name}.nii.gz", (labels == value).astype(np.uint8))


def build(folder: Path, out: Path, jobs: int) -> dict[str, Any]:
    """One run of `situs build masks` in a process of its own."""
    command = ["build", "masks", str(folder), "--out", str(out), "--jobs", str(jobs), "--json"]
    code = (
        "import json, resource, sys, situs.cli\n"
        "try:\n    situs.cli.main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)\n"
        "print(max(resource.getrusage(w).ru_maxrss for w in who) / 1024, file=sys.stderr)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *command], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    answer = json.loads(done.stdout)
    return {
        "jobs": jobs,
        "studies": answer["studies"],
        "items": answer["items"],
        "seconds": round(seconds, 2),
        "studies_per_second": round(answer["studies"] / seconds, 3),
        "peak_mib_of_a_process": round(float(done.stderr.split()[-1])),
    }


def _more_seconds(runs: list[dict[str, Any]], jobs: int) -> float:
    """How much longer the larger of two builds took."""
    small, large = (run["seconds"] for run in runs if run["jobs"] == jobs)
    return float(large - small)


def main() -> None:
    """Write the studies, build from them, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", nargs=2, type=int, default=[2, 4])
    parser.add_argument("--jobs", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--shape", nargs=3, type=int, default=[256, 256, 320])
    parser.add_argument("--structures", type=int, default=80)
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    arguments = parser.parse_args()
    few, many = sorted(arguments.studies)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        root = Path(name)
        for number in range(many):
            study = root / "many" / f"study{number:03d}"
            write_study(study, tuple(arguments.shape), arguments.structures, number)
            if number < few:
                (root / "few").mkdir(exist_ok=True)
                (root / "few" / study.name).symlink_to(study, target_is_directory=True)
        build(root / "few", root / "warm", 1)
        runs = [
            build(root / size, root / f"bench-{size}-{jobs}", jobs)
            for jobs in arguments.jobs
            for size in ("few", "many")
        ]
    ratios = {}
    for jobs in arguments.jobs:
        small, large = (run for run in runs if run["jobs"] == jobs)
        ratios[f"time per study, {many} / {few} studies, jobs {jobs}"] = round(
            small["studies_per_second"] / large["studies_per_second"], 2
        )
        ratios[f"memory, {many} / {few} studies, jobs {jobs}"] = round(
            large["peak_mib_of_a_process"] / small["peak_mib_of_a_process"], 2
        )
    first = arguments.jobs[0]
    for jobs in arguments.jobs[1:]:
        # Start-up is paid once a build: what more studies cost tells how jobs scale.
        ratios[f"time of {many - few} more studies, jobs {first} / {jobs}"] = round(
            _more_seconds(runs, first) / _more_seconds(runs, jobs), 2
        )
    report = {
        "shape": arguments.shape,
        "structures": arguments.structures,
        "processors": os.cpu_count(),
    }
    print(json.dumps({**report, "runs": runs, "ratios": ratios}, indent=2))


if __name__ == "__main__":
    main()
