"""Error budget and faithfulness as small tables."""

from __future__ import annotations

from situs.score.explain.budget import Budget
from situs.score.explain.stated_steps import ANSWERS, STEPS, Faithfulness
from situs.tables import INTERVAL, Cell, Style, Table

__all__ = ["budget_table", "faithfulness_tables"]


def budget_table(budget: Budget, *, brief: bool = False) -> Table:
    """A row per cause.

    `brief`: causes that explain nothing and could not be tested are only named.
    """
    columns = (
        "cause",
        "explains best",
        "fits",
        "could show",
        "patients",
        "by chance",
        "excess",
        "95 % interval",
        "p (Holm)",
        "verdict",
    )
    verdicts = {True: "beyond chance", False: "no more than chance", None: "not tested"}
    idle = [
        row
        for row in budget.rows
        if brief and not row.first and row.expected is not None and row.beyond_chance is None
    ]
    rows = tuple(
        (
            row.cause,
            row.first,
            row.fits,
            row.could,
            row.patients or None,
            row.expected,
            row.excess,
            row.ci95,
            row.p_holm,
            verdicts[row.beyond_chance] if row.expected is not None else "",
        )
        for row in budget.rows
        if row not in idle
    )
    caption = (
        f"{budget.wrong:,} of {budget.items:,} answers are not right. A cause fits if undoing it"
        " makes the answer right; it is found only where it shows more often than chance would let"
        " it. Excess is a share of the answers in which it could show, its interval is over"
        " patients."
    )
    if idle:
        caption += f" Too few answers to test: {', '.join(row.cause for row in idle)}."
    details = {"patients": Style(detail=True), "by chance": Style(detail=True)}
    styles = {"95 % interval": INTERVAL, **details}
    return Table("signatures", "Why answers are wrong", columns, rows, caption, styles)


def faithfulness_tables(result: Faithfulness) -> list[Table]:
    """Answer × steps, and the kinds of step that were checked."""
    cells = {(cell.answer, cell.steps): cell for cell in result.table}
    rows: list[tuple[Cell, ...]] = []
    for answer in ANSWERS:
        of_answer = [cells[answer, steps] for steps in STEPS]
        rows.append((answer, *(part for c in of_answer for part in (c.n, c.share, c.ci95))))
    columns: list[str] = ["answer"]
    styles = {}
    for steps in STEPS:
        interval = f"{steps}, 95 %"
        columns += [f"steps {steps}", f"{steps}, share", interval]
        ends = (f"{steps} low", f"{steps} high")
        styles[interval] = Style(ends=ends, absent="none", detail=True)
    caption = (
        f"{result.answers:,} answers. Steps are right if every stated measurement, comparison,"
        " direction, side, level, frame and box that a fact decides holds; what only repeats the"
        " answer is not counted."
    )
    kinds = tuple((one.kind, one.checked, one.right, one.share, one.ci95) for one in result.kinds)
    return [
        Table(
            "faithfulness",
            "Answers and the steps stated for them",
            tuple(columns),
            tuple(rows),
            caption,
            styles,
        ),
        Table(
            "stated_steps",
            "Stated steps",
            ("kind", "checked", "right", "share", "95 % interval"),
            kinds,
            styles={"95 % interval": INTERVAL},
        ),
    ]
