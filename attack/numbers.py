"""Numbers that cannot be meant: in every field that holds one, and on the command line."""

from __future__ import annotations

import random
import re
from pathlib import Path

from attack.commands import FILES, lay_out, spell
from attack.program import call, complaints, tree

__all__ = ["case"]

_VALUES = (
    "nan", "inf", "-inf", "-1", "0", "-0.0", "1e308", "-1e308", "1e-320", "99999999999999999999",
    "9" * 400, "9" * 4400, "1e999",
    "0x10", "1_000", "½", "٣", "1,5", "+1", "", "1e", "true", "2147483648", "4294967297",
    "-9223372036854775809",
)  # fmt: skip
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_TEXTS = (".csv", ".json", ".jsonl", ".toml", ".nrrd", ".mha")
_HEAD_BYTES = 3000
"""Numbers of a volume's text header; further on they are voxels."""

_OPTIONS: tuple[tuple[str, ...], ...] = (
    ("run", "{corpus}/benches/items", "--model", "random", "--out", "{out}", "--limit", "#"),
    ("run", "{corpus}/benches/items", "--model", "random?seed=#", "--out", "{out}"),
    ("run", "{corpus}/benches/items", "--model", "random?delay=#", "--limit", "1", "--out", "{out}"),
    ("run", "{corpus}/benches/items", "--model", "openai:m@http://127.0.0.1:#/v1", "--tries", "1", "--out", "{out}"),
    ("run", "{corpus}/benches/items", "--model", "openai:m@http://127.0.0.1:9/v1?temperature=#", "--limit", "1",
     "--tries", "1", "--out", "{out}"),
    ("run", "{corpus}/benches/items", "--model", "random", "--timeout", "#", "--out", "{out}"),
    ("run", "{corpus}/benches/items", "--model", "random", "--max-cost", "#", "--out", "{out}"),
    ("run", "{corpus}/benches/items", "--model", "random", "--requests-per-minute", "#", "--out", "{out}"),
    ("build", "reports", "{corpus}/reports.csv", "--seed", "#", "--out", "{out}"),
    ("build", "reports", "{corpus}/reports.csv", "--per-study", "#", "--out", "{out}"),
    ("build", "boxes", "{corpus}/boxes.csv", "--mix", "detection.slice=#", "--out", "{out}"),
    ("score", "{corpus}/benches/items", "{run}", "--seed", "#"),
    ("report", "{corpus}/runs/words", "--bench", "{corpus}/benches/words", "--max-mb", "#", "--out", "{out}"),
    ("report", "{corpus}/runs/words", "--bench", "{corpus}/benches/words", "--pictures", "#", "--out", "{out}"),
    ("audit", "plan", "--expected", "#"),
    ("audit", "plan", "--half-width", "#"),
    ("audit", "export", "{corpus}/benches/items", "--raters", "ann", "--items", "#", "--out", "{out}.csv"),
    ("quiz", "{corpus}/benches/scans", "--items", "#", "--out", "{out}.html"),
    ("export", "{corpus}/benches/scans", "--to", "inspect", "--limit", "#", "--out", "{out}"),
    ("adapter-check", "random", "--trials", "#"),
    ("measure", "{corpus}/labels.nii", "--pairs", "#,#"),
)  # fmt: skip
"""Commands with a number to be replaced."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """One or two numbers of a file, or one option, replaced."""
    folder = work / "in"
    folder.mkdir()
    values = [value for value in _VALUES if value]
    if rng.random() < 0.3:
        chosen = rng.choice(_OPTIONS)
        value = rng.choice(values)
        # A run of its own: scores with another seed are kept in it, and told by later commands.
        run = lay_out("runs/items/run.json", corpus, folder).parent
        spelt = spell(chosen, corpus=corpus, run=run, out=work / "out")
        before = tree(work)
        ran = call(*(word.replace("#", value) for word in spelt))
        return complaints(ran, work, before)
    name, template = rng.choice([pair for pair in FILES if pair[0].endswith(_TEXTS)])
    file = lay_out(name, corpus, folder)
    raw = file.read_bytes()
    for _ in range(rng.randint(1, 2)):
        places = list(
            _NUMBER.finditer(raw, 0, _HEAD_BYTES if file.suffix in (".nrrd", ".mha") else len(raw))
        )
        if places:
            place = rng.choice(places)
            raw = raw[: place.start()] + rng.choice(_VALUES).encode() + raw[place.end() :]
    file.write_bytes(raw)
    before = tree(work)
    ran = call(*spell(template, file=file, folder=folder, corpus=corpus, out=work / "out"))
    return [f"{name} {text}" for text in complaints(ran, work, before)]
