"""`situs demo`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from situs.cli.output.paths import LOCAL
from situs.cli.output.printing import echo, json_option, print_json, print_table
from situs.cli.output.progress import progress_bar, run_progress

_STUDIES = 16


@click.command("demo")
@click.option(
    "--out",
    default="demo",
    show_default=True,
    type=LOCAL,
    help="Folder to work in.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed; another one makes other patients.",
)
@json_option
def command(out: Path, seed: int, as_json: bool) -> None:
    """End to end on synthetic patients: one reader looks, one guesses, and the report shows which.

    Builds a bench, recomputes every answer, and asks two small embedded readers with and without
    pictures: one measures the pictures it is shown, the other writes confident prose and never
    looks. A minute or two; nothing is downloaded. Neither is a model for real patients.
    """
    from situs.base.publish import new_folder
    from situs.demo import run_demo
    from situs.tables import INTERVAL

    jobs = min(4, os.cpu_count() or 1)
    with new_folder(out, marker="report.html", overwrite=True) as folder:
        result = run_demo(folder, _STUDIES, seed, jobs, stage=progress_bar, asking=run_progress)
    report = out / "report.html"
    if as_json:
        print_json(
            {
                "built": result.built,
                "checked": result.checked,
                "rows": result.rows,
                "report": str(report),
            }
        )
        return
    print_table(
        f"{result.built.items} questions on {result.built.studies} synthetic patients; "
        f"all {result.checked.recomputed} answers recomputed",
        [
            "who",
            "right",
            "95 % interval",
            "without pictures",
            "sight gain",
            "its interval",
            "verdict",
        ],
        [
            (
                row.name,
                row.headline,
                row.headline_ci95,
                row.without_pictures,
                row.sight_gain,
                row.sight_gain_ci95,
                row.verdict,
            )
            for row in result.rows
        ],
        "right: questions that need sight, answered correctly. sight gain: right minus right"
        " without pictures.",
        {"95 % interval": INTERVAL, "its interval": INTERVAL},
    )
    echo(f"report: {report} ({result.report_bytes / 2**20:.1f} MB)")
