"""Lists show the first paragraph of a docstring, however its lines are wrapped."""

from __future__ import annotations

from situs.base.docstrings import summary


def one_line() -> None:
    """One sentence. And another."""


def wrapped() -> None:
    """A sentence that is broken
    over two lines.

    What a list leaves out.
    """


def nothing() -> None: ...


def test_the_first_paragraph_stands_on_one_line() -> None:
    assert summary(one_line) == "One sentence. And another."
    assert summary(wrapped) == "A sentence that is broken over two lines."
    assert summary(nothing) == ""
