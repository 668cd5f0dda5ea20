"""Two of the same command at once, on one --out:
one makes it, and the other waits its turn or is refused."""

from __future__ import annotations

import random
import time
from pathlib import Path

from attack.apart import begin
from attack.commands import spell
from attack.kills import FOLDERS, contents, old, unhindered
from attack.program import tree

__all__ = ["case"]

_SMALL = ("import", "boxes", "reports", "library", "debias", "export", "croissant", "log", "merge")
"""Commands that take a moment, so that two of them meet."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Two or three at once, one of which may begin a little later."""
    name = rng.choice(_SMALL)
    seconds, wanted = unhindered(name, corpus)
    place = work / "place"
    place.mkdir()
    out = place / "out"
    words = (*FOLDERS[name], "--out", "{out}")
    overwrites = rng.random() < 0.5
    if overwrites:
        words = (*words, "--overwrite")
        old(corpus, out)
    command = spell(words, corpus=corpus, out=out)
    calls = []
    for _ in range(rng.choice([2, 2, 3])):
        calls.append(begin(*command, work=work))
        time.sleep(rng.choice([0.0, 0.0, rng.random() * seconds]))
    codes = [call.end() for call in calls]
    wrong = []
    for code, call in zip(codes, calls, strict=True):
        lines = [line for line in call.error.splitlines() if line.startswith("situs: ")]
        if code not in (0, 2) or "Traceback" in call.error or (code == 2 and len(lines) != 1):
            wrong.append(f"exit {code} {call.error[-300:]!r}")
    if codes.count(0) != 1 and not (overwrites and 0 in codes):
        wrong.append(f"exit codes {codes}")
    if contents(out) != wanted:
        wrong.append("what stands at --out is not what one of them makes")
    if strangers := sorted(entry for entry in tree(place) if not entry.startswith("out")):
        wrong.append(f"leaves {strangers[:3]}")
    return [f"{name}{' --overwrite' if overwrites else ''} at once: {text}" for text in wrong]
