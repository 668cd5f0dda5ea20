"""One run: a client or baseline × profile × bench, resumable at any moment."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import canonical_json, write_atomic
from situs.base.shard import Shard
from situs.bench import Bench
from situs.clients import (
    Asked,
    Client,
    Reply,
    Request,
    Settings,
    Spec,
    Terms,
    ask,
    check_may_ask,
    settings_for,
)
from situs.profiles import Profile
from situs.run.balance import set_aside
from situs.run.baselines.catalogue import make_baseline
from situs.run.batches import BatchJobs, batch_price, in_batches, refuse_beside_batches
from situs.run.folder import Conditions, Covered, FolderBefore, RunInfo, add_notes, start_run
from situs.run.forecast import forecast_run, forecast_words, refuse_if_all_hidden
from situs.run.hidden import SET_ASIDE, HiddenItems
from situs.run.journal import AnswerRow, Journal
from situs.run.options import RunOptions
from situs.run.plan import Plan, plan_run
from situs.run.replay import Replay, recorded_replay
from situs.run.requests import Presents, requests_for
from situs.run.result import RunResult, result_of

__all__ = ["begin_asking", "run_baseline", "run_client"]


def run_baseline(
    bench: Bench,
    spec: Spec,
    profile: Profile,
    out: Path,
    *,
    split: str | None = None,
    limit: int | None = None,
    shard: Shard | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> RunResult:
    """Answer every item that has no answer yet, or those of one part."""
    baseline = make_baseline(bench, spec, profile)
    delay = _delay(spec)
    plan = plan_run(bench, split, limit, shard)
    if not (out / "answers.jsonl").exists():
        plan.read_through()
    client = recorded_replay(spec) if spec.kind == "replay" else None
    before = FolderBefore(out)
    start_run(out, bench, spec, profile, Covered(split, limit), Conditions(client=client or ""))
    begin = time.monotonic()
    asked = 0
    with before.unless_it_ends(paid=False), Journal(out / "answers.jsonl") as journal:
        done = sum(map(journal.is_done, plan.item_ids))
        part = plan.part()
        for item in plan.items(lambda id_: id_ in part and not journal.is_done(id_)):
            if delay > 0:
                time.sleep(delay)
            answer = baseline.answer(item)
            row = AnswerRow(item.item_id, "answered", answer or "", {}, 0.0)
            journal.add(
                row
                if answer is not None
                else AnswerRow(item.item_id, "failed", error="no answer given")
            )
            asked += 1
            progress(done + asked, len(plan.item_ids))
        states = Counter(journal.states[id_] for id_ in plan.item_ids if id_ in journal.states)
    notes: tuple[str, ...] = ()
    if isinstance(baseline, Replay):
        notes = tuple(baseline.joined.notes())
        write_atomic(
            out / "joined.json",
            msgspec.json.format(canonical_json(baseline.joined), indent=1) + b"\n",
        )
    seconds = time.monotonic() - begin
    return RunResult(
        len(plan.item_ids), dict(sorted(states.items())), asked, seconds, 0.0, notes=notes
    )


def begin_asking(
    bench: Bench,
    client: Client,
    spec: Spec,
    profile: Profile,
    out: Path,
    options: RunOptions,
    *,
    refuse: Callable[[Plan], None] = lambda plan: None,
    room: tuple[str, str, str] = ("", "", ""),
) -> tuple[Plan, Settings, RunInfo]:
    """What every way of asking a model begins with: may it be asked, what is it asked, and the
    run's folder.

    `refuse` looks at the items of a new run before anything is written; `room` as in `Conditions`.
    """
    terms = Terms(bench.info.restricted, options.allow_remote, options.limits, options.price)
    check_may_ask(client, terms)
    plan = plan_run(bench, options.split, options.limit, options.shard)
    if not (out / "answers.jsonl").exists():
        plan.read_through()
        refuse(plan)
    settings = settings_for(client, spec)
    info = start_run(
        out,
        bench,
        spec,
        profile,
        Covered(options.split, options.limit),
        Conditions(
            client=client.name,
            sampling=settings,
            versions=dict(client.versions),
            withheld=options.withhold,
            room=room,
            price=batch_price(options.price) if options.batch else options.price,
        ),
    )
    return plan, settings, info


def run_client(
    bench: Bench,
    client: Client,
    spec: Spec,
    presenter: Presents,
    profile: Profile,
    out: Path,
    **given: Any,
) -> RunResult:
    """Ask a model every item that has no answer yet; failed calls of an earlier session are asked
    again.

    `given` are fields of `RunOptions`.
    """
    options = RunOptions(**given)
    if not options.batch:
        refuse_beside_batches(out)
    folder = FolderBefore(out)

    def look_ahead(plan: Plan) -> None:
        """Before anything is written or paid for:
        can the questions be answered, and what will they take?"""
        refuse_if_all_hidden(plan, presenter, profile.name)
        if client.remote and not options.withhold:
            reckoned = forecast_run(
                plan, client, spec, presenter, out, limits=options.limits, price=options.price
            )
            if options.batch:
                reckoned = in_batches(reckoned, client)
            options.say(forecast_words(reckoned))

    plan, settings, info = begin_asking(
        bench,
        client,
        spec,
        profile,
        out,
        options,
        refuse=look_ahead,
    )
    skip_hidden, limits, price = options.skip_hidden, options.limits, options.price
    with (
        folder.unless_it_ends(paid=True),
        Journal(out / "answers.jsonl") as journal,
        HiddenItems(out / "hidden.jsonl") as hidden,
    ):
        left = {item_id for item_id in plan.part() if not journal.is_done(item_id)}
        if skip_hidden:
            left -= hidden.reasons.keys()
        before = len(plan.item_ids) - len(left)

        def record(request: Request, reply: Reply, seconds: float) -> None:
            journal.add(
                AnswerRow(
                    request.key,
                    reply.state,
                    reply.text,
                    reply.usage,
                    round(seconds, 3),
                    reply.error,
                    reply.finish_reason,
                    reply.cached,
                    reply.thinking,
                )
            )

        def requests(wanted: set[str]) -> Iterator[Request]:
            return requests_for(
                plan.items(wanted.__contains__) if wanted else iter(()),
                presenter,
                settings,
                hidden,
                volume=client.takes_volume,
                withhold=bool(options.withhold),
                skip_hidden=skip_hidden,
            )

        def ask_at_once(wanted: Iterable[Request]) -> Asked:
            return ask(
                client,
                wanted,
                record,
                Terms(bench.info.restricted, options.allow_remote, limits, price, journal.spent),
                cache=options.cache,
                progress=lambda tally: options.progress(tally, before, len(plan.item_ids)),
                say=options.say,
            )

        if options.batch:
            jobs = BatchJobs(
                client, record, journal.is_done, limits, price, lambda: journal.spent, options.cache
            )
            asked = jobs.ask(
                left,
                requests,
                ask_at_once,
                out,
                progress=lambda tally: options.progress(tally, before, len(plan.item_ids)),
                say=options.say,
            )
        else:
            asked = ask_at_once(requests(left))
        info = add_notes(out, info, (*_notes(plan), *asked.notices))
        unseen = {
            item_id for item_id, reasons in hidden.reasons.items() if SET_ASIDE not in reasons
        }
        if unseen and all(journal.is_done(id_) or id_ in unseen for id_ in plan.item_ids):
            for item_id in set_aside(plan.items(lambda _: True), unseen):
                hidden.add(item_id, (SET_ASIDE,))
        return result_of(plan, journal, asked, unseen, info.notes)


def _notes(plan: Plan) -> tuple[str, ...]:
    if not plan.without_scan:
        return ()
    return (
        (
            f"{plan.without_scan:,} of {len(plan.item_ids):,} items have no scan and were asked as"
            " text only"
        ),
    )


def _delay(spec: Spec) -> float:
    """Seconds to wait before each answer, for trying out interruptions."""
    return spec.number("delay", 0.0, 3600.0) or 0.0
