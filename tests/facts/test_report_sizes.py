"""When two sizes in a report are of two things."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from situs.facts.reports.ledger import _NOT_MILLIMETRIC, _differs


@pytest.mark.parametrize(
    ("theirs", "size", "differs"),
    [
        (5.0, 4.0, True),  # just a quarter more, and just a millimetre
        (4.0, 5.0, True),
        (5.0, 4.1, False),
        (3.0, 2.1, False),  # more than a quarter, less than a millimetre
        (30.0, 25.0, False),
        (30.0, 24.0, True),
    ],
)
def test_a_quarter_and_a_millimetre_apart(theirs: float, size: float, differs: bool) -> None:
    mention = SimpleNamespace(size_mm=theirs, sentence=SimpleNamespace(text=""))
    assert _differs(mention, size) is differs


def test_what_is_millimetric_is_not_large() -> None:
    for text, size, differs in (
        ("Millimetric nodule", _NOT_MILLIMETRIC, True),
        ("Millimetric nodule", _NOT_MILLIMETRIC - 0.1, False),
        ("A nodule", _NOT_MILLIMETRIC, False),
    ):
        mention = SimpleNamespace(size_mm=None, sentence=SimpleNamespace(text=text))
        assert _differs(mention, size) is differs
