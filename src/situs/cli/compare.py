"""`situs compare`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.numbers import STRATUM_HELP
from situs.cli.output.printing import echo, json_option, print_json, warn


@click.command("compare")
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN_A RUN_B …", type=click.Path(path_type=Path)
)
@click.option(
    "--bench",
    type=click.Path(path_type=Path),
    help="The bench, if it is not where the runs remember it.",
)
@click.option(
    "--metric",
    default="accuracy",
    show_default=True,
    help="One with a value per item, e.g. box.tube-iou@1.",
)
@click.option(
    "--blind",
    multiple=True,
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="A run of one of the models without pictures, for its sight gain; repeat.",
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
    """Tell which of several runs of one bench is better, and which cannot be told apart.

    Accuracy is that of the headline: the questions with options of --stratum. Runs are compared on the items all of
    them could answer; interval, p, groups and ranks come from one method that keeps a patient's items together, and
    are corrected after Holm for the number of pairs, so they never contradict each other. Runs of which more than 1 %
    is missing are compared but not ranked. Runs that differ in their seed only are averaged item by item and
    count as one; sampled models need three. Where items come from several sources of data, the mean over sources and
    that without each are given too. A model in one group with a blind baseline shows no sight. One model with its
    --blind runs gets its sight gain alone.
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
            f"{len(result.nobody):,} items no model gets, {len(result.everybody):,} every model gets, "
            f"{len(result.suspects):,} with a suspect key (--json lists them)"
        )
