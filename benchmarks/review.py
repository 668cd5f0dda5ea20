"""The reading station under load: slices of a large volume, many readers at once, and statistics of many units.

Run by hand: python benchmarks/review.py [--readers 20] [--seconds 60] [--units 100000]. Times are of this machine; the
ratio that matters is each reader's share: requests a second with all readers over requests a second with one.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from situs.bench import open_bench
from situs.review.station.demo import ScriptedPerson, serve_in_thread
from situs.review.station.folder import create_folder
from situs.review.station.protocol import load_protocol
from situs.review.station.slices import open_volume_map, store_volume
from situs.review.station.statistics import ReadRow, project_statistics
from situs.review.station.store.accounts import add_user
from situs.review.station.store.database import open_database
from situs.review.station.store.projects import Sample, find_project, freeze_plan, import_bench
from situs.space import Affine, Grid


def p95(values: list[float]) -> float:
    """The 95th percentile, in milliseconds."""
    return 1000 * statistics.quantiles(values, n=20)[-1] if len(values) > 20 else float("nan")


def slices(root: Path) -> None:
    """One slice of 512 × 512 × 300: the same raw bytes compressed by zlib alone are the referee."""
    draw = np.random.default_rng(0)
    array = (
        draw.normal(0, 12, (512, 512, 300)) + np.linspace(-900, 300, 512)[:, None, None]
    ).astype(np.int16)
    began = time.process_time()
    store_volume(root / "v", array, Grid(array.shape, Affine(np.eye(4))), "ct")
    print(f"store 512 × 512 × 300: {time.process_time() - began:.1f} s CPU")
    stored = open_volume_map(root / "v")
    raw = np.ascontiguousarray(array[:, :, 150]).tobytes()
    for plane in stored.info.planes:
        began = time.process_time()
        for index in range(100, 140):
            stored.compressed_slice(plane, index)
        ours = (time.process_time() - began) / 40
        began = time.process_time()
        for _ in range(10):
            zlib.compress(raw, 1)
        alone = (time.process_time() - began) / 10
        print(f"{plane} slice: {1000 * ours:.1f} ms CPU, {ours / alone:.2f} × zlib alone")


def readers(root: Path, bench: Path, count: int, seconds: float) -> None:
    """So many readers at once: every answer's time, and whether any was an error of the server."""
    folder = create_folder(root / "station")
    database = open_database(folder)
    codes = [f"R{n:02d}" for n in range(count)]
    with database.write() as db:
        tokens = {code: add_user(db, code, ["reader"], "bench") for code in codes}
        import_bench(db, folder, open_bench(bench), "load", load_protocol("default"), Sample(40))
        freeze_plan(db, find_project(db, "load"), codes, "bench")
    address, stop = serve_in_thread(folder, database)
    people = [ScriptedPerson(address, code, token) for code, token in tokens.items()]
    times: dict[str, list[float]] = {"look": [], "slice": [], "draft": []}
    faults: list[str] = []
    until = time.monotonic() + seconds

    def read(person: ScriptedPerson) -> None:
        case = person.get("/next")["id"]
        view = person.get(f"/assignments/{case}")
        version = view["version"]
        index = 0
        while time.monotonic() < until:
            steps: list[tuple[str, str, Any]] = [
                ("look", f"/assignments/{case}", None),
                *(
                    ("slice", f"/series/{view['series']['token']}/axial/{index + n}", None)
                    for n in range(5)
                ),
                ("draft", f"/assignments/{case}/draft", {"draft": {"comment": str(index)}}),
            ]
            index = (index + 5) % (view["series"]["shape"][2] - 6)
            for kind, path, body in steps:
                headers = person._cookie() | {
                    "X-Situs-Token": person.token,
                    "If-Match": f'"v{version}"',
                }
                began = time.monotonic()
                answer = person.http.request(
                    "PUT" if body else "GET", path, json=body, headers=headers
                )
                times[kind].append(time.monotonic() - began)
                if answer.status_code >= 500:
                    faults.append(answer.text[:200])
                elif body:
                    version = answer.json().get("version", version)
            time.sleep(0.2)

    threads = [threading.Thread(target=read, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop()
    database.close()
    for kind, taken in times.items():
        print(f"{count} readers, {kind}: {len(taken):,} answers, p95 {p95(taken):.0f} ms")
    print(f"server errors: {len(faults)} {faults[:1]}")


def units(count: int) -> None:
    """Agreement of so many units read by two."""
    draw = np.random.default_rng(1)
    scores = draw.integers(0, 3, (count, 2))
    rows = [
        ReadRow(n, f"i{n}", reader, f"p{n % 2000}", "all", 1.0, "item", "t", "yes_no", ("yes",),
                {"": "yes" if draw.random() < 0.8 else "no"}, score=int(scores[n, column]))
        for n in range(count)
        for column, reader in enumerate(("R1", "R2"))
    ]  # fmt: skip
    began = time.process_time()
    project_statistics(rows, [], load_protocol("default"))
    print(f"agreement of {count:,} units: {time.process_time() - began:.1f} s CPU")


def main() -> None:
    """Everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--bench", type=Path, help="a bench with images; without it the readers are left out"
    )
    parser.add_argument("--readers", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--units", type=int, default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        units(given.units)
        slices(Path(scratch))
        if given.bench is not None:
            readers(Path(scratch), given.bench, given.readers, given.seconds)


if __name__ == "__main__":
    main()
