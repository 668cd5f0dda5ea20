"""What scoring adds on request:
breakdowns, signatures of errors, stated steps, published numbers."""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.bench import open_bench
from situs.errors import SitusError
from situs.score.breakdown import Breakdowns, breakdown_tables, breakdowns
from situs.score.explain import (
    Budget,
    Faithfulness,
    budget_of,
    budget_table,
    faithfulness_of,
    faithfulness_tables,
)
from situs.score.published.numbers import PUBLISHED, published_beside, published_tables
from situs.score.scored_run import ScoredRun
from situs.score.table import Scores
from situs.tables import Table

__all__ = ["Extras", "extra_tables", "extras_of", "paper_of"]

_PAPER_OF_SOURCE = {"phantoms": "spatialmed", "masks": "spatialmed", "boxes": "sgmri-vqa"}
"""Which paper asks questions of the same kind, for benches that are not imported from one."""


class Extras(msgspec.Struct, frozen=True, omit_defaults=True):
    """Keys that stand in the JSON only if asked for."""

    breakdowns: Breakdowns | None = None
    signatures: Budget | None = None
    faithfulness: Faithfulness | None = None
    published_beside: list[Table] | None = None


def extras_of(
    run: ScoredRun,
    scores: Scores,
    name: str,
    *,
    seed: int = 0,
    break_down: bool = False,
    explain: bool = False,
    paper: str | None = None,
) -> Extras:
    """Compute what was asked for of the run called `name`."""
    return Extras(
        breakdowns(run, seed=seed) if break_down else None,
        budget_of(run) if explain else None,
        faithfulness_of(run) if explain else None,
        None if paper is None else published_beside({name: scores}, paper),
    )


def paper_of(bench: Path, given: str | None) -> str | None:
    """The paper to compare with; for an empty name the one that asks what the bench asks."""
    if given is None:
        return None
    source = open_bench(bench).info.source
    paper = given or (source if source in PUBLISHED else _PAPER_OF_SOURCE.get(source))
    if paper is None:
        fix = f"name one: {', '.join(PUBLISHED)}"
        raise SitusError(
            "which paper fits this bench is not known", where="--compare-published", fix=fix
        )
    published_tables(paper)
    return paper


def extra_tables(extras: Extras, *, brief: bool = False) -> list[Table]:
    """Everything as tables; `brief`: as much as a terminal has room for."""
    broken = extras.breakdowns
    tables = [] if broken is None else breakdown_tables(broken, brief=brief)
    if extras.signatures is not None:
        tables.append(budget_table(extras.signatures, brief=brief))
    tables += [] if extras.faithfulness is None else faithfulness_tables(extras.faithfulness)
    return [table for table in (*tables, *(extras.published_beside or [])) if table.rows]
