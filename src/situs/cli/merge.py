"""`situs merge`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.printing import echo, json_option, out_option, print_json
from situs.errors import SitusError


@click.command("merge")
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path))
@out_option("the whole bench or run (a new folder)")
@click.option("--overwrite", is_flag=True, help="Replace an existing bench or run.")
@json_option
def command(parts: tuple[Path, ...], out: Path, overwrite: bool, as_json: bool) -> None:
    """Put together PARTS that were made with --shard: of one build, or of one run.

    The bench is the one that a single build makes, byte for byte; it needs the files it was built from. A run has the
    answers of all parts. Parts that are missing, belong to something else or contradict each other are named.
    """
    kinds = {_kind(part) for part in parts}
    if len(kinds) > 1:
        fix = "give parts of one build, or parts of one run"
        raise SitusError("some parts are of a build and some of a run", where=parts[0], fix=fix)
    if kinds == {"run"}:
        from situs.run import merge_runs

        merged = merge_runs(parts, out, overwrite=overwrite)
        if as_json:
            print_json(merged)
        else:
            echo(
                f"{out}: {merged.items:,} items of {merged.parts} parts, {merged.missing:,} without an answer"
            )
        return
    from situs.cli.build import command as build
    from situs.cli.options.sharding import build_from_shards

    changed = {"out": out, "overwrite": overwrite, "as_json": as_json}
    build_from_shards(parts, build.commands, changed)


def _kind(part: Path) -> str:
    for name, kind in (("shard.json", "build"), ("run.json", "run")):
        if (part / name).is_file():
            return kind
    fix = "give folders that situs build or situs run made with --shard"
    raise SitusError("is no part of a build or run", where=part, fix=fix)
