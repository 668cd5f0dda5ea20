"""What authoring would ask: calls, tokens and money at most,
from the shapes and studies of a bench."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec

from situs.agents.author import critic_role, librarian_role, panel_role, planner_role, writer_role
from situs.agents.author.librarian import LIBRARIAN_TURNS
from situs.agents.author.planner import PLANNER_TURNS
from situs.bench import open_bench
from situs.build.authoring.roles import AuthorRoles
from situs.build.authoring.studies import AuthorJob, open_author
from situs.items.programs import program_of, shape_of
from situs.judges import Asker, Role

__all__ = ["forecast"]

_CHARACTERS_PER_TOKEN = 4.0
_SHOWN_CHARACTERS = 600
_ANSWER_TOKENS = 150
_ROUNDS = 3
_PILOT = 3
"""Studies that are measured to learn how much there is to ask."""


def forecast(
    folder: Path,
    roles: AuthorRoles,
    *,
    data: Path | None = None,
    seed: int = 0,
    per_study: int | None = None,
) -> dict[str, Any]:
    """An estimate on the safe side, from a pilot of a few studies:
    every turn is taken, every text vetted."""
    bench = open_bench(folder)
    worker = open_author(folder, data)
    pilot = list(itertools.islice(bench.studies(), _PILOT))
    texts: set[tuple[str, int]] = set()
    shapes: set[str] = set()
    for study in pilot:
        for candidate in worker(AuthorJob(study, seed, per_study)).candidates:
            program = program_of(candidate.item)
            if program is not None:
                texts.add((str(program), min(4, len(candidate.item.options) or 2)))
                shapes.add(str(shape_of(program)))
    scale = bench.info.counts["studies"] / max(1, len(pilot))
    cells = len(shapes)
    calls: list[tuple[Asker, Role, int]] = []
    if roles.planner is not None:
        calls.append((roles.planner, planner_role(), PLANNER_TURNS * bench.info.counts["studies"]))
    if roles.librarian is not None:
        calls.append((roles.librarian, librarian_role(), LIBRARIAN_TURNS * cells))
    if roles.writer is not None:
        calls.append((roles.writer, writer_role(False), _ROUNDS * len(shapes)))
    for n, critic in enumerate(roles.critics):
        calls.append((critic, critic_role(n), round(1.2 * scale * len(texts))))
    for member in roles.panel:
        calls.append((member, panel_role(), round(scale * sum(options for _, options in texts))))
    total = {"requests": 0, "tokens_in": 0, "tokens_out": 0}
    cost: float | None = 0.0
    for asker, role, subjects in calls:
        requests = subjects  # every turn is asked alone
        words = len(role.instructions) + len(msgspec.json.encode(role.schema))
        tokens_in = round((requests * words + subjects * _SHOWN_CHARACTERS) / _CHARACTERS_PER_TOKEN)
        tokens_out = subjects * _ANSWER_TOKENS
        total["requests"] += requests
        total["tokens_in"] += tokens_in
        total["tokens_out"] += tokens_out
        price = None if asker.price is None else asker.price.of(tokens_in, tokens_out, 0, 0)
        cost = None if cost is None or price is None else cost + price
    basis = (
        f"a pilot of {len(pilot)} studies with {len(shapes)} shapes and {len(texts)} questions; "
        "every turn taken"
    )
    return {**total, "pictures": 0, "cost": cost, "seconds": None, "basis": basis}
