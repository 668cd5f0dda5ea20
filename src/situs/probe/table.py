"""The row of a probe: what became of each item before and after the change,
with intervals by patient."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import msgspec

from situs.items import Item
from situs.probe.changes.origin import OutcomeRow
from situs.probe.flipped import looks_flipped
from situs.score import Estimate, cluster_mean, paired_difference, score_answer
from situs.score.explain import Answered, Answers, said_by

__all__ = ["Compared", "ComparedRows", "ProbeRow", "compared", "group_row", "row_of"]

Interval = tuple[float, float] | None


class Compared(msgspec.Struct, frozen=True):
    """One item under a change."""

    item: Item
    """The original one."""
    outcome: str
    """`changed` or `unchanged`: what the change does to the right answer."""
    original: bool
    changed: bool
    kept_old: bool
    """The right answer changed, and the changed scan was given the one that was right before."""
    same_answer: bool
    """The same answer before and after, right or not."""
    credits: tuple[float, float]
    """`Answered.credit` before and after."""
    flipped: bool
    answered: bool = True
    """Whether the reply after the change was read as an answer."""


class ComparedRows(Collection[Compared]):
    """Many of them, each a few bytes: a suite compares half a million items a dozen times.

    A record is made when it is asked for.
    """

    _SIGNS = ("original", "changed", "kept_old", "same_answer", "flipped", "answered")

    def __init__(self, rows: Iterable[Compared]) -> None:
        self._items: list[Item] = []
        self._signs = array("B")
        """A bit for each of `_SIGNS`, then whether the right answer changes."""
        self._before, self._after = array("d"), array("d")
        for row in rows:
            signs = [getattr(row, name) for name in self._SIGNS] + [row.outcome == "changed"]
            self._items.append(row.item)
            self._signs.append(sum(1 << place for place, sign in enumerate(signs) if sign))
            self._before.append(row.credits[0])
            self._after.append(row.credits[1])

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, row: object) -> bool:
        return any(one == row for one in self)

    def __iter__(self) -> Iterator[Compared]:
        places = range(len(self._SIGNS) + 1)
        known: dict[int, tuple[str, tuple[bool, ...]]] = {}
        for item, bits, *shares in zip(self._items, self._signs, self._before, self._after):
            if bits not in known:
                *signs, changes = (bool(bits >> place & 1) for place in places)
                known[bits] = "changed" if changes else "unchanged", tuple(signs)
            outcome, (original, changed, kept_old, same, flipped, answered) = known[bits]
            before, after = shares
            yield Compared(
                item, outcome, original, changed, kept_old, same, (before, after), flipped, answered
            )


class ProbeRow(msgspec.Struct, frozen=True):
    """A line of the table. Shares are None where no item allows them."""

    kind: str
    original: float | None
    """Accuracy before, on the items compared."""
    changed: float | None
    """Accuracy after, against the answer that is then right."""
    both_right: float | None
    followed: float | None
    """Of the items that were right before and whose right answer changes: the new one was given."""
    kept_old: float | None
    """Of the same: the old one was given. None where no right answer changes."""
    neither: float | None
    same_answer: float | None
    """Of all items compared: the same answer before and after, right or not."""
    looks_flipped: float | None
    """Said in words that the scan looks flipped or out of order,
    among all answers after the change."""
    n: int
    ci95: Interval
    """Of `changed`."""
    intervals: dict[str, Interval] = {}
    """Of each share, and of `difference`."""
    difference: float | None = None
    """`changed` minus `original`, paired."""
    patients: int = 0
    n_followed: int = 0
    """Items that `followed`, `kept_old` and `neither` rest on."""
    patients_followed: int = 0
    """Patients that these items are of."""
    n_changed: int = 0
    """Items compared whose right answer changes."""
    outcomes: dict[str, int] = {}
    """Of all items asked of the original scan:
    how many right answers are changed, unchanged and undefined."""
    undefined: dict[str, int] = {}
    """Why some have no answer after the change."""
    groups: dict[str, ProbeRow] = {}
    runs: tuple[str, ...] = ()
    """The run folders, relative to --out."""
    note: str = ""


def compared(
    before: Answers,
    after: Answers,
    outcomes: Iterable[OutcomeRow] | None,
    twin: Callable[[str], str],
) -> ComparedRows:
    """Items that count before and after; `twin` names an item after the change."""
    known = None if outcomes is None else {row.item_id: row.outcome for row in outcomes}
    return ComparedRows(_compared(before, after, known, twin))


def _compared(
    before: Answers, after: Answers, known: Mapping[str, str] | None, twin: Callable[[str], str]
) -> Iterator[Compared]:
    for item_id, old in before.by_id.items():
        new = after.by_id.get(twin(item_id))
        outcome = "unchanged" if known is None else known.get(item_id, "undefined")
        if new is None or outcome == "undefined" or not (old.counts and new.counts):
            continue
        reply = new.row
        yield Compared(
            item=old.item,
            outcome=outcome,
            original=old.right,
            changed=new.right,
            kept_old=outcome == "changed" and _kept_old(old, new, after),
            same_answer=_same(old, new),
            credits=(old.credit, new.credit),
            flipped=reply is not None and looks_flipped(reply.response),
            answered=said_by(new) is not None,
        )


def _same(old: Answered, new: Answered) -> bool:
    """The same answer read twice, or the very same words that could not be read."""
    before, after = said_by(old), said_by(new)
    if before is None and after is None:
        return old.row is not None and new.row is not None and old.row.response == new.row.response
    return before == after


def _kept_old(old: Answered, new: Answered, after: Answers) -> bool:
    """Whether the answer to the changed scan would have been right before."""
    if new.right:
        return False
    as_before = msgspec.structs.replace(new.item, answer=old.item.answer)
    return bool(score_answer(as_before, new.row, None, shown=after.shown).right)


def row_of(
    kind: str,
    rows: Iterable[Compared],
    outcomes: Iterable[OutcomeRow] | None = None,
    *,
    runs: tuple[str, ...] = (),
    groups: Mapping[str, ProbeRow] | None = None,
    note: str = "",
) -> ProbeRow:
    """The shares of a probe over its items."""
    listed = sorted(rows, key=lambda row: row.item.item_id)
    clusters = [row.item.patient_id for row in listed]
    moved = [row for row in listed if row.outcome == "changed" and row.original]
    shares = {
        "original": _share(listed, lambda row: row.original),
        "changed": _share(listed, lambda row: row.changed),
        "both_right": _share(listed, lambda row: row.original and row.changed),
        "followed": _share(moved, lambda row: row.changed),
        "kept_old": _share(moved, lambda row: row.kept_old),
        "neither": _share(moved, lambda row: not row.changed and not row.kept_old),
        "same_answer": _share(listed, lambda row: row.same_answer),
        "looks_flipped": _share(listed, lambda row: row.flipped),
    }
    after, before = [float(row.changed) for row in listed], [float(row.original) for row in listed]
    difference = paired_difference(after, before, clusters) if listed else None
    intervals = {name: estimate.ci95 if estimate else None for name, estimate in shares.items()}
    all_outcomes = list(outcomes or ())
    changed_share = shares["changed"]
    return ProbeRow(
        kind=kind,
        **{name: estimate.value if estimate else None for name, estimate in shares.items()},
        n=len(listed),
        ci95=intervals["changed"],
        intervals=intervals | {"difference": difference.ci95 if difference else None},
        difference=difference.value if difference else None,
        patients=len(set(clusters)),
        n_followed=len(moved),
        patients_followed=len({row.item.patient_id for row in moved}),
        n_changed=sum(row.outcome == "changed" for row in listed),
        outcomes=dict(sorted(Counter(row.outcome for row in all_outcomes or listed).items())),
        undefined=dict(
            sorted(
                Counter(row.reason for row in all_outcomes if row.outcome == "undefined").items()
            )
        ),
        groups=dict(groups or {}),
        runs=runs,
        note="; ".join(
            filter(
                None,
                (
                    note,
                    "no item to compare"
                    if changed_share is None and not note
                    else changed_share.note
                    if changed_share
                    else "",
                ),
            )
        ),
    )


def group_row(
    kind: str, rows: Iterable[Compared], groups: Mapping[str, str]
) -> dict[str, ProbeRow]:
    """A row for each group of items; `groups` maps item ids to names."""
    names = sorted({groups[row.item.item_id] for row in rows})
    return {n: row_of(kind, [row for row in rows if groups[row.item.item_id] == n]) for n in names}


def _share(rows: Collection[Compared], holds: Callable[[Compared], bool]) -> Estimate | None:
    if not rows:
        return None
    return cluster_mean([float(holds(row)) for row in rows], [row.item.patient_id for row in rows])
