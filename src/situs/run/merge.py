"""Runs of parts put together: the answers of all, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from situs.base.files import bounded_lines, check_regular, read_json, read_text, write_atomic
from situs.base.publish import new_folder
from situs.errors import SitusError
from situs.run.balance import set_aside
from situs.run.folder import RunInfo, open_run, refuse_another, write_run_info
from situs.run.hidden import SET_ASIDE, HiddenRow, read_hidden
from situs.run.journal import AnswerRow, read_journal
from situs.run.plan import Plan, plan_run

__all__ = ["MergedRun", "merge_runs", "write_turns"]


_ROOM = "room.json"
_TURNS = "turns.jsonl"
"""Of a run in a reading room: the room, and every turn of its sessions."""


class _OfItem(msgspec.Struct, frozen=True):
    item_id: str


class MergedRun(msgspec.Struct, frozen=True):
    """What was put together."""

    parts: int
    items: int
    missing: int
    """Items that no part has an answer to."""


def merge_runs(parts: Sequence[Path], out: Path, *, overwrite: bool = False) -> MergedRun:
    """One run with the answers of all parts,
    refused where they are not parts of one run or contradict each other."""
    first, bench = open_run(parts[0])
    _refuse_other_rooms(parts)
    notes: dict[str, None] = {}
    rows: dict[str, AnswerRow] = {}
    origin: dict[str, Path] = {}
    hidden: dict[str, tuple[str, ...]] = {}
    for part in parts:
        info = read_json(part / "run.json", RunInfo)
        refuse_another(first, info, part)
        notes |= dict.fromkeys(info.notes)
        hidden |= read_hidden(part / "hidden.jsonl")
        for row in read_journal(part / "answers.jsonl").values():
            before = rows.get(row.item_id)
            if before is not None and before.state != "failed" and row.state != "failed":
                _refuse_contradiction(before, row, origin[row.item_id], part)
            if before is None or before.state == "failed":
                rows[row.item_id], origin[row.item_id] = row, part
    plan = plan_run(bench, first.split, first.limit)
    hidden |= _set_aside_now(plan, rows, hidden)
    ordered = [rows[item_id] for item_id in plan.item_ids if item_id in rows]
    with new_folder(out, marker="run.json", overwrite=overwrite) as scratch:
        scratch.chmod(0o700 if bench.info.restricted else 0o755)
        _write(scratch / "answers.jsonl", ordered)
        if hidden:
            _write(scratch / "hidden.jsonl", [HiddenRow(*entry) for entry in hidden.items()])
        if (parts[0] / _ROOM).is_file():
            write_atomic(scratch / _ROOM, (parts[0] / _ROOM).read_bytes())
            write_turns(scratch / _TURNS, parts, origin)
        merged = msgspec.structs.replace(first, notes=tuple(notes))
        write_run_info(scratch, merged, bench, out)
    done = sum(row.state != "failed" for row in ordered)
    return MergedRun(len(parts), len(plan.item_ids), len(plan.item_ids) - done)


def _set_aside_now(
    plan: Plan, rows: Mapping[str, AnswerRow], hidden: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Twins that are set aside once every item is done,
    as at the end of a run: no part can tell."""
    unseen = {item_id for item_id, reasons in hidden.items() if SET_ASIDE not in reasons}
    done = {item_id for item_id, row in rows.items() if row.state != "failed"} | unseen
    if not unseen or not done.issuperset(plan.item_ids):
        return {}
    return dict.fromkeys(set_aside(plan.items(lambda _: True), unseen), (SET_ASIDE,))


def _refuse_other_rooms(parts: Sequence[Path]) -> None:
    rooms = {part: read_text(part / _ROOM) if (part / _ROOM).is_file() else "" for part in parts}
    for part, room in rooms.items():
        if room != rooms[parts[0]]:
            problem = f"was not run in the same room as {parts[0]}"
            raise SitusError(problem, where=part, fix="give the parts of one run")


def write_turns(path: Path, parts: Sequence[Path], origin: dict[str, Path]) -> None:
    """The turns of every session from the part whose answer stands;
    of unfinished ones from the first that has any."""
    with path.open("wb") as stream:
        for part in parts:
            turns = part / _TURNS
            check_regular(turns)
            if not turns.is_file():
                continue
            with turns.open("rb") as lines:
                for number, line in enumerate(bounded_lines(lines, turns), start=1):
                    if not line.endswith(b"\n"):
                        continue  # cut off by a crash
                    item_id = _item_of(line, f"{turns}:{number}")
                    if origin.setdefault(item_id, part) == part:
                        stream.write(line)


def _item_of(line: bytes, where: str) -> str:
    try:
        return msgspec.json.decode(line, type=_OfItem).item_id
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        fix = "restore the file, or run the part again"
        raise SitusError(str(error), where=where, fix=fix) from error


def _refuse_contradiction(one: AnswerRow, other: AnswerRow, where: Path, part: Path) -> None:
    if (one.state, one.response) != (other.state, other.response):
        problem = f"answers item {one.item_id} differently from {where}"
        raise SitusError(problem, where=part, fix="give the parts of one run, each once")


def _write(path: Path, rows: Sequence[AnswerRow | HiddenRow]) -> None:
    with path.open("wb") as stream:
        for row in rows:
            stream.write(msgspec.json.encode(row) + b"\n")
