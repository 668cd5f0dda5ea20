"""`situs run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.base.text import counted
from situs.cli.options.asking import ask_options, asking_from
from situs.cli.options.rooms import room_from, room_options
from situs.cli.output.events import events_options
from situs.cli.output.forecast import dry_run_option, print_forecast
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import (
    json_option,
    print_json,
    print_table,
    warn,
)
from situs.cli.output.progress import progress_bar, run_progress

if TYPE_CHECKING:
    from situs.run import RunResult


@click.command("run")
@click.argument("bench", type=INPUT)
@click.option(
    "--model",
    required=True,
    metavar="SPEC",
    help=(
        "openai:MODEL@URL, anthropic:MODEL, gemini:MODEL, hf:FOLDER, plugin:MODULE:OBJECT,"
        " replay:FILE or a baseline (situs list models); settings as ?temperature=0&seed=1."
    ),
)
@click.option(
    "--profile",
    help="What a model sees: a name or a TOML file. [default: default]",
)
@out_option("the run (a folder; an unfinished run resumes)", resumes=True)
@click.option("--split", help="Only this split: train, val or test.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N items.")
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
@click.option(
    "--skip-hidden",
    is_flag=True,
    help="Do not ask what the profile hides; such questions are scored separately anyway.",
)
@click.option(
    "--shard",
    metavar="I/N",
    help=(
        "Ask only part I of N of the questions, never splitting a study; `situs merge` combines the"
        " parts."
    ),
)
@click.option(
    "--batch",
    is_flag=True,
    help="Submit the questions as batch jobs (openai: only): half the price, answers within a day.",
)
@dry_run_option
@events_options
@room_options
@ask_options
@json_option
def command(
    bench: Path,
    model: str,
    profile: str | None,
    out: Path,
    split: str | None,
    limit: int | None,
    data: Path | None,
    skip_hidden: bool,
    shard: str | None,
    batch: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask a model or baseline the questions of BENCH. If interrupted, the same command resumes.

    An API key is read from OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or from the
    variable named by ?key_env=NAME. Exit code 1: the run stopped early (the server is down, or the
    budget is used up); 130: interrupted.

    With --room the model asks for its pictures, one action per turn, and every look is recorded in
    turns.jsonl; the scripted readers driller, random-looker and peeker serve as baselines. situs
    score shows what it saw.

    \b
    situs run BENCH --model openai:qwen3-vl@http://localhost:8000/v1 --room frugal --out runs/frugal
    situs run BENCH --model driller --room frugal --out runs/driller
    """
    import msgspec

    from situs.base.shard import Shard
    from situs.bench import open_bench
    from situs.errors import SitusError
    from situs.profiles import Presenter, SliceStore, load_profile
    from situs.run import respondent_of

    room, ways = room_from(options)
    if room is not None and profile is not None:
        raise SitusError(
            "a room brings its own profile", where="--profile", fix="drop --profile or --room"
        )
    respondent = respondent_of(
        model,
        asking_from(options),
        where="--model",
        ways=msgspec.structs.replace(
            ways, batch=batch, shard=Shard.parse(shard) if shard else None
        ),
        run_progress=run_progress,
        item_progress=progress_bar,
        say=warn,
    )
    chosen = load_profile(profile or "default") if room is None else room.profile()
    opened = open_bench(bench)
    presenter = Presenter(opened, chosen, store=SliceStore(), data=data)
    try:
        if dry_run:
            print_forecast(
                respondent.forecast(opened, presenter, out, split=split, limit=limit), as_json
            )
            return
        result = respondent(
            opened, presenter, chosen, out, split=split, limit=limit, skip_hidden=skip_hidden
        )
    finally:
        respondent.close()
    if as_json:
        print_json(result)
    else:
        _print(out, result)
    _end(result)


def _print(out: Path, result: RunResult) -> None:
    rows = [[state, f"{count:,}"] for state, count in result.states.items()]
    if result.unasked:
        rows.append(["not asked", f"{result.unasked:,}"])
    summary = [f"{counted(result.requests, 'call')} in {result.seconds:.1f} s"]
    turns, looks = getattr(result, "turns", 0), getattr(result, "looks", 0)
    if turns:
        summary.append(f"{turns:,} turns and {looks:,} looks in all")
    if result.cached:
        summary.append(f"{result.cached:,} from the cache")
    if any(result.tokens.values()):
        summary.append(f"{result.tokens['prompt']:,} + {result.tokens['completion']:,} tokens")
        summary.append("cost unknown" if result.cost is None else f"${result.cost:.2f}")
    notes = [*result.notes]
    ends = getattr(result, "ends", {})
    if ends.keys() - {"answered"}:
        end_counts = ", ".join(f"{count:,} {end.replace('_', ' ')}" for end, count in ends.items())
        notes.append(f"Sessions ended: {end_counts}. A session without an answer counts as unread.")
    if result.hidden:
        notes.append(
            f"{counted(result.hidden, 'item')} cannot be answered under this profile"
            " (hidden.jsonl):"
            " scored separately."
        )
    if result.cut:
        notes.append(
            f"{counted(result.cut, 'answer')} cut off at max_tokens: raise it, e.g."
            " ?max_tokens=4096."
        )
    if result.only_thought:
        notes.append(
            f"{counted(result.only_thought, 'reply', 'replies')} with thoughts and no answer:"
            " raise max_tokens, e.g."
            " ?max_tokens=8000, or ask for less thinking, e.g. ?reasoning_effort=low."
        )
    if result.states.get("failed"):
        why = f"{result.trouble}\n" if result.trouble else ""
        notes.append(f"{why}The same command asks again what failed.")
    print_table(
        f"{out}: {counted(result.items, 'item')}, {', '.join(summary)}",
        ["state", "items"],
        rows,
        "\n".join(notes),
    )


def _end(result: RunResult) -> None:
    if result.interrupted:
        warn(f"interrupted; {counted(result.unasked, 'item')} left; the same command resumes")
        sys.exit(130)
    if result.stopped:
        warn(
            f"stopped early: {result.stopped}; {counted(result.unasked, 'item')} left; the same"
            " command"
            " resumes"
        )
        sys.exit(1)
    if result.states.get("failed") and len(result.states) == 1:
        why = result.trouble or "answers.jsonl says why"
        warn(f"every call failed and nothing was answered: {why}")
        sys.exit(1)
