"""What a run in a room may take, told before anything is sent."""

from __future__ import annotations

from pathlib import Path

from situs.clients import Client, Forecast, Limits, Price, Spec, settings_for
from situs.room.looked import looked_in
from situs.room.schema import Room
from situs.run import Presents, read_journal
from situs.run.forecast import unanswered
from situs.run.plan import Plan

__all__ = ["forecast_sessions"]

_OPENING_TOKENS = 700
"""Of the first message: inventory, actions, question."""
_TURN_TOKENS = 120
"""Of a reply and the words about its picture."""
_PIXELS_PER_TOKEN = 28 * 28
"""Of a Qwen-like model; most open models spend as much or less."""


def forecast_sessions(
    plan: Plan,
    client: Client,
    spec: Spec,
    presenter: Presents,
    out: Path,
    *,
    room: Room,
    limits: Limits,
    price: Price | None,
) -> Forecast:
    """At most so much, as every session may use all of its looks;
    or as those that have ended did."""
    rows = read_journal(out / "answers.jsonl") if (out / "answers.jsonl").is_file() else {}
    left = len(unanswered(plan, rows))
    ended = list(looked_in(out).values())
    looks = float(min(room.budget.looks, room.budget.turns - 1))
    basis = f"every session using all {looks:.0f} looks of the room"
    if ended:
        looks = sum(one.looks for one in ended) / len(ended)
        basis = f"the {looks:.1f} looks of the {len(ended)} sessions that have ended"
    turns = looks + 1
    pictures_resent = looks if room.pictures_kept is None else min(looks, room.pictures_kept)
    picture = room.size_px**2 / _PIXELS_PER_TOKEN
    # The conversation is sent anew each turn, so its pictures are paid for again and again.
    tokens_in = (
        left
        * turns
        * (_OPENING_TOKENS + 0.5 * looks * _TURN_TOKENS + 0.5 * pictures_resent * picture)
    )
    tokens_out = left * turns * _TURN_TOKENS / 2
    longest = left * turns * settings_for(client, spec).max_tokens
    seconds = None
    if limits.requests_per_minute:
        seconds = 60.0 * left * turns / limits.requests_per_minute
    return Forecast(
        requests=round(left * turns),
        pictures=round(left * looks),
        tokens_in=round(tokens_in),
        tokens_out=round(tokens_out),
        cost=None if price is None else price.of(tokens_in, tokens_out),
        cost_at_most=None if price is None else price.of(tokens_in, longest),
        seconds=seconds,
        basis=basis,
    )
