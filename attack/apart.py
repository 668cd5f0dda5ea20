"""The program in a process of its own,
forked from a loaded one (`forks`) or started as people start it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from attack.forks import STREAMS

__all__ = ["STREAMS", "Apart", "begin", "end_all", "started", "work_so_far"]

Streams = tuple[str, str, str]
"""Standard output, standard error, and the encoding of both."""
SOUND: Streams = ("file", "file", "utf-8")
_ROOT = Path(__file__).parents[1]
_LONGEST_SECONDS = 900.0
"""For one call, on a machine that does other things beside."""
_MOST_CPU_SECONDS = 60
_ENDING_SECONDS = 30.0
"""Workers notice that the program is gone and end; on a loaded machine that takes a moment."""


@dataclass(frozen=True)
class Apart:
    """A call under way."""

    pid: int
    out: Path
    err: Path
    note: Path
    """Which other machines it tried to reach."""

    def wait(self, seconds: float) -> int | None:
        """The exit code, negative for the signal that ended it;
        None if it goes on after so long."""
        ended = _forks().wait(self.pid, seconds)
        return None if ended is None else ended[0]

    def end(self, seconds: float = _LONGEST_SECONDS) -> int:
        """Wait for it; the exit code, negative for the signal that ended it."""
        code = self.wait(seconds)
        if code is None:
            raise TimeoutError(f"no end after {seconds:.0f} s")
        return code

    @property
    def kilobytes(self) -> int:
        """Memory that it took, its own and what it shares with the process it was forked from."""
        ended = _forks().wait(self.pid, 0)
        assert ended is not None
        return ended[1]

    def signal(self, number: int, *, group: bool) -> None:
        """Send a signal to the program, or as a terminal does to its workers too."""
        if self.wait(0) is not None:
            return
        with contextlib.suppress(ProcessLookupError):  # it has no group of its own yet
            (os.killpg if group else os.kill)(self.pid, number)
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    @property
    def output(self) -> str:
        return _text(self.out)

    @property
    def error(self) -> str:
        return _text(self.err)

    @property
    def reached_out_to(self) -> list[str]:
        return _text(self.note).split()

    def survivors(self) -> list[int]:
        """Processes that outlive the program."""
        deadline = time.monotonic() + _ENDING_SECONDS
        while (left := _processes_of(self.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left


def begin(
    *words: object,
    work: Path,
    streams: Streams = SOUND,
    most_bytes: int | None = None,
    hook: str = "",
    hook_arguments: tuple[Any, ...] = (),
) -> Apart:
    """`situs WORDS…` in the folder `work`; `hook` is a `module:function` that is called first.

    What it writes to its streams stands in files elsewhere, once it has begun.
    """
    forks = _forks()
    out, err, note = forks.papers()
    limits = {"RLIMIT_CPU": _MOST_CPU_SECONDS, "RLIMIT_CORE": 0}
    if most_bytes is not None:
        limits["RLIMIT_FSIZE"] = most_bytes
    request = {
        "words": [str(word) for word in words],
        "folder": str(work),
        "environment": dict(os.environ),
        "out": str(out),
        "err": str(err),
        "note": str(note),
        "streams": streams,
        "limits": limits,
        "hook": hook,
        "hook_arguments": hook_arguments,
    }
    return Apart(forks.begin(request), out, err, note)


def started(*words: object, script: Path | None = None, **more: Any) -> subprocess.Popen[bytes]:
    """`situs WORDS…` from the start, as people call it:
    `python -m situs`, or a script that does."""
    program = ["-m", "situs"] if script is None else [str(script)]
    command = [sys.executable, *program, *map(str, words)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **(pipes | more))


def work_so_far() -> float:
    """Seconds of CPU that this process, what it started and what was forked for it have taken."""
    return sum(os.times()[:4]) + _forks().work


def end_all() -> None:
    """End every call that still goes on, with its workers."""
    _forks().end_all()


class _Forks:
    """The process that is forked from, as its client sees it."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        number = theirs.fileno()
        source = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from attack.forks import serve"
        source += f"; del sys.path[0]; serve({number})"
        # -P: it looks for no modules where it happens to be started.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", source], pass_fds=[number], start_new_session=True
        )
        theirs.close()
        self._folder = tempfile.TemporaryDirectory(prefix="situs-attack-said-")
        self.work = 0.0
        """Seconds of all calls that have ended."""
        self._calls = 0
        self._pending = b""
        self._begun: list[int] = []
        self._ended: dict[int, tuple[int, int]] = {}
        self._running: set[int] = set()
        # Processes of a pool end without what `atexit` knows.
        Finalize(None, self._close, exitpriority=10)

    def papers(self) -> tuple[Path, Path, Path]:
        """Where the next call writes its output, its errors,
        and whom it tried to reach; the last hundred stay."""
        self._calls += 1
        stem = Path(self._folder.name) / str(self._calls % 100)
        paths = stem.with_suffix(".out"), stem.with_suffix(".err"), stem.with_suffix(".note")
        for path in paths:
            path.unlink(missing_ok=True)
        return paths

    def begin(self, request: dict[str, Any]) -> int:
        self._channel.sendall(json.dumps(request).encode() + b"\n")
        while not self._begun:
            self._receive(None)
        pid = self._begun.pop()
        self._running.add(pid)
        return pid

    def wait(self, pid: int, seconds: float) -> tuple[int, int] | None:
        deadline = time.monotonic() + seconds
        while pid not in self._ended:
            left = max(0.0, deadline - time.monotonic())
            if not self._receive(left) and left == 0:
                return None
        self._running.discard(pid)
        return self._ended[pid]

    def end_all(self) -> None:
        for pid in list(self._running):
            if self.wait(pid, 0) is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                self.wait(pid, _LONGEST_SECONDS)

    def _receive(self, seconds: float | None) -> bool:
        if not select.select([self._channel], [], [], seconds)[0]:
            return False
        received = self._channel.recv(1 << 16)
        if not received:
            raise RuntimeError("the process that is forked from has ended")
        *lines, self._pending = (self._pending + received).split(b"\n")
        for line in lines:
            what, pid, *rest = line.split()
            if what == b"begun":
                self._begun.append(int(pid))
                self._ended.pop(int(pid), None)  # of an earlier process with this number
            else:
                self._ended[int(pid)] = (int(rest[0]), int(rest[1]))
                self.work += float(rest[2])
        return True

    def _close(self) -> None:
        self._channel.close()
        self._process.wait(_LONGEST_SECONDS)
        self._folder.cleanup()


@cache
def _forks() -> _Forks:
    return _Forks()


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _processes_of(session: int) -> list[int]:
    """Living processes of a session, by Linux' table of them."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.name))
    return found
