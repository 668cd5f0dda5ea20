"""`situs tune check`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.paths import INPUT
from situs.cli.output.printing import echo, json_option, print_json, print_table
from situs.cli.output.progress import progress_bar

_A_PATH = INPUT


@click.command("check")
@click.argument("data", type=_A_PATH)
@click.option("--model", type=_A_PATH, help="Collate with this model folder's own processor.")
@click.option("--bench", type=_A_PATH, help="The bench, if it has moved.")
@click.option("--volumes", type=_A_PATH, help="The folder the volumes are in, if they were moved.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    help="Compare only the first N examples with bench and model.",
)
@json_option
def command(
    data: Path,
    model: Path | None,
    bench: Path | None,
    volumes: Path | None,
    limit: int | None,
    as_json: bool,
) -> int:
    """Prove what a model would be taught by DATA. Exit code 1 if anything is wrong.

    Without --model nothing needs torch: files, pictures, splits, prompts, boxes and answers are
    proved; with it also the very tensors of a training step.
    """
    from situs.tune import check_data

    with progress_bar("examples") as progress:
        result = check_data(
            data, model=model, bench=bench, volumes=volumes, limit=limit, progress=progress
        )
    if as_json:
        print_json(result)
    else:
        rows = [[p.severity.value, p.code, p.where, p.problem, p.fix] for p in result.problems[:50]]
        if rows:
            print_table("problems", ["", "code", "where", "problem", "fix"], rows)
        for line in result.proved:
            echo(f"proved: {line}")
        for what, why in result.not_proved.items():
            echo(f"not proved: {what} ({why})")
        echo(f"{result.examples:,} examples: {result.errors:,} errors")
    return 1 if result.errors else 0
