"""Why answers are wrong: the cause that fits each best, and how many each explains."""

from __future__ import annotations

from collections.abc import Mapping

from situs.score.explain import Budget
from situs.tables import Style, Table

__all__ = ["budget_table", "causes_of"]


def causes_of(budget: Budget) -> dict[str, str]:
    """Item → the cause that chance explains least, in words."""
    return {
        wrong.item_id: _words(str(wrong.causes[0].cause))
        for wrong in budget.answers
        if wrong.causes
    }


def budget_table(budgets: Mapping[str, Budget]) -> Table | None:
    """Cause by run: how many wrong answers it explains best,
    how often it shows and what chance gives."""
    rows = tuple(
        (
            run,
            _words(row.cause),
            row.first,
            row.fits,
            row.could,
            row.expected,
            row.p_holm,
            {True: "beyond chance", False: "as chance", None: ""}[row.beyond_chance],
        )
        for run, budget in budgets.items()
        for row in budget.rows
        if row.first or row.beyond_chance
    )
    if not rows:
        return None
    caption = (
        "A cause fits a wrong answer if undoing it makes the answer right: “left” where “right” is"
        " true fits exchanged sides. It could show only where undoing it changes the answer; “by"
        " chance” is how often it would fit at random. p values are Holm-corrected over the causes"
        " of a run."
    )
    columns = (
        "run",
        "cause",
        "explains best",
        "fits",
        "could show",
        "expected by chance",
        "p",
        "verdict",
    )
    styles = {"expected by chance": Style(digits=1), "p": Style(digits=4)}
    return Table("causes", "Why answers are wrong", columns, rows, caption, styles)


def _words(cause: str) -> str:
    return cause.replace("_", " ")
