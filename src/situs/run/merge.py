"""Runs of parts put together: the answers of all, each once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from situs.base.files import read_json
from situs.base.publish import new_folder
from situs.errors import SitusError
from situs.run.folder import RunInfo, open_run, refuse_another, write_run_info
from situs.run.hidden import HiddenRow, read_hidden
from situs.run.journal import AnswerRow, read_journal
from situs.run.plan import plan_run

__all__ = ["MergedRun", "merge_runs"]


class MergedRun(msgspec.Struct, frozen=True):
    """What was put together."""

    parts: int
    items: int
    missing: int
    """Items that no part has an answer to."""


def merge_runs(parts: Sequence[Path], out: Path, *, overwrite: bool = False) -> MergedRun:
    """One run with the answers of all parts, refused where they are not parts of one run or contradict each other."""
    first, bench = open_run(parts[0])
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
    ordered = [rows[item_id] for item_id in plan.item_ids if item_id in rows]
    with new_folder(out, marker="run.json", overwrite=overwrite) as scratch:
        scratch.chmod(0o700 if bench.info.restricted else 0o755)
        _write(scratch / "answers.jsonl", ordered)
        if hidden:
            _write(scratch / "hidden.jsonl", [HiddenRow(*entry) for entry in hidden.items()])
        merged = msgspec.structs.replace(first, notes=tuple(notes))
        write_run_info(scratch, merged, bench, out)
    done = sum(row.state != "failed" for row in ordered)
    return MergedRun(len(parts), len(plan.item_ids), len(plan.item_ids) - done)


def _refuse_contradiction(one: AnswerRow, other: AnswerRow, where: Path, part: Path) -> None:
    if (one.state, one.response) != (other.state, other.response):
        problem = f"answers item {one.item_id} otherwise than {where}"
        raise SitusError(problem, where=part, fix="give the parts of one run, each once")


def _write(path: Path, rows: Sequence[AnswerRow | HiddenRow]) -> None:
    with path.open("wb") as stream:
        for row in rows:
            stream.write(msgspec.json.encode(row) + b"\n")
