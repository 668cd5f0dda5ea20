"""`situs tune export`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.exported import print_export
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import json_option
from situs.cli.output.progress import progress_bar


@click.command("export")
@click.argument("data", type=INPUT)
@click.option(
    "--to",
    required=True,
    metavar="TRAINER",
    help="trl, ms-swift, llama-factory, qwen or openai.",
)
@out_option("the export (a new folder)")
@click.option(
    "--allow-restricted", is_flag=True, help="Write restricted data in a format made for upload."
)
@click.option("--overwrite", is_flag=True, help="Replace an existing export.")
@json_option
def command(
    data: Path, to: str, out: Path, allow_restricted: bool, overwrite: bool, as_json: bool
) -> None:
    """Write training DATA as files that another trainer loads,
    with a launch file that fits them."""
    from situs.tune import export_data

    with progress_bar(f"export to {to}") as progress:
        result = export_data(
            data,
            to,
            out,
            allow_restricted=allow_restricted,
            overwrite=overwrite,
            progress=progress,
        )
    counts = {f"examples: {split}": count for split, count in result.examples.items()}
    print_export(result, counts, out, to, hint=f"see {out}/README.md", as_json=as_json)
