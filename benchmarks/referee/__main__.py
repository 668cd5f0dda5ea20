"""A second opinion on the answers of a bench.

    python -m benchmarks.referee BENCH [--boxes CSV… | --grades CSV]
    python -m benchmarks.referee --measure STUDY [--names FILE]

Answers are worked out from the masks, or from the readers' tables, with numpy, scipy, nibabel and
SimpleITK; no module of Situs is loaded. Prints what disagrees and how many of each task were
judged; exit code 1 if any disagree.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
from benchmarks.referee import boxes, grades, masks, measured
from benchmarks.referee.programs import judge_program
from benchmarks.referee.scan import Scan
from benchmarks.referee.stored import mapping

_ANATOMY = Path(__file__).parents[2] / "src/situs/anatomy"
_NAMES = _ANATOMY / "data/findings/fastmri_plus.csv"
_BANK = _ANATOMY / "banks/data/moaks-knee.toml"


def main() -> None:
    """Judge one bench."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.referee", description=__doc__)
    parser.add_argument("bench", type=Path, nargs="?")
    parser.add_argument("--measure", type=Path, help="a study: what `situs measure` says of it")
    parser.add_argument("--names", help="of its labels, as `situs measure --names`")
    parser.add_argument("--boxes", type=Path, nargs="+", help="the tables of a bench of boxes")
    parser.add_argument("--grades", type=Path, help="the long table of a bench of graded knees")
    parser.add_argument("--data", type=Path, help="where the scans lie, if not beside the bench")
    given = parser.parse_args()
    if given.measure:
        more = ["--pairs", "all", *(["--names", given.names] if given.names else [])]
        counts = measured.tally(measured.compare(given.measure, more))
        print(f"in all {dict(counts)}")
        sys.exit(1 if counts["wrong"] else 0)
    judged: dict[str, Counter[str]] = defaultdict(Counter)
    for item, verdict in _verdicts(given):
        kind = f"{item['task']} {item['parameters'].get('ask', '')}".strip()
        outcome = "not judged" if verdict == masks.NOT_JUDGED else "wrong" if verdict else "agrees"
        judged[kind][outcome] += 1
        if outcome == "wrong":
            print(f"{item['item_id']} {item['study_id']} {item['question']}: {verdict}")
    total = sum(judged.values(), Counter())
    for kind in sorted(judged):
        print(f"{kind:28} {dict(judged[kind])}")
    print(f"in all {dict(total)}")
    assert not any(name.split(".")[0] == "situs" for name in sys.modules)
    sys.exit(1 if total["wrong"] else 0)


def _verdicts(given: argparse.Namespace) -> Iterator[tuple[dict[str, Any], str]]:
    items = [_plain(row) for row in _rows(given.bench / "items.parquet")]
    if given.boxes:
        with _NAMES.open(newline="", encoding="utf-8") as stream:
            names = {row["raw"]: row["name"] for row in csv.DictReader(stream)}
        reader = boxes.Reader(given.boxes, names)
        for item in items:
            yield item, boxes.judge(item, reader)
        return
    by_study: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in items:
        by_study[item["study_id"]].append(item)
    places = json.loads((given.bench / "locations.json").read_text())
    for study in _rows(given.bench / "studies.parquet"):
        series = study["series"][0]
        path = (given.data or given.bench) / places.get(series["labels_hash"], "")
        scan = Scan(path, mapping(series["structures"]))
        judge = (
            _judge_of_grades(given.grades, study["study_id"], scan, path)
            if given.grades
            else _judge_mask
        )
        for item in by_study[study["study_id"]]:
            try:
                yield item, judge(item, scan)
            except KeyError as error:
                yield item, f"the files hold no {error}"


def _judge_mask(item: dict[str, Any], scan: Scan) -> str:
    judge = judge_program if item["task"] == "compose" else masks.judge
    return judge(item, scan)


def _judge_of_grades(
    table_path: Path, study: str, scan: Scan, masks_path: Path
) -> Callable[[dict[str, Any], Scan], str]:
    table, bank = grades.Table(table_path), grades.Bank(_BANK)
    knee = grades.Knee(scan, table.sides[study], masks_path.parent / "truth.json")
    return lambda item, _: grades.judge(item, knee, bank, table)


def _rows(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """An item with its parameters as a dictionary and its answer as what it holds."""
    answer = row["answer"]
    return row | {"parameters": mapping(row["parameters"]), "answer": answer[answer["kind"]]}


if __name__ == "__main__":
    main()
