"""`situs run`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli._output import json_option, out_option, print_json, print_table, progress_bar, warn


@click.command("run")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option(
    "--model", required=True, help="oracle, random, majority, prior, nearest or replay:FILE; settings as ?seed=1."
)
@click.option("--profile", default="default", show_default=True, help="What a model sees: a name or a TOML file.")
@out_option("the run (a folder; an unfinished run goes on)")
@click.option("--split", help="Only this split: train, val or test.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N items.")
@click.option("--concurrency", type=click.IntRange(1), default=1, help="Calls at once; baselines need one.")
@json_option
def command(
    bench: Path,
    model: str,
    profile: str,
    out: Path,
    split: str | None,
    limit: int | None,
    concurrency: int,
    as_json: bool,
) -> None:
    """Put the questions of BENCH to a model or baseline. Interrupted, the same command goes on where it stopped."""
    from situs.bench import open_bench
    from situs.profiles import load_profile
    from situs.run import parse_spec, run_baseline

    with progress_bar(model) as progress:
        spec, chosen = parse_spec(model), load_profile(profile)
        result = run_baseline(open_bench(bench), spec, chosen, out, split=split, limit=limit, progress=progress)
    if as_json:
        print_json(result)
        return
    for note in result.notes:
        warn(note)
    rows = [[state, f"{count:,}"] for state, count in result.states.items()]
    asked = f"{result.requests:,} asked now in {result.seconds:.1f} s"
    print_table(f"{out}: {result.items:,} items, {asked}", ["state", "items"], rows)
