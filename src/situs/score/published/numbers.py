"""The papers' own numbers, to stand beside ours with what must be known to read them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from importlib.resources import files

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.score.metrics.number import MRA_VSI_CODE
from situs.score.table import Scores
from situs.tables import Cell, Style, Table

__all__ = ["PUBLISHED", "PublishedTable", "published_beside", "published_tables"]

PUBLISHED = ("sgmri-vqa", "ct-spatialvqa", "spatialmed", "3dreasonknee")
"""Papers whose results are known."""

OUTSIDE = (
    "Published numbers were made with other prompts, pictures and parsers, on the paper's own"
    " items; they are comparable only on the same bench with --protocol."
)

_SPATIALMED = {
    "DIR": ("direction", "accuracy.closed"),
    "DIST": ("distance", "accuracy.closed"),
    "EXT": ("extent", "accuracy.closed"),
    "VOL": ("volume", "accuracy.closed"),
    "COMP": ("comparison", "accuracy.closed"),
    "Volume estimation": ("volume", MRA_VSI_CODE),
}
"""Their columns → our task and metric: the same kind of question, not the same questions."""


class PublishedTable(msgspec.Struct, frozen=True):
    """One table of a paper."""

    paper: str
    name: str
    title: str
    source: str
    unit: str
    caveat: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[float, ...]]
    """Model → its numbers; NaN where none is printed."""


def published_tables(paper: str | None = None) -> list[PublishedTable]:
    """All tables, or those of one paper."""
    if paper is not None and paper not in PUBLISHED:
        raise SitusError(
            f"no published results of {paper!r}",
            where="--compare-published",
            fix=did_you_mean(paper, PUBLISHED),
        )
    text = files("situs.score").joinpath("data/published.toml").read_text("utf-8")
    tables = msgspec.convert(tomllib.loads(text)["table"], list[PublishedTable])
    return [table for table in tables if paper in (None, table.paper)]


def published_beside(scores: Mapping[str, Scores], paper: str) -> list[Table]:
    """The paper's tables with a row for each of our runs: by the paper's own rules where they were
    computed.

    SpatialMed's rules are not published: its columns hold our accuracy on the same kinds of
    question.
    """
    result = []
    for table in published_tables(paper):
        rows: list[tuple[Cell, ...]] = [
            (name, "published", *(None if math.isnan(value) else value for value in values))
            for name, values in table.rows.items()
        ]
        for name, run in scores.items():
            cells = _ours(table, run)
            rows.append((name, "this run", *(cells.get(column) for column in table.columns)))
        caption = f"In {table.unit}. Source: {table.source}. {table.caveat} {OUTSIDE}"
        result.append(
            Table(
                f"published_{table.name}",
                table.title,
                ("model", "", *table.columns),
                tuple(rows),
                caption,
                dict.fromkeys(table.columns, Style(digits=2)),
            )
        )
    return result


def _ours(table: PublishedTable, scores: Scores) -> dict[str, float | None]:
    """Our run's numbers under the paper's columns, by the released rules;
    empty if they were not asked for."""
    if table.paper == "sgmri-vqa":
        level = "slice" if table.name == "sgmri_image" else "volume"
        sgmri_table = next((one for one in scores.sgmri if one.level == level), None)
        if sgmri_table is None:
            return {}
        cells = {_key(cell.column): _percent(cell.value) for cell in sgmri_table.cells}
        return {"Avg": _percent(sgmri_table.average)} | {
            column: cells.get(_key(column)) for column in table.columns[:-1]
        }
    if table.paper == "ct-spatialvqa" and scores.published is not None:
        if table.name == "ct_spatialvqa_categories":
            by = {
                _key(name): _percent(value) for name, value in scores.published.by_category.items()
            }
            return {column: by.get(_key(column)) for column in table.columns}
        judges = {
            f"{name} judge".lower(): _percent(value)
            for name, value in scores.published.judges.items()
        }
        return {column: judges.get(column.lower()) for column in table.columns} | {
            "Jury": _percent(scores.published.jury)
        }
    if table.paper == "spatialmed":
        return {column: _percent(_of_task(scores, *where)) for column, where in _SPATIALMED.items()}
    return {}


def _of_task(scores: Scores, task: str, metric: str) -> float | None:
    return next(
        (entry.value for entry in scores.by_task.get(task, ()) if entry.metric == metric), None
    )


def _key(column: str) -> str:
    return "".join(c for c in column.lower() if c.isalnum())


def _percent(value: float | None) -> float | None:
    return None if value is None else 100.0 * value
