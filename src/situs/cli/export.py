"""`situs export`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.exported import print_export
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import json_option
from situs.cli.output.progress import progress_bar


@click.command("export")
@click.argument("source", metavar="BENCH|RUN", type=INPUT)
@click.option(
    "--to",
    required=True,
    metavar="FORMAT",
    help=(
        "lmms-eval, vlmevalkit, inspect, hf, 3dreasonknee; what was measured as dicom-seg,"
        " dicom-sr, slicer-markups, croissant; of a run in a room also traces. `situs list formats`"
        " explains them."
    ),
)
@out_option("the export (a new folder)")
@click.option(
    "--profile", help="For a bench: what a model sees, a name or a TOML file. [default: default]"
)
@click.option("--split", help="For a bench: only this split (train, val or test).")
@click.option(
    "--limit",
    type=click.IntRange(1),
    help=(
        "For a bench: only the first N items; for dicom-* and slicer-markups, the first N studies."
    ),
)
@click.option("--data", type=INPUT, help="The folder the volumes are in, if they were moved.")
@click.option("--bench", type=INPUT, help="For a run: its bench, if it has moved.")
@click.option(
    "--allow-restricted",
    is_flag=True,
    help="Write pictures of restricted data too, under a banner.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing export.")
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
    """Write a BENCH with its pictures, or the answers of a RUN, as files that another tool loads.

    --to traces writes sessions of a run in a room as chat examples with pictures, for training:
    only those that were right and had seen the evidence.

    dicom-seg, dicom-sr and slicer-markups write images, masks, measurements, boxes and marks study
    by study, for 3D Slicer and OHIF (DICOM needs `pip install 'situs[dicom]'`); croissant describes
    the bench for dataset search.
    """
    from situs.errors import SitusError
    from situs.export import Scope, export_bench, export_run

    is_run = (source / "run.json").is_file()
    odd = (
        {"--profile": profile, "--split": split, "--limit": limit} if is_run else {"--bench": bench}
    )
    for name, value in odd.items():
        if value is not None:
            of = "a run has its own" if is_run else "this is a bench"
            raise SitusError(f"{name} does not apply: {of}", where=source, fix=f"leave {name} out")
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
                Scope(split, limit, data, progress),
                profile=profile,
                allow_restricted=allow_restricted,
                overwrite=overwrite,
            )
    counts = {result.counted: result.items, "pictures": result.pictures}
    hint = f"load it with: {result.load}"
    print_export(result, counts, out, to, hint=hint, as_json=as_json)
