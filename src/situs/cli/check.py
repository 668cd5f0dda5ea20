"""`situs check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from situs.base.text import counted
from situs.cli.options.engines import engine_from, engine_options
from situs.cli.output.paths import INPUT
from situs.cli.output.printing import echo, json_option, print_json, print_table
from situs.cli.output.progress import progress_bar


@click.command("check")
@click.argument("bench", type=INPUT)
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
@engine_options
@json_option
def command(bench: Path, data: Path | None, as_json: bool, **options: Any) -> int:
    """Recompute every fact and answer of BENCH from its evidence files. Exit code 1 if any is
    wrong.

    A bench that situs probe made is derived again from the files of its source.
    """
    from situs.bench import check_bench
    from situs.probe import check_made

    engine = engine_from(options)
    result = check_made(bench, data)
    if result is None:
        with progress_bar("studies") as progress:
            result = check_bench(bench, data, engine, progress)
    if as_json:
        print_json(result)
    else:
        rows = [[p.severity.value, p.code, p.where, p.problem, p.fix] for p in result.problems[:50]]
        if rows:
            print_table("problems", ["", "code", "where", "problem", "fix"], rows)
        echo(
            f"{counted(result.items, 'item')}: {result.recomputed:,} recomputed, {result.given:,}"
            f" given by their source; {counted(result.errors, 'error')},"
            f" {counted(len(result.problems) - result.errors, 'warning')}"
        )
    return 1 if result.errors else 0
