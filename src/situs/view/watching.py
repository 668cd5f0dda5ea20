"""The runs below a folder as they stand now. Journals only grow, so each look reads what is new."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from situs.base.files import bounded_lines, digest
from situs.bench import Bench
from situs.clients import Spent
from situs.errors import SitusError
from situs.report.names import public_name, spec_of
from situs.run import AnswerRow, RunInfo, is_baseline, open_run
from situs.run.plan import plan_run

__all__ = [
    "READING_ERRORS",
    "ItemRow",
    "ListedItems",
    "RunState",
    "WatchedRun",
    "WatchedRuns",
    "problem_words",
]

_MOST_DEPTH = 4
"""Folders below the one that is watched: runs, probes and their runs."""
_LIVE_SECONDS = 60.0
"""A journal that was written to this lately is taken to be growing."""
_MOST_RUNS = 1000


READING_ERRORS = (SitusError, OSError, ValueError, msgspec.MsgspecError)
"""What a file can raise that is absent, locked, half written or something else."""


def problem_words(error: Exception) -> str:
    """What went wrong, in one line that names no folder."""
    if isinstance(error, SitusError):
        return str(error)
    if isinstance(error, OSError):
        name = Path(error.filename).name if isinstance(error.filename, str) else "a file"
        return f"{name}: cannot be read ({error.strerror or type(error).__name__})"
    words = " ".join(str(error).split())
    return f"a file of this run cannot be read ({words[:200] or type(error).__name__})"


class RunState(msgspec.Struct, frozen=True):
    """One row of the page."""

    key: str
    """Names the run in addresses; no path is ever part of one."""
    folder: str
    """Below the watched folder."""
    model: str = ""
    kind: str = "model"
    bench: str = ""
    profile: str = ""
    room: str = ""
    withheld: bool = False
    items: int = 0
    states: dict[str, int] = {}
    tokens: dict[str, int] = {}
    cost: float | None = None
    """Dollars; None if nobody knows the price."""
    call_seconds: float | None = None
    """Of an answer, on average."""
    updated: float = 0.0
    """When the journal last grew, in seconds since 1970."""
    live: bool = False
    notes: tuple[str, ...] = ()
    problem: str = ""
    """Why it cannot be shown."""


FileState = tuple[tuple[int, int], ...]


class ItemRow(msgspec.Struct, frozen=True):
    """One line of a run's list."""

    item_id: str
    task: str
    stratum: str
    question: str
    state: str
    """As in the journal, or `not asked yet`."""
    mark: str
    """One letter, as in the report."""
    seconds: float | None


class ListedItems(msgspec.Struct, frozen=True):
    """A run's list, and the files it was made of."""

    files: FileState
    rows: list[ItemRow]
    scored: dict[str, tuple[AnswerRow, str]]
    """Item → the answer that was scored, and its mark: no answer is scored twice."""


class WatchedRun:
    """One run folder, read as far as its journal goes."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        self._root = root
        self.name = folder.relative_to(root).as_posix() if folder != root else folder.name
        self.key = digest(self.name.encode())[:16]
        self.rows: dict[str, AnswerRow] = {}
        """The last row of every item."""
        self.opened: tuple[RunInfo, Bench] | None = None
        self.listed: ListedItems | None = None
        """The items as they were last listed."""
        self._planned: tuple[str, ...] = ()
        self._read_to = 0
        self._spent = Spent()
        self._decoder = msgspec.json.Decoder(AnswerRow)

    def refresh(self) -> RunState:
        """Read what is new, and count."""
        try:
            info, bench = self._open()
            self._read_on()
        except READING_ERRORS as error:
            words = problem_words(error).replace(f"{self._root}{os.sep}", "")
            return RunState(self.key, self.name, problem=words)
        states = Counter(row.state for row in self.rows.values())
        seconds = [row.seconds for row in self.rows.values() if row.seconds is not None]
        updated = self._updated()
        done = len(self.rows) - states["failed"]
        return RunState(
            key=self.key,
            folder=self.name,
            model=public_name(info.client),
            kind="baseline" if is_baseline(spec_of(info.client).kind) else "model",
            bench=bench.info.name,
            profile=info.profile.name,
            room=info.room,
            withheld=info.withheld,
            items=len(self._planned),
            states=dict(sorted(states.items())),
            tokens={
                "prompt": int(self._spent.prompt_tokens),
                "completion": int(self._spent.completion_tokens),
            },
            cost=self._cost(info),
            call_seconds=sum(seconds) / len(seconds) if seconds else None,
            updated=updated,
            live=done < len(self._planned) and time.time() - updated < _LIVE_SECONDS,
            notes=info.notes,
        )

    def _open(self) -> tuple[RunInfo, Bench]:
        if self.opened is None:
            info, bench = open_run(self.folder)
            asked = set(info.sample)
            planned = plan_run(bench, info.split, info.limit).item_ids
            self._planned = tuple(one for one in planned if not asked or one in asked)
            self.opened = info, bench
        return self.opened

    def _read_on(self) -> None:
        """Take in the whole lines that were appended since the last look."""
        path = self.folder / "answers.jsonl"
        if not path.is_file():
            return
        if path.stat().st_size < self._read_to:
            self.rows, self._read_to, self._spent = {}, 0, Spent()
        with path.open("rb") as stream:
            stream.seek(self._read_to)
            for line in bounded_lines(stream, path):
                if not line.endswith(b"\n"):
                    break
                self._read_to += len(line)
                if line.strip():
                    self._add(line)

    def _add(self, line: bytes) -> None:
        try:
            row = self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            fix = "the run is damaged; situs score says where"
            raise SitusError(
                "contains a line that is not an answer", where=self.name, fix=fix
            ) from error
        before = self.rows.get(row.item_id)
        if before is None or before.state == "failed":
            self.rows[row.item_id] = row
        if row.usage and not row.cached:
            self._spent = self._spent.plus(row.usage)

    def _cost(self, info: RunInfo) -> float | None:
        if is_baseline(spec_of(info.client).kind):
            return 0.0
        # Only the run knows where its model was served: a name alone would price a local model like
        # a hosted one.
        if info.price is None:
            return None
        spent = self._spent
        return info.price.of(
            spent.prompt_tokens,
            spent.completion_tokens,
            spent.cached_tokens,
            spent.cache_written_tokens,
        )

    def files_now(self) -> FileState:
        """Size and time of every file that a list of items is made of: unchanged, so is the list.

        Of the journal, how far it was read: it may have grown since.
        """
        assert self.opened is not None
        bench = self.opened[1].folder / "bench.json"
        others = (self.folder / "run.json", bench, self.folder / "hidden.jsonl")
        return (self._read_to, len(self.rows)), *(_file_state(path) for path in others)

    def _updated(self) -> float:
        for name in ("turns.jsonl", "answers.jsonl", "run.json"):
            path = self.folder / name
            if path.is_file():
                return path.stat().st_mtime
        return 0.0


class WatchedRuns:
    """All runs below a folder."""

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            fix = "give the folder your runs are in, as runs/"
            raise SitusError("is not a folder", where=root, fix=fix)
        self._root = root.resolve()
        self._known: dict[Path, WatchedRun] = {}

    def states(self) -> list[RunState]:
        """Every run, those that grew last first."""
        present = set()
        for folder in _run_folders(self._root):
            present.add(folder)
            if folder not in self._known:
                self._known[folder] = WatchedRun(self._root, folder)
        self._known = {folder: run for folder, run in self._known.items() if folder in present}
        rows = [run.refresh() for run in self._known.values()]
        return sorted(rows, key=lambda row: (-row.updated, row.folder))

    def run(self, key: str) -> WatchedRun | None:
        """The run of a key that `states` gave."""
        return next((run for run in self._known.values() if run.key == key), None)


def _file_state(path: Path) -> tuple[int, int]:
    try:
        state = path.stat()
    except FileNotFoundError:
        return (-1, 0)
    return (state.st_size, state.st_mtime_ns)


def _run_folders(root: Path) -> Iterator[Path]:
    count = 0
    for path, folders, files in os.walk(root):
        depth = len(Path(path).relative_to(root).parts)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if "run.json" in files:
            yield Path(path)
            count += 1
        if depth >= _MOST_DEPTH or "bench.json" in files:
            folders.clear()
        if count >= _MOST_RUNS:
            return
