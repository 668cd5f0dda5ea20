"""`situs export`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.printing import (
    json_option,
    out_option,
    print_json,
    print_table,
    progress_bar,
    warn,
)

_A_PATH = click.Path(path_type=Path)


@click.command("export")
@click.argument("source", metavar="BENCH|RUN", type=_A_PATH)
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help="lmms-eval, vlmevalkit, inspect, hf or 3dreasonknee; of a run in a room also traces.",
)
@out_option("the export (a new folder)")
@click.option(
    "--profile", help="Of a bench: what a model sees, a name or a TOML file. [default: default]"
)
@click.option("--split", help="Of a bench: only this split: train, val or test.")
@click.option("--limit", type=click.IntRange(1), help="Of a bench: only the first N items.")
@click.option("--data", type=_A_PATH, help="The folder the volumes are in, if they were moved.")
@click.option(
    "--bench", type=_A_PATH, help="Of a run: its bench, if it is not where the run left it."
)
@click.option(
    "--allow-restricted",
    is_flag=True,
    help="Write pictures of restricted data too, under a banner.",
)
@click.option("--overwrite", is_flag=True, help="Replace an export of an earlier call.")
@json_option
def command(
    source: Path,
    to: str,
    out: Path,
    profile: str | None,
    split: str | None,
    limit: int | None,
    data: Path | None,
    bench: Path | None,
    allow_restricted: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write a BENCH, with its pictures, or the answers of a RUN, without any, as files that another tool loads.

    --to traces writes sessions of a run in a room as chat examples with pictures, for training: only those that were
    right and had seen what they answered.
    """
    from situs.errors import SitusError
    from situs.export import export_bench, export_run

    is_run = (source / "run.json").is_file()
    odd = (
        {"--profile": profile, "--split": split, "--limit": limit} if is_run else {"--bench": bench}
    )
    for name, value in odd.items():
        if value is not None:
            of = "a run has its own" if is_run else "this is a bench"
            raise SitusError(
                f"{name} does not go with it: {of}", where=source, fix=f"leave {name} out"
            )
    with progress_bar(f"export to {to}") as progress:
        if is_run:
            result = export_run(
                source,
                to,
                out,
                bench=bench,
                data=data,
                allow_restricted=allow_restricted,
                overwrite=overwrite,
                progress=progress,
            )
        else:
            result = export_bench(
                source,
                to,
                out,
                profile=profile or "default",
                split=split,
                limit=limit,
                data=data,
                allow_restricted=allow_restricted,
                overwrite=overwrite,
                progress=progress,
            )
    if result.restricted:
        warn("this export holds pictures of restricted data: keep it to yourself")
    if as_json:
        print_json(result)
        return
    rows = [["items", f"{result.items:,}"], ["pictures", f"{result.pictures:,}"]]
    rows += [[f"left out: {reason}", f"{count:,}"] for reason, count in result.left_out.items()]
    print_table(f"{out}: for {to}", ["", ""], rows, f"load it with: {result.load}")
