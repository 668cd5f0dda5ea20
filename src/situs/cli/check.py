"""`situs check`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.printing import echo, json_option, print_json, print_table


@click.command("check")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The folder the volumes are in, if they were moved.",
)
@json_option
def command(bench: Path, data: Path | None, as_json: bool) -> int:
    """Recompute every fact and answer of BENCH from its evidence files. Exit code 1 if any is wrong.

    A bench that situs probe made is derived anew from the files of its source.
    """
    from situs.bench import check_bench
    from situs.probe import check_made

    made = check_made(bench, data)
    result = check_bench(bench, data) if made is None else made
    if as_json:
        print_json(result)
    else:
        rows = [[p.severity.value, p.code, p.where, p.problem, p.fix] for p in result.problems[:50]]
        if rows:
            print_table("problems", ["", "code", "where", "problem", "fix"], rows)
        echo(
            f"{result.items:,} items: {result.recomputed:,} recomputed, {result.given:,} given by their source; "
            f"{result.errors:,} errors, {len(result.problems) - result.errors:,} warnings"
        )
    return 1 if result.errors else 0
