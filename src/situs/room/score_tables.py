"""The scores of a run in a room, as tables for terminal, paper and report."""

from __future__ import annotations

from collections.abc import Mapping

from situs.room.scores import RoomScores
from situs.score import Entry
from situs.tables import INTERVAL, SIGNED, SIGNED_INTERVAL, Cell, Style, Table

__all__ = ["room_tables"]

_WORDS = {
    "right_seen": "right, evidence seen",
    "right_unseen": "right without having seen it (guessed)",
    "wrong_seen": "wrong though seen",
    "wrong_unseen": "wrong and not seen",
    "saw_all": "saw all of the evidence",
    "right_if_seen": "accuracy where it was seen",
    "right_if_unseen": "accuracy where it was not",
    "trust": "trust: the answer follows the lie",
    "detection": "detection: says so, or is right nevertheless",
    "damage": "damage: accuracy lost",
    "heard": "asked the tool and heard the lie",
}


def room_tables(scores: RoomScores) -> list[Table]:
    """Evidence, looks, accuracy against looks, tools, and the runs beside."""
    where = f"room {scores.room}, tools: {scores.tools_name}"
    caption = "What decides an item must have been on the pictures, large and clear enough."
    if scores.undecided:
        caption += f" {scores.undecided:,} items have no known evidence and are in no cell."
    if scores.unjudged:
        caption += f" {scores.unjudged:,} answers wait for a judge and are in no cell."
    tables = [_shares("evidence", f"Evidence ({where})", scores.evidence, caption)]
    if scores.tools:
        caption = "Of the items whose answer the lie would change."
        tables.append(_shares("tools", f"Lying tool ({where})", scores.tools, caption))
    tables += [_looks(scores), _curve(scores)]
    return tables + ([_beside(scores)] if scores.beside else [])


def _shares(name: str, title: str, entries: Mapping[str, Entry], caption: str) -> Table:
    rows = tuple((_WORDS.get(key, key), e.n, e.value, e.ci95) for key, e in entries.items())
    columns = ("", "items", "share", "95 % interval")
    return Table(name, title, columns, rows, caption, {"95 % interval": INTERVAL})


def _looks(scores: RoomScores) -> Table:
    looks = scores.looks
    rows: tuple[tuple[Cell, ...], ...] = (
        ("looks", looks.mean),
        ("looks until all of the evidence was seen", looks.to_decision),
        ("looks after that", looks.wasted),
        ("share of the scan that was seen", looks.volume_share),
        ("turns", looks.turns),
        ("tokens for a right answer", looks.tokens_per_right),
        ("dollars for a right answer", looks.cost_per_right),
    )
    ended = ", ".join(f"{count:,} {end.replace('_', ' ')}" for end, count in looks.ends.items())
    asked = ", ".join(f"{count:,} for {why}" for why, count in looks.asked_to_answer.items())
    caption = f"Sessions ended: {ended}." + (f" Asked to answer: {asked}." if asked else "")
    return Table("looks", "Looks, mean per session", ("", "mean"), rows, caption)


def _curve(scores: RoomScores) -> Table:
    rows = tuple((p.looks, p.accuracy, p.ci95, p.answered) for p in scores.looks.curve)
    return Table(
        "accuracy_by_looks",
        "Accuracy against looks",
        ("looks", "accuracy", "95 % interval", "answered"),
        rows,
        "Share of all items answered correctly, and answered at all, with at most this many looks.",
        {"95 % interval": INTERVAL},
    )


def _beside(scores: RoomScores) -> Table:
    rows = tuple(
        (name, b.accuracy.n, b.accuracy.value, b.difference.value, b.difference.ci95)
        for name, b in scores.beside.items()
    )
    styles: dict[str, Style] = {"difference": SIGNED, "95 % interval": SIGNED_INTERVAL}
    return Table(
        "beside",
        "Compared on the same items",
        ("run", "items", "accuracy", "difference", "95 % interval"),
        rows,
        "The difference is this run minus that one, paired by patient.",
        styles,
    )
