"""Error budget and faithfulness as small tables."""

from __future__ import annotations

from situs.score.explain.budget import Budget
from situs.score.explain.stated_steps import ANSWERS, STEPS, Faithfulness
from situs.tables import Table

__all__ = ["budget_table", "faithfulness_tables"]


def budget_table(budget: Budget) -> Table:
    """A row per cause."""
    columns = (
        "cause",
        "explains best",
        "fits",
        "could show",
        "patients",
        "by chance",
        "excess",
        "low",
        "high",
        "p (Holm)",
        "",
    )
    verdicts = {True: "beyond chance", False: "no more than chance", None: "not tested"}
    rows = tuple(
        (
            row.cause,
            row.first,
            row.fits,
            row.could,
            row.patients or None,
            row.expected,
            row.excess,
            *(row.ci95 or (None, None)),
            row.p_holm,
            verdicts[row.beyond_chance] if row.expected is not None else "",
        )
        for row in budget.rows
    )
    caption = (
        f"{budget.wrong:,} of {budget.items:,} answers are not right. A cause fits if undoing it makes the answer "
        "right; it is found only where it shows more often than chance would let it. Excess is a share of the answers "
        "in which it could show, its interval is over patients."
    )
    return Table("signatures", "Why answers are wrong", columns, rows, caption)


def faithfulness_tables(result: Faithfulness) -> list[Table]:
    """Answer × steps, and the kinds of step that were checked."""
    cells = {(cell.answer, cell.steps): cell for cell in result.table}
    rows = []
    for answer in ANSWERS:
        own = [cells[answer, steps] for steps in STEPS]
        intervals = [
            "none" if c.ci95 is None else f"{c.ci95[0]:.3f} – {c.ci95[1]:.3f}" for c in own
        ]
        counts = [
            part
            for cell, interval in zip(own, intervals)
            for part in (cell.n, cell.share, interval)
        ]
        rows.append((answer, *counts))
    columns = ("answer", *(part for steps in STEPS for part in (f"steps {steps}", "share", "95 %")))
    caption = (
        f"{result.answers:,} answers. Steps are right if every stated measurement, comparison, direction, side, level, "
        "frame and box that a fact decides holds; what only repeats the answer is not counted."
    )
    kinds = tuple(
        (one.kind, one.checked, one.right, one.share, *(one.ci95 or (None, None)))
        for one in result.kinds
    )
    return [
        Table(
            "faithfulness", "Answers and the steps stated for them", columns, tuple(rows), caption
        ),
        Table(
            "stated_steps",
            "Stated steps",
            ("kind", "checked", "right", "share", "low", "high"),
            kinds,
        ),
    ]
