"""The charts of a report, each with the table it is drawn from."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from situs.report.charts.panels import (
    AgreementPanel,
    BarRow,
    ShareGrid,
    Shares,
    SideTable,
    by_category,
    by_size,
    by_structure,
    number_panels,
    side_tables,
)
from situs.report.charts.svg import (
    agreement_svg,
    bars_svg,
    bucket_svg,
    heat_svg,
    radar_svg,
    side_svg,
)
from situs.report.covered import Covered
from situs.report.scored import ReportedRun
from situs.report.tables.leaderboard import Board
from situs.tables import Table

__all__ = ["Chart", "board_chart", "charts_of"]

_MOST_RUNS = 8
_MOST_PANELS = 6


class Chart(msgspec.Struct, frozen=True):
    """One or several small pictures, what they show, and their data."""

    title: str
    note: str
    pictures: list[tuple[str, Markup]]
    """(caption, SVG)."""
    legend: list[str]
    """Names of the lines, in the order of their colours; empty where there are none."""
    table: Table


def charts_of(runs: Sequence[ReportedRun], covered: Covered) -> list[Chart]:
    """Those for which the bench has data.

    The oracle, which is always right, is left out where lines would hide.
    """
    charted = [run for run in runs if run.baseline != "oracle"][:_MOST_RUNS] or list(runs)[
        :_MOST_RUNS
    ]
    charts, shares = [], Shares(charted, covered)
    if (grid := by_structure(shares)) is not None:
        title = "By structure"
        note = (
            "Share of right answers, in percent; an item counts under every structure it names. At"
            " least 3 items."
        )
        charts.append(
            Chart(
                title,
                note,
                [("", heat_svg(grid, title))],
                [],
                _share_table("structures", title, grid),
            )
        )
    if (grid := by_category(shares)) is not None:
        title = "By category"
        picture = [("", radar_svg(grid, title))]
        charts.append(
            Chart(
                title,
                "From 0 in the middle to 100 %.",
                picture,
                grid.runs,
                _share_table("categories", title, grid),
            )
        )
    if (grid := by_size(shares)) is not None:
        title = "By volume of the structure"
        picture = [("", bucket_svg(grid, title))]
        charts.append(
            Chart(
                title,
                "Small structures are hard to see.",
                picture,
                grid.runs,
                _share_table("volumes", title, grid),
            )
        )
    if panels := number_panels(charted, covered):
        charts.append(_agreement(panels))
    if tables := side_tables(charted, covered):
        charts.append(_sides(tables))
    return charts


def board_chart(board: Board) -> Chart | None:
    """The leaderboard as a chart of its own: on the page its bars stand in the table."""
    rows = []
    for row in board.rows:
        cell = row.headline if board.has_headline else row.overall
        if cell.value is None:
            continue
        interval = None if cell.low is None or cell.high is None else (cell.low, cell.high)
        rows.append(BarRow(row.name, cell.value, interval, cell.chance, row.kind == "blind"))
    if not rows:
        return None
    title = "Accuracy on the headline" if board.has_headline else "Accuracy on all items"
    caption = f"{title}, 95 % interval; dashed: chance; brown: never sees the scan"
    return Chart(title, "", [(caption, bars_svg(rows, title))], [], board.table)


def _share_table(name: str, title: str, grid: ShareGrid) -> Table:
    rows = tuple(
        (group, run, None if not total else right / total, right, total)
        for group, values in zip(grid.groups, grid.values)
        for run, (right, total) in zip(grid.runs, values)
    )
    columns = ("group", "run", "accuracy", "right", "n")
    return Table(name, title, columns, rows)


def _agreement(panels: Sequence[AgreementPanel]) -> Chart:
    title = "Numbers: answer over truth"
    note = (
        "Bland and Altman's plot of ratios. Solid line: bias (geometric mean); dashed: 95 % limits"
        " of agreement. A reader without error lies on ×1."
    )
    if len(panels) > _MOST_PANELS:
        note += f" The first {_MOST_PANELS} of {len(panels)} panels are drawn; the data hold all."
    pictures = []
    for panel in panels[:_MOST_PANELS]:
        lost = f", {panel.left_out} not drawn" if panel.left_out else ""
        caption = (
            f"{panel.run}, {panel.unit}: bias ×{panel.bias:.2f}, limits ×{panel.low:.2f} to"
            f" ×{panel.high:.2f}, n = {len(panel.points)}{lost}"
        )
        pictures.append((caption, agreement_svg(panel, caption)))
    rows = tuple(
        (panel.run, panel.unit, item, mean, ratio)
        for panel in panels
        for mean, ratio, item in panel.points
    )
    table = Table("numbers", title, ("run", "unit", "item", "mean", "ratio"), rows)
    return Chart(title, note, pictures, [], table)


def _sides(tables: Sequence[SideTable]) -> Chart:
    title = "Sides: truth against what was said"
    rows = tuple(
        (table.run, truth, answer, count)
        for table in tables
        for truth, counts in zip(table.truths, table.counts)
        for answer, count in zip(table.said, counts)
    )
    pictures = [(side.run, side_svg(side, f"{title}, {side.run}")) for side in tables]
    table = Table("sides", title, ("run", "truth", "said", "n"), rows)
    return Chart(title, "", pictures, [], table)
