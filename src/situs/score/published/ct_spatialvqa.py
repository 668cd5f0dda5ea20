"""The numbers of CT-SpatialVQA by the rules of its released code, defects included."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from situs.errors import SitusError
from situs.items import Item
from situs.score.text.verdicts import JoinedVerdicts, VerdictFile

__all__ = ["PublishedScores", "published_scores"]

_RIGHT = 0.66


class PublishedScores(msgspec.Struct, frozen=True):
    """What the released code computes, beside which the correct numbers stand."""

    judges: dict[str, float | None]
    """True / (true + false) of every file; null verdicts are left out."""
    jury: float | None
    cells: int
    """Rows of the matrix that hold a value."""
    by_category: dict[str, float]
    base: str
    """The judge whose rows say which item a row of the matrix is."""
    changed: int
    """Items to which the matrix gives another verdict than their own three."""
    notes: list[str]
    """Why the numbers are not the correct ones; empty where they are."""


def published_scores(
    files: Sequence[VerdictFile],
    joined: Sequence[JoinedVerdicts],
    items: Sequence[Item],
    right: Mapping[str, bool],
) -> PublishedScores:
    """The i-th verdicts of all files are taken as one item's, that of the Gemini file; a null is a
    no.

    A row's value is the mean, floored to two decimals, and right from 0.66 on. The jury is the
    share of right rows; a category's value counts the items without a row as wrong.
    """
    if not files:
        raise SitusError(
            "--protocol ct-spatialvqa needs verdicts",
            where="--protocol",
            fix="add --verdicts NAME=FILE",
        )
    base = next((n for n, file in enumerate(files) if "gemini" in file.judge.lower()), 0)
    cells = []
    for row in zip(*(file.rows for file in files)):
        votes = sum(1.0 if verdict.correct else 0.0 for verdict in row)
        cells.append(math.floor(votes / len(files) * 100) / 100)
    by_item: dict[str, bool] = {}
    for owner, cell in zip(joined[base].item_of_row, cells):
        if owner is not None:
            by_item.setdefault(owner, cell >= _RIGHT)
    groups: dict[str, list[bool]] = defaultdict(list)
    for item in items:
        for tag in item.tags:
            groups[tag].append(by_item.get(item.item_id, False))
    jury = sum(cell >= _RIGHT for cell in cells) / len(cells) if cells else None
    changed = sum(
        by_item.get(item.item_id, False) != right.get(item.item_id, False) for item in items
    )
    correct = sum(right.get(item.item_id, False) for item in items) / len(items) if items else None
    differs = changed > 0 or jury is None or correct is None or round(jury, 4) != round(correct, 4)
    return PublishedScores(
        judges={file.judge: _share(file) for file in files},
        jury=jury,
        cells=len(cells),
        by_category={tag: sum(held) / len(held) for tag, held in sorted(groups.items())},
        base=files[base].judge,
        changed=changed,
        notes=_notes(files, base, changed, len(items)) if differs else [],
    )


def _share(file: VerdictFile) -> float | None:
    verdicts = [row.correct for row in file.rows if row.correct is not None]
    return sum(verdicts) / len(verdicts) if verdicts else None


def _notes(files: Sequence[VerdictFile], base: int, changed: int, items: int) -> list[str]:
    notes = []
    lengths = {file.judge: len(file.rows) for file in files}
    if len(set(lengths.values())) > 1:
        row_counts = ", ".join(f"{name} {count:,}" for name, count in lengths.items())
        notes.append(
            f"the files differ in length ({row_counts}), so the published join by position shifts"
            " verdicts"
        )
    if changed:
        share = 100 * changed / items
        notes.append(
            f"the published matrix gives {changed:,} of {items:,} items ({share:.1f} %) the wrong"
            " verdict"
        )
    if "gemini" not in files[base].judge.lower():
        notes.append(f"no judge is called gemini: the items are those of {files[base].judge}")
    return notes
