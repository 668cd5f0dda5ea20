"""What functions return: the record of the command, the folder it wrote, and tables to look at."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Generic, TypeVar

from situs.base.remote import is_url, local_input, located
from situs.base.text import printable
from situs.errors import SitusError
from situs.tables import Displayed, Table

__all__ = [
    "PathLike",
    "Paths",
    "Result",
    "at_address",
    "bar",
    "bars",
    "counted",
    "maybe_out",
    "maybe_path",
    "name_of",
    "out_path",
    "path_of",
    "paths_of",
    "run_bars",
    "text_of",
]

PathLike = str | os.PathLike[str]
"""A path as text, a `Path`, or a result that has a folder."""

Paths = PathLike | Sequence[PathLike]
"""One path or several."""

Record = TypeVar("Record")
Made = TypeVar("Made", bound="Result[Any]")


class Result(Displayed, Generic[Record]):
    """A result: `record` is what the command prints with --json; its fields are attributes here,
    too.

    Shown as tables in a notebook; `to_pandas()`, `to_polars()` and `to_arrow()` give the first of
    them, or the one of a name, which an unknown name lists.
    """

    def __init__(self, record: Record, tables: Sequence[Table], folder: Path | None = None) -> None:
        self.record = record
        self.folder = folder
        """What was written, if anything."""
        self._tables = tuple(tables)

    def tables(self) -> Sequence[Table]:
        """What the result says, a table each."""
        return self._tables

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.record, name)

    def __fspath__(self) -> str:
        if self.folder is None:
            raise TypeError("this result was not written anywhere; give the folder")
        return str(self.folder)


def text_of(source: object) -> str:
    """The text of a path; a list or another object in its place is the caller's mistake."""
    try:
        return os.fspath(source)  # type: ignore[call-overload,no-any-return]
    except TypeError as fault:
        if isinstance(source, Result):
            raise SitusError(str(fault)) from None
        raise SitusError(
            f"{type(source).__name__} is not a path",
            fix="give a path, or what open_bench or run returned; several one after another",
        ) from None


def path_of(source: PathLike) -> Path:
    """The path of a text, a `Path` or a result.

    What lies at an address is fetched when it is opened.
    """
    text = text_of(source)
    return local_input(text) if is_url(text) else Path(text).expanduser()


def name_of(out: PathLike) -> str:
    """The name of what is to be written at a path or an address, which need not be there."""
    return Path(text_of(out)).expanduser().name


def out_path(out: PathLike) -> Path:
    """Where to write on this machine;
    functions that write to addresses give a path (`situs.api.leaving`)."""
    text = text_of(out)
    if not is_url(text):
        return Path(text).expanduser()
    if not text.lower().startswith("file:"):
        raise SitusError("must be a local path", where=text, fix="write it here, then copy it")
    return located(text)


def maybe_out(out: PathLike | None) -> Path | None:
    """The same where nothing may be written."""
    return None if out is None else out_path(out)


def maybe_path(source: PathLike | None) -> Path | None:
    """The same where a path may be left out."""
    return None if source is None else path_of(source)


def paths_of(sources: Paths) -> list[Path]:
    """The same for one or several."""
    if isinstance(sources, str | os.PathLike):
        return [path_of(sources)]
    return [path_of(one) for one in sources]


def at_address(made: Made | None, url: str) -> Made:
    """The same result, which now lies at an address."""
    assert made is not None
    made.folder = path_of(url)
    return made


def counted(name: str, counts: dict[str, int], title: str) -> Table:
    """A table of counts."""
    return Table(name, title, (name, "n"), tuple(counts.items()))


@contextmanager
def bar(name: str, *, shown: bool) -> Any:
    """A progress bar in a notebook or on a terminal; called with (done, total)."""
    if not shown:
        yield lambda done, total: None
        return
    from rich.progress import Progress, TextColumn

    # As it is: the name of a model may read as markup.
    described = TextColumn("{task.description}", style="progress.description", markup=False)
    with Progress(described, *Progress.get_default_columns()[1:], transient=True) as progress:
        task = progress.add_task(printable(name), total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def bars(shown: bool) -> Callable[[str], AbstractContextManager[Callable[[int, int], None]]]:
    """`bar` for runs of a baseline."""
    return lambda name: bar(name, shown=shown)


def run_bars(shown: bool) -> Callable[[str], AbstractContextManager[Callable[..., None]]]:
    """`bar` for runs of a model: called with (tally, done before, total)."""

    @contextmanager
    def opened(name: str) -> Any:
        with bar(name, shown=shown) as progress:
            yield lambda tally, before, total: progress(before + tally.done, total)

    return opened if shown else lambda name: nullcontext(lambda tally, before, total: None)
