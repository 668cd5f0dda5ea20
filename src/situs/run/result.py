"""What one call of a run did."""

from __future__ import annotations

from collections import Counter

import msgspec

from situs.clients import Asked
from situs.run.journal import Journal
from situs.run.plan import Plan

__all__ = ["RunResult", "result_of"]


class RunResult(msgspec.Struct, frozen=True):
    """Items and states are the whole run's; the rest is this call's."""

    items: int
    states: dict[str, int]
    requests: int
    """Calls that went to the model, repeated ones included."""
    seconds: float
    cost: float | None
    """Dollars; None if the price is not known."""
    tokens: dict[str, int] = {}
    cached: int = 0
    """Answers that came from the response cache."""
    cut: int = 0
    """Answers that ended at `max_tokens`."""
    only_thought: int = 0
    """Answers that hold nothing but thoughts."""
    trouble: str = ""
    """The commonest error of the calls that failed, in the server's words, with its cure."""
    hidden: int = 0
    """Items the profile does not let anyone answer."""
    unasked: int = 0
    stopped: str = ""
    """Why the rest was not asked."""
    interrupted: bool = False
    notes: tuple[str, ...] = ()


def result_of(
    plan: Plan, journal: Journal, asked: Asked, hidden: set[str], notes: tuple[str, ...]
) -> RunResult:
    """Count the run's items as they stand now."""
    states = Counter(journal.states[item] for item in plan.item_ids if item in journal.states)
    tally = asked.tally
    return RunResult(
        items=len(plan.item_ids),
        states=dict(sorted(states.items())),
        requests=tally.requests,
        seconds=tally.seconds,
        cost=tally.cost,
        tokens={"prompt": int(tally.prompt_tokens), "completion": int(tally.completion_tokens)},
        cached=tally.cached,
        cut=tally.cut,
        only_thought=tally.only_thought,
        trouble=tally.trouble,
        hidden=sum(item in hidden for item in plan.item_ids),
        unasked=len(plan.item_ids) - sum(states.values()),
        stopped=asked.stopped,
        interrupted=asked.interrupted,
        notes=notes,
    )
