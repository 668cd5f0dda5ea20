"""Whether an adapter hands on what a profile shows:
left and right, front and back, up and down, order of slices."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from situs.bench import Bench, open_bench
from situs.clients import Client, Limits, Spec, Tally
from situs.errors import SitusError
from situs.items import Choice, Item
from situs.probe.ball_phantoms import ABILITIES, write_ball_bench
from situs.profiles import Presenter, Profile
from situs.run import read_hidden, read_journal, run_client
from situs.score import Parsed, binomial_interval_999, parse_choice

__all__ = ["Ability", "AdapterReport", "check_adapter"]


_SEES_OFTEN = 0.8
_RARE = 0.05


class Ability(msgspec.Struct, frozen=True):
    """What was found of one ability."""

    ability: str
    right: int
    wrong: int
    unread: int
    """Replies that name no option, refusals and failed calls."""
    chance: tuple[int, int]
    """How many of the answers that were read a coin gets right,
    99.9 times in 100 (exact, two-sided)."""
    verdict: str
    """`sees`, `reversed` (wrong more often than chance), `does not see`, `cannot be told`, or `not
    given`.

    `does not see` needs proof, too: so few right answers are rare (5 %) in a reader who sees in
    four of five trials, and so few wrong ones in a reader for whom all is reversed. Between the two
    it cannot be told.
    """


class AdapterReport(msgspec.Struct, frozen=True):
    """All abilities; `passed` if every one that the profile gives is seen."""

    model: str
    profile: str
    abilities: list[Ability]
    passed: bool


def check_adapter(
    client: Client,
    spec: Spec,
    profile: Profile,
    *,
    trials: int = 20,
    seed: int = 0,
    limits: Limits,
    progress: Callable[[Tally, int, int], None] = lambda tally, before, total: None,
    say: Callable[[str], None] = lambda text: None,
) -> AdapterReport:
    """Put bright-ball phantoms through the profile and the adapter,
    and count what it gets right."""
    with tempfile.TemporaryDirectory() as scratch:
        write_ball_bench(Path(scratch) / "bench", trials, seed)
        bench, run = open_bench(Path(scratch) / "bench"), Path(scratch) / "run"
        presenter = Presenter(bench, profile)
        result = run_client(
            bench, client, spec, presenter, profile, run, limits=limits, progress=progress, say=say
        )
        if result.stopped:
            raise SitusError(
                f"the check did not finish: {result.stopped}", where=client.name, fix="try again"
            )
        abilities = _judged(bench, run)
    tested = [ability for ability in abilities if ability.verdict != "not given"]
    return AdapterReport(
        client.name,
        profile.name,
        abilities,
        bool(tested) and all(a.verdict == "sees" for a in tested),
    )


def _judged(bench: Bench, run: Path) -> list[Ability]:
    rows, hidden = read_journal(run / "answers.jsonl"), read_hidden(run / "hidden.jsonl")
    counts = {ability: [0, 0, 0] for ability in ABILITIES}
    not_given = set()
    for item in bench.items():
        if item.item_id in hidden:
            not_given.add(item.task)
        row = rows[item.item_id]
        counts[item.task][_outcome(item, row.response) if row.state == "answered" else 2] += 1
    return [
        _ability(name, *ability_counts, given=name not in not_given)
        for name, ability_counts in counts.items()
    ]


def _outcome(item: Item, response: str) -> int:
    """0 right, 1 wrong, 2 unread."""
    reply = parse_choice(response, item.options)
    if not isinstance(reply, Parsed) or not isinstance(item.answer, Choice):
        return 2
    return 0 if reply.value == item.answer.value else 1


def _ability(name: str, right: int, wrong: int, unread: int, *, given: bool) -> Ability:
    read = right + wrong
    low, high = binomial_interval_999(read, 0.5) if read else (0, 0)
    if not given:
        verdict = "not given"
    elif right > high:
        verdict = "sees"
    elif right < low:
        verdict = "reversed"
    elif _rare_if_seen(right, read) and _rare_if_seen(wrong, read):
        verdict = "does not see"
    else:
        verdict = "cannot be told"
    return Ability(name, right, wrong, unread, (low, high), verdict)


def _rare_if_seen(hits: int, trials: int) -> bool:
    """Whether at most so many hits are rare for a reader
    who hits in four of five trials (exact binomial tail)."""
    tail = sum(
        math.comb(trials, k) * _SEES_OFTEN**k * (1 - _SEES_OFTEN) ** (trials - k)
        for k in range(hits + 1)
    )
    return trials > 0 and tail < _RARE
