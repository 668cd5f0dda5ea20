"""Work on many studies: spread over processes,
kept on disk as it is finished, resumed where it was interrupted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec

from situs import __version__
from situs.base.engines import Engine, map_on
from situs.base.files import check_size, digest
from situs.base.workers import Lost
from situs.errors import Problem, Severity, SitusError

__all__ = ["Job", "Spool", "map_studies", "resume_key"]


class _StudyWork(Protocol):
    """A job says how messages on the terminal call its study."""

    @property
    def where(self) -> str: ...


Job = TypeVar("Job", bound=_StudyWork)
T = TypeVar("T")
_Stamp = tuple[str, int, int]
_LARGEST = 256 << 20
"""Bytes of an entry: that of a study with all its masks has some millions."""
_MORE_MEMORY = "give it more memory (fewer --jobs), or leave it out"


def resume_key(*plan: object) -> str:
    """Equal for two builds that are asked to do the same."""
    return digest(__version__, *(msgspec.json.encode(part, enc_hook=str) for part in plan))


class _Entry(msgspec.Struct, Generic[T], frozen=True):
    files: list[str]
    stamps: list[_Stamp]
    outcome: T


class _Sealed(msgspec.Struct, frozen=True):
    """An entry as it was written: one that was damaged since is no outcome of ours, however well
    formed it is."""

    digest: str
    entry: msgspec.Raw


class Spool(Generic[T]):
    """One file for each finished job, by its number;
    valid while the files it rests on stay as they are."""

    def __init__(self, folder: Path, kind: type[T]) -> None:
        self._folder = folder
        self._decoder = msgspec.json.Decoder(_Entry[kind])  # type: ignore[valid-type]
        folder.mkdir(parents=True, exist_ok=True)

    def __contains__(self, number: int) -> bool:
        try:
            entry = self._entry(number)
        except (OSError, SitusError, ValueError, RecursionError):
            return False  # never written, torn by a power cut, damaged, or no file
        try:
            # An entry may come from another machine: it does not decide how much is looked at.
            return entry.stamps == _stamps(map(Path, entry.files), most=len(entry.stamps))
        except ValueError:  # no file has such a name
            return False

    def write(self, number: int, outcome: T, files: Sequence[Path]) -> None:
        """Keep an outcome. Not forced to the disk:
        an entry that a power cut tears is done again."""
        entry = _Entry([str(file) for file in files], _stamps(files), outcome)
        raw = msgspec.json.encode(entry, enc_hook=str)
        file = self._file(number)
        part = file.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(_Sealed(digest(raw), msgspec.Raw(raw))))
        part.replace(file)

    def adopt(self, number: int, other: Spool[T]) -> None:
        """Take over an outcome that another build has worked out."""
        shutil.copyfile(other._file(number), self._file(number))

    def read(self, number: int) -> T:
        """The outcome of a finished job."""
        return self._entry(number).outcome

    def _entry(self, number: int) -> _Entry[T]:
        file = self._file(number)
        check_size(file, _LARGEST)  # a part of a build may come from another machine
        sealed = msgspec.json.decode(file.read_bytes(), type=_Sealed)
        if digest(sealed.entry) != sealed.digest:
            raise ValueError("damaged")
        entry: _Entry[T] = self._decoder.decode(sealed.entry)
        return entry

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:07d}.json"


def _stamps(paths: Iterable[Path], most: int | None = None) -> list[_Stamp]:
    """Path, size and time of change of each file, and of all files in a folder; with `most`, one
    more than so many at the most."""
    found = (file for path in paths for file in _files_of(path))
    return sorted(map(_stamp, islice(found, None if most is None else most + 1)))


def _files_of(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from (Path(root, name) for root, _, names in os.walk(path) for name in names)
    else:
        yield path


def _stamp(file: Path) -> _Stamp:
    try:
        status = file.stat()
    except OSError:
        return str(file), -1, 0  # its reader says what is wrong with it
    return str(file), status.st_size, status.st_mtime_ns


def map_studies(
    open_worker: Callable[[], Callable[[Job], T]],
    jobs: Mapping[int, Job],
    engine: Engine,
    spool: Spool[T],
    files_of: Callable[[Job, T], Sequence[Path]],
) -> Iterator[T | Problem]:
    """The outcome of each job, by its number, in order; a study that cannot be used, or kills its
    worker, is a problem.

    `open_worker` is called once in each process and gives the function that does a job. What the
    spool holds is not done again; every new outcome is kept in it with `files_of` it, the files it
    rests on.
    """
    missing = [number for number in jobs if number not in spool]
    to_do = set(missing)
    new_jobs = [jobs[number] for number in missing]
    # Workers are sent home here, not whenever the last reference goes: a Ctrl-C would be lost
    # there.
    with closing(map_on(engine, partial(_careful, open_worker), new_jobs)) as new:
        for number, job in jobs.items():
            if number not in to_do:
                yield spool.read(number)
                continue
            outcome = next(new)
            if isinstance(outcome, Lost):
                yield _problem(job, f"{job.where}: {outcome.reason}", _MORE_MEMORY)
                continue
            if not isinstance(outcome, Problem):
                spool.write(number, outcome, files_of(job, outcome))
            yield outcome


def _careful(open_worker: Callable[[], Callable[[Job], T]]) -> Callable[[Job], T | Problem]:
    """The worker's function, with what a user can mend as a problem instead of an exception."""
    return partial(_attempt, open_worker())


def _attempt(function: Callable[[Job], T], job: Job) -> T | Problem:
    try:
        return function(job)
    except SitusError as error:
        text = error.problem if error.where is None else f"{error.where}: {error.problem}"
        return _problem(job, text, error.fix)
    except MemoryError:
        return _problem(job, f"{job.where}: not enough memory", _MORE_MEMORY)


def _problem(job: Job, text: str, fix: str) -> Problem:
    return Problem(Severity.ERROR, "study", getattr(job, "study_id", job.where), text, fix)
