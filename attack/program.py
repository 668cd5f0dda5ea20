"""The program as an attacker sees it: called, in this process or another, and looked at afterwards."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ran", "call", "complaints", "spawn", "tree"]

_PROGRESS = re.compile(r"situs: [\d,]+/[\d,]+ · ")
"""How far a long run is, said now and then where there is no terminal; no error."""


@dataclass(frozen=True)
class Ran:
    """What one call gave."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str


def call(*words: object) -> Ran:
    """`situs WORDS…` in this process; whatever is not an orderly end is raised."""
    from situs.cli import main

    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["situs", *map(str, words)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
        return Ran(tuple(map(str, words)), code, out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("main() returned")


def spawn(*words: object, **more: object) -> subprocess.Popen[bytes]:
    """`situs WORDS…` in a process of its own."""
    command = [sys.executable, "-m", "situs", *map(str, words)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **(pipes | more))  # type: ignore[call-overload, no-any-return]


def tree(folder: Path) -> set[str]:
    """Every entry of a folder, hidden ones too."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def complaints(ran: Ran, work: Path, before: set[str]) -> list[str]:
    """What a call must never do, whatever it was given."""
    called = " ".join(word for word in ran.words[:6] if "/" not in word)
    wrong = []
    if ran.code not in (0, 1, 2):
        wrong.append(f"exit code {ran.code}")
    if "Traceback" in ran.err:
        wrong.append("traceback")
    if "No such option" in ran.err or "Missing option" in ran.err:
        wrong.append(f"the attack itself is wrong: {ran.err.strip()}")
    for stream in (ran.out, ran.err):
        odd = next((c for c in stream if not c.isprintable() and c != "\n"), None)
        if odd is not None:
            wrong.append(f"prints {odd!r}")
    if ran.code == 2:
        errors = [
            line
            for line in ran.err.splitlines()
            if line.startswith("situs: ") and not _PROGRESS.match(line)
        ]
        if len(errors) != 1:
            wrong.append(f"not one line of error: {ran.err[:200]!r}")
        if left := sorted(name for name in tree(work) - before if not _is_scored(work / name)):
            wrong.append(f"leaves {left[:3]}")
    elif "--json" in ran.words and ran.out and not _is_json(ran.out):
        wrong.append(f"not one JSON value: {ran.out[:80]!r}")
    if hidden := sorted(name for name in tree(work) - before if ".part" in name):
        wrong.append(f"leaves {hidden[:3]}")
    return [f"{called}: {text}" for text in wrong]


def _is_scored(path: Path) -> bool:
    """Scored answers that a command kept in the run, whole, before it met what it could not read.

    They say what they were made of and are used only for the same: finished work, not a leftover.
    """
    if path.name != "scores.parquet":
        return False
    content = path.read_bytes()
    return content[:4] == content[-4:] == b"PAR1"


def _is_json(text: str) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True
