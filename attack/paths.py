"""Names in another's bench that would be paths:
nothing is written but below --out, in any format."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from attack.benches import agree
from attack.commands import lay_out
from attack.corpus import BENCHES
from attack.program import call, complaints, tree

__all__ = ["case"]

_NAMES = (
    "../escaped", "../../escaped", "/{work}/escaped", "a/../../escaped", "..\\escaped",
    "C:\\escaped", "CON", "nul.txt",
    "com1", "aux", "x" * 300, "\u00e9" * 200, "a\x00b", ".", "..", "...", "", " ", "-rf", "--out",
    "~", "~root/escaped",
    "a\nb", "file:///escaped", "http://127.0.0.1:9/escaped", "%2e%2e%2fescaped", "\u2025/escaped",
    "\\\\host\\escaped",
    "..;/escaped", "a/b/c", ".git", "$HOME", "`escaped`", "test\u202e", "\u2215escaped", "images",
    "README.md", "A",
)  # fmt: skip
_COLUMNS = {
    "items": ("item_id", "study_id", "patient_id", "split", "task", "stratum", "level"),
    "studies": ("study_id", "patient_id", "split"),
}
_FORMATS = (
    "hf", "inspect", "vlmevalkit", "lmms-eval", "3dreasonknee", "croissant", "slicer-markups",
    "dicom-seg", "dicom-sr",
)  # fmt: skip


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A bench in which a column holds names of that kind,
    through a command that makes files of it."""
    kind = rng.choice(BENCHES)
    place = work / "place"
    lay_out(f"benches/{kind}/bench.json", corpus, place)
    lay_out(f"runs/{kind}/run.json", corpus, place)
    bench, run = place / "benches" / kind, place / "runs" / kind
    name = rng.choice(_NAMES).replace("{work}", str(work))
    column = rng.choice([column for columns in _COLUMNS.values() for column in columns])
    _rename(rng, bench, run, column, name)
    agree(bench, run)
    before = tree(work)
    wrong = []
    for number, words in enumerate(rng.sample(_uses(bench, run, place), 2)):
        ran = call(*words, place / f"out{number}")
        problems = complaints(ran, work, before)
        if words[0] == "probe":
            # Answers that were paid for stay: the same command resumes from them.
            problems = [problem for problem in problems if "leaves" not in problem]
        wrong += problems
        before |= tree(work)
    outside = sorted(entry for entry in before if Path(entry).parts[0] != "place")
    if outside or list(work.parent.glob("escaped*")):
        wrong.append(f"written outside --out: {outside[:3]}")
    return [f"{kind}, {column} is {name[:40]!r}: {text}" for text in wrong]


def _uses(bench: Path, run: Path, place: Path) -> list[tuple[Any, ...]]:
    """Commands to which the place to write to is added."""
    limit = ("--limit", "3", "--out")
    return [
        *(("export", bench, "--to", to, *(limit if to != "croissant" else limit[2:])) for to in _FORMATS),
        *(("export", run, "--bench", bench, "--to", to, "--out") for to in ("inspect", "lmms-eval", "vlmevalkit")),
        ("show", bench, "--out"),
        ("debias", bench, "--out"),
        ("tune", "build", bench, "--out"),
        ("author", bench, "--per-study", "2", "--out"),
        ("run", bench, "--model", "random", "--out"),
        ("score", bench, run, "--tables"),
        ("report", run, "--bench", bench, "--out", place / "r.html", "--tables"),
        ("report", run, "--bench", bench, "--out", place / "s.html", "--charts"),
        ("probe", bench, "--model", "random", "--probes", "rotations", "--limit", "2", "--out"),
    ]  # fmt: skip


def _rename(rng: random.Random, bench: Path, run: Path, column: str, name: str) -> None:
    """The name in one or all rows of every table that has the column,
    so that they agree with each other."""
    replaced: dict[str, str] = {}
    every = rng.random() < 0.3
    for table_name in _COLUMNS:
        path = bench / f"{table_name}.parquet"
        table = pq.read_table(path)
        if column not in table.schema.names:
            continue
        rows = table.to_pylist()
        values = sorted({str(row[column]) for row in rows})
        if not replaced:
            chosen = values if every and column in ("split", "task") else values[:1]
            replaced = dict.fromkeys(chosen, name)
        for row in rows:
            row[column] = replaced.get(str(row[column]), row[column])
        pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    if column == "item_id" and replaced:
        answers = run / "answers.jsonl"
        rows = [json.loads(line) for line in answers.read_text().splitlines()]
        for row in rows:
            row["item_id"] = replaced.get(row["item_id"], row["item_id"])
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
