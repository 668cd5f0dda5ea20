"""`situs compare`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.numbers import STRATUM_HELP
from situs.cli.output.paths import INPUT
from situs.cli.output.printing import echo, json_option, print_json, warn


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN_A RUN_B …", type=INPUT)
@click.option(
    "--bench",
    type=INPUT,
    help="The bench, if it has moved.",
)
@click.option(
    "--metric",
    default="accuracy",
    show_default=True,
    help="A metric with one value per item, e.g. box.tube-iou@1.",
)
@click.option(
    "--blind",
    multiple=True,
    metavar="RUN",
    type=INPUT,
    help="A run of one of the models without pictures, for its sight gain; repeatable.",
)
@click.option("--stratum", default="headline", show_default=True, help=STRATUM_HELP)
@json_option
def command(
    runs: tuple[Path, ...],
    bench: Path | None,
    metric: str,
    blind: tuple[Path, ...],
    stratum: str,
    as_json: bool,
) -> None:
    """Compare runs of one bench: which is better, and which cannot be told apart.

    Accuracy is that of the headline: the questions of --stratum that have options. Runs are
    compared on the items all of them could answer. Intervals, p-values, groups and ranks come from
    one method, so they never contradict each other: it keeps a patient's items together and
    corrects for the number of pairs (Holm). Runs with more than 1 % missing are compared but not
    ranked. Runs that differ only in their seed are averaged item by item and count as one; sampled
    models need three. If items come from several sources of data, the mean over sources is given
    too, with and without each of them. A model in the same group as a blind baseline has not been
    shown to look. For one model with its --blind runs, only the sight gain is printed.
    """
    from situs.score import compare_runs, comparison_tables
    from situs.tables import print_table

    result = compare_runs(runs, bench, metric=metric, stratum=stratum, blind=blind)
    if as_json:
        print_json(result)
        return
    for text in result.warnings:
        warn(text)
    for table in comparison_tables(result, metric):
        print_table(table)
    if result.pairs:
        echo(
            f"{len(result.nobody):,} items no model gets right, {len(result.everybody):,} all do,"
            f" {len(result.suspects):,} with a suspect key (--json lists them)"
        )
