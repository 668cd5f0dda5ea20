"""What each session of a run saw, and when: from the journal alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from situs.items import Answer
from situs.room.journal import FILE, Opened, Outcome, SessionRows, read_turns
from situs.room.view.evidence import Sighting, Target, unseen

__all__ = ["Looked", "looked_in", "sessions_in", "summed_up"]

_DOUBT = re.compile(
    r"\b(wrong|implausible|impossible|contradict\w*|inconsistent|mismatch\w*|disagree\w*|"
    r"unreliable|incorrect|"
    r"erroneous|doubt\w*|cannot be right|can't be right|does not match|doesn't match|do not"
    r" trust|ignore the tool|"
    r"not what i see|swapped|stale|off by)\b",
    re.IGNORECASE,
)
"""Words in a note or an answer by which a reader says that a tool cannot be right."""
_DENIED = re.compile(
    r"(?:\b(?:no|not|nothing|never|neither|nor|without)|n't)(?:\s+(?!but\b)\w+){0,3}\s+$",
    re.IGNORECASE,
)
"""What makes the opposite of such a word: "nothing is wrong"."""


class Looked(msgspec.Struct, frozen=True):
    """One session, summed up."""

    item_id: str
    end: str
    turns: int
    looks: int
    pixels: int
    known: bool
    """Whether it is known what has to be seen."""
    saw_all: bool
    decided_at: int | None
    """The look by which all of the evidence had been seen; None if that never was."""
    volume_share: float
    """Share of the scan that was on some picture."""
    tokens: float
    heard: bool
    """Whether a tool lied to it."""
    doubted: bool
    """Whether it wrote that something cannot be right, after the tool had spoken."""
    lied_answer: Answer | None
    must_answer: str


def sessions_in(run: Path) -> Iterator[tuple[str, SessionRows]]:
    """Every session of a run, whole.

    Rows of sessions that went on at the same time are sorted apart.
    """
    going: dict[str, SessionRows] = {}
    for row in read_turns(run / FILE):
        rows = going.setdefault(row.item_id, SessionRows())
        rows.add(row)
        if isinstance(row, Outcome) and row.end:
            yield row.item_id, going.pop(row.item_id)


def looked_in(run: Path) -> dict[str, Looked]:
    """Item → what its session saw, for sessions that have ended."""
    return {item_id: summed_up(item_id, rows) for item_id, rows in sessions_in(run)}


def summed_up(item_id: str, rows: SessionRows) -> Looked:
    """One session, from its rows."""
    opened = rows.opened or Opened(item_id)
    looks = [one for one in rows.outcomes if one.picture]
    first_tool_turn = next((one.turn for one in rows.outcomes if one.tool is not None), None)
    return Looked(
        item_id,
        rows.end,
        len(rows.replies),
        len(looks),
        sum(one.size[0] * one.size[1] for one in looks),
        bool(opened.targets),
        bool(opened.targets) and not unseen(opened.targets, _all(looks)),
        _decided_at(opened.targets, looks),
        _volume_share(opened, looks),
        sum(
            row.usage.get("prompt_tokens", 0) + row.usage.get("completion_tokens", 0)
            for row in rows.replies
        ),
        any(one.tool is not None and one.tool.lie for one in rows.outcomes),
        first_tool_turn is not None
        and any(_doubts(one) for one in rows.outcomes if one.turn > first_tool_turn),
        opened.lied_answer,
        rows.outcomes[-1].must_answer if rows.outcomes else "",
    )


def _all(looks: Iterable[Outcome]) -> list[Sighting]:
    return [sighting for one in looks for sighting in one.sightings]


def _decided_at(targets: tuple[Target, ...], looks: list[Outcome]) -> int | None:
    if not targets:
        return None
    seen: list[Sighting] = []
    for one in looks:
        seen += one.sightings
        if not unseen(targets, seen):
            return one.picture
    return None


def _doubts(outcome: Outcome) -> bool:
    words = outcome.arguments.get("text" if outcome.action == "note" else "answer", "")
    return outcome.action in ("note", "answer") and _says_doubt(str(words))


def _says_doubt(words: str) -> bool:
    """Whether doubt is put in words that are not themselves denied."""
    doubts = _DOUBT.finditer(words)
    return any(
        _DENIED.search(words, max(0, one.start() - 80), one.start()) is None for one in doubts
    )


def _volume_share(opened: Opened, looks: Iterable[Outcome]) -> float:
    """Planes are at right angles, so a voxel is unseen if it is on no shown slice of any plane.

    A magnified look shows the part of its slice that its magnification leaves.
    """
    shown_parts: dict[str, dict[int, float]] = defaultdict(dict)
    for one in looks:
        if one.look is not None:
            part = 1.0 / one.look.zoom / one.look.zoom  # no square, which may be too large
            for index in one.look.slices:
                known = shown_parts[one.look.plane]
                known[index] = max(part, known.get(index, 0.0))
    left = 1.0
    for plane, parts in shown_parts.items():
        count = opened.slices.get(plane, 0)
        left *= 1.0 - (min(1.0, sum(parts.values()) / count) if count else 0.0)
    return 1.0 - left
