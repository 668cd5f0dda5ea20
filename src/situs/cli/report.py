"""`situs report`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from situs.base.text import counted
from situs.cli.output.numbers import STRATUM_HELP, FiniteRange
from situs.cli.output.paths import INPUT, OUTPUT, out_option
from situs.cli.output.printing import echo, json_option, print_json
from situs.cli.output.progress import working


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=INPUT)
@out_option("the HTML file")
@click.option(
    "--pictures",
    type=click.IntRange(0),
    default=12,
    show_default=True,
    help="Items shown with pictures.",
)
@click.option(
    "--bench",
    type=INPUT,
    help="The bench, if it has moved.",
)
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
@click.option(
    "--allow-restricted",
    "--allow-pixels",
    "allow_pixels",
    is_flag=True,
    help="Embed pictures and report quotes of restricted data too, under a banner.",
)
@click.option(
    "--max-mb", type=FiniteRange(1), default=30, show_default=True, help="Largest size of the file."
)
@click.option(
    "--tables",
    type=OUTPUT,
    help="Write every table as Markdown, LaTeX and CSV into this folder.",
)
@click.option(
    "--charts",
    type=OUTPUT,
    help="Write every chart as SVG and PDF into this folder.",
)
@click.option(
    "--names",
    help="Names for the runs, comma-separated, in their order; default: each run's model.",
)
@click.option(
    "--compare-published",
    "published",
    metavar="PAPER",
    help="Show the numbers of this paper alongside: sgmri-vqa, ct-spatialvqa, …",
)
@click.option("--stratum", default="headline", show_default=True, help=STRATUM_HELP)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the sample and the bootstrap.",
)
@json_option
def command(
    runs: tuple[Path, ...],
    out: Path,
    pictures: int,
    bench: Path | None,
    data: Path | None,
    allow_pixels: bool,
    max_mb: float,
    tables: Path | None,
    charts: Path | None,
    names: str | None,
    published: str | None,
    stratum: str,
    seed: int,
    as_json: bool,
) -> None:
    """Write one self-contained HTML file about RUNS on one bench:
    leaderboard, tables and an item viewer."""
    # Arrow's own pool keeps what tables took; the C library's is given back (`base.collecting`).
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from situs.report import ReportOptions, write_report

    with working("reading the runs, drawing their pictures"):
        result = write_report(
            runs,
            out,
            ReportOptions(
                bench=bench,
                data=data,
                pictures=pictures,
                allow_pixels=allow_pixels,
                max_bytes=int(max_mb * 1_000_000),
                tables=tables,
                charts=charts,
                names=[name.strip() for name in names.split(",")] if names else (),
                published=published,
                stratum=stratum,
                seed=seed,
            ),
        )
    if as_json:
        print_json(result)
        return
    echo(
        f"{out}: {counted(result.items, 'item')} of {counted(result.runs, 'run')}, "
        f"{result.pictures_embedded} with pictures"
    )
    if result.left_out:
        echo(result.left_out)
    if result.tables:
        echo(f"{tables}: {result.tables} tables")
    if result.charts:
        echo(f"{charts}: {result.charts} files of charts")
