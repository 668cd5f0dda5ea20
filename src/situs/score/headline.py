"""The headline of a run: which items it is about, and its accuracy, n and chance. Defined here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.score.metrics.numbers import SKILL_OVER_MEAN
from situs.score.outcomes import NOT_COUNTED, Scored
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
    """Whether only questions with options (yes/no included) count; False where the stratum has none."""

    def __contains__(self, row: Scored) -> bool:
        """Whether a row counts: of the stratum, answerable under its profile, and closed if that is asked for."""
        there = self.stratum in (ALL_STRATA, row.stratum)
        return (
            there
            and row.outcome.state != NOT_COUNTED
            and (row.chance is not None or not self.closed)
        )

    def rows(self, rows: Iterable[Scored]) -> list[Scored]:
        """The rows that count."""
        return [row for row in rows if row in self]

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
    """The mean over the same n items of what a uniform guess gets; None where the items have no options."""
    items: str
    """Which items these are, in words."""
    note: str = ""
    numbers: Entry | None = None
    """Questions for numbers in the stratum, which stand apart: their skill over the mean of other patients."""


def select(rows: Iterable[Scored], stratum: str, strata: Iterable[str]) -> Selection:
    """The items that `--stratum` stands for, among rows of a bench that has these strata.

    Where the bench has no headline (one imported from elsewhere), it is all items. Where the rows of a stratum have no
    question with options, all of them count. Raises SitusError for a stratum that the bench does not have.
    """
    known = sorted(filter(None, strata))
    if stratum == HEADLINE and HEADLINE not in known:
        stratum = ALL_STRATA
    if stratum not in (*known, ALL_STRATA):
        fix = did_you_mean(stratum, [*known, ALL_STRATA])
        raise SitusError(f"no item of stratum {stratum!r}", where="--stratum", fix=fix)
    chances = [row.chance for row in rows if stratum in (ALL_STRATA, row.stratum)]
    return Selection(stratum, not chances or any(chance is not None for chance in chances))


def headline_of(rows: Sequence[Scored], selection: Selection) -> Headline:
    """Accuracy, n and chance of the selected items."""
    chosen = selection.rows(rows)
    found = {entry.metric: entry for entry in entries(chosen, ("accuracy", "chance"), seed=0)}
    accuracy, chance = found.get("accuracy"), found.get("chance")
    whole = msgspec.structs.replace(selection, closed=False).rows(rows)
    skill = next(
        iter(entries([row for row in whole if row.truth is not None], (SKILL_OVER_MEAN,), seed=0)),
        None,
    )
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
