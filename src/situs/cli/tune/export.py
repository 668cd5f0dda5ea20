"""`situs tune export`."""

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


@click.command("export")
@click.argument("data", type=click.Path(path_type=Path))
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
@click.option("--overwrite", is_flag=True, help="Replace an export of an earlier call.")
@json_option
def command(
    data: Path, to: str, out: Path, allow_restricted: bool, overwrite: bool, as_json: bool
) -> None:
    """Write training DATA as files that another trainer loads, with a launch file that fits them."""
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
    if result.restricted:
        warn("this export holds pictures of restricted data: keep it to yourself")
    if as_json:
        print_json(result)
        return
    rows = [[f"examples: {split}", f"{count:,}"] for split, count in result.examples.items()]
    rows += [[f"left out: {reason}", f"{count:,}"] for reason, count in result.left_out.items()]
    print_table(f"{out}: for {to}", ["", ""], rows, f"see {out}/README.md")
