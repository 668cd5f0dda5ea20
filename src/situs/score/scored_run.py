"""A run folder with every answer judged: what comparisons, breakdowns and signatures start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from situs.bench import Bench, open_bench
from situs.items import Item
from situs.profiles import Profile
from situs.run import AnswerRow, RunInfo, Viewing, items_of, open_run, read_hidden, read_journal
from situs.score.outcomes import Outcome, Scored, judge

__all__ = ["JudgedRun", "judged_run"]


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One run in memory."""

    bench: Bench
    info: RunInfo | None
    """None for a file of answers by another tool."""
    profile: Profile | None
    items: list[Item]
    rows: Mapping[str, AnswerRow]
    hidden: Mapping[str, tuple[str, ...]]
    scored: list[Scored]


def judged_run(
    answers: Path,
    bench: Path | None = None,
    *,
    profile: Profile | None = None,
    outcomes: Mapping[str, Outcome] | None = None,
) -> JudgedRun:
    """Read a run folder (or a file of answers, then `bench` is needed) and judge every answer.

    `outcomes` are what was found already, a jury's word on free text included; they take the place of ours.
    """
    info, hidden = None, dict[str, tuple[str, ...]]()
    if answers.is_dir() or bench is None:
        info, opened = open_run(answers, bench)
        profile, hidden = info.profile, read_hidden(answers / "hidden.jsonl")
        rows = read_journal(answers / "answers.jsonl")
        items = list(items_of(opened, info))
    else:
        opened, rows = open_bench(bench), read_journal(answers)
        items = list(opened.items())
    shown, gives = Viewing(opened, profile), None if profile is None else profile.gives
    scored = []
    for item in items:
        row = judge(
            item, rows.get(item.item_id), gives, shown=shown, hidden=hidden.get(item.item_id, ())
        )
        known = (outcomes or {}).get(item.item_id)
        scored.append(row if known is None else msgspec.structs.replace(row, outcome=known))
    return JudgedRun(opened, info, profile, items, rows, hidden, scored)
