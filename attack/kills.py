"""The program stopped at any moment:
what was there is whole, nothing is left, and the same command ends well."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import Any

from attack.apart import Apart, begin, started
from attack.commands import spell
from attack.program import tree

__all__ = ["FOLDERS", "case", "contents", "old", "stops_so_far", "unhindered"]

_LONGEST_SECONDS = 900
Words = tuple[str, ...]
Contents = dict[str, bytes]
_ITEMS, _SCANS = "{corpus}/benches/items", "{corpus}/benches/scans"

_TRUST = tuple(word for n in range(3) for word in ("--trust", f"s{n}"))
FOLDERS: dict[str, Words] = {
    "import": ("import", "items", "{corpus}/items.jsonl"),
    "boxes": ("build", "boxes", "{corpus}/boxes.csv", "--per-study", "4"),
    "masks": ("build", "masks", "{corpus}/scans.csv", "--names", "{corpus}/names.csv", *_TRUST),
    "jobs": (
        "build",
        "masks",
        "{corpus}/scans.csv",
        "--names",
        "{corpus}/names.csv",
        "--jobs",
        "2",
        *_TRUST,
    ),
    "reports": ("build", "reports", "{corpus}/reports.csv"),
    "grades": (
        "build",
        "grades",
        "{corpus}/grades.csv",
        "--boxes",
        "{corpus}/regions.csv",
        "--jobs",
        "2",
    ),
    "library": ("library", "build", "{corpus}/abstracts.jsonl"),
    "debias": ("debias", "{corpus}/benches/frames"),
    "export": ("export", _SCANS, "--to", "hf", "--limit", "2"),
    "croissant": ("export", _SCANS, "--to", "croissant"),
    "traces": ("export", "{corpus}/sessions", "--bench", _SCANS, "--to", "traces"),
    "author": ("author", _SCANS, "--per-study", "2", "--jobs", "2"),
    "log": ("export", "{corpus}/runs/items", "--bench", _ITEMS, "--to", "inspect"),
    "merge": ("merge", "{corpus}/halves/1", "{corpus}/halves/2"),
    "tune": ("tune", "build", "{corpus}/benches/lessons", "--target", "answer"),
}
"""Commands that make a folder, and with --overwrite replace one."""
_OTHERS: dict[str, Words] = {
    "run": ("run", _ITEMS, "--model", "random?delay=0.02", "--out", "{out}"),
    "room": (
        "run",
        _SCANS,
        "--model",
        "driller?answers=oracle&looks=6",
        "--room",
        "{corpus}/room.toml",
        "--limit",
        "8",
        "--out",
        "{out}",
    ),
    "probe": ("probe", _ITEMS, "--model", "random", "--probes", "text", "--out", "{out}"),
    "report": (
        "report",
        "{corpus}/runs/words",
        "--bench",
        "{corpus}/benches/words",
        "--out",
        "{out}",
    ),
    "quiz": ("quiz", _SCANS, "--items", "2", "--out", "{out}"),
    "sheet": (
        "audit",
        "export",
        _ITEMS,
        "--items",
        "4",
        "--raters",
        "ann,bob",
        "--out",
        "{out}.csv",
    ),
    "show": ("show", _SCANS, "--profile", "one-slice", "--out", "{out}"),
}
"""Commands that go on where they were stopped, or write one file."""
_STATIONS = 1 / 12
"""The share of cases that stop what writes to a reading station."""
_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_ENDS = (
    0,
    -signal.SIGKILL,
    -signal.SIGTERM,
    -signal.SIGINT,
    128 + signal.SIGINT,
    128 + signal.SIGTERM,
)


_STATION_SECONDS = 0.6
"""What bringing four cases into a station takes."""
_THERE = re.compile("is not empty|exists")
"""It had ended before it was stopped: there is nothing to do again."""
_stops = 0


def stops_so_far() -> int:
    """How often this process has stopped a program."""
    return _stops


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Stop a command some times, then let it end."""
    if rng.random() < _STATIONS:
        return _station(rng, corpus, work)
    known = {**FOLDERS, **_OTHERS}
    name = rng.choice([*known, "import", "import", "log", "reports"])
    words = known[name]
    seconds, wanted = unhindered(name, corpus)
    place = work / "place"
    place.mkdir()
    out = place / "out"
    before: Contents = {}
    if name in FOLDERS:
        words = (*words, "--out", "{out}")
        if rng.random() < 0.6:
            words = (*words, "--overwrite")
            before = old(corpus, out)
    command = spell(words, corpus=corpus, out=out)
    wrong = []
    for _ in range(rng.choice([2, 3, 4, 5])):  # one end serves several stops: it costs the most
        stop, group = rng.choice(_SIGNALS), rng.random() < 0.5
        if rng.random() < 0.1:
            wrong += _stopped_at_start(rng, command, stop)
        else:
            wrong += _stopped(
                begin(*command, work=work), rng.random() * 1.15 * seconds, stop, group
            )
        there = contents(out)
        if name in FOLDERS and there not in (before, wanted):
            wrong.append("what stands at --out is neither the old folder nor the new one")
    wrong += _ends_well(name, begin(*command, work=work), place, wanted)
    return [f"{name}{' --overwrite' if before else ''}: {text}" for text in wrong]


def _station(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A station is whole after every stop, and a project is in it or not at all."""
    station = work / "station"
    shutil.copytree(corpus / "empty", station)
    brought = ("review", "import", station, corpus / "benches" / "scans", "--items", "4")
    kept = ("review", "export", station, "--project", "p", "--out", work / "readings")
    words = (*brought, "--project", "p")
    seconds = _STATION_SECONDS
    wrong = []
    for _ in range(rng.choice([2, 3, 4])):
        stop, group = rng.choice(_SIGNALS), rng.random() < 0.5
        wrong += _stopped(begin(*words, work=work), rng.random() * seconds, stop, group)
        wrong += _ran(work, "review", "verify", station)
    there = begin(*words, work=work)
    if there.end() not in (0, 2) or (there.end() == 2 and "exists" not in there.error):
        wrong.append(f"again: exit {there.end()} {there.error[-300:]!r}")
    export = begin(*kept, work=work)
    wrong += _stopped(export, rng.random() * seconds, rng.choice(_SIGNALS), group=True)
    # The next call ends what was begun, or clears up after one that was stopped at its very end.
    again = begin(*kept, work=work)
    if again.end() not in (0, 2) or (again.end() == 2 and not _THERE.search(again.error)):
        wrong.append(f"export again: exit {again.end()} {again.error[-300:]!r}")
    wrong += _ran(work, "review", "verify", station)
    # What was exported is whole: another station takes it.
    wrong += _ran(work, "review", "init", work / "other")
    wrong += _ran(work, "review", "import", work / "other", work / "readings")
    if strangers := [entry for entry in tree(work) if ".part" in entry or ".tmp" in entry]:
        wrong.append(f"leaves {sorted(strangers)[:3]}")
    return [f"station: {text}" for text in wrong]


def _ran(work: Path, *words: object) -> list[str]:
    call = begin(*words, work=work)
    return [f"{words[1]}: exit {call.end()} {call.error[-300:]!r}"] if call.end() else []


def _stopped(call: Apart, after: float, number: int, group: bool) -> list[str]:
    global _stops
    _stops += call.wait(after) is None  # otherwise it had ended before the signal came
    call.signal(number, group=group)
    code = call.end()
    wrong = []
    if code not in _ENDS and not (code == 2 and _THERE.search(call.error)):
        wrong.append(f"signal {number} after {after:.2f} s: exit {code} {call.error[-300:]!r}")
    # A traceback, an exception that was ignored, a task that nobody awaited: all of it is noise.
    if any(line and not line.startswith("situs: ") for line in call.error.splitlines()):
        wrong.append(f"signal {number} after {after:.2f} s: {call.error[-600:]!r}")
    if left := call.survivors():
        wrong.append(f"signal {number} after {after:.2f} s: processes {left} go on")
    return wrong


def _stopped_at_start(rng: random.Random, command: list[str], number: int) -> list[str]:
    """In the first moments, while Python and the program are loaded."""
    global _stops
    _stops += 1
    process = started(*command, start_new_session=True, stdout=subprocess.DEVNULL)
    time.sleep(rng.random() * 1.5)
    process.send_signal(number)
    _, err = process.communicate(timeout=_LONGEST_SECONDS)
    # Before our first line runs, Python answers Ctrl-C itself.
    ours = b"Traceback" in err and b"situs" in err
    return [f"signal {number} at the start: {err[-600:]!r}"] if ours else []


def _ends_well(name: str, call: Apart, place: Path, wanted: Contents) -> list[str]:
    code = call.end()
    out = place / "out"
    complete = (
        name in FOLDERS and code == 2 and "is not empty" in call.error
    )  # it had ended before the signal came
    wrong = []
    if code != 0 and not complete:
        wrong.append(f"again: exit {code} {call.error[-300:]!r}")
    elif "Traceback" in call.error:
        wrong.append(f"again: {call.error[-300:]!r}")
    elif name in ("run", "room", "probe"):
        if _answers(contents(out)) != _answers(wanted):
            wrong.append("again: other answers than without a stop")
    elif contents(out.with_suffix(".csv") if name == "sheet" else out) != wanted:
        wrong.append("again: not what it makes without a stop")
    names = {"out"} if name != "sheet" else {"out.csv"}
    strangers = sorted(
        entry for entry in tree(place) if Path(entry).parts[0] not in names or ".part" in entry
    )
    if strangers and not complete:
        wrong.append(f"again: leaves {strangers[:4]}")
    return wrong


def contents(path: Path) -> Contents:
    if path.is_file():
        return {"": path.read_bytes()}
    return {
        str(p.relative_to(path)): _places(p) if p.name == "locations.json" else p.read_bytes()
        for p in sorted(path.rglob("*"))
        if p.is_file()
    }


def _places(file: Path) -> bytes:
    """Which files the file names: it says how to reach them from where it stands."""

    def resolved(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: resolved(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [resolved(entry) for entry in value]
        return os.path.normpath(file.parent / value) if isinstance(value, str) else value

    return json.dumps(resolved(json.loads(file.read_bytes()))).encode()


def _answers(contents: Contents) -> dict[str, set[tuple[str, ...]]]:
    """Of each journal, what was answered; times and order are those of the day."""
    found = {}
    for name, raw in contents.items():
        if name.endswith("answers.jsonl"):
            rows = [json.loads(line) for line in raw.splitlines()]
            found[name] = {(row["item_id"], row["state"], row["response"]) for row in rows}
    return found


def old(corpus: Path, out: Path) -> Contents:
    """A folder that is any command's to replace: a bench with the markers of all the others."""
    unhindered("import", corpus)
    shutil.copytree(_shelf(corpus, "import") / "out", out)
    for marker in ("export.json", "README.md", "run.json", "manifest.json", "library.json"):
        (out / marker).write_text("old")
    return contents(out)


@cache
def unhindered(name: str, corpus: Path) -> tuple[float, Contents]:
    """How long the command takes and what it makes, if nobody stops it."""
    folder = _shelf(corpus, name)
    shutil.rmtree(folder, ignore_errors=True)  # of a first try that took too long
    folder.mkdir(parents=True)
    words = (*FOLDERS[name], "--out", "{out}") if name in FOLDERS else _OTHERS[name]
    begun = time.monotonic()
    call = begin(*spell(words, corpus=corpus, out=folder / "out"), work=folder)
    assert call.end() == 0, call.error
    seconds = time.monotonic() - begun
    return seconds, contents(folder / ("out.csv" if name == "sheet" else "out"))


def _shelf(corpus: Path, name: str) -> Path:
    return corpus.parent / "unhindered" / f"{os.getpid()}-{name}"
