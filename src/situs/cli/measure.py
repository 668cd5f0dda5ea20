"""`situs measure`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.printing import json_option, print_json, warn


@click.command("measure")
@click.argument("labels", type=click.Path(path_type=Path))
@click.option(
    "--names",
    help="A vocabulary (totalsegmentator, aal116, …) or a file: CSV label,name or JSON {label: name}.",
)
@click.option("--pairs", help="all, touching, or two structures as A,B.")
@click.option(
    "--annotation",
    default="automatic",
    show_default=True,
    help="How the masks were made; sets the intervals.",
)
@click.option(
    "--details",
    is_flag=True,
    help="With --json: diameters, axes, surface, parts, holes, slices, level.",
)
@json_option
def command(
    labels: Path,
    names: str | None,
    pairs: str | None,
    annotation: str,
    details: bool,
    as_json: bool,
) -> None:
    """Measure every structure of LABELS: a label file, a .seg.nrrd, a DICOM-SEG or RTSTRUCT, a folder of masks,
    or the folder of one study (TotalSegmentator, KiTS, BraTS, DICOM).

    An image beside the labels tells where the scan ends. Volumes in mL, places in RAS+ millimetres, index boxes
    half-open in stored order.
    """
    from situs.facts import measure_file, measured_tables
    from situs.tables import print_table

    measured = measure_file(
        labels, names=names, pairs=pairs, annotation=annotation, details=details
    )
    for text in measured.warnings:
        warn(text if len(text) < 160 else text[:160] + " …")
    if as_json:
        print_json({"structures": measured.structures, "pairs": measured.pairs})
        return
    for table in measured_tables(measured, labels.name):
        print_table(table)
