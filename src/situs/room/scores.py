"""Scores of a run in a room: seen or guessed, what a look is worth, what a lying tool does."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.clients import parse_spec, price_of
from situs.errors import SitusError
from situs.items import Item
from situs.room.journal import FILE
from situs.room.looked import Looked, looked_in
from situs.run import Viewing
from situs.score import (
    Entry,
    Estimate,
    ScoredRun,
    cluster_mean,
    open_replies,
    paired_difference,
    read_run,
    score_answer,
)

__all__ = ["Beside", "CurvePoint", "Looks", "RoomScores", "is_room_run", "score_room"]

FloatArray = NDArray[np.float64]
CELLS = ("right_seen", "right_unseen", "wrong_seen", "wrong_unseen")
_MOST_POINTS = 16


class CurvePoint(msgspec.Struct, frozen=True):
    """Accuracy against looks."""

    looks: int
    accuracy: float
    """Share of all items that were answered rightly with at most so many looks:
    more looks never lower it."""
    ci95: tuple[float, float] | None
    answered: float
    """Share of all items that were answered with at most so many looks."""


class Looks(msgspec.Struct, frozen=True):
    """How much was looked at."""

    mean: float
    to_decision: float | None
    """Mean number of the look by which all of the evidence had been seen,
    of sessions that saw all of it."""
    curve: list[CurvePoint]
    wasted: float | None
    """Mean looks after that."""
    volume_share: float
    turns: float
    pixels: float
    tokens_per_right: float | None
    cost_per_right: float | None
    """Dollars; None if nothing is right or the price is not known."""
    ends: dict[str, int]
    asked_to_answer: dict[str, int]
    """Why sessions were asked to answer: looks, turns, pixels, tokens, repeats, invalid or cut."""


class Beside(msgspec.Struct, frozen=True):
    """Another run on the same items."""

    accuracy: Entry
    difference: Entry
    """This run minus that one, paired by patient."""


class RoomScores(msgspec.Struct, frozen=True):
    """What `situs score` says beside the usual of a run in a room."""

    evidence: dict[str, Entry]
    """The four cells; `saw_all`; `right_if_seen` and `right_if_unseen`."""
    looks: Looks
    tools: dict[str, Entry]
    """With a lying tool: `trust`, `detection`, `damage`, `heard`."""
    room: str
    tools_name: str
    undecided: int
    """Items of which nobody knows what has to be seen; they are in no cell."""
    unjudged: int
    """Answers that wait for a judge: neither right nor wrong yet, they are in no cell and on no
    curve."""
    beside: dict[str, Beside] = {}


def is_room_run(run: Path) -> bool:
    """Whether a folder is a run in a room."""
    return (run / FILE).is_file() and (run / "room.json").is_file()


def room_scores(
    run: ScoredRun, beside: Sequence[Path] = (), truthful: Path | None = None
) -> RoomScores | None:
    """What a run in a room saw; None for any other run."""
    folder = run.replies.folder
    if folder is not None and is_room_run(folder):
        return score_room(run, truthful=truthful, beside=beside)
    if beside or truthful is not None:
        option = "--beside" if beside else "--truthful"
        raise SitusError("is for a run in a room", where=option, fix="use situs compare")
    return None


def score_room(
    run: ScoredRun, *, truthful: Path | None = None, beside: Sequence[Path] = ()
) -> RoomScores:
    """Score the sessions of a run.

    `truthful` is the same room with tools that do not lie; `beside` are other runs.
    """
    folder, info = run.replies.folder, run.replies.info
    assert folder is not None
    assert info is not None
    rows = _Rows(run, looked_in(folder))
    return RoomScores(
        evidence=_evidence(rows),
        looks=_looks(rows, info.client),
        tools=_tools(rows, truthful),
        room=info.room,
        tools_name=info.tools,
        undecided=int(np.count_nonzero(~rows.known)),
        unjudged=int(np.count_nonzero(~rows.decided)),
        beside={path.name: _beside(rows, path) for path in beside},
    )


class _Rows:
    """The counted items of a run that were read to the end, as columns.

    What waits for judges is neither right nor wrong yet: `decided` leaves it out.
    """

    def __init__(self, run: ScoredRun, looked: dict[str, Looked]) -> None:
        self.run = run
        columns = run.final
        rows = [
            row
            for row, item_id in enumerate(columns.item_ids)
            if item_id in looked and columns.counted[row]
        ]
        self.ids = [columns.item_ids[row] for row in rows]
        self.looked = [looked[item_id] for item_id in self.ids]
        self.decided = columns.decided[rows]
        self.right = columns.right[rows]
        self.clusters = columns.clusters[rows]
        self.known = np.array([one.known for one in self.looked], dtype=bool)
        self.saw = np.array([one.saw_all for one in self.looked], dtype=bool)
        if not self.ids:
            raise SitusError(
                "no session has ended on an item that counts",
                where=run.replies.folder,
                fix="run it to the end, or choose a room that shows what its items need",
            )

    def entry(self, name: str, values: NDArray[np.bool_], among: NDArray[np.bool_]) -> Entry:
        """A share of some of the rows, with its interval over patients."""
        states = Counter(one.end for one, there in zip(self.looked, among, strict=True) if there)
        estimate = cluster_mean(values[among].astype(float), self.clusters[among], tested=False)
        return entry_of(name, estimate, states)


def entry_of(name: str, estimate: Estimate, states: Counter[str]) -> Entry:
    """An estimate as an entry of a table."""
    note = estimate.note or estimate.method
    return Entry(
        name, estimate.value, estimate.n, estimate.ci95, dict(states), estimate.clusters, note
    )


def _evidence(rows: _Rows) -> dict[str, Entry]:
    right, saw, known = rows.right, rows.saw, rows.known & rows.decided
    cells = (right & saw, right & ~saw, ~right & saw, ~right & ~saw)
    table = {name: rows.entry(name, cell, known) for name, cell in zip(CELLS, cells, strict=True)}
    table["saw_all"] = rows.entry("saw_all", saw, known)
    table["right_if_seen"] = rows.entry("right_if_seen", right, known & saw)
    table["right_if_unseen"] = rows.entry("right_if_unseen", right, known & ~saw)
    return table


def _looks(rows: _Rows, client: str) -> Looks:
    counts = np.array([one.looks for one in rows.looked])
    decided = [(one, one.decided_at) for one in rows.looked if one.decided_at is not None]
    tokens = sum(one.tokens for one in itertools.compress(rows.looked, rows.decided))
    right = int(rows.right.sum())
    return Looks(
        mean=float(counts.mean()),
        to_decision=float(np.mean([at for _, at in decided])) if decided else None,
        curve=_curve(rows, counts),
        wasted=float(np.mean([one.looks - at for one, at in decided])) if decided else None,
        volume_share=float(np.mean([one.volume_share for one in rows.looked])),
        turns=float(np.mean([one.turns for one in rows.looked])),
        pixels=float(np.mean([one.pixels for one in rows.looked])),
        tokens_per_right=tokens / right if right and tokens else None,
        cost_per_right=_cost_per_right(rows, client),
        ends=dict(sorted(Counter(one.end for one in rows.looked).items())),
        asked_to_answer=dict(
            sorted(Counter(one.must_answer for one in rows.looked if one.must_answer).items())
        ),
    )


def _curve(rows: _Rows, counts: NDArray[np.int64]) -> list[CurvePoint]:
    counts, right = counts[rows.decided], rows.right[rows.decided]
    clusters = rows.clusters[rows.decided]
    points = np.unique(counts)
    if len(points) > _MOST_POINTS:
        points = points[np.rint(np.linspace(0, len(points) - 1, _MOST_POINTS)).astype(int)]
    curve = []
    for looks in points:
        within = counts <= looks
        estimate = cluster_mean((right & within).astype(float), clusters, tested=False)
        assert estimate.value is not None
        curve.append(CurvePoint(int(looks), estimate.value, estimate.ci95, float(within.mean())))
    return curve


def _cost_per_right(rows: _Rows, client: str) -> float | None:
    """Dollars of all sessions over right answers, by the prices that are known today."""
    right = int(rows.right.sum())
    try:
        spec = parse_spec(client)
        remote = spec.url is None or not any(
            host in spec.url for host in ("localhost", "127.0.0.1", "[::1]")
        )
        price = price_of(spec, remote=remote)
    except SitusError:
        return None
    if price is None or not right:
        return None
    decided = itertools.compress(rows.ids, rows.decided)
    used = [rows.run.replies.rows[item_id].usage for item_id in decided]
    prompt = sum(usage.get("prompt_tokens", 0) for usage in used)
    completion = sum(usage.get("completion_tokens", 0) for usage in used)
    return price.of(prompt, completion) / right


def _tools(rows: _Rows, truthful: Path | None) -> dict[str, Entry]:
    """Of the items whose answer a lie would change."""
    lied = np.array([one.lied_answer is not None for one in rows.looked], dtype=bool)
    lied &= rows.decided
    if not lied.any():
        return {}
    heard = np.array([one.heard for one in rows.looked], dtype=bool)
    doubted = np.array([one.doubted for one in rows.looked], dtype=bool)
    follows = _follows(rows)
    return {
        "trust": rows.entry("trust", follows & heard, lied),
        "detection": rows.entry("detection", rows.right | doubted, lied & heard),
        "damage": _damage(rows, lied, truthful),
        "heard": rows.entry("heard", heard, lied),
    }


def _follows(rows: _Rows) -> NDArray[np.bool_]:
    """Whether each answer is what the lie would have it be, read as any answer is."""
    wanted = {one.item_id: one.lied_answer for one in rows.looked if one.lied_answer is not None}
    replies = rows.run.replies
    viewing = Viewing(replies.bench, replies.profile)
    agrees_with_lie: dict[str, bool] = {}
    for item in replies.items():
        lied = wanted.get(item.item_id)
        if lied is not None:
            untrue: Item = msgspec.structs.replace(item, answer=lied)
            scored = score_answer(untrue, replies.rows.get(item.item_id), None, shown=viewing)
            agrees_with_lie[item.item_id] = bool(scored.outcome.right)
    return np.array([agrees_with_lie.get(item_id, False) for item_id in rows.ids], dtype=bool)


def _damage(rows: _Rows, lied: NDArray[np.bool_], truthful: Path | None) -> Entry:
    if truthful is None:
        note = "needs the same room with truthful tools: --truthful RUN"
        return Entry("damage", None, 0, None, {}, 0, note)
    shared, other = _other_right(rows, truthful, lied)
    estimate = paired_difference(other, rows.right[shared].astype(float), rows.clusters[shared])
    states = Counter(rows.looked[row].end for row in shared)
    return entry_of("damage", estimate, states)


def _other_right(
    rows: _Rows, path: Path, among: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], FloatArray]:
    """The rows that another run of the bench answered too, and whether it was right."""
    replies = rows.run.replies
    other = read_run(open_replies(path, replies.bench.folder))
    if other.bench.info.content_hash != replies.bench.info.content_hash:
        raise SitusError("is of another bench", where=path, fix="give a run of the same bench")
    columns = other.final
    shared = [
        row
        for row in np.flatnonzero(among)
        if (at := columns.places.get(rows.ids[row])) is not None
        and columns.counted[at]
        and columns.decided[at]
    ]
    right = [float(columns.right[columns.places[rows.ids[row]]]) for row in shared]
    if not shared:
        raise SitusError(
            "shares no item with this run", where=path, fix="give a run of the same items"
        )
    return np.array(shared, dtype=np.int64), np.array(right)


def _beside(rows: _Rows, path: Path) -> Beside:
    shared, other = _other_right(rows, path, rows.decided)
    clusters = rows.clusters[shared]
    alone = cluster_mean(other, clusters, tested=False)
    paired = paired_difference(rows.right[shared].astype(float), other, clusters)
    none: Counter[str] = Counter()
    return Beside(entry_of("accuracy", alone, none), entry_of("difference", paired, none))
