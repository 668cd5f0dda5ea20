"""`situs measure`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.printing import json_option, print_json, print_table, warn


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
    from situs.facts import measure_file

    measured = measure_file(
        labels, names=names, pairs=pairs, annotation=annotation, details=details
    )
    for text in measured.warnings:
        warn(text if len(text) < 160 else text[:160] + " …")
    if as_json:
        print_json({"structures": measured.structures, "pairs": measured.pairs})
        return
    rows = [
        [
            s.name,
            str(s.label),
            f"{s.volume_ml:,.1f}",
            f"{s.volume_ml_interval[0]:,.1f} – {s.volume_ml_interval[1]:,.1f}",
            " ".join(f"{v:.0f}" for v in s.centroid_mm),
            " × ".join(f"{v:.0f}" for v in s.extent_mm.values()),
            str(s.components),
            "cut" if s.cut else "",
        ]
        for s in measured.structures
    ]
    columns = [
        "structure",
        "label",
        "mL",
        "interval",
        "centre RAS mm",
        "LR × AP × SI mm",
        "parts",
        "",
    ]
    print_table(
        str(labels.name),
        columns,
        rows,
        "cut: goes on beyond the scan, so its size is a lower bound",
    )
    if measured.pairs:
        pair_rows = [
            [
                f"{p.a} – {p.b}",
                f"{p.centre_distance_mm:.1f}",
                f"{p.boundary_distance_mm:.1f}",
                f"{p.gap_mm:.1f}",
                f"{p.contact_mm2:.0f}" if p.touching else "",
                " ".join(value for value in p.direction.values() if value),
            ]
            for p in measured.pairs
        ]
        print_table(
            "pairs",
            ["a – b", "centres mm", "boundaries mm", "gap mm", "contact mm²", "a lies … of b"],
            pair_rows,
        )
