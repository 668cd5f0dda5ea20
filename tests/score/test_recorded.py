"""Numbers stay what they were, to the last digit: recordings of an earlier version, a bench of
every source.

`recorded/make.py` made them. Words may change, numbers may not.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent / "recorded"
KEPT_BENCH = Path(__file__).parents[1] / "upgrades" / "written_by_0_1_0" / "bench"
SOURCES = sorted(path.parent.name for path in HERE.glob("*/said.json"))
WORDS = ("what",)
"""Columns that explain a row in words, which may change."""
RENAMED = {"": "verdict"}
"""Columns that have a name now."""
PER_CENT_BEFORE = {(table, "accuracy") for table in ("categories", "structures", "volumes")}
"""Columns of tables that held rounded per cent, and hold the fraction itself now."""
_WORDING = ("fact_f1", "fact_f1.side", "rougeL", "bleu", "token_f1", "exact")
ROUNDED_BEFORE = {
    ("causes", "expected by chance"),
    *(("numbers", column) for column in ("mean", "ratio")),
    *(("wording", column) for column in _WORDING),
}
"""Columns that held the rounded number, its interval with it, and hold the number itself now."""


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("source", SOURCES)
def test_every_number_is_what_it_was(source: str, tmp_path: Path, situs: Callable) -> None:
    kept, bench = HERE / source, HERE / source / "bench"
    said = json.loads((kept / "said.json").read_text())
    shutil.copytree(kept / "runs", tmp_path / "runs")
    shutil.copytree(bench if bench.exists() else KEPT_BENCH, tmp_path / "bench")
    runs = [tmp_path / "runs" / name for name in ("knows", "guesses")]

    for run in runs:
        command = ("score", tmp_path / "bench", run, "--breakdowns", "--signatures", "--json")
        now = situs(*command)
        assert now.code == 0, now.err
        assert list(differences(said[run.name], now.json)) == []
    assert situs(*command).json == now.json, "what is read back is what was scored"

    compared = situs("compare", *runs, "--json")
    assert list(differences(said["compare"], compared.json)) == []

    out = ("--pictures", 0, "--out", tmp_path / "report.html", "--tables", tmp_path / "tables")
    done = situs("report", *runs, *out)
    assert done.code == 0, done.err
    for name, text in said["report"].items():
        table = (tmp_path / "tables" / f"{name}.csv").read_text()
        assert list(differences(rows_of(text), rows_of(table), name)) == [], name


def rows_of(text: str) -> list[dict[str, str]]:
    """A CSV by the names of its columns, whose order is free."""
    rows = csv.DictReader(io.StringIO(text))
    return [
        {RENAMED.get(name, name): cell for name, cell in row.items() if name not in WORDS}
        for row in rows
    ]


def differences(before: Any, now: Any, path: str = "") -> Iterator[str]:
    """Where what was said before is no longer so; more may be said now."""
    if isinstance(before, dict) and isinstance(now, dict):
        if is_over_prior(before, now):
            return
        replaced = FROM_CHANCE if chance_is_denser(before, now) else ()
        for key, value in before.items():
            if key in replaced or (key in LIMITS and is_nearer(key, value, now.get(key))):
                continue
            if key == OVER_MEAN and key not in now and is_no_greater(now.get(OVER_PRIOR), value):
                continue
            yield from differences(value, now.get(key), f"{path}/{key}")
    elif are_entries(before) and are_entries(now):
        entries = {one["metric"]: one for one in now}
        for one in before:
            yield from differences(one, entries.get(one["metric"]), f"{path}/{one['metric']}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now)):
            name = one.get("metric", number) if isinstance(one, dict) else number
            yield from differences(one, other, f"{path}/{name}")
    elif not (same(before, now) or is_unrounded(before, now, path)):
        yield f"{path}: {before!r} before, {now!r} now"


OVER_MEAN, OVER_PRIOR = "skill-over-mean@1", "skill-over-prior@1"
"""The leaderboard's column of skill held the first, and holds the second now, as the terminal."""


def is_no_greater(now: str | None, before: str) -> bool:
    """Whether a skill to two digits has not grown: mean or median, whichever errs less, is harder
    to beat than the mean."""
    return bool(now) and float(now or 0) <= float(before) + 0.01


def is_over_prior(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether the headline's numbers are now compared with the better of mean and median: of the
    same answers, and no skill has grown."""
    metrics = before.get("metric"), now.get("metric")
    if metrics != (OVER_MEAN, OVER_PRIOR):
        return False
    counted = all(before[key] == now[key] for key in ("n", "clusters"))
    return counted and (before["value"] is None or now["value"] <= before["value"] + 1e-12)


def are_entries(value: Any) -> bool:
    """Whether it is a list with one entry a metric, to which later versions may add metrics."""
    return (
        isinstance(value, list)
        and all(isinstance(one, dict) and "metric" in one for one in value)
        and len({one["metric"] for one in value}) == len(value)
    )


LIMITS = ("ci95", "low95", "high95")
"""Limits of a mean or a difference: both in JSON, one each in tables."""


def is_nearer(name: str, before: Any, now: Any) -> bool:
    """Whether limits are the recorded ones or lie within them.

    They are now also bounded by the patients who have one outcome throughout (docs/statistics.md),
    which can only bring them nearer; `test_statistics` holds them to their formula.
    """
    if name == "ci95":
        if not (isinstance(now, list) and isinstance(before, list)):
            return False
        return is_nearer("low95", before[0], now[0]) and is_nearer("high95", before[1], now[1])
    if not before or not now:
        return False
    inwards = float(now) - float(before) if name == "low95" else float(before) - float(now)
    return inwards >= -1e-12


@pytest.mark.parametrize(
    ("now", "accepted"),
    [
        ([0.2, 0.8], True),
        ([0.3, 0.8], True),
        ([0.1, 0.8], False),
        ([0.2, 0.9], False),
        (None, False),
    ],
)
def test_limits_may_only_come_nearer(now: list[float] | None, accepted: bool) -> None:
    assert (not list(differences({"ci95": [0.2, 0.8]}, {"ci95": now}))) is accepted


FROM_CHANCE = ("chance", "expected", "excess", "ci95", "p", "p_holm")
"""What follows from the chance of a cause."""


def chance_is_denser(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether a cause has more chance than the recording, and its row follows from that.

    The chance that a number lands in the window of a slip is now that of the denser surroundings:
    beside the window, as recorded, or as far on the other side of the truth. So it can only grow.
    """
    if "cause" not in before:
        return False
    if before.get("chance") is not None:
        return bool(now["chance"] > before["chance"])
    if "expected" not in before or not now.get("could"):
        return False
    if before["expected"] is None or not now["expected"] > before["expected"]:
        return False
    excess = (now["fits"] - now["expected"]) / now["could"]
    return math.isclose(now["excess"], excess, rel_tol=1e-12)


def same(before: Any, now: Any) -> bool:
    """Equal; numbers to the last digit but one, since libraries add in an order of their own."""
    if isinstance(before, float) and isinstance(now, float):
        return math.isclose(before, now, rel_tol=1e-13, abs_tol=1e-15)
    if isinstance(before, str):
        # As words of notes once had it.
        before = before.replace(" 1 patients", " 1 patient")
        before = re.sub(r"^only (\d+ patients?) are shared:", r"the runs share only \1:", before)
    return bool(before == now)


def is_unrounded(before: Any, now: Any, path: str) -> bool:
    """Whether a cell of a column that changed its form is the number that was rounded there.

    The interval has columns of its own now; the JSON of scores, compared above, has its numbers.
    """
    table, _, column = path.split("/") if path.count("/") == 2 else ("", "", "")
    scale = 100 if (table, column) in PER_CENT_BEFORE else 1
    changed = scale == 100 or (table, column) in ROUNDED_BEFORE
    if not changed or not before or not now:
        return False
    rounded = before.partition(" [")[0]
    if (table, column) == ("causes", "expected by chance") and float(now) > float(rounded):
        return True  # as in the JSON of scores, where `chance_is_denser` holds it to its row
    digits = len(rounded.partition(".")[2])
    return rounded == f"{scale * float(now):.{digits}f}"


@pytest.mark.parametrize(
    ("expected", "excess", "accepted"),
    [(0.5, -0.025, True), (0.5, -0.02, False), (0.3, -0.015, False)],
)
def test_chance_may_only_grow_and_the_excess_follows(
    expected: float, excess: float, accepted: bool
) -> None:
    before = {"cause": "prior", "fits": 0, "could": 20, "expected": 0.4, "excess": -0.02}
    now = before | {"expected": expected, "excess": excess}
    assert (list(differences(before, now)) == []) is accepted


@pytest.mark.parametrize(
    ("before", "now", "path", "expected"),
    [
        ("66.8", "0.66806", "categories/0/accuracy", True),
        ("66.8", "66.806", "categories/0/accuracy", False),
        ("0.786 [0.660–0.874]", "0.78621", "wording/2/fact_f1", True),
        ("78.6", "0.78621", "wording/2/fact_f1", False),
        ("0.5", "0.5000", "leaderboard/0/headline_value", False),
        ("50.0", "0.5", "/headline/value", False),
    ],
)
def test_a_slip_by_a_hundred_is_a_difference(
    before: str, now: str, path: str, expected: bool
) -> None:
    assert (list(differences(before, now, path)) == []) is expected
