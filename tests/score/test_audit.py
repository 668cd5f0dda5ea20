"""Audits: sheets that come back as they went out, agreement by hand, sample sizes by search."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from situs.errors import SitusError
from situs.items import Item, Text
from situs.review import AuditRow, audit_agreement, audit_plan, audit_sheet, draw_items, read_audit
from situs.score import clopper_pearson

ITEMS = [
    Item(f"i{n}", "s", "ct", f"p{n}", "t", "text", f"=Q{n}?", Text(("a",)), f"v{n}::0")
    for n in range(40)
]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_sheet_comes_back(tmp_path: Path, form: str) -> None:
    raw = audit_sheet(ITEMS[:6], ["anna", "ben", "cleo"], overlap=2, seed=0, form=form)
    path = tmp_path / f"sheet.{form}"
    path.write_bytes(raw)
    rows = read_audit(path)
    assert len(rows) == 12
    assert all(row.spatial is row.relevant is row.correct is None for row in rows)
    assert set(Counter(row.item for row in rows).values()) == {2}
    assert set(Counter(row.rater for row in rows).values()) == {4}
    assert len({(row.item, row.rater) for row in rows}) == 12
    if form == "csv":
        table = list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))))
        assert table[0]["question"].startswith("'="), "no cell is a formula"


def test_the_draw_depends_on_ids_alone() -> None:
    first = {item.item_id for item in draw_items(ITEMS, 10, 3)}
    assert {item.item_id for item in draw_items(ITEMS[::-1], 10, 3)} == first
    assert {item.item_id for item in draw_items(ITEMS, 10, 4)} != first
    with pytest.raises(SitusError, match="41 items"):
        draw_items(ITEMS, 41, 0)


def test_agreement_by_hand() -> None:
    """40 items, two raters: 24 yes/yes, 4 yes/no, 4 no/yes, 8 no/no.
    p = 0.8, κ = (0.8 − 0.58) / 0.42."""
    votes = [(True, True)] * 24 + [(True, False)] * 4 + [(False, True)] * 4 + [(False, False)] * 8
    rows = [
        AuditRow(item.source_id, rater, spatial=vote)
        for item, pair in zip(ITEMS, votes)
        for rater, vote in zip(("anna", "ben"), pair)
    ]
    result = audit_agreement([*rows, AuditRow("elsewhere", "anna", spatial=True)], ITEMS)
    assert result.strangers == ["elsewhere"]
    assert result.shares["spatial"] == (24, 40, *clopper_pearson(24, 40))
    assert result.tied["spatial"] == 8
    assert result.open_cells == 160
    (held,) = result.agreement
    assert (held.raters, held.items, held.percent) == ("anna – ben", 40, 0.8)
    assert held.kappa == pytest.approx((0.8 - 0.58) / 0.42)
    # AC1: chance = 2 · 0.7 · 0.3; α: 1 − (n − 1) · discordant / (2 · n₁ · n₀) with n = 80, n₁ = 56,
    # n₀ = 24.
    assert held.ac1 == pytest.approx((0.8 - 0.42) / 0.58)
    assert held.alpha == pytest.approx(1 - 79 * 16 / (2 * 56 * 24))
    assert held.kappa_ci95 is not None
    assert held.kappa_ci95[0] < held.kappa < held.kappa_ci95[1]


def test_the_published_audit() -> None:
    """CT-SpatialVQA's: 303 judgements, one person an item, 104 of them not the validator's (102 on
    spatial).

    235 are called spatial, 231 spatial and relevant: 77.6 and 76.2 %. Equal: 201 of 303, 301 of
    303, 502 of 606.
    """
    items = [
        Item(f"i{n}", "s", "ct", f"p{n // 9}", "t", "text", "Q?", Text(("a",))) for n in range(303)
    ]
    people = [
        AuditRow(f"i{n}", f"r{n % 9}", spatial=n < 235, relevant=not 231 <= n < 240)
        for n in range(303)
    ]
    vetted = [
        AuditRow(
            row.item,
            "gemini",
            row.spatial is not (n < 102),
            row.relevant is not (n < 2),
            validator=True,
        )
        for n, row in enumerate(people)
    ]
    result = audit_agreement([*people, *vetted], items)
    assert result.shares["spatial"][:2] == (235, 303)
    assert result.shares["spatial and relevant"][:2] == (231, 303)
    assert sum(result.tied.values()) == 0, "the validator has no vote"
    equal = {
        held.question: (held.items, held.percent)
        for held in result.agreement
        if held.raters == "people – gemini"
    }
    assert equal == {
        "spatial": (303, pytest.approx(201 / 303)),
        "relevant": (303, pytest.approx(301 / 303)),
        "pooled": (606, pytest.approx(502 / 606)),
    }
    assert [round(100 * share, 1) for _, share in equal.values()] == [66.3, 99.3, 82.8]
    named = [msgspec.structs.replace(row, validator=False) for row in vetted]
    assert audit_agreement([*people, *named], items, validator="gemini") == result
    with pytest.raises(SitusError, match="rates i0 twice"):
        audit_agreement([*people, people[0]], items)
    with pytest.raises(SitusError, match="no row is by 'gpt'"):
        audit_agreement(people, items, validator="gpt")


def test_one_rater_per_item_has_no_agreement() -> None:
    rows = [
        AuditRow(item.item_id, ("anna", "ben")[n % 2], correct=True) for n, item in enumerate(ITEMS)
    ]
    result = audit_agreement(rows, ITEMS)
    assert result.agreement == []
    assert any("agreement cannot be computed" in text for text in result.warnings)


@pytest.mark.parametrize("bad", [{"item": "i1"}, {"item": "i1", "rater": "a", "correct": "maybe"}])
def test_bad_sheets_are_refused(tmp_path: Path, bad: dict[str, str]) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps([bad]))
    with pytest.raises(SitusError, match="yes, no or nothing"):
        read_audit(path)


@pytest.mark.parametrize(("expected", "half"), [(0.95, 0.03), (0.5, 0.1), (1.0, 0.05), (0.0, 0.05)])
def test_plan(expected: float, half: float) -> None:
    """The planned number is enough, and a tenth fewer is not."""
    plan = audit_plan(expected, half)
    low, high = clopper_pearson(round(expected * plan.items), plan.items)
    assert high - low <= 2 * half
    fewer = int(plan.items * 0.9)
    low, high = clopper_pearson(round(expected * fewer), fewer)
    assert high - low > 2 * half


def test_plan_for_a_small_bench() -> None:
    """n / (1 + (n − 1) / N)."""
    whole = audit_plan(0.5, 0.1).items
    assert audit_plan(0.5, 0.1, 100).items == -(-whole * 100 // (100 + whole - 1))
    with pytest.raises(SitusError, match="cannot plan"):
        audit_plan(1.5, 0.1)
