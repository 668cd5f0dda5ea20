"""`situs author`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from situs.cli.options.asking import ask_options, asking_from
from situs.cli.options.judges import leave_if_interrupted
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import (
    echo,
    json_option,
    print_json,
    print_table,
    warn,
)
from situs.cli.output.progress import progress_bar

_SPEC = "SPEC"


@click.command("author")
@click.argument("bench", type=INPUT)
@out_option("the new bench (a new folder)")
@click.option("--planner", metavar=_SPEC, help="A model that proposes what is asked.")
@click.option("--librarian", metavar=_SPEC, help="A model that finds citations; needs --library.")
@click.option("--writer", metavar=_SPEC, help="A model that words questions.")
@click.option(
    "--critic",
    "critics",
    metavar=_SPEC,
    multiple=True,
    help="A model that raises objections; repeatable.",
)
@click.option(
    "--panel",
    metavar=_SPEC,
    multiple=True,
    help="A model that answers without the scan; repeatable.",
)
@click.option("--library", type=INPUT, help="A folder made by `situs library build`.")
@click.option(
    "--quotes",
    is_flag=True,
    help="Keep the quoted words in the bench; by default, only the place they come from.",
)
@click.option("--wordings", type=INPUT, help="A bank of wordings (TOML).")
@click.option(
    "--protocol",
    type=click.Choice(["spatialmed"]),
    help="The published trivial filter (two of three, item by item), for comparison.",
)
@click.option("--arms", is_flag=True, help="Build four benches: T, P (plan), W (wording), PW.")
@click.option(
    "--dry-run", is_flag=True, help="Send nothing; count the calls and estimate tokens and cost."
)
@click.option("--data", type=INPUT, help="The folder the volumes are in.")
@click.option("--per-study", type=click.IntRange(1), help="At most this many questions per study.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed; the same one gives the same draws.",
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--overwrite", is_flag=True, help="Replace an existing bench.")
@click.option(
    "--review",
    type=INPUT,
    help="Leave out what readers dropped or want fixed: a folder of situs review export.",
)
@ask_options
@json_option
def command(bench: Path, out: Path, **options: Any) -> None:
    """Make a new bench from the studies of BENCH: models choose and phrase, and never give an
    answer.

    Every role may be left out. Without a planner all provable questions are taken; without a writer
    Situs's own wordings; without critics every question waits for readers. A wording is used only
    if a parser reads it back as exactly the question that was meant. What models said is kept in
    OUT.asked: the same command resumes.

    \b
    situs author bench --out authored --writer openai:qwen3@http://localhost:8000/v1
    situs author bench --out authored --planner SPEC --writer SPEC --critic SPEC --panel SPEC
    """
    from situs.api.authoring import author

    asking = asking_from(options)
    as_json, arms, dry_run = (options.pop(name) for name in ("as_json", "arms", "dry_run"))
    with progress_bar("studies") as progress:
        results = author(
            bench,
            out,
            asking=asking,
            arms=arms,
            dry_run=dry_run,
            progress=progress,
            ended=leave_if_interrupted,
            tell=_tell,
            **options,
        )
    if as_json:
        print_json(results if arms or dry_run else results[""])
        return
    if dry_run:
        rows = [[name, str(value)] for name, value in results.items()]
        print_table("dry run", ["", "estimate"], rows)
        return
    for name, result in results.items():
        _print(out / name if name else out, result)


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        warn(text)


def _print(out: Path, result: Any) -> None:
    title = (
        f"{out}: {result.items:,} questions, {result.kept:,} programs, {result.wordings:,} wordings"
    )
    print_table(title, ["stage", "n"], [[k, f"{v:,}"] for k, v in result.funnel.items() if v])
    rows = [[name, s.state, f"{s.asks:,}", s.why] for name, s in result.roles.items()]
    print_table("roles", ["role", "state", "asks", "why"], rows)
    strata = ", ".join(f"{name} {n:,}" for name, n in result.by_stratum.items())
    cost = "unknown" if result.cost is None else f"${result.cost:.2f}"
    echo(f"by stratum: {strata or 'none'}; cost: {cost}")
