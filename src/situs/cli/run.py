"""`situs run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.cli._ask_options import AskOptions, ask_options
from situs.cli._output import json_option, out_option, print_json, print_table, progress_bar, warn
from situs.cli._progress import run_progress

if TYPE_CHECKING:
    from situs.bench import Bench
    from situs.clients import Spec
    from situs.profiles import Profile
    from situs.run import RunResult


@click.command("run")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option(
    "--model",
    required=True,
    metavar="SPEC",
    help="openai:MODEL@URL, hf:FOLDER, plugin:MODULE:OBJECT, or a baseline; settings as ?temperature=0&seed=1.",
)
@click.option("--profile", default="default", show_default=True, help="What a model sees: a name or a TOML file.")
@out_option("the run (a folder; an unfinished run goes on)")
@click.option("--split", help="Only this split: train, val or test.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N items.")
@click.option("--data", type=click.Path(path_type=Path), help="The folder the volumes are in, if they were moved.")
@click.option("--skip-hidden", is_flag=True, help="Do not ask what the profile hides; it is scored apart anyway.")
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
    as_json: bool,
    **options: Any,
) -> None:
    """Put the questions of BENCH to a model or baseline. Interrupted, the same command goes on where it stopped.

    An API key is read from OPENAI_API_KEY, or from the variable named by ?key_env=NAME. Exit code 1: the run stopped
    early (the server is down, or the budget is used up); 130: interrupted.
    """
    from situs.bench import open_bench
    from situs.clients import CLIENTS, parse_spec
    from situs.errors import SitusError, did_you_mean
    from situs.profiles import load_profile
    from situs.run import BASELINES, run_baseline

    spec, chosen, opened = parse_spec(model), load_profile(profile), open_bench(bench)
    if spec.kind not in {*BASELINES, *CLIENTS}:
        known = did_you_mean(spec.kind, [*BASELINES, *CLIENTS])
        raise SitusError(f"unknown model {spec.kind!r}", where="--model", fix=known)
    if spec.kind in BASELINES:
        with progress_bar(model) as progress:
            result = run_baseline(opened, spec, chosen, out, split=split, limit=limit, progress=progress)
    else:
        result = _ask(spec, opened, chosen, out, split, limit, data, skip_hidden, AskOptions(**options))
    if as_json:
        print_json(result)
    else:
        _print(out, result)
    _end(result)


def _ask(
    spec: Spec,
    bench: Bench,
    profile: Profile,
    out: Path,
    split: str | None,
    limit: int | None,
    data: Path | None,
    skip_hidden: bool,
    options: AskOptions,
) -> RunResult:
    from situs.profiles import Presenter, SliceStore
    from situs.run import run_client

    client = options.client(spec)
    price = options.price(spec, client)
    cache = options.cache(warn)
    try:
        with run_progress(spec.name) as progress:
            return run_client(
                bench,
                client,
                spec,
                Presenter(bench, profile, store=SliceStore(), data=data),
                profile,
                out,
                split=split,
                limit=limit,
                limits=options.limits(client),
                cache=cache,
                price=price,
                allow_remote=options.allow_remote,
                skip_hidden=skip_hidden,
                progress=progress,
                say=warn,
            )
    finally:
        if cache is not None:
            cache.close()


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
        notes.append(f"{result.cut:,} answers were cut off at max_tokens: give a larger one, as ?max_tokens=4096.")
    if result.states.get("failed"):
        notes.append("Failed calls are asked again when the same command is given again.")
    print_table(f"{out}: {result.items:,} items, {', '.join(said)}", ["state", "items"], rows, "\n".join(notes))


def _end(result: RunResult) -> None:
    if result.interrupted:
        warn(f"interrupted; {result.unasked:,} items are left: the same command goes on where it stopped")
        sys.exit(130)
    if result.stopped:
        warn(f"stopped early: {result.stopped}; {result.unasked:,} items are left: the same command goes on with them")
        sys.exit(1)
    if result.states.get("failed") and len(result.states) == 1:
        warn("every call failed and nothing was answered; answers.jsonl says why")
        sys.exit(1)
