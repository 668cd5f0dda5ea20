"""One way to make a folder: build it beside its place, then put it there in one step.

`out` is either as it was or complete, whenever the program is killed. All that is unfinished lives
in one hidden neighbour, `.NAME.part`:

    .NAME.part/owner      locked by the process that is at work
    .NAME.part/work       key and finished pieces of work that can be resumed
    .NAME.part/folder     what is to become NAME
    .NAME.part/exchanged  the same for the moment of the exchange, and after it what was NAME

A lock dies with its process, so the next call knows a dead neighbour from a living one: it resumes
the dead one's work where the key is the same, and otherwise removes it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from situs.base.files import write_atomic
from situs.base.locks import try_lock
from situs.errors import SitusError

__all__ = ["FinishedEarly", "asked_beside", "new_folder", "refuse_nameless", "work_folder"]

_EXCHANGE = 2
"""The flag by which Linux' renameat2 and macOS'
renamex_np let two names change places in one step."""
_AT_FDCWD = -100
"""Linux: paths are relative to the current folder."""


class FinishedEarly(Exception):
    """Raised inside `new_folder`: this folder,
    made beside the scratch folder, is to become `out` instead of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder.name)
        self.folder = folder


@contextmanager
def new_folder(out: Path, *, marker: str, overwrite: bool, resume_key: str = "") -> Iterator[Path]:
    """A scratch folder that becomes `out` when the block ends well, and vanishes when it does not.

    `marker` is the file by which a folder is known to be ours: with `overwrite`, only a folder that
    holds it is ever replaced. With a `resume_key`, the block may keep finished work in
    `work_folder(scratch)`: an interrupted call leaves it to the next one that has the same key.
    """
    refuse_nameless(out)
    target = out.resolve() if out.is_symlink() else out
    part = target.with_name(f".{target.name}.part")
    try:
        _refuse_others(target, marker, overwrite)
    except SitusError:
        _clear_if_published(part, out)
        raise
    new_parents = [parent for parent in target.parents if not parent.exists()]
    owner = _take(part, out)
    keep_work = False
    early: FinishedEarly | None = None
    try:
        made = scratch = _prepare(part, target, resume_key)
        try:
            yield scratch
        except FinishedEarly as end:
            made, early = end.folder, end
        _sync(made)
        # Another program may have put something there since the first look.
        _refuse_others(target, marker, overwrite)
        if made != scratch:
            shutil.rmtree(scratch)
        _put(made, target, marker, part)
        if early is not None:
            raise early
    except OSError as error:
        raise SitusError(
            f"cannot write ({error.strerror})", where=out, fix="check the folder and free space"
        ) from error
    except (KeyboardInterrupt, SystemExit) as error:
        keep_work = bool(resume_key)
        if keep_work:
            error.add_note("finished studies are kept; the same command resumes")
        raise
    finally:
        if os.name != "posix":
            os.close(owner)  # an open file cannot be removed there
        if not keep_work:
            _clear(part)
        if os.name == "posix":
            os.close(owner)
        if not keep_work and not target.exists():
            _remove_empty(new_parents)


def refuse_nameless(out: Path) -> None:
    """Stop where nothing new can be made: `.`, `..` and `/` name what is there."""
    if out.name in ("", ".."):
        raise SitusError("is not the name of a new folder", where=out, fix="choose another --out")


def asked_beside(out: Path) -> Path:
    """The private folder in which is kept what models are asked while `out` is made."""
    refuse_nameless(out)
    return out.with_name(f"{out.name}.asked")


def work_folder(scratch: Path) -> Path:
    """Where the block of `new_folder` keeps finished work; never part of the folder it makes."""
    return scratch.with_name("work")


def _refuse_others(out: Path, marker: str, overwrite: bool) -> None:
    """Stop unless `out` is free, empty, or ours to replace."""
    if not out.exists():
        return
    if not out.is_dir():
        raise SitusError("is a file, not a folder", where=out, fix="choose another --out")
    ours = (out / marker).is_file()
    if any(out.iterdir()) and not (overwrite and ours):
        fix = "choose another --out" + (" or add --overwrite" if ours else "")
        raise SitusError("exists and is not empty", where=out, fix=fix)


def _take(part: Path, out: Path) -> int:
    """Make the hidden neighbour ours. Returns the open file whose lock says so."""
    file = part / "owner"
    while True:
        try:
            part.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue  # its last owner removed the folder between the two steps
        except OSError as error:
            raise SitusError(
                f"cannot be created ({error.strerror})",
                where=out,
                fix="choose a folder you can write to",
            ) from error
        try:
            try_lock(descriptor)
            if os.path.samestat(os.fstat(descriptor), file.stat()):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            fix = "wait for it, stop it, or choose another --out"
            raise SitusError("another situs command is writing here", where=out, fix=fix) from error
        except FileNotFoundError:
            pass
        os.close(descriptor)  # the lock of a file that its last owner has removed says nothing


def _prepare(part: Path, out: Path, resume_key: str) -> Path:
    """The scratch folder, with what a dead call with the same key left, and nothing else."""
    before, work, scratch = part / "before", part / "work", part / "folder"
    if before.exists() and not out.exists():
        before.rename(out)  # a call without exchange died between its two steps
    key_file = work / "key"
    same = bool(resume_key) and key_file.is_file() and key_file.read_text() == resume_key
    # What was exchanged is no work of this call, whoever made it: an old folder, half removed.
    kept = ("work", "folder") if same else ()
    folders = [one for one in part.iterdir() if one.is_dir() and not one.is_symlink()]
    for entry in folders:
        if entry.name not in kept:
            shutil.rmtree(entry)
    scratch.mkdir(exist_ok=True)
    if resume_key:
        work.mkdir(exist_ok=True)
        write_atomic(key_file, resume_key)
    return scratch


def _sync(folder: Path) -> None:
    """Hand everything to the disk: a name must never point at content that a power cut loses."""
    for root, _, files in os.walk(folder):
        for name in files:
            _sync_one(Path(root, name))
        if os.name == "posix":  # elsewhere folders cannot be opened
            _sync_one(Path(root))


def _sync_one(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put(scratch: Path, out: Path, marker: str, part: Path) -> None:
    """Let `scratch` become `out`;
    what was there, if anything, lies in the hidden neighbour after."""
    if not out.exists() or not any(out.iterdir()):
        if os.name != "posix" and out.exists():
            out.rmdir()
        scratch.rename(out)  # fails, rather than replaces, where somebody has just filled `out`
    else:
        # A call that is killed after the exchange leaves the old folder here: under the name of
        # the scratch folder, the next one would go on in it.
        exchanged = part / "exchanged"
        scratch.rename(exchanged)
        if not _exchange(exchanged, out):
            out.rename(part / "before")
            exchanged.rename(out)
        elif not (exchanged / marker).is_file():
            _exchange(exchanged, out)
            raise SitusError("was changed meanwhile", where=out, fix="choose another --out")
    if os.name == "posix":
        _sync_one(out.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False where the system cannot."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(one), os.fsencode(other)
        if sys.platform == "darwin":
            return bool(library.renamex_np(*names, _EXCHANGE) == 0)
        return bool(library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE) == 0)
    except (AttributeError, OSError, TypeError):
        return False


def _clear(part: Path) -> None:
    """Remove the hidden neighbour.

    Its lock goes last: who finds none may make the folder theirs.
    """
    with suppress(OSError):
        for entry in [entry for entry in part.iterdir() if entry.name != "owner"]:
            shutil.rmtree(entry, ignore_errors=True)
    with suppress(OSError):
        (part / "owner").unlink()
    with suppress(OSError):
        part.rmdir()


def _clear_if_published(part: Path, out: Path) -> None:
    """Remove the hidden neighbour of a call that was killed after its folder had been put in its
    place: nothing is left to resume."""
    if not part.is_dir() or (part / "folder").exists():
        return
    with suppress(SitusError, OSError):
        owner = _take(part, out)
        if not (part / "folder").exists():
            _clear(part)
        os.close(owner)


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
