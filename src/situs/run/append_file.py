"""A file of JSON lines to which rows are added,
by one process at a time, each handed over at once."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from situs.base.files import check_own_file
from situs.base.locks import try_lock
from situs.errors import SitusError

__all__ = ["AppendFile"]


class AppendFile:
    """Open for adding; what a crash left after the last whole line is dropped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._encoder = msgspec.json.Encoder()
        check_own_file(path)  # what is added to is cut to whole lines first
        try:
            # Unbuffered: after a failed write nothing is left over that closing would try to write
            # again.
            self._stream = path.open("ab", buffering=0)
            try_lock(self._stream.fileno())
            _cut_torn_line(path)
        except BlockingIOError as error:
            self._stream.close()
            fix = "wait for it, stop it, or choose another --out"
            raise SitusError("another situs run is writing here", where=path, fix=fix) from error
        except OSError as error:
            raise SitusError(
                f"cannot be written ({error.strerror})", where=path, fix="choose another --out"
            ) from error

    def add(self, row: object) -> None:
        """Append one row and hand it to the operating system at once."""
        line = memoryview(self._encoder.encode(row) + b"\n")
        try:
            while line:
                line = line[self._stream.write(line) :]
        except OSError as error:
            fix = "free some space and run the same command again: finished answers are kept"
            raise SitusError(
                f"cannot write ({error.strerror})", where=self._path, fix=fix
            ) from error

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()


def _cut_torn_line(path: Path) -> None:
    """Drop what a crash left after the last whole line."""
    with path.open("rb+") as stream:
        size = stream.seek(0, os.SEEK_END)
        position = size
        while position > 0:
            step = min(65536, position)
            position -= step
            stream.seek(position)
            last = stream.read(step).rfind(b"\n")
            if last >= 0:
                if position + last + 1 < size:
                    stream.truncate(position + last + 1)
                return
        stream.truncate(0)
