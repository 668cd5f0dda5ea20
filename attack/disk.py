"""No room left, and nobody to listen: one line, exit code 2, and nothing half-written."""

from __future__ import annotations

import random
from pathlib import Path

from attack.apart import begin
from attack.commands import FILES, OF_BENCH, lay_out, spell
from attack.corpus import BENCHES
from attack.program import tree

__all__ = ["case"]

_RESUMED = ("run", "probe")
"""What these had written stays, for the same command to go on with."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A command that may write files of a few bytes or kilobytes only,
    or whose standard output is full."""
    place = work / "place"
    place.mkdir()
    if rng.random() < 0.5:
        kind = rng.choice(BENCHES)
        lay_out(f"runs/{kind}/run.json", corpus, work)
        template = rng.choice(OF_BENCH)
        places = {"bench": corpus / "benches" / kind, "run": work / "runs" / kind}
    else:
        name, template = rng.choice(FILES)
        places = {"file": corpus / name, "folder": corpus}
    words = spell(template, corpus=corpus, out=place / "out", **places)
    full = rng.random() < 0.15
    limit = None if full else int(10 ** rng.uniform(0, 5.5))
    call = begin(
        *words, work=work, most_bytes=limit, streams=("full" if full else "file", "file", "utf-8")
    )
    code, err = call.end(), call.error
    said = f"{' '.join(words[:2])} with {'a full output' if full else f'{limit} bytes'}"
    wrong = []
    # With a bytes' limit the error itself may not fit in the file that takes it.
    if code not in (0, 1, 2) or "Traceback" in err:
        wrong.append(f"{said}: exit {code} {err[-400:]!r}")
    strange = [entry for entry in tree(place) if ".part" in entry or ".tmp" in entry]
    if strange or (code == 2 and not full and words[0] not in _RESUMED and tree(place)):
        wrong.append(f"{said}: exit {code}, leaves {sorted(tree(place))[:3]}")
    return wrong
