"""`situs compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from situs.cli.output.numbers import STRATUM_HELP
from situs.cli.output.printing import echo, json_option, print_json, print_table, warn

if TYPE_CHECKING:
    from situs.score import Comparison, OverSources, SightGain


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
    from situs.score import compare_runs

    result = compare_runs(runs, bench, metric=metric, stratum=stratum, blind=blind)
    if as_json:
        print_json(result)
        return
    for text in result.warnings:
        warn(text)
    if result.pairs:
        _print_pairs(result, metric)
    if result.sight:
        _print_sight(result)
    if result.sources:
        print_table(
            "means over sources of data",
            [
                "run",
                "over items",
                "over sources",
                "95 % interval",
                *(f"without {s}" for s in _source_names(result)),
            ],
            [_source_row(name, over) for name, over in result.sources.items()],
        )
    if result.pairs:
        echo(
            f"{len(result.nobody):,} items no model gets, {len(result.everybody):,} every model gets, "
            f"{len(result.suspects):,} with a suspect key (--json lists them)"
        )


def _print_pairs(result: Comparison, metric: str) -> None:
    rows = [
        [
            pair.a,
            pair.b,
            _signed(pair.difference),
            _interval(pair.ci_joint),
            "" if pair.p is None else f"{pair.p:.4f}",
            "" if pair.p_holm is None else f"{pair.p_holm:.4f}",
            f"{pair.n:,}",
            f"{pair.clusters:,}",
        ]
        for pair in result.pairs
    ]
    found = "unknown" if result.detectable is None else f"{result.detectable:.3f}"
    caption = f"Smallest difference these pairs would show in four of five such benches: {found}."
    interval = "95 % interval" if len(result.pairs) == 1 else "95 % interval (all pairs)"
    columns = ["a", "b", "a − b", interval, "p", "p (Holm)", "items", "patients"]
    print_table(f"{metric}: {result.items}", columns, rows, caption)
    if result.standings:
        ranks = [
            [
                str(s.rank),
                "" if s.rank95 is None else f"{s.rank95[0]}–{s.rank95[1]}",
                s.name,
                f"{s.value:.3f}",
            ]
            for s in result.standings
        ]
        groups = "; ".join(", ".join(group) for group in result.tied_groups if len(group) > 1)
        caption = (
            f"Cannot be told apart: {groups}." if groups else "All ranked runs can be told apart."
        )
        print_table("ranks on the items all share", ["rank", "95 %", "run", metric], ranks, caption)


def _print_sight(result: Comparison) -> None:
    """Gains as they are, and with chance credit, by which it is decided whether a model looks."""
    print_table(
        f"sight gain: with pictures minus without; {result.items}",
        [
            "model",
            "gain",
            "95 % interval",
            "with chance credit",
            "95 % interval",
            "p",
            "items",
            "patients",
        ],
        [_sight_row(gain) for gain in result.sight],
        "With chance credit a reply that declines or cannot be read counts as a guess; p is of that.",
    )


def _sight_row(gain: SightGain) -> list[str]:
    decided = gain.credited or gain.gain
    return [
        gain.name,
        _signed(gain.gain.difference),
        _interval(gain.gain.ci95),
        "" if gain.credited is None else _signed(gain.credited.difference),
        "" if gain.credited is None else _interval(gain.credited.ci95),
        "" if decided.p is None else f"{decided.p:.4f}",
        f"{decided.n:,}",
        f"{decided.clusters:,}",
    ]


def _interval(limits: tuple[float, float] | None) -> str:
    return "none" if limits is None else f"{limits[0]:+.3f} to {limits[1]:+.3f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def _source_names(result: Comparison) -> list[str]:
    return [source.source for source in next(iter(result.sources.values())).sources]


def _source_row(name: str, over: OverSources) -> list[str]:
    interval = (
        "none"
        if over.macro_ci95 is None
        else f"{over.macro_ci95[0]:.3f} – {over.macro_ci95[1]:.3f}"
    )
    without = [one.macro_without for one in over.sources]
    return [
        name,
        *(_plain(value) for value in (over.micro, over.macro)),
        interval,
        *map(_plain, without),
    ]


def _plain(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
