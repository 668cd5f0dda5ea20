"""The program as an attacker sees it: called in a process of its own, and looked at afterwards."""

from __future__ import annotations

import json
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attack.apart import begin, started

__all__ = ["Ran", "call", "call_from_the_start", "complaints", "must", "tree", "vary_starts"]

_SAID_TOO = re.compile(r"situs: ((\S+: )?[\d,]+/[\d,]+ · |warning: )")
"""How far a long run is, said now and then where there is no terminal, and warnings; no error."""
_STARTS = 1 / 100
"""The share of calls that are started as people start them; the others are forked."""
_LONGEST_SECONDS = 900
_LOADED_KILOBYTES = 300 << 10
"""What a forked call shares with the process it comes from."""
_MOST_KILOBYTES = (1 << 20) + _LOADED_KILOBYTES
"""More memory than one call may take: inputs are some kilobytes."""
_MOST_WORDS_BYTES = 100_000
"""What surely fits in a command line of this system."""


@dataclass(frozen=True)
class Ran:
    """What one call gave."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str
    kilobytes: int = 0
    """Memory that it took; 0 where that is not known."""
    reached_out_to: tuple[str, ...] = ()
    """Other machines that it tried to reach, where that is watched."""


_chance = random.Random(0)


def vary_starts(seed: str) -> None:
    """Draw which of the next calls are started as people start them."""
    _chance.seed(seed)


def call(*words: object, hook: str = "", hook_arguments: tuple[Any, ...] = ()) -> Ran:
    """`situs WORDS…` in the present folder; mostly forked from a loaded process, sometimes started
    anew.

    `hook` is a `module:function` that is called in the forked process before the program.
    """
    spelt = tuple(map(str, words))
    if not hook and _chance.random() < _STARTS and _can_be_typed(spelt):
        return call_from_the_start(*spelt)
    under_way = begin(*spelt, work=Path.cwd(), hook=hook, hook_arguments=hook_arguments)
    code = under_way.end()
    told = under_way.output, under_way.error, under_way.kilobytes
    return Ran(spelt, code, *told, tuple(under_way.reached_out_to))


def must(*words: object) -> None:
    """`situs WORDS…` that has to work, for what the attacks are made of."""
    ran = call(*words)
    assert ran.code == 0, f"{' '.join(map(str, words[:2]))}: {ran.err}"


def call_from_the_start(*words: str) -> Ran:
    """`situs WORDS…` as people call it."""
    process = started(*words, start_new_session=True)
    try:
        out, err = process.communicate(timeout=_LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    decoded = (raw.decode(errors="replace") for raw in (out, err))
    return Ran(words, process.returncode, *decoded)


def _can_be_typed(words: tuple[str, ...]) -> bool:
    try:
        raw = "".join(words).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return b"\0" not in raw and len(raw) < _MOST_WORDS_BYTES


def tree(folder: Path) -> set[str]:
    """Every entry of a folder, hidden ones too."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def complaints(ran: Ran, work: Path, before: set[str]) -> list[str]:
    """What a call must never do, whatever it was given."""
    called = " ".join(word for word in ran.words[:6] if "/" not in word)
    wrong = _of_the_process(ran)
    for stream in (ran.out, ran.err):
        odd = next((c for c in stream if not c.isprintable() and c != "\n"), None)
        if odd is not None:
            wrong.append(f"prints {odd!r}")
    if ran.code == 2:
        errors = [
            line
            for line in ran.err.splitlines()
            if line.startswith("situs: ") and not _SAID_TOO.match(line)
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


def _of_the_process(ran: Ran) -> list[str]:
    wrong = []
    if ran.code not in (0, 1, 2):
        wrong.append(f"exit code {ran.code}")
    if "Traceback" in ran.err:
        wrong.append(f"traceback {_end_of_trace(ran.err)}")
    if ran.reached_out_to:
        wrong.append(f"a connection to {ran.reached_out_to[0]}")
    if ran.kilobytes > _MOST_KILOBYTES:
        wrong.append(f"took {ran.kilobytes >> 10} MB")
    if "No such option" in ran.err or "Missing option" in ran.err:
        wrong.append(f"the attack itself is wrong: {ran.err.strip()}")
    return wrong


def _end_of_trace(err: str) -> str:
    """The last places of a traceback, and what was raised."""
    places = re.findall(r'File ".*?([^/"]+)", line (\d+)', err)[-3:]
    at = " < ".join(f"{name}:{line}" for name, line in reversed(places))
    return f"{err.strip().splitlines()[-1][:200]} at {at}"


def _is_scored(path: Path) -> bool:
    """Scored answers, and what blind rows reach, which a command kept in the run, whole, before it
    met what it could not read.

    They say what they were made of and are used only for the same: finished work, not a leftover.
    """
    if path.name == "scores.blind.json":
        return _is_json(path.read_text(errors="replace"))
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
