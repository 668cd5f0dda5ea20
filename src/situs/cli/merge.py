"""`situs merge`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import echo, json_option, print_json
from situs.errors import SitusError


@click.command("merge")
@click.argument("parts", nargs=-1, required=True, type=INPUT)
@out_option("the whole bench or run (a new folder)")
@click.option("--overwrite", is_flag=True, help="Replace an existing bench or run.")
@json_option
def command(parts: tuple[Path, ...], out: Path, overwrite: bool, as_json: bool) -> None:
    """Combine PARTS of one build or one run that were made with --shard, or whole benches of one
    kind.

    The bench is, byte for byte, the one that a single build makes; it needs the files it was built
    from. A run has the answers of all parts. Parts that are missing, belong to something else or
    contradict each other are named.

    The questions of whole benches, such as those of two hospitals, stay as they are. The benches
    must have the same kind of evidence, seed and recipe. A study in two of them, a patient in two
    splits, or a name with two meanings is reported as an error.
    """
    kinds = {_kind(part) for part in parts}
    if len(kinds) > 1:
        fix = "give parts of one build, parts of one run, or whole benches"
        raise SitusError("these are of different kinds", where=parts[0], fix=fix)
    if kinds == {"run"}:
        from situs.run import merge_runs

        merged = merge_runs(parts, out, overwrite=overwrite)
        if as_json:
            print_json(merged)
        else:
            echo(
                f"{out}: {merged.items:,} items of {merged.parts} parts, {merged.missing:,} without"
                " an answer"
            )
        return
    if kinds == {"bench"}:
        from situs.build import merge_benches
        from situs.cli.options.building import finish

        finish(merge_benches(parts, out, overwrite=overwrite), {"out": out, "as_json": as_json})
        return
    from situs.cli.build import command as build
    from situs.cli.options.sharding import build_from_shards

    changed = {"out": out, "overwrite": overwrite, "as_json": as_json}
    build_from_shards(parts, build.commands, changed)


def _kind(part: Path) -> str:
    for name, kind in (("shard.json", "build"), ("run.json", "run"), ("bench.json", "bench")):
        if (part / name).is_file():
            return kind
    fix = "give folders that situs build or situs run made with --shard, or benches"
    raise SitusError("is neither a part of a build or run nor a bench", where=part, fix=fix)
