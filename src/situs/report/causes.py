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
        " true fits exchanged sides, “8 cm” where 80 cm is true fits a slip of the unit. Where"
        " several causes fit, only the one that chance explains least counts as “explains best”."
        " “Could show” counts the answers that undoing the cause would change; “expected by"
        " chance” is how many of them it would fit at random. p values are Holm-corrected over the"
        " causes of a run; there is none where too few patients could show a cause."
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
