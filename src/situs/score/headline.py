"""The headline of a run: which items it is about, and its accuracy, n and chance.

Defined here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError, did_you_mean
from situs.score.columns import Columns
from situs.score.metrics.numbers import SKILL_OVER_PRIOR
from situs.score.outcomes import NOT_COUNTED, Score
from situs.score.table_entries import Entry, entries

__all__ = ["ALL_STRATA", "HEADLINE", "STRATA", "Headline", "Selection", "headline_of", "select"]

HEADLINE = "headline"
ALL_STRATA = "all"
STRATA = (HEADLINE, "textbook", "untwinned", ALL_STRATA)
"""What can be asked for by name."""


class Selection(msgspec.Struct, frozen=True):
    """The items a headline is about."""

    stratum: str
    """One of `STRATA`, or a stratum of the bench's own."""
    closed: bool
    """Whether only questions with options (yes/no included) count;
    False where the stratum has none."""

    def __contains__(self, row: Score) -> bool:
        """Whether a row counts: of the stratum,
        answerable under its profile, and closed if that is asked for."""
        there = self.stratum in (ALL_STRATA, row.stratum)
        return there and row.state != NOT_COUNTED and (row.chance is not None or not self.closed)

    def mask(self, columns: Columns) -> NDArray[np.bool_]:
        """Which rows count."""
        chosen = columns.counted.copy()
        if self.stratum != ALL_STRATA:
            chosen &= columns.coded("stratum").is_(self.stratum)
        if self.closed:
            chosen &= ~np.isnan(columns.chance)
        return chosen

    @property
    def words(self) -> str:
        """As a table says it."""
        kind = "questions with options" if self.closed else "all questions"
        where = "all strata" if self.stratum == ALL_STRATA else f"the {self.stratum} stratum"
        return f"{kind} of {where}"


class Headline(msgspec.Struct, frozen=True):
    """The one number of a run, and what belongs to it."""

    stratum: str
    value: float | None
    """Right by all of n."""
    ci95: tuple[float, float] | None
    n: int
    patients: int
    chance: float | None
    """The mean over the same n items of what a uniform guess gets;
    None where the items have no options."""
    items: str
    """Which items these are, in words."""
    note: str = ""
    numbers: Entry | None = None
    """Questions for numbers in the stratum, which stand apart:
    their skill over the prior: the mean or the median of other patients."""


def select(runs: Iterable[Columns], stratum: str, strata: Iterable[str]) -> Selection:
    """The items that `--stratum` stands for, among the runs of a bench that has these strata.

    Where the bench has no headline (one imported from elsewhere), it is all items. Where the rows
    of a stratum have no question with options, all of them count. Raises SitusError for a stratum
    that the bench does not have.
    """
    known = sorted(filter(None, strata))
    if stratum == HEADLINE and HEADLINE not in known:
        stratum = ALL_STRATA
    if stratum not in (*known, ALL_STRATA):
        fix = did_you_mean(stratum, [*known, ALL_STRATA])
        raise SitusError(f"no item of stratum {stratum!r}", where="--stratum", fix=fix)
    none = np.zeros(0, np.bool_)  # a stratum may be looked up before anything has been answered
    closed = np.concatenate([none, *(_closed(columns, stratum) for columns in runs)])
    return Selection(stratum, not len(closed) or bool(closed.any()))


def _closed(columns: Columns, stratum: str) -> NDArray[np.bool_]:
    """Of the rows of a stratum, whether each has options."""
    closed = ~np.isnan(columns.chance)
    return closed if stratum == ALL_STRATA else closed[columns.coded("stratum").is_(stratum)]


def headline_of(columns: Columns, selection: Selection) -> Headline:
    """Accuracy, n and chance of the selected items."""
    chosen = columns.where(selection.mask(columns))
    entry_of = {entry.metric: entry for entry in entries(chosen, ("accuracy", "chance"), seed=0)}
    accuracy, chance = entry_of.get("accuracy"), entry_of.get("chance")
    all_forms = msgspec.structs.replace(selection, closed=False).mask(columns)
    numbers = columns.where(all_forms & ~np.isnan(columns.truth))
    skill = next(iter(entries(numbers, (SKILL_OVER_PRIOR,), seed=0)), None)
    return Headline(
        stratum=selection.stratum,
        value=None if accuracy is None else accuracy.value,
        ci95=None if accuracy is None else accuracy.ci95,
        n=len(chosen),
        patients=0 if accuracy is None else accuracy.clusters,
        chance=chance.value if chance is not None and selection.closed else None,
        items=selection.words,
        note="no item counts" if accuracy is None else accuracy.note,
        numbers=skill,
    )
