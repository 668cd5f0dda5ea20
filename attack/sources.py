"""Text that acts, in any word of any source: tables, JSON, TOML, names of structures, abstracts.

The files stay well formed; `texts` does the same to imported questions alone.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from attack.commands import FILES, lay_out, spell
from attack.program import call, complaints, tree
from attack.texts import HOSTILE, acting

__all__ = ["case"]

_NUMBER = re.compile(r"[-+\d.eE \[\],]*")
_QUOTED = re.compile(r'(?<== )"([^"\\\n]*)"')
_IN_TAGS = re.compile(r"(?<=>)([^<>\n]+)(?=</)")
_FIELD = re.compile(r"^([A-Z]+ *- )(.*)$", re.MULTILINE)
_SEGMENT = re.compile(r"^(Segment\d_Name:=)(.*)$", re.MULTILINE)
_MOST_SPOILT = 6
_HEAD_BYTES = 1_000
"""Of an NRRD file: its names stand there, and voxels after them."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A source with hostile words, the command that reads it, and what is made of its result."""
    name, words = rng.choice([pair for pair in FILES if _poisoner(pair[0]) is not None])
    place = work / "place"
    file = lay_out(name, corpus, place / "in")
    poison = _poisoner(name)
    assert poison is not None
    file.write_bytes(poison(file.read_bytes(), rng))
    out = place / "out"
    ids = ["--ids", rng.choice(["opaque", "table"])] if words[0] in ("build", "import") else []
    spelt = [*spell(words, file=file, folder=place / "in", corpus=corpus, out=out), *ids]
    wrong = _tried(work, spelt)
    if (out / "bench.json").exists():
        for later in rng.sample(_uses(out, place), 3):
            wrong += _tried(work, later)
    elif (out / "library.json").exists():
        wrong += _tried(work, ["library", "search", out, "kidney"])
        wrong += _tried(work, ["library", "show", out, 2])
    strangers = [entry.name for entry in work.iterdir() if entry.name != "place"]
    if strangers:
        wrong.append(f"written outside: {strangers[:3]}")
    return [f"{name}: {text}" for text in wrong + acting(place)]


def _tried(work: Path, words: list[Any]) -> list[str]:
    before = tree(work)
    return complaints(call(*words), work, before)


def _uses(bench: Path, place: Path) -> list[list[Any]]:
    """Commands that show a bench, or hand it on."""
    run = place / "run"
    return [
        ["check", bench],
        ["check", bench, "--json"],
        ["show", bench, "--profile", "one-slice", "--out", place / "shown"],
        ["quiz", bench, "--items", "2", "--out", place / "quiz.html"],
        ["author", bench, "--per-study", "2", "--out", place / "authored"],
        ["export", bench, "--to", "croissant", "--out", place / "croissant"],
        ["export", bench, "--to", "hf", "--allow-restricted", "--out", place / "hf"],
        ["export", bench, "--to", "dicom-sr", "--limit", "1", "--out", place / "reports"],
        ["run", bench, "--model", "prior", "--json", "--out", run],
        ["probe", bench, "--model", "random", "--probes", "text", "--out", place / "probed"],
        ["audit", "export", bench, "--raters", "ann", "--items", "2", "--out", place / "sheet.csv"],
        ["tune", "build", bench, "--no-pictures", "--out", place / "taught"],
    ]


Poisoner = Callable[[bytes, random.Random], bytes]


def _poisoner(name: str) -> Poisoner | None:
    """How words of a file of that kind are spoilt, if it has any."""
    if name.startswith(("station/", "parts/", "halves/")) or name.endswith("manifest.json"):
        return None  # files of our own, which are not ours any more once a word is changed
    if name.endswith(".seg.nrrd"):
        return _segments
    return _BY_ENDING.get(Path(name).suffix)


def _some(rng: random.Random, places: list[Any]) -> list[Any]:
    return rng.sample(places, min(len(places), rng.randint(1, _MOST_SPOILT)))


def _spoilt(text: str, rng: random.Random) -> str:
    word = "".join(rng.sample(HOSTILE, rng.choice([1, 2]))).replace("\x00", "")
    return rng.choice([text + word, text + word, word + text, word])


def _table(raw: bytes, rng: random.Random) -> bytes:
    rows = list(csv.reader(io.StringIO(raw.decode())))
    places = [
        (row, column)
        for row in range(len(rows))
        for column, cell in enumerate(rows[row])
        if not _NUMBER.fullmatch(cell) and not cell.endswith(".gz")
    ]
    for row, column in _some(rng, places):
        rows[row][column] = _spoilt(rows[row][column], rng)
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode(errors="surrogatepass")


def _json(raw: bytes, rng: random.Random) -> bytes:
    value = json.loads(raw)
    _spoil_within(value, rng)
    return json.dumps(value).encode()


def _json_lines(raw: bytes, rng: random.Random) -> bytes:
    rows = [json.loads(line) for line in raw.splitlines()]
    _spoil_within(rows, rng)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _spoil_within(value: Any, rng: random.Random) -> None:
    """Some words at any depth, and now and then a key."""
    places: list[tuple[Any, Any]] = []
    left = [value]
    while left:
        parent = left.pop()
        entries = parent.items() if isinstance(parent, dict) else enumerate(parent)
        for key, part in entries:
            if isinstance(part, str):
                places.append((parent, key))
            elif isinstance(part, dict | list):
                left.append(part)
    for parent, key in _some(rng, places):
        if key not in parent if isinstance(parent, dict) else False:
            continue  # it was renamed
        parent[key] = _spoilt(parent[key], rng)
        if isinstance(parent, dict) and rng.random() < 0.1:
            parent[_spoilt(key, rng)] = parent.pop(key)


def _by(pattern: re.Pattern[str], spelt: Callable[[str], str]) -> Poisoner:
    """Some of the words that a pattern's last group finds, spelt as the format wants them."""

    def poison(raw: bytes, rng: random.Random) -> bytes:
        text = raw.decode()
        for found in sorted(_some(rng, list(pattern.finditer(text))), key=_start, reverse=True):
            group = pattern.groups
            word = spelt(_spoilt(found[group], rng))
            text = text[: found.start(group)] + word + text[found.end(group) :]
        return text.encode(errors="surrogatepass")

    return poison


def _start(found: re.Match[str]) -> int:
    return found.start()


def _segments(raw: bytes, rng: random.Random) -> bytes:
    head, rest = raw[:_HEAD_BYTES], raw[_HEAD_BYTES:]
    return _by(_SEGMENT, _one_line)(head, rng) + rest


def _one_line(text: str) -> str:
    return " ".join(text.split("\n")).replace("\r", " ")


_BY_ENDING: dict[str, Poisoner] = {
    ".csv": _table,
    ".json": _json,
    ".jsonl": _json_lines,
    ".toml": _by(_QUOTED, lambda text: json.dumps(text)[1:-1].replace("\x7f", "\\u007f")),
    ".nbib": _by(_FIELD, _one_line),
    ".xml": _by(_IN_TAGS, escape),
}
