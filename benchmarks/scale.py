"""Growth of build, score and report with the number of studies, and what an engine costs. Prints
JSON.

Usage: python benchmarks/scale.py [--studies 125 500 2000] [--build-only] [--engines 60] [--cluster
60] [--keep DIR]

Studies are tiny synthetic patients: five organs on voxels of 12 mm, in one label file each, without
images, listed in a table. So the work on a study is small and what the program itself adds is seen
best: it grows in proportion, or it does not. `growth` is the CPU per study at each size, relative
to the smallest; 1 is proportional. CPU is user and system time of the command and all its workers;
memory is the largest process, from the kernel's own account.

`--engines N` works on N studies in a plain loop, through the local engine with one and two
processes, and through Ray on this machine, and tells what each adds. `--cluster N` builds N studies
on a simulated cluster of three nodes of which one is removed half way, and compares the bench with
the one that a single process makes. Ray is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nibabel
import numpy as np

from situs.base.engines import Engine, map_on
from situs.bench import open_bench

NAMES = {1: "liver", 2: "spleen", 3: "kidney_right", 4: "kidney_left", 5: "aorta"}
HAS_RAY = find_spec("ray") is not None
SPACING_MM = 12.0
SHAPE = (30, 22, 26)
# Centre and half axes in voxels, in RAS+ order: the patient's right is at larger x, the front at
# larger y.
ORGANS = {
    1: ((20, 13, 17), (6, 5, 5)),
    2: ((7, 7, 17), (3, 3, 4)),
    3: ((18, 6, 11), (2, 2, 4)),
    4: ((10, 6, 12), (2, 2, 4)),
    5: ((14, 8, 13), (1, 1, 11)),
}


def write_studies(folder: Path, count: int) -> Path:
    """The label files and a table of them; no two patients alike."""
    folder.mkdir(parents=True)
    grid = np.meshgrid(*(np.arange(n) for n in SHAPE), indexing="ij")
    affine = np.diag([SPACING_MM, SPACING_MM, SPACING_MM, 1.0])
    rows = ["study,patient,labels"]
    for number in range(count):
        draw = np.random.default_rng(number)
        labels = np.zeros(SHAPE, dtype=np.uint8)
        for value, (centre, axes) in ORGANS.items():
            middle = np.asarray(centre) + draw.uniform(-0.6, 0.6, 3)
            half = np.asarray(axes) * draw.uniform(0.85, 1.2, 3)
            inside = sum(((g - c) / r) ** 2 for g, c, r in zip(grid, middle, half)) <= 1.0
            labels[inside & (labels == 0)] = value
        file = folder / f"p{number:06d}.nii.gz"
        nibabel.save(nibabel.Nifti1Image(labels, affine), file)
        rows.append(f"s{number:06d},p{number:06d},{file.name}")
    table = folder / "cohort.csv"
    table.write_text("\n".join(rows) + "\n")
    (folder / "names.csv").write_text(
        "label,name\n" + "".join(f"{value},{name}\n" for value, name in NAMES.items())
    )
    return table


def build_command(table: Path, out: Path) -> list[object]:
    """The build of a table."""
    names = table.with_name("names.csv")
    common = ["--annotation", "exact", "--licence", "CC0-1.0", "--per-study", 6]
    return ["build", "masks", table, "--names", names, *common, "--out", out]


def measured(*command: object) -> dict[str, float]:
    """CPU, wall time and memory of one command in a process of its own."""
    code = (
        "import resource, sys, situs.cli\n"
        "try:\n    situs.cli.main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)\n"
        "print(max(resource.getrusage(w).ru_maxrss for w in who) / 1024, file=sys.stderr)"
    )
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stderr)
    return {
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall_s": time.perf_counter() - start,
        "peak_mb": float(done.stderr.split()[-1]),
    }


def grown(root: Path, sizes: list[int], *, build_only: bool) -> list[dict[str, Any]]:
    """Build, score and report at each size."""
    rows: list[dict[str, Any]] = []
    for count in sizes:
        folder = root / f"n{count}"
        table = write_studies(folder / "data", count)
        bench, run = folder / "bench", folder / "run"
        steps = {"build": measured(*build_command(table, bench))}
        if not build_only:
            subprocess.run(
                [sys.executable, "-m", "situs", "run", bench, "--model", "random", "--out", run],
                check=True,
                capture_output=True,
            )
            steps["score"] = measured("score", bench, run)
            steps["report"] = measured("report", run, "--out", folder / "report.html")
        items = open_bench(bench).info.counts["items"]
        for step, cost in steps.items():
            rows.append({"step": step, "studies": count, "items": items, **cost})
            print(json.dumps(_rounded(rows[-1])), file=sys.stderr, flush=True)
    for row in rows:
        first = next(one for one in rows if one["step"] == row["step"])
        row["ms_cpu_a_study"] = 1000 * row["cpu_s"] / row["studies"]
        row["studies_per_cpu_hour"] = round(3600 * row["studies"] / row["cpu_s"])
        row["growth"] = row["ms_cpu_a_study"] / (1000 * first["cpu_s"] / first["studies"])
    _add_slopes(rows)
    return [_rounded(row) for row in rows]


def _add_slopes(rows: list[dict[str, Any]]) -> None:
    """What each further study costs between two sizes: the start of the program is in neither."""
    for row in rows:
        smaller = [
            one for one in rows if one["step"] == row["step"] and one["studies"] < row["studies"]
        ]
        if smaller:
            last = smaller[-1]
            more = row["studies"] - last["studies"]
            row["ms_cpu_a_further_study"] = 1000 * (row["cpu_s"] - last["cpu_s"]) / more


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {key: round(v, 3) if isinstance(v, float) else v for key, v in row.items()}


def jobs_of(table: Path) -> list[Any]:
    """What workers of a build are given."""
    from situs.anatomy import load_vocabulary
    from situs.build.study import StudyJob
    from situs.facts import load_recipe
    from situs.volumes import find_studies

    vocabulary = load_vocabulary(str(table.with_name("names.csv")))
    return [
        StudyJob(
            study_id=source.study or "",
            patient_id=source.patient or "",
            split="test",
            image=None,
            labels=source.labels,
            names=vocabulary.labels,
            rules=vocabulary.rules,
            annotation="exact",
            recipe=load_recipe(),
            seed=0,
            tasks=None,
            per_study=6,
        )
        for source in find_studies(table)
    ]


def engines(root: Path, count: int) -> list[dict[str, Any]]:
    """The same work in a plain loop and through each engine."""
    from situs.build.study import open_process

    jobs = jobs_of(write_studies(root / "engines", count))
    process = open_process()
    process(jobs[0])  # kernels are compiled once, whatever comes after
    rows = []
    for name in ("loop", "local 1", "local 2", *(["ray"] if HAS_RAY else [])):
        start, before = time.perf_counter(), _cpu()
        if name == "loop":
            done = [process(job) for job in jobs]
        else:
            kind, _, number = name.partition(" ")
            done = list(map_on(Engine(kind, jobs=int(number or 1)), open_process, jobs))
        assert len(done) == count
        wall = time.perf_counter() - start
        rows.append({"engine": name, "studies": count, "cpu_s": _cpu() - before, "wall_s": wall})
    for row in rows:
        row["ms_wall_a_study"] = 1000 * row["wall_s"] / count
        row["over_the_loop_s"] = row["wall_s"] - rows[0]["wall_s"]
    return [_rounded(row) for row in rows]


def _cpu() -> float:
    """Of this process and of workers that ended; Ray's are not among them."""
    usage = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


@contextmanager
def three_nodes() -> Iterator[tuple[Any, list[Any]]]:
    """A simulated cluster and the nodes that may be taken away."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        yield cluster, nodes
    finally:
        ray.shutdown()
        cluster.shutdown()


def on_a_cluster(root: Path, count: int) -> dict[str, Any]:
    """A build that loses a node half way, beside one by a single process."""
    table = write_studies(root / "cluster", count)
    alone, together = root / "alone", root / "together"
    single = measured(*build_command(table, alone))
    lost_after = 0
    with three_nodes() as (cluster, nodes):
        ended = threading.Event()

        def lose_a_node() -> None:
            nonlocal lost_after
            spool = root / ".together.part" / "work" / "studies"
            while not ended.wait(0.02):
                finished = len(list(spool.glob("*.json")))
                if finished >= count // 2:
                    cluster.remove_node(nodes[0], allow_graceful=False)
                    lost_after = finished
                    return

        watcher = threading.Thread(target=lose_a_node)
        watcher.start()
        start = time.perf_counter()
        _situs(*build_command(table, together), "--engine", "ray")
        wall = time.perf_counter() - start
        ended.set()
        watcher.join()
    hashes = [open_bench(folder).info.content_hash for folder in (alone, together)]
    return {
        "studies": count,
        "single_process_wall_s": round(single["wall_s"], 2),
        "cluster_wall_s": round(wall, 2),
        "a_node_was_lost_after_studies": lost_after,
        "same_content_hash": hashes[0] == hashes[1],
    }


def _situs(*command: object) -> None:
    """The program in this process, which has joined the cluster."""
    from situs.cli import main

    before, sys.argv = sys.argv, ["situs", *map(str, command)]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.argv = before


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, nargs="*", default=[125, 500, 2000])
    parser.add_argument("--build-only", action="store_true", help="no score and no report")
    parser.add_argument("--engines", type=int, default=60)
    parser.add_argument("--cluster", type=int, default=60)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    with tempfile.TemporaryDirectory() as scratch:
        root = options.keep or Path(scratch)
        result: dict[str, Any] = {"load_at_start": round(os.getloadavg()[0], 1)}
        if options.studies:
            result["growth"] = grown(root, sorted(options.studies), build_only=options.build_only)
        if options.engines:
            result["engines"] = engines(root, options.engines)
        if options.cluster and HAS_RAY:
            with redirect_stdout(sys.stderr):
                result["cluster"] = on_a_cluster(root, options.cluster)
        if not HAS_RAY:
            result["left_out"] = "Ray is not installed (pip install 'situs[ray]')"
        print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
