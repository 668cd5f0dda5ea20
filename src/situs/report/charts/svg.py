"""Small charts as SVG: heat map, radar, dots by bucket, Bland–Altman, confusion.

Colours come from classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from situs.report.charts.panels import AgreementPanel, BarRow, ShareGrid, SideTable

__all__ = ["agreement_svg", "bars_svg", "bucket_svg", "heat_svg", "radar_svg", "side_svg"]


def _tag(name: str, content: str = "", **attributes: object) -> str:
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
    )
    return f"<{name}{words}>{content}</{name}>" if content else f"<{name}{words}/>"


def _text(x: float, y: float, words: str, cls: str = "", anchor: str = "start") -> str:
    return _tag(
        "text", str(escape(words)), x=f"{x:.1f}", y=f"{y:.1f}", class_=cls, text_anchor=anchor
    )


def _svg(width: float, height: float, label: str, parts: Sequence[str]) -> Markup:
    body = "".join(parts)
    return Markup(
        _tag(
            "svg",
            body,
            class_="chart",
            viewBox=f"0 0 {width:.0f} {height:.0f}",
            width=f"{width:.0f}",
            role="img",
            aria_label=label,
        )
    )


def _share(pair: tuple[int, int]) -> float | None:
    right, total = pair
    return right / total if total else None


def _clipped(words: str, most: int) -> str:
    """Long names of models begin alike, with a vendor, and differ towards their ends."""
    head = most // 4
    return words if len(words) <= most else words[:head] + "…" + words[head + 1 - most :]


def heat_svg(grid: ShareGrid, label: str) -> Markup:
    """Groups down, runs across, the share written in each cell."""
    left, top, width, height = 190.0, 86.0, 74.0, 24.0
    parts = []
    for column, name in enumerate(grid.runs):
        x = left + (column + 0.5) * width
        parts.append(
            _tag(
                "text",
                str(escape(_clipped(name, 18))),
                x=0,
                y=0,
                class_="soft",
                transform=f"translate({x:.0f} {top - 8:.0f}) rotate(-32)",
            )
        )
    for row, (name, values) in enumerate(zip(grid.groups, grid.values)):
        y = top + row * height
        parts.append(_text(left - 8, y + 16, _clipped(name, 26), anchor="end"))
        for column, pair in enumerate(values):
            share = _share(pair)
            x = left + column * width
            level = "none" if share is None else str(round(10 * share))
            meaning = (
                "no item" if share is None else f"{100 * share:.0f} %, {pair[0]} of {pair[1]} right"
            )
            hint = _tag("title", str(escape(f"{name}, {grid.runs[column]}: {meaning}")))
            parts.append(
                _tag(
                    "rect",
                    hint,
                    x=f"{x:.0f}",
                    y=f"{y:.0f}",
                    width=width - 2,
                    height=height - 2,
                    class_=f"heat h{level}",
                )
            )
            if share is not None:
                parts.append(
                    _text(x + width / 2 - 1, y + 16, f"{100 * share:.0f}", f"on{level}", "middle")
                )
    return _svg(
        left + width * len(grid.runs) + 70, top + height * len(grid.groups) + 4, label, parts
    )


def radar_svg(grid: ShareGrid, label: str) -> Markup:
    """One axis a category, from 0 in the middle to 100 %."""
    centre_x, centre_y, radius = 330.0, 190.0, 130.0
    count = len(grid.groups)

    def at(axis: int, share: float) -> tuple[float, float]:
        angle = 2 * math.pi * axis / count - math.pi / 2
        return centre_x + radius * share * math.cos(angle), centre_y + radius * share * math.sin(
            angle
        )

    parts = []
    for ring in (0.25, 0.5, 0.75, 1.0):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(axis, ring) for axis in range(count)))
        parts.append(_tag("polygon", points=points, class_="ring"))
        parts.append(
            _text(centre_x + 3, centre_y - radius * ring + 11, f"{100 * ring:.0f}", "soft tiny")
        )
    for axis, name in enumerate(grid.groups):
        x, y = at(axis, 1.0)
        parts.append(
            _tag("line", x1=centre_x, y1=centre_y, x2=f"{x:.1f}", y2=f"{y:.1f}", class_="ring")
        )
        x, y = at(axis, 1.1)
        anchor = "middle" if abs(x - centre_x) < 12 else "start" if x > centre_x else "end"
        parts.append(_text(x, y + 4, _clipped(name, 30), anchor=anchor))
    for run in range(len(grid.runs)):
        shares = [_share(values[run]) for values in grid.values]
        spots = [at(axis, share) for axis, share in enumerate(shares) if share is not None]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(_tag("polygon", points=line, class_=f"web s{run % 8}"))
        parts += [
            _tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=2.5, class_=f"spot s{run % 8}")
            for x, y in spots
        ]
    return _svg(660, 370, label, parts)


def bucket_svg(grid: ShareGrid, label: str) -> Markup:
    """Accuracy over buckets, a line a run."""
    left, top, width, height = 48.0, 14.0, 470.0, 220.0
    step = width / max(1, len(grid.groups))
    parts = []
    for mark in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = top + height * (1 - mark)
        parts.append(
            _tag("line", x1=left, x2=left + width, y1=f"{y:.1f}", y2=f"{y:.1f}", class_="ring")
        )
        parts.append(_text(left - 6, y + 4, f"{100 * mark:.0f} %", "soft", "end"))
    for bucket, (name, values) in enumerate(zip(grid.groups, grid.values)):
        x = left + (bucket + 0.5) * step
        parts.append(_text(x, top + height + 18, name, "", "middle"))
        parts.append(
            _text(
                x,
                top + height + 33,
                f"n = {max(total for _, total in values)}",
                "soft tiny",
                "middle",
            )
        )
    for run, name in enumerate(grid.runs):
        points = []
        for bucket, values in enumerate(grid.values):
            share = _share(values[run])
            if share is None:
                continue
            nudge = (run - (len(grid.runs) - 1) / 2) * min(7.0, step / (2 * len(grid.runs)))
            points.append(
                (
                    left + (bucket + 0.5) * step + nudge,
                    top + height * (1 - share),
                    bucket,
                    values[run],
                )
            )
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in points)
        parts.append(_tag("polyline", points=line, class_=f"web s{run % 8}"))
        for x, y, bucket, (right, total) in points:
            hint = _tag(
                "title", str(escape(f"{name}, {grid.groups[bucket]}: {right} of {total} right"))
            )
            parts.append(
                _tag("circle", hint, cx=f"{x:.1f}", cy=f"{y:.1f}", r=4, class_=f"spot s{run % 8}")
            )
    return _svg(left + width + 12, top + height + 42, label, parts)


def _log_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two powers of ten; powers of ten alone where there are two of them."""
    for leading in ((1,), (1, 2, 5), (1, 2, 3, 4, 5, 6, 8)):
        powers = range(math.floor(low), math.ceil(high) + 1)
        ticks = [digit * 10.0**power for power in powers for digit in leading]
        ticks = [tick for tick in ticks if low <= math.log10(tick) <= high]
        if len(ticks) > 1:
            break
    return ticks


def agreement_svg(panel: AgreementPanel, label: str) -> Markup:
    """Ratio of answer to truth over their mean, both logarithmic, with bias and limits."""
    left, top, width, height = 46.0, 12.0, 214.0, 150.0
    xs = [math.log10(x) for x, _, _ in panel.points]
    low_x, high_x = min(xs) - 0.1, max(xs) + 0.1
    reach = min(
        2.0,
        max(
            0.35,
            *(abs(math.log10(r)) for _, r, _ in panel.points),
            abs(math.log10(panel.low)),
            abs(math.log10(panel.high)),
        ),
    )

    def x_at(value: float) -> float:
        return left + width * (math.log10(value) - low_x) / (high_x - low_x)

    def y_at(ratio: float) -> float:
        share = max(-1.0, min(1.0, math.log10(ratio) / (1.08 * reach)))
        return top + height * (0.5 - 0.5 * share)

    parts = [_tag("rect", x=left, y=top, width=width, height=height, class_="plane")]
    for ratio in (0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0):
        if abs(math.log10(ratio)) <= reach and (reach < 1 or ratio not in (0.5, 2.0)):
            y = y_at(ratio)
            parts.append(
                _tag("line", x1=left, x2=left + width, y1=f"{y:.1f}", y2=f"{y:.1f}", class_="ring")
            )
            parts.append(_text(left - 6, y + 4, f"×{ratio:g}", "soft", "end"))
    for value in _log_ticks(low_x, high_x):
        x = x_at(value)
        parts.append(
            _tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=top, y2=top + height, class_="ring")
        )
        parts.append(_text(x, top + height + 15, f"{value:g}", "soft", "middle"))
    for value, cls in ((panel.bias, "bias"), (panel.low, "limits"), (panel.high, "limits")):
        y = y_at(value)
        parts.append(
            _tag("line", x1=left, x2=left + width, y1=f"{y:.1f}", y2=f"{y:.1f}", class_=cls)
        )
    for mean, ratio, item in panel.points:
        hint = _tag("title", str(escape(f"{item}: {ratio:.2f} times the truth")))
        parts.append(
            _tag(
                "circle",
                hint,
                cx=f"{x_at(mean):.1f}",
                cy=f"{y_at(ratio):.1f}",
                r=3,
                class_="spot s0",
            )
        )
    parts.append(
        _text(
            left + width / 2,
            top + height + 31,
            f"mean of answer and truth, {panel.unit}",
            "soft",
            "middle",
        )
    )
    return _svg(left + width + 10, top + height + 38, label, parts)


def side_svg(table: SideTable, label: str) -> Markup:
    """Truth down, said across, counts in cells shaded by the share of their row."""
    left, top, width, height = 74.0, 40.0, 66.0, 30.0
    parts = [_text(left, 13, "said", "soft"), _text(left - 8, top - 8, "truth", "soft", "end")]
    for column, answer in enumerate(table.said):
        parts.append(_text(left + (column + 0.5) * width, top - 8, answer, "", "middle"))
    for row, (truth, counts) in enumerate(zip(table.truths, table.counts)):
        y = top + row * height
        parts.append(_text(left - 8, y + 20, truth, "", "end"))
        total = sum(counts) or 1
        for column, count in enumerate(counts):
            level = round(10 * count / total)
            cls = "ok" if table.said[column] == truth else "bad"
            x = left + column * width
            parts.append(
                _tag(
                    "rect",
                    x=x,
                    y=y,
                    width=width - 2,
                    height=height - 2,
                    class_=f"heat h{level} {cls}",
                )
            )
            parts.append(_text(x + width / 2 - 1, y + 19, str(count), f"on{level}", "middle"))
    return _svg(
        left + width * len(table.said) + 4, top + height * len(table.truths) + 4, label, parts
    )


def bars_svg(rows: Sequence[BarRow], label: str) -> Markup:
    """A row a run: accuracy as a dot on its interval, chance as a dashed tick;
    rows in brown never saw the scan."""
    left, top, width, height = 210.0, 12.0, 330.0, 26.0
    bottom = top + height * len(rows)
    parts = []

    def x_at(percent: float) -> float:
        return left + width * percent / 100

    for mark in (0, 25, 50, 75, 100):
        x = f"{x_at(mark):.1f}"
        parts.append(_tag("line", x1=x, x2=x, y1=top, y2=bottom, class_="ring"))
        parts.append(_text(x_at(mark), bottom + 16, f"{mark} %", "soft", "middle"))
    for number, row in enumerate(rows):
        y = top + height * (number + 0.5)
        series = "s7" if row.blind else "s0"
        parts.append(_text(left - 10, y + 4, _clipped(row.name, 30), anchor="end"))
        if row.chance is not None:
            x = f"{x_at(row.chance):.1f}"
            parts.append(_tag("line", x1=x, x2=x, y1=y - 8, y2=y + 8, class_="limits"))
        if row.interval is not None:
            low, high = (f"{x_at(end):.1f}" for end in row.interval)
            parts.append(_tag("line", x1=low, x2=high, y1=y, y2=y, class_=f"web {series}"))
        x = f"{x_at(row.percent):.1f}"
        parts.append(_tag("circle", cx=x, cy=y, r=4.5, class_=f"spot {series}"))
        parts.append(_text(left + width + 14, y + 4, f"{row.percent:.1f} %"))
    return _svg(left + width + 74, bottom + 24, label, parts)
