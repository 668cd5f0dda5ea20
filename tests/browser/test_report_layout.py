"""The report's tables and charts keep their places: names of any length, cards without gaps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

NAMES = (
    "plugin:my_hospital.models.vision_language:ResearchModel3DVersion2?threshold=0.9",
    "openai:vendor/Model-17B-128E-Instruct-FP8@http://gpu7.hospital.example:8000/v1",
    "plugin:another_quite_long_package_name.module:ModelWithoutPictures",
    "plugin:another_quite_long_package_name.module:ModelThatIsNotTold",
)


@pytest.fixture(scope="module")
def long_names(probed: Path, situs: Callable[..., Any]) -> Path:
    """The report on a probe, with names as long as specs may be."""
    root, out = probed.parent, probed.with_name("long.html")
    probes = root / "probes"
    runs = (probes / "original", root / "prior", probes / "text", probes / "silent")
    ran = situs("report", *runs, "--names", ",".join(NAMES), "--pictures", 1, "--out", out)
    assert ran.code == 0, ran.err
    return out


@pytest.mark.parametrize("width", [1366, 390], ids=["desktop", "phone"])
def test_long_names_break_where_the_page_ends(
    long_names: Path, visit: Callable[..., Any], width: int
) -> None:
    page = visit(long_names, width=width).page
    page.evaluate(
        "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    into_the_next = page.evaluate("""() => [...document.querySelectorAll('.caption, td, th')]
          .filter((box) => !box.matches('.num') && box.scrollWidth > box.clientWidth + 1)
          .map((box) => box.textContent)""")
    assert into_the_next == []


def test_tables_fit_a_laptop(long_names: Path, visit: Callable[..., Any]) -> None:
    page = visit(long_names, width=1366).page
    wider = page.evaluate("""() => [...document.querySelectorAll('.scroll')]
          .filter((box) => box.scrollWidth > box.clientWidth)
          .map((box) => box.getAttribute('aria-labelledby'))""")
    assert wider == []


def test_cards_of_charts_leave_no_gap(probed: Path, visit: Callable[..., Any]) -> None:
    page = visit(probed, width=1366).page
    boxes = page.evaluate("""() => [...document.querySelectorAll('.charts .card')].map((card) => {
          const box = card.getBoundingClientRect();
          return [Math.round(box.left), box.top, box.bottom];
        })""")
    columns: dict[int, list[tuple[float, float]]] = {}
    for left, top, bottom in boxes:
        columns.setdefault(left, []).append((top, bottom))
    assert len(columns) == 2
    for cards in columns.values():
        stacked = sorted(cards)
        gaps = [below[0] - above[1] for above, below in pairwise(stacked)]
        assert all(0 < gap < 40 for gap in gaps), gaps


def test_window_and_level_are_read_whole(body: Path, visit: Callable[..., Any]) -> None:
    page = visit(body, width=1366).page
    # Both widths are rounded, each for itself: one pixel is no digit.
    cut = page.evaluate("""() => [...document.querySelectorAll('.windowing input')]
          .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.value)""")
    assert page.locator(".windowing input").count() == 2
    assert cut == []
