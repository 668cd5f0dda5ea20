"""`situs run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.cli.options.asking import ask_options, asking_from
from situs.cli.output.forecast import dry_run_option, print_forecast
from situs.cli.output.printing import (
    json_option,
    out_option,
    print_json,
    print_table,
    progress_bar,
    warn,
)
from situs.cli.output.progress import run_progress

if TYPE_CHECKING:
    from situs.run import RunResult


@click.command("run")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option(
    "--model",
    required=True,
    metavar="SPEC",
    help="openai:MODEL@URL, hf:FOLDER, plugin:MODULE:OBJECT, or a baseline; settings as ?temperature=0&seed=1.",
)
@click.option(
    "--profile",
    default="default",
    show_default=True,
    help="What a model sees: a name or a TOML file.",
)
@out_option("the run (a folder; an unfinished run resumes)")
@click.option("--split", help="Only this split: train, val or test.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N items.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The folder the volumes are in, if they were moved.",
)
@click.option(
    "--skip-hidden",
    is_flag=True,
    help="Do not ask what the profile hides; it is scored apart anyway.",
)
@click.option(
    "--batch",
    is_flag=True,
    help="Hand the questions over as batch jobs (openai: only): half the price, within a day.",
)
@dry_run_option
@ask_options
@json_option
def command(
    bench: Path,
    model: str,
    profile: str,
    out: Path,
    split: str | None,
    limit: int | None,
    data: Path | None,
    skip_hidden: bool,
    batch: bool,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask a model or baseline the questions of BENCH. If interrupted, the same command resumes.

    An API key is read from OPENAI_API_KEY, or from the variable named by ?key_env=NAME. Exit code 1: the run stopped
    early (the server is down, or the budget is used up); 130: interrupted.
    """
    from situs.bench import open_bench
    from situs.profiles import Presenter, SliceStore, load_profile
    from situs.run import respondent_of

    respondent = respondent_of(
        model,
        asking_from(options),
        where="--model",
        batch=batch,
        run_progress=run_progress,
        item_progress=progress_bar,
        say=warn,
    )
    chosen, opened = load_profile(profile), open_bench(bench)
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
    said = [f"{result.requests:,} asked now in {result.seconds:.1f} s"]
    if result.cached:
        said.append(f"{result.cached:,} from the cache")
    if any(result.tokens.values()):
        said.append(f"{result.tokens['prompt']:,} + {result.tokens['completion']:,} tokens")
        said.append("cost unknown" if result.cost is None else f"${result.cost:.2f}")
    notes = [*result.notes]
    if result.hidden:
        notes.append(
            f"{result.hidden:,} items cannot be answered under this profile (hidden.jsonl); they are scored apart."
        )
    if result.cut:
        notes.append(
            f"{result.cut:,} answers were cut off at max_tokens: give a larger one, as ?max_tokens=4096."
        )
    if result.states.get("failed"):
        notes.append("Failed calls are asked again when the same command is given again.")
    print_table(
        f"{out}: {result.items:,} items, {', '.join(said)}",
        ["state", "items"],
        rows,
        "\n".join(notes),
    )


def _end(result: RunResult) -> None:
    if result.interrupted:
        warn(f"interrupted; {result.unasked:,} items are left: the same command resumes")
        sys.exit(130)
    if result.stopped:
        warn(
            f"stopped early: {result.stopped}; {result.unasked:,} items are left: the same command resumes with them"
        )
        sys.exit(1)
    if result.states.get("failed") and len(result.states) == 1:
        warn("every call failed and nothing was answered; answers.jsonl says why")
        sys.exit(1)
