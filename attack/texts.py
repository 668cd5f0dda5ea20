"""Text that acts: escape codes, markup and commands in every field that a person will see."""

from __future__ import annotations

import json
import random
from pathlib import Path

from attack.program import call, complaints, tree

__all__ = ["case"]

_HOSTILE = [
    "\x1b[31m", "\x1b]0;owned\x07", "\x9b2J", "\x7f", "\u202e", "\u2028", "\x08\x08", "\r", "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "]]><b>", "${7*7}", "{{7*7}}", "=1+1", "@SUM(A1)", "`id`", "|", "\\", "'\"", "\x00",
    "</textarea>", "javascript:alert(1)", "[x](javascript:1)", "%00", "\ud83d\ude00", "a\u0300" * 50,
]  # fmt: skip
_FIELDS = ("study", "patient", "question", "task", "id", "unit", "tags", "options", "answer")


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A bench whose words are hostile, through every command that shows them."""
    rows = [json.loads(line) for line in (corpus / "items.jsonl").read_text().splitlines()]
    for row in rows:
        for field in rng.sample(_FIELDS, 3):
            _poison(row, field, rng)
    file = work / "items.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = work / "out"
    out.mkdir()
    wrong = []
    run, bench = out / "run", out / "bench"
    for words in (
        ("import", "items", file, "--ids", rng.choice(["opaque", "table"]), "--skip-bad", "--out", bench),
        ("check", bench),
        ("run", bench, "--model", "oracle", "--out", run),
        ("score", bench, run, *rng.choice([(), ("--json",), ("--breakdowns",), ("--tables", out / "tables")])),
        ("report", run, "--bench", bench, "--out", out / "report.html"),
        ("audit", "export", bench, "--out", out / "sheet.csv"),
    ):
        before = tree(work)
        wrong += complaints(call(*words), work, before)
    page = (out / "report.html").read_text() if (out / "report.html").exists() else ""
    if "<img src=x" in page or "<script>alert" in page:
        wrong.append("report: markup of the data is markup of the page")
    for text in out.rglob("*.md"):
        if "<img" in text.read_text() or "<script" in text.read_text():
            wrong.append(f"{text.name}: markup of the data is markup of the page")
    return wrong


def _poison(row: dict[str, object], field: str, rng: random.Random) -> None:
    if field not in row:
        return
    value = row[field]
    word = "".join(rng.sample(_HOSTILE, 2))
    if isinstance(value, str):
        row[field] = value + word
    elif isinstance(value, list):
        row[field] = [f"{entry}{word}" for entry in value]
