"""Training data of 50,000 items without pictures: time and memory, beside reading the items alone.

Makes a bench of boxes on small synthetic volumes and repeats its items under new ids. Prints the
CPU seconds of `situs tune build` as a ratio to reading the same items, and the growth of memory
from a tenth of them to all.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from situs.bench import TableWriter, content_hash, open_bench
from situs.build import BuildOptions, build_boxes
from situs.facts import load_recipe
from situs.items import Item
from situs.tune.demo.slices import write_cohort

COUNT = 50_000


def make(folder: Path) -> None:
    """A bench of 70 patients."""
    table, listed, images = write_cohort(folder / "cohort", 70, 0)
    options = BuildOptions("tune", load_recipe(), restricted=False, licence="synthetic")
    build_boxes([table], folder / "bench", options, lists=[listed], images=images)


def repeat(bench: Path, out: Path, count: int) -> None:
    """The same studies with `count` training items."""
    shutil.copytree(bench, out)
    items = list(open_bench(bench).items("train"))

    def rows() -> list[Item]:
        ordered = sorted(range(count), key=lambda number: number % len(items))
        return [
            msgspec.structs.replace(items[n % len(items)], item_id=f"i{n:016d}") for n in ordered
        ]

    with TableWriter(out / "items.parquet", Item) as writer:
        writer.write(rows())
    info = json.loads((out / "bench.json").read_text())
    info |= {"content_hash": content_hash(out), "by_split": {"train": count}}
    (out / "bench.json").write_text(json.dumps(info))


CHILD = """
import resource, sys, time
from pathlib import Path
from situs.tune import BuildChoices, build_data
from situs.bench import open_bench
bench, out = map(Path, sys.argv[1:3])
begun = time.process_time()
read = sum(1 for _ in open_bench(bench).items("train"))
reading = time.process_time() - begun
begun = time.process_time()
built = build_data(bench, out, BuildChoices(profile="sgmri-frames", pictures=False))
print(built.examples["train"], reading, time.process_time() - begun,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make(folder)
        print("examples  reading s  building s  ratio  peak MB")
        for count in (COUNT // 10, COUNT):
            repeat(folder / "bench", folder / str(count), count)
            done = subprocess.run(
                [sys.executable, "-c", CHILD, str(folder / str(count)), str(folder / f"d{count}")],
                check=True,
                capture_output=True,
                text=True,
            )
            examples, reading, building, peak = map(float, done.stdout.split())
            print(
                f"{examples:8.0f}  {reading:9.1f}  {building:10.1f}  {building / reading:5.1f} "
                f" {peak:7.0f}"
            )


if __name__ == "__main__":
    main()
