"""`situs report`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.numbers import STRATUM_HELP, FiniteRange
from situs.cli.output.printing import echo, json_option, print_json


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The HTML file to write."
)
@click.option(
    "--pictures",
    type=click.IntRange(0),
    default=12,
    show_default=True,
    help="Items shown with pictures.",
)
@click.option(
    "--bench",
    type=click.Path(path_type=Path),
    help="The bench, if it is not where the runs left it.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
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
    "--max-mb", type=FiniteRange(1), default=30, show_default=True, help="Of the file, at most."
)
@click.option(
    "--tables",
    type=click.Path(path_type=Path),
    help="A folder for all tables as Markdown, LaTeX and CSV.",
)
@click.option(
    "--names",
    help="What the runs are called, comma-separated, in their order; else each by its client.",
)
@click.option(
    "--compare-published",
    "published",
    metavar="PAPER",
    help="Put its numbers beside: sgmri-vqa, ct-spatialvqa, …",
)
@click.option("--stratum", default="headline", show_default=True, help=STRATUM_HELP)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Of the sample and the bootstrap.",
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
    names: str | None,
    published: str | None,
    stratum: str,
    seed: int,
    as_json: bool,
) -> None:
    """Write one self-contained HTML file about RUNS on one bench: leaderboard, tables and an item viewer."""
    from situs.report import write_report

    result = write_report(
        runs,
        out,
        bench=bench,
        data=data,
        pictures=pictures,
        allow_pixels=allow_pixels,
        max_bytes=int(max_mb * 1_000_000),
        tables=tables,
        names=[name.strip() for name in names.split(",")] if names else (),
        published=published,
        stratum=stratum,
        seed=seed,
    )
    if as_json:
        print_json(result)
        return
    echo(
        f"{out}: {result.items:,} items of {result.runs} runs, {result.pictures_embedded} with pictures"
    )
    if result.left_out:
        echo(result.left_out)
    if result.tables:
        echo(f"{tables}: {result.tables} tables")
