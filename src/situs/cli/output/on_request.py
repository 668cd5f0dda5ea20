"""What `situs score` adds on request: breakdowns, signatures of errors, stated steps, published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from situs.cli.output.printing import warn

if TYPE_CHECKING:
    from situs.score import Breakdowns, ScoredRun, Scores
    from situs.score.explain import Budget, Faithfulness
    from situs.tables import Table

__all__ = ["Extras", "look_into", "named_paper", "print_extras", "tables_of"]

_PAPER_OF_SOURCE = {"phantoms": "spatialmed", "masks": "spatialmed", "boxes": "sgmri-vqa"}
"""Which paper asks questions of the same kind, for benches that are not imported from one."""


class Extras(msgspec.Struct, frozen=True, omit_defaults=True):
    """Keys that stand in the JSON only if asked for."""

    breakdowns: Breakdowns | None = None
    signatures: Budget | None = None
    faithfulness: Faithfulness | None = None
    published_beside: list[Table] | None = None


def look_into(
    run: ScoredRun,
    scores: Scores,
    name: str,
    *,
    seed: int,
    breakdowns: bool,
    signatures: bool,
    published: str | None,
) -> Extras:
    """Compute what was asked for of the run called `name`; `published` is a paper."""
    from situs.score import breakdowns as break_down
    from situs.score import published_beside
    from situs.score.explain import budget_of, faithfulness_of

    return Extras(
        break_down(run, seed=seed) if breakdowns else None,
        budget_of(run) if signatures else None,
        faithfulness_of(run) if signatures else None,
        None if published is None else published_beside({name: scores}, published),
    )


def named_paper(bench: Path, given: str | None) -> str | None:
    """The paper of `--compare-published`; without a name, the one that asks what the bench asks."""
    from situs.bench import open_bench
    from situs.errors import SitusError
    from situs.score import PUBLISHED, published_tables

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


def tables_of(extras: Extras) -> list[Table]:
    """Everything as tables."""
    from situs.score import breakdown_tables
    from situs.score.explain import budget_table, faithfulness_tables

    tables = [] if extras.breakdowns is None else breakdown_tables(extras.breakdowns)
    tables += [] if extras.signatures is None else [budget_table(extras.signatures)]
    tables += [] if extras.faithfulness is None else faithfulness_tables(extras.faithfulness)
    return [table for table in (*tables, *(extras.published_beside or [])) if table.rows]


def print_extras(extras: Extras, *, broken_down: bool) -> None:
    """The tables on the terminal; of the breakdowns accuracy only, and only if asked for by name."""
    from situs.tables import print_table

    for text in extras.signatures.warnings if extras.signatures is not None else ():
        warn(text)
    for table in tables_of(
        extras if broken_down else msgspec.structs.replace(extras, breakdowns=None)
    ):
        print_table(table)
