"""What a run will take, told before anything is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from situs.clients import Client, Forecast, Limits, Observed, Price, Spec, forecast, settings_for
from situs.errors import SitusError
from situs.profiles import NO_IMAGE
from situs.run.hidden import HiddenReasons
from situs.run.journal import AnswerRow, read_journal
from situs.run.plan import Plan
from situs.run.requests import Presents, requests_for

__all__ = ["forecast_run", "forecast_words", "refuse_if_all_hidden", "unanswered"]

_SAMPLE = 24
"""Questions that are prepared as they would be sent; the rest is reckoned from them."""


def forecast_run(
    plan: Plan,
    client: Client,
    spec: Spec,
    presenter: Presents,
    out: Path,
    *,
    limits: Limits,
    price: Price | None,
) -> Forecast:
    """Requests, pictures, tokens, money and time of what a run has not asked yet.

    Nothing is sent or written.
    """
    rows = read_journal(out / "answers.jsonl") if (out / "answers.jsonl").is_file() else {}
    left = unanswered(plan, rows)
    hidden = HiddenReasons()
    sampled = set(_evenly(left))
    requests = requests_for(
        plan.items(sampled.__contains__) if sampled else iter(()),
        presenter,
        settings_for(client, spec),
        hidden,
    )
    reckoned = forecast(spec, requests, len(left), limits, price, _observed(rows.values()))
    share = len(hidden.reasons) / len(sampled) if sampled else 0.0
    return msgspec.structs.replace(reckoned, hidden=round(share * len(left)))


def unanswered(plan: Plan, rows: Mapping[str, AnswerRow]) -> list[str]:
    """The items to ask that have no answer in these rows, in the order of the plan."""
    part = plan.part()
    done = {item_id for item_id, row in rows.items() if row.state != "failed"}
    return [item_id for item_id in plan.item_ids if item_id in part and item_id not in done]


def forecast_words(reckoned: Forecast) -> str:
    """In one line, before the first call that may cost something."""
    cost = (
        "price unknown (give it with --prices FILE)"
        if reckoned.cost is None
        else f"${reckoned.cost:.2f}"
    )
    hidden = f", {reckoned.hidden:,} of them hidden by the profile" if reckoned.hidden else ""
    return (
        f"asking {reckoned.requests:,} questions{hidden}, with {reckoned.pictures:,} pictures:"
        f" about {reckoned.tokens_in:,} + {reckoned.tokens_out:,} tokens, {cost}; Ctrl-C stops;"
        " --dry-run only estimates"
    )


def refuse_if_all_hidden(plan: Plan, presenter: Presents, profile: str) -> None:
    """Stop before anything is paid for if the profile shows nothing that a question needs."""
    sampled = set(_evenly(plan.item_ids))
    reasons: list[str] = []
    for item in plan.items(sampled.__contains__):
        obstacles = presenter.hidden(item) if item.series else ()
        if not obstacles:
            return
        reasons.extend(obstacles)
    if set(reasons) == {NO_IMAGE}:
        # A sample may miss the few studies that have one.
        first_of_study = set(dict(zip(plan.study_ids[::-1], plan.item_ids[::-1])).values())
        asked = plan.items(first_of_study.__contains__)
        if any(not item.series or NO_IMAGE not in presenter.hidden(item) for item in asked):
            return
        fix = "put each image beside its labels and build again (boxes, reports: --images FOLDER)"
        raise SitusError(
            "no study that is asked about has an image to show",
            where=plan.bench.folder,
            fix=f"{fix}, or raise --limit where it leaves out those that have one",
        )
    raise SitusError(
        f"the profile {profile} hides what the questions need, in all {len(sampled)} that were"
        f" tried ({max(set(reasons), key=reasons.count)})",
        where="--profile",
        fix="choose another (situs list profiles), or ask others with --split",
    )


def _evenly(item_ids: Sequence[str]) -> Iterator[str]:
    """At most a sample's worth of ids, from all over the list."""
    count = min(_SAMPLE, len(item_ids))
    return (item_ids[number * len(item_ids) // count] for number in range(count))


def _observed(rows: Iterable[AnswerRow]) -> Observed:
    """What the answered calls took; those from the cache cost nothing."""
    calls = [row for row in rows if row.state == "answered" and not row.cached and row.usage]
    return Observed(
        len(calls),
        sum(row.usage.get("prompt_tokens", 0) for row in calls),
        sum(row.usage.get("completion_tokens", 0) for row in calls),
        sum(row.seconds or 0.0 for row in calls),
    )
