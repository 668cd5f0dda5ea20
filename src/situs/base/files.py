"""Writing so that nothing is ever half-written,
and hashing so that equal content has equal names."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import secrets
import shutil
import socket
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from situs.base.remote import present
from situs.errors import SitusError

T = TypeVar("T")
Content = bytes | str | tuple[bytes | memoryview, ...]
"""Of a file: as it is, or in parts, of which no copy is made."""

__all__ = [
    "bounded_lines",
    "canonical_json",
    "check_own_file",
    "check_own_folder",
    "check_regular",
    "check_size",
    "digest",
    "file_digest",
    "file_name",
    "parse_toml",
    "part_path",
    "read_csv",
    "read_json",
    "read_text",
    "remove_dead_parts",
    "write_all",
    "write_atomic",
    "write_files",
    "write_once",
]


_LONGEST_LINE = 128 << 20
_WRITER = hashlib.blake2b(socket.gethostname().encode(), digest_size=3).hexdigest()
"""Marks the temporary files of this machine:
on a shared disk, process numbers of another mean nothing."""


_PART = re.compile(rf"\..+\.{_WRITER}-(?P<process>\d{{1,9}})-[0-9a-f]+\.part", re.DOTALL)
"""Names of temporary files that this machine writes: the process that did is in them."""


def canonical_json(value: Any) -> bytes:
    """JSON with sorted keys and no white space: equal values give equal bytes."""
    return msgspec.json.encode(value, order="deterministic")


def digest(*parts: bytes | str, size: int = 16) -> str:
    """Hex blake2b of the parts, each framed by its length so that no two lists of parts collide."""
    state = hashlib.blake2b(digest_size=size)
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        state.update(len(raw).to_bytes(8, "little"))
        state.update(raw)
    return state.hexdigest()


def file_digest(path: Path) -> str:
    """`digest` of a file's bytes, read piece by piece."""
    check_regular(path)
    state = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as stream:
            state.update(os.fstat(stream.fileno()).st_size.to_bytes(8, "little"))
            while piece := stream.read(1 << 20):
                state.update(piece)
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise SitusError(problem, where=path, fix="check the path") from error
    return state.hexdigest()


_LONGEST_NAME = 80
_PLAIN_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.+=@-]{{0,{_LONGEST_NAME - 1}}}")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?|.*\.", re.IGNORECASE)
"""Names that Windows keeps for devices, or cannot have."""


def file_name(text: str) -> str:
    """A name from data as the name of a file or folder: itself if it is plain, else a plain one of
    its own.

    All that comes from data and becomes a file name passes here: no slash, dot or device leads
    anywhere else.
    """
    if _PLAIN_NAME.fullmatch(text) and not _RESERVED.fullmatch(text):
        return text
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[: _LONGEST_NAME // 2]
    return f"{readable or 'name'}-{digest(text, size=4)}"


def write_atomic(path: Path, content: bytes | str, *, private: bool = False) -> None:
    """Replace `path` by `content` in one step: a crash leaves the old file or the new, never a
    part.

    A private file can be read by its owner only.
    """
    write_all({path: content}, private=private)


def write_files(
    folder: Path, contents: Mapping[str, bytes | str], *, private: bool = False
) -> list[Path]:
    """Put files into a folder, which may hold others; all of them or none, as `write_all`."""
    return write_all(
        {folder / name: content for name, content in contents.items()}, private=private
    )


def write_all(contents: Mapping[Path, Content], *, private: bool = False) -> list[Path]:
    """Write files wherever they belong: if one cannot be written, all are as they were.

    A crash leaves each of them old or new, never a part.
    """
    new_folders: list[Path] = []
    written: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path, content in contents.items():
            missing = [one for one in path.parents if one not in new_folders and not one.exists()]
            new_folders = missing + new_folders  # innermost first, of one folder after the other
            if path.exists() and not path.is_file():
                # Nothing but a file is ever replaced: as root, that would take a device away from
                # all.
                raise SitusError("is not a file", where=path, fix="choose another place")
            written.append((part_path(path), path))
            _write_new(written[-1][0], content, private)
        for temporary, path in written:
            temporary.replace(path)
    except BaseException as error:
        _undo([temporary for temporary, _ in written], new_folders)
        if not isinstance(error, OSError):
            raise
        raise SitusError(
            f"cannot write ({error.strerror})", where=path, fix="check the folder and free space"
        ) from error
    return [path for _, path in written]


def write_once(path: Path, content: bytes | str) -> None:
    """Make a private file unless it is there: of two that do it at once, one does, and nobody ever
    finds a part of it."""
    temporary = part_path(path)
    try:
        _write_new(temporary, content, private=True)
        try:
            os.link(temporary, path)
        except OSError:
            if not path.exists():
                temporary.rename(path)  # a disk without links
    finally:
        temporary.unlink(missing_ok=True)


def part_path(path: Path) -> Path:
    """A name beside a file or folder for what is not finished yet; the next writer knows by it
    whose it was."""
    return path.with_name(f".{path.name}.{_WRITER}-{os.getpid()}-{secrets.token_hex(4)}.part")


def _write_new(path: Path, content: Content, private: bool) -> None:
    """A file that is not there yet, on disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_dead_parts(path.parent)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600 if private else 0o666), "wb") as stream:
        if isinstance(content, tuple):
            stream.writelines(content)
        else:
            stream.write(content.encode() if isinstance(content, str) else content)
        stream.flush()
        os.fsync(stream.fileno())


def _undo(files: Iterable[Path], new_folders: Iterable[Path]) -> None:
    """Remove files of ours, and folders that were made for them,
    innermost first, while they are empty."""
    for file in files:
        with suppress(OSError):
            file.unlink(missing_ok=True)
    with suppress(OSError):
        for folder in new_folders:
            folder.rmdir()


@lru_cache(maxsize=64)
def remove_dead_parts(folder: Path) -> None:
    """Remove what killed writers left in a folder;
    once a process, since their number only grows by kills."""
    with os.scandir(folder) as entries:
        parts = [match for entry in entries if (match := _PART.fullmatch(entry.name))]
    for part in parts:
        if not _is_alive(int(part["process"])):
            path = folder / part.string
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def check_regular(path: Path) -> None:
    """Refuse what is no file on disk: a pipe or device may never end, and reading it takes from
    others.

    What is not there at all is left to whoever opens it. What lies elsewhere is fetched.
    """
    present(path)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    if stat.S_ISDIR(mode):
        raise SitusError("is a folder, not a file", where=path, fix="give a file")
    if not stat.S_ISREG(mode):
        raise SitusError(
            "is a pipe or device, not a file", where=path, fix="save it as a file first"
        )


def check_own_file(path: Path) -> None:
    """Refuse to write to what is no file of its folder: a folder may come from anybody, and a link
    in it leads to what lies elsewhere on this machine."""
    check_regular(path)
    if path.is_symlink():
        raise SitusError("is a link, not a file", where=path, fix="put the file itself there")


def check_own_folder(folder: Path, *, fix: str) -> None:
    """Refuse a folder of others, however deep, that is more than folders and files."""
    for entry in folder.rglob("*"):
        if entry.is_symlink():
            raise SitusError("is a link", where=entry, fix=fix)
        if not entry.is_dir():
            check_regular(entry)


def check_size(path: Path, limit_bytes: int) -> None:
    """Refuse what is no file, or too large to be read whole."""
    check_regular(path)
    if path.stat().st_size > limit_bytes:
        raise SitusError(
            f"is larger than {limit_bytes >> 20} MiB", where=path, fix="is it the right file?"
        )


def read_text(path: Path, *, limit_bytes: int = 64 << 20) -> str:
    """A whole text file as UTF-8, refused when missing, unreadable, oversized or not text."""
    try:
        check_size(path, limit_bytes)
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SitusError("is not UTF-8 text", where=path, fix="save it as UTF-8") from error
    except FileNotFoundError as error:
        raise SitusError("no such file", where=path, fix="check the path") from error
    except OSError as error:
        raise SitusError(
            f"cannot be read ({error.strerror})",
            where=path,
            fix="check the path and its permissions",
        ) from error


def bounded_lines(stream: IO[bytes], where: object) -> Iterator[bytes]:
    """The lines of an open file; one that is longer than any that is meant is refused, before it
    has filled the memory."""
    for number in count(1):
        line = stream.readline(_LONGEST_LINE)
        if not line:
            return
        if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            problem = f"line {number:,} is longer than {_LONGEST_LINE >> 20} MB"
            raise SitusError(problem, where=where, fix="is it the right file?")
        yield line


def delimiter_of(text: str) -> str:
    """What parts the cells of a table: the comma, or the semicolon or tab that its header has
    instead.

    Spreadsheets write semicolons where the comma is the decimal sign.
    """
    header = text.partition("\n")[0]
    return max((",", ";", "\t"), key=header.count)


def read_csv(
    path: Path, *, limit_bytes: int = 64 << 20
) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """The header, and every row by column with the line it begins on; commas, semicolons or tabs
    part the cells.

    Refused where quotes are not balanced or a row has more cells than the header: such a row may
    hold another's text.
    """
    text = read_text(path, limit_bytes=limit_bytes)
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text), strict=True)
    rows: list[tuple[int, dict[str, str]]] = []
    line = 1
    try:
        header = next(table, [])
        while True:
            line = table.line_num + 1
            cells = next(table, None)
            if cells is None:
                return header, rows
            if any(cell.strip() for cell in cells[len(header) :]):
                problem = f"has {len(cells)} cells, the header {len(header)}"
                raise SitusError(
                    problem,
                    where=f"{path}:{line}",
                    fix="quote cells that contain commas or quotes",
                )
            if cells:
                rows.append((line, dict(zip(header, cells))))
    except csv.Error as error:
        fix = "close the quote, and double quotes inside a cell"
        raise SitusError(
            f"is not valid CSV from here on ({error})", where=f"{path}:{line}", fix=fix
        ) from error


def read_json(path: Path, kind: type[T]) -> T:
    """A JSON file as a validated record; the error names the place inside it."""
    try:
        return msgspec.json.decode(read_text(path), type=kind)
    except msgspec.ValidationError as error:
        raise SitusError(
            str(error), where=path, fix="the file does not have the expected form"
        ) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise SitusError(
            f"is not valid JSON ({error})", where=path, fix="restore or rewrite the file"
        ) from error


_MOST_KEY_PARTS = 32
_KEY_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_KEY_PART}){{{_MOST_KEY_PARTS}}}")
"""Python's reader keeps every beginning of a dotted key, so that a key of a million parts takes
terabytes. Nothing that Situs reads has keys of more than three."""


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML document; a `ValueError` says what is wrong with it."""
    if long_key := _LONG_KEY.search(text):
        line = text.count("\n", 0, long_key.start()) + 1
        raise ValueError(f"a key of more than {_MOST_KEY_PARTS} parts (line {line})")
    try:
        tables = tomllib.loads(text)
        if _is_too_large(tables):
            raise ValueError("an integer of more than 64 bits, which TOML does not allow")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return tables


def _is_too_large(value: object) -> bool:
    """Whether there is an integer in it that Python's reader takes, and no other."""
    if isinstance(value, dict):
        return any(map(_is_too_large, value.values()))
    if isinstance(value, list):
        return any(map(_is_too_large, value))
    return isinstance(value, int) and not -(1 << 63) <= value < 1 << 63
