"""A bench in Python: open it, look into it, check it, debias it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from situs import bench as benches
from situs.api.leaving import writes
from situs.api.results import PathLike, Result, counted, out_path, path_of
from situs.base.engines import engine_of
from situs.bench import CheckResult, StudyRecord, check_bench
from situs.build import BuildResult
from situs.build import debias as debias_bench
from situs.errors import SitusError, did_you_mean
from situs.facts import Fact
from situs.items import Item
from situs.probe import check_made
from situs.tables import Displayed, Table, as_pandas, as_polars

__all__ = ["Bench", "bench_at", "check", "debias", "open_bench", "opened"]

_TABLES = ("items", "facts", "studies")


class Bench(Displayed):
    """A bench on disk. Items, facts and studies are read as streams;
    `to_pandas("items")` loads a table."""

    def __init__(self, folder: PathLike, built: BuildResult | None = None) -> None:
        self._bench = benches.open_bench(path_of(folder))
        self.built = built
        """What building it gave, if it was built just now: reasons, problems, suspect studies."""

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self._bench.folder

    @property
    def info(self) -> benches.BenchInfo:
        """`bench.json`: name, source, recipe, counts, content hash."""
        return self._bench.info

    @property
    def card(self) -> str:
        """The card, as Markdown."""
        return (self.folder / "README.md").read_text(encoding="utf-8")

    def items(self, split: str | None = None) -> Iterator[Item]:
        """Every question, or those of a split."""
        return self._bench.items(split)

    def item(self, item_id: str) -> Item:
        """One question by its id."""
        for item in self._bench.items():
            if item.item_id == item_id:
                return item
        raise SitusError(
            f"there is no item {item_id!r}", where=self.folder, fix="bench.to_pandas() lists them"
        )

    def facts(self, **where: str | Sequence[str]) -> Iterator[Fact]:
        """Measured facts, optionally those with given column values:
        `facts(study_id=…, kind="volume")`."""
        return self._bench.facts(checked=True, **where)

    def studies(self) -> Iterator[StudyRecord]:
        """Every study."""
        return self._bench.studies()

    def tables(self) -> Sequence[Table]:
        """How many questions of each task, stratum and split."""
        info = self.info
        counts = ", ".join(f"{count:,} {name}" for name, count in info.counts.items())
        return (
            counted("task", info.by_task, f"{info.name}: {counts}"),
            counted("stratum", info.by_stratum, "by stratum"),
            counted("split", info.by_split, "by split"),
        )

    def to_arrow(self, table: str = "items") -> Any:
        """A whole table of the bench (`items`, `facts` or `studies`) as a `pyarrow.Table`."""
        from situs.bench.tables import whole_table

        if table not in _TABLES:
            raise SitusError(
                f"a bench has no table {table!r}",
                where=self.folder,
                fix=did_you_mean(table, _TABLES),
            )
        return whole_table(self.folder / f"{table}.parquet")

    def to_pandas(self, table: str = "items") -> Any:
        """A whole table as a `pandas.DataFrame`; pandas must be installed."""
        return as_pandas(self.to_arrow(table))

    def to_polars(self, table: str = "items") -> Any:
        """A whole table as a `polars.DataFrame`; polars must be installed."""
        return as_polars(self.to_arrow(table))

    def __fspath__(self) -> str:
        return str(self.folder)


def bench_at(made: Bench | None, url: str) -> Bench:
    """A bench that now lies at an address."""
    return Bench(url, None if made is None else made.built)


def open_bench(folder: PathLike) -> Bench:
    """Open a bench folder.

    >>> bench = situs.open_bench("bench")
    >>> next(bench.items()).question
    """
    return Bench(folder)


def opened(bench: PathLike) -> benches.Bench:
    """The record behind a bench or its folder."""
    return benches.open_bench(path_of(bench))


def check(
    bench: PathLike, *, data: PathLike | None = None, jobs: int = 1, engine: str = "local"
) -> Result[CheckResult]:
    """Recompute every fact and answer of a bench from its evidence files.

    `data` is the folder the volumes are in, if they were moved. `jobs` processes, or the `engine`
    (`ray`, `ray://HOST:PORT`), work on the studies. `errors` counts what is wrong.
    """
    folder, root = path_of(bench), None if data is None else path_of(data)
    made = check_made(folder, root)
    result = check_bench(folder, root, engine_of(engine, jobs)) if made is None else made
    counts = {
        "items": result.items,
        "recomputed": result.recomputed,
        "given by their source": result.given,
        "errors": result.errors,
        "warnings": len(result.problems) - result.errors,
    }
    columns = ("severity", "code", "where", "problem", "fix")
    rows = tuple((p.severity.value, p.code, p.where, p.problem, p.fix) for p in result.problems)
    summary = counted("check", counts, os.fspath(folder))
    tables = [summary, Table("problems", "Problems", columns, rows)] if rows else [summary]
    return Result(result, tables)


@writes(bench_at)
def debias(
    bench: PathLike,
    out: PathLike,
    *,
    data: PathLike | None = None,
    overwrite: bool = False,
    allow_remote: bool = False,
) -> Bench:
    """Copy a bench without the question texts that need no sight.

    Whole texts leave, never single items.
    """
    del allow_remote  # what it allows is decided before
    root = None if data is None else path_of(data)
    built = debias_bench(path_of(bench), out_path(out), overwrite=overwrite, data=root)
    return Bench(out, built)
