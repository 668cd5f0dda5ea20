"""Standard output and error that are closed, full, read-only, gone, or speak another alphabet."""

from __future__ import annotations

import random
from pathlib import Path

from attack.apart import STREAMS, begin
from attack.commands import FILES, OF_BENCH, lay_out, spell
from attack.corpus import BENCHES
from attack.program import tree

__all__ = ["case"]

_PLAIN: tuple[tuple[str, ...], ...] = (
    ("--help",), ("--version",), ("score", "--help"), ("nonsense",), ("run",), ("list", "tasks"),
    ("list", "names", "liver"),
    ("list", "metrics", "--json"), ("doctor",), ("doctor", "--json"), ("purge",),
    ("purge", "--yes", "--json"),
    ("audit", "plan"), ("audit",), ("list",),
    ("adapter-check", "random", "--trials", "12", "--profile", "one-slice"),
)  # fmt: skip
"""Commands that read no file."""
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "ascii", "latin-1", "utf-16", "cp037", "iso2022_jp")
_FAILING = ("full", "read-only")
_SPEAKING = ("check", "score", "compare", "measure", "list", "doctor", "--help", "--version")
"""Commands that have nothing but their words to give."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A command that works, and streams that do not."""
    place = work / "place"
    place.mkdir()
    kind = rng.choice(BENCHES)
    lay_out(f"runs/{kind}/run.json", corpus, work)
    known = {
        "corpus": corpus,
        "out": place / "out",
        "bench": corpus / "benches" / kind,
        "run": work / "runs" / kind,
    }
    template = rng.choice(_PLAIN)
    match rng.randrange(3):
        case 0:
            template = rng.choice(OF_BENCH)
        case 1:
            name, template = rng.choice(FILES)
            known |= {"file": corpus / name, "folder": corpus}
    out, err, encoding = rng.choice(STREAMS), rng.choice(STREAMS), rng.choice(_ENCODINGS)
    words = spell(template, **known)
    call = begin(*words, work=work, streams=(out, err, encoding))
    code = call.end()
    said = f"{' '.join(words[:2])} with output {out}, errors {err}, {encoding}: exit {code}"
    wrong = []
    if code not in (0, 1, 2) or "Traceback" in call.error or "ignored" in call.error:
        wrong.append(f"{said} {call.error[-400:]!r}")
    if out in _FAILING and code == 0 and words[0] in _SPEAKING:
        wrong.append(f"{said}, though nothing could be said")
    if strange := [entry for entry in tree(place) if ".part" in entry or ".tmp" in entry]:
        wrong.append(f"{said}, leaves {strange[:3]}")
    return wrong
