"""One item of a run as the report shows it, with the words that were sent."""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.bench import Bench, Locations
from situs.errors import SitusError
from situs.items import Item
from situs.probe import source_of_made, volumes_of
from situs.profiles import Presenter
from situs.report.names import public_name
from situs.report.pictures.embedded import embed_pictures, pictured_series
from situs.report.pictures.strips import StripStore
from situs.report.scored import ReportedRun, mark_of
from situs.report.viewer.payload import FactsShown, Payload, build_payload
from situs.report.writer import facts_for
from situs.run import AnswerRow, RunInfo, items_of, read_hidden
from situs.score import Scores, score_answer
from situs.score.scored_run import Replies, ScoredRun
from situs.view.watching import ItemRow, ListedItems, WatchedRun

__all__ = ["ItemPage", "item_page", "item_rows"]

_PICTURE_BYTES = 12_000_000
"""Of one item: more than its planes take, less than a browser minds."""


_NO_TABLES = Scores([], {}, {}, {}, {}, {}, [], [])
"""One item makes no table."""


class ItemPage(msgspec.Struct, frozen=True):
    """What the item view reads, and what was sent and came back."""

    payload: Payload
    prompt: str
    """As it was sent, with the pictures;
    of a run in a room, nothing: there it grew turn by turn."""
    error: str
    finish_reason: str
    usage: dict[str, float]


def item_rows(run: WatchedRun) -> list[ItemRow]:
    """The items of a run in the order of the bench, each with what became of it.

    Made anew only where a file has changed, and then only new answers are scored: the page asks
    every two seconds.
    """
    assert run.opened is not None
    files, before = run.files_now(), run.listed
    if before is not None and before.files == files:
        return before.rows
    info, bench = run.opened
    replies = _replies(run, info, bench)
    # A longer journal changes no mark that was given; any other file might.
    is_same = before is not None and before.files[1:] == files[1:]
    scored = dict(before.scored) if before is not None and is_same else {}
    rows = []
    for item in items_of(bench, info, steps=False):
        row = run.rows.get(item.item_id)
        known = scored.get(item.item_id)
        if row is not None and (known is None or known[0] is not row):
            scored[item.item_id] = (row, _mark(replies, item, row))
        rows.append(
            ItemRow(
                item.item_id,
                item.task,
                item.stratum,
                item.question,
                "not asked yet" if row is None else row.state,
                " " if row is None else scored[item.item_id][1],
                None if row is None else row.seconds,
            )
        )
    run.listed = ListedItems(files, rows, scored)
    return rows


def _mark(replies: Replies, item: Item, row: AnswerRow) -> str:
    hidden = replies.hidden.get(item.item_id, ())
    scored = score_answer(item, row, replies.gives, shown=replies.viewing, hidden=hidden)
    return mark_of(scored.outcome)


def _replies(run: WatchedRun, info: RunInfo, bench: Bench) -> Replies:
    hidden = read_hidden(run.folder / "hidden.jsonl")
    return Replies(bench, run.rows, info, info.profile, hidden)


def item_page(run: WatchedRun, item_id: str, data: Path | None = None) -> ItemPage:
    """The item as the report shows it."""
    assert run.opened is not None
    info, bench = run.opened
    item = next((one for one in items_of(bench, info) if one.item_id == item_id), None)
    if item is None:
        raise SitusError(f"no item {item_id!r} in this run", where=run.name)
    reported = _reported(run, info, bench, item)
    row = run.rows.get(item_id) or AnswerRow(item_id)
    return ItemPage(
        _payload(bench, item, reported, data),
        _prompt(bench, info, item, data),
        row.error,
        row.finish_reason,
        dict(row.usage),
    )


def _reported(run: WatchedRun, info: RunInfo, bench: Bench, item: Item) -> ReportedRun:
    """The run with this item alone, scored now."""
    hidden = read_hidden(run.folder / "hidden.jsonl")
    replies = Replies(bench, run.rows, info, info.profile, hidden, chosen=lambda: [item])
    return ReportedRun(public_name(info.client), ScoredRun.of(replies), _NO_TABLES)


def _payload(bench: Bench, item: Item, reported: ReportedRun, data: Path | None) -> Payload:
    studies = {study.study_id: study for study in bench.studies()}
    facts, first = facts_for(bench, [item]), [item.item_id]
    facts_shown = FactsShown(bench, facts, first)
    payload = build_payload(
        bench, [item], [reported], facts_shown, studies, quotes=True, covered=[item]
    )
    made = source_of_made(bench.folder)
    home = bench if made is None else made[0]
    imaged = pictured_series(home.studies(), Locations.read(home.folder, data))
    volumes = volumes_of(bench, data)
    strips = StripStore(bench, [reported], volumes, pixels=True)
    embedded = embed_pictures(
        bench, [item], studies, facts, volumes, _PICTURE_BYTES, strips, imaged
    )
    note = "The scan of this item is not on this machine, or cannot be shown."
    return msgspec.structs.replace(payload, shared=embedded.shared, picture_note=note)


def _prompt(bench: Bench, info: RunInfo, item: Item, data: Path | None) -> str:
    if info.room:
        return ""
    return Presenter(bench, info.profile, volumes=volumes_of(bench, data)).prompt(item)
