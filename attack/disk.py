"""No room left: one line, exit code 2, and nothing half-written."""

from __future__ import annotations

import random
import resource
import signal
from pathlib import Path

from attack.program import spawn, tree

__all__ = ["case"]


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A command that may write files of a few bytes or kilobytes only."""
    out = work / "out"
    commands = [
        ["import", "items", str(corpus / "items.jsonl"), "--out", str(out)],
        ["run", str(corpus / "bench"), "--model", "random", "--out", str(out)],
        ["debias", str(corpus / "bench"), "--out", str(out)],
        ["report", str(corpus / "run"), "--bench", str(corpus / "bench"), "--out", str(out)],
    ]
    words = rng.choice(commands)
    limit = int(10 ** rng.uniform(0, 5.5))

    def no_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = spawn(*words, preexec_fn=no_room)
    _, err = process.communicate(timeout=100)
    wrong = []
    if process.returncode not in (0, 2) or b"Traceback" in err:
        wrong.append(f"{words[0]} with {limit} bytes: exit {process.returncode} {err[-300:]!r}")
    if process.returncode == 2 and words[0] != "run" and tree(work):
        wrong.append(f"{words[0]} with {limit} bytes: leaves {sorted(tree(work))[:3]}")
    return wrong
