"""`situs measure`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from situs.cli.options.engines import engine_from, engine_options
from situs.cli.output.paths import INPUT, LOCAL
from situs.cli.output.printing import json_option, print_json, print_json_line, warn


@click.command("measure")
@click.argument("labels", type=INPUT)
@click.option(
    "--names",
    help=(
        "A vocabulary (totalsegmentator, aal116, …) or a file: CSV label,name or JSON {label:"
        " name}."
    ),
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
    help="With --json: also diameters, axes, surface, parts, holes, slices, level.",
)
@click.option(
    "--csv",
    "csv_file",
    type=LOCAL,
    help="Write a row per structure to this file, in full precision; pairs go to NAME.pairs.csv.",
)
@engine_options
@json_option
def command(
    labels: Path,
    names: str | None,
    pairs: str | None,
    annotation: str,
    details: bool,
    csv_file: Path | None,
    as_json: bool,
    **engine_arguments: Any,
) -> None:
    """Measure every structure of LABELS: a label file, a .seg.nrrd, a DICOM-SEG or RTSTRUCT, a
    folder of masks, or the folder of one study (TotalSegmentator, KiTS, BraTS, DICOM).

    Given a table (CSV with the columns study, patient, image, labels), it measures every study,
    with --jobs or --engine, and prints one line of JSON for each. Exit code 1: some could not be
    measured; their lines say why.

    An image beside the labels shows where the scan ends. Volumes are in mL, positions in RAS+
    millimetres, and index boxes half-open in stored order.
    """
    from situs.base.files import write_files
    from situs.facts import is_table, measure_file, measured_tables
    from situs.tables import csv_text, print_table

    engine = engine_from(engine_arguments)
    if is_table(labels):
        _measure_cohort(
            labels, names=names, pairs=pairs, annotation=annotation, details=details, engine=engine
        )
        return
    measured = measure_file(
        labels, names=names, pairs=pairs, annotation=annotation, details=details
    )
    for text in measured.warnings:
        warn(text if len(text) < 160 else text[:160] + " …")
    tables = measured_tables(measured, labels.name)
    if csv_file is not None:
        files = (csv_file.name, f"{csv_file.stem}.pairs.csv")
        write_files(csv_file.parent, dict(zip(files, map(csv_text, tables))))
    if as_json:
        print_json({"structures": measured.structures, "pairs": measured.pairs})
        return
    for table in tables:
        print_table(table)


def _measure_cohort(table: Path, **how: Any) -> None:
    """A line a study, as each is done: a cohort need not fit in memory."""
    from situs.facts import measure_cohort

    bad = 0
    for study in measure_cohort(table, **how):
        bad += bool(study.problem)
        print_json_line(study)
    if bad:
        warn(f"{bad:,} studies could not be measured; their lines say why")
        sys.exit(1)
