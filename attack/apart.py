"""The program in a process of its own that is loaded already: forked from a clean one, and free to be killed."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from functools import cache
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

__all__ = ["STREAMS", "Apart", "begin", "processes_of"]

STREAMS = ("file", "closed", "full", "read-only", "gone")
"""What a standard stream may be: one that takes all, or one of those that take nothing."""
Streams = tuple[str, str, str]
"""Standard output, standard error, and the encoding of both."""
_SOUND: Streams = ("file", "file", "utf-8")

_ENDING_SECONDS = 10.0
"""Workers notice that the program is gone and end; on a loaded machine that takes a moment."""


@dataclass(frozen=True)
class Apart:
    """A call under way."""

    process: BaseProcess
    err: Path

    def end(self, seconds: float = 500.0) -> int:
        """Wait for it; the exit code, negative for the signal that ended it."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            raise TimeoutError(f"no end after {seconds:.0f} s")
        return self.process.exitcode

    def signal(self, number: int, *, group: bool) -> None:
        """Send a signal to the program, or as a terminal does to its workers too."""
        pid = self.process.pid
        assert pid is not None
        with contextlib.suppress(
            ProcessLookupError
        ):  # it has ended, or has no group of its own yet
            (os.killpg if group else os.kill)(pid, number)
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)

    @property
    def error(self) -> str:
        return self.err.read_text(errors="replace") if self.err.exists() else ""

    def survivors(self) -> list[int]:
        """Processes that outlive the program."""
        assert self.process.pid is not None
        deadline = time.monotonic() + _ENDING_SECONDS
        while (left := processes_of(self.process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left


def begin(
    *words: object, work: Path, most_bytes: int | None = None, streams: Streams = _SOUND
) -> Apart:
    """`situs WORDS…`, forked from a process that has loaded everything and done nothing."""
    _load()
    context = multiprocessing.get_context("forkserver")
    err = work / "stderr"
    err.unlink(missing_ok=True)  # it stands again once the program has begun
    process = context.Process(
        target=_enter, args=([str(w) for w in words], str(err), streams, most_bytes, str(work))
    )
    process.start()
    return Apart(process, err)


@cache
def _load() -> None:
    """Start the process that is forked from. It looks for modules in the folder it is started in, and nowhere else."""
    forkserver.set_forkserver_preload(["attack.loaded"])
    here = Path.cwd()
    os.chdir(Path(__file__).parents[1])
    try:
        forkserver.ensure_running()
    finally:
        os.chdir(here)


def _enter(
    words: list[str], err: str, streams: Streams, most_bytes: int | None, folder: str
) -> None:
    os.setsid()
    os.chdir(folder)
    sys.path[:] = [entry for entry in sys.path if entry]  # code that lies beside data must not run
    sys.stdout = _stream(streams[0], 1, os.devnull, streams[2])
    sys.stderr = _stream(streams[1], 2, err, streams[2])
    if most_bytes is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["situs", *words]
    code = 0
    try:
        from situs.__main__ import main

        main()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except BaseException:
        with Path(err).open("a", encoding="utf-8") as stream:
            traceback.print_exc(file=stream)
        code = 99
    # As Python ends: what is still buffered goes out, and a failure of that is the program's.
    try:
        if sys.stdout is not None and not sys.stdout.closed:
            sys.stdout.flush()
    except (OSError, ValueError):
        code = code or 98
    os._exit(code)


def _stream(kind: str, number: int, path: str, encoding: str) -> Any:
    """The standard stream of that number, as Python opens it."""
    match kind:
        case "closed":
            os.close(number)
            return None
        case "full":
            descriptor = os.open("/dev/full", os.O_WRONLY)
        case "read-only":
            descriptor = os.open(os.devnull, os.O_RDONLY)
        case "gone":
            reader, descriptor = os.pipe()
            os.close(reader)
        case _:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(descriptor, number)
    os.close(descriptor)
    raw = io.BufferedWriter(io.FileIO(number, "w", closefd=False))
    errors = "backslashreplace" if number == 2 else "strict"
    return io.TextIOWrapper(raw, encoding=encoding, errors=errors, line_buffering=number == 2)


def processes_of(session: int) -> list[int]:
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
