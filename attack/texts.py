"""Text that acts: escape codes, markup and commands in every field that a person will see."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from attack.program import call, complaints, tree

__all__ = ["HOSTILE", "acting", "case"]

HOSTILE = [
    "\x1b[31m", "\x1b]0;owned\x07", "\x9b2J", "\x7f", "\u202e", "\u2028", "\x08\x08", "\r",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "]]><b>", "${7*7}", "{{7*7}}", "=1+1", "@SUM(A1)", "`id`", "|",
    "\\", "'\"", "\x00",
    "</textarea>", "javascript:alert(1)", "[x](javascript:1)", "%00", "\ud83d\ude00",
    "a\u0300" * 50, "../../x",
    "/etc/x", "</script><script>alert(2)</script>", "<!--", "\ufeff", "\u2066", "{0}", "%(x)s",
    "$(id)", "\\input{x}",
    "CON", ".", "..",
]  # fmt: skip
_FIELDS = (
    "study",
    "patient",
    "question",
    "task",
    "id",
    "unit",
    "tags",
    "options",
    "answer",
    "split",
)
_MARKUP = ("<img src=x", "<script>alert")


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A bench whose words are hostile, through the commands that show them."""
    rows = [json.loads(line) for line in (corpus / "items.jsonl").read_text().splitlines()]
    for row in rows:
        for field in rng.sample(_FIELDS, 3):
            _poison(row, field, rng)
    place = work / "place"
    place.mkdir()
    file, bench, run = place / "items.jsonl", place / "bench", place / "run"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    wrong = _tried(
        work,
        (
            "import",
            "items",
            file,
            "--ids",
            rng.choice(["opaque", "table"]),
            "--skip-bad",
            "--out",
            bench,
        ),
    )
    wrong += _tried(work, ("run", bench, "--model", "oracle", "--out", run))
    later: list[tuple[Any, ...]] = [
        ("check", bench, *rng.choice([(), ("--json",)])),
        (
            "score",
            bench,
            run,
            *rng.choice([("--json",), ("--breakdowns",), ("--tables", place / "tables")]),
        ),
        (
            "report",
            run,
            "--bench",
            bench,
            "--out",
            place / "report.html",
            "--tables",
            place / "tables",
        ),
        (
            "audit",
            "export",
            bench,
            "--items",
            "4",
            "--raters",
            "ann,bob",
            "--out",
            place / "sheet.csv",
        ),
        ("compare", run, run, "--bench", bench),
        ("debias", bench, "--out", place / "debiased"),
        ("probe", bench, "--model", "random", "--probes", "text", "--out", place / "probed"),
        (
            "export",
            run,
            "--bench",
            bench,
            "--to",
            rng.choice(["inspect", "lmms-eval", "vlmevalkit"]),
            "--out",
            place / "log",
        ),
        ("show", bench, "--out", place / "shown"),
        ("quiz", bench, "--items", "2", "--out", place / "quiz.html"),
        _misspelt(rng, corpus, run),
    ]
    for words in rng.sample(later, 3):
        wrong += _tried(work, words)
    return wrong + acting(place) + _outside(work)


def _tried(work: Path, words: tuple[Any, ...]) -> list[str]:
    before = tree(work)
    return complaints(call(*words), work, before)


def _misspelt(rng: random.Random, corpus: Path, run: Path) -> tuple[Any, ...]:
    """A command line that is itself hostile; it is echoed in the error."""
    word = rng.choice(HOSTILE).replace("\x00", "")
    bench = corpus / "benches" / "items"
    return rng.choice(
        [
            ("run", bench, "--model", f"random{word}", "--out", run),
            ("run", bench, "--model", "random", "--profile", word, "--out", run),
            ("score", bench, word),
            ("score", bench, run, "--metrics", word),
            ("export", bench, "--to", word, "--out", run.parent / "x"),
            ("list", word),
            (word,),
            ("measure", corpus / "labels.nii", "--names", word),
            ("probe", bench, "--model", "random", "--probes", word, "--out", run.parent / "y"),
        ]
    )


def acting(place: Path) -> list[str]:
    """Pages and Markdown in which markup of the data is markup."""
    wrong = []
    for path in place.rglob("*"):
        if path.suffix in (".html", ".md") and any(
            mark in path.read_text(errors="replace") for mark in _MARKUP
        ):
            wrong.append(f"{path.name}: markup of the data is markup of the page")
    return wrong


def _outside(work: Path) -> list[str]:
    strangers = sorted(entry.name for entry in work.iterdir() if entry.name != "place")
    return [f"written outside: {strangers[:3]}"] if strangers else []


def _poison(row: dict[str, object], field: str, rng: random.Random) -> None:
    if field not in row:
        return
    value = row[field]
    word = "".join(rng.sample(HOSTILE, 2))
    if isinstance(value, str):
        row[field] = value + word
    elif isinstance(value, list):
        row[field] = [f"{entry}{word}" for entry in value]
