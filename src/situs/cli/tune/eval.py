"""`situs tune eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import echo, json_option, print_json, print_table, warn
from situs.cli.output.progress import run_progress

_A_PATH = INPUT
_SEED_METRICS = ("box_miou", "grounding", "accuracy")
_PAIRED_METRICS = (*_SEED_METRICS, "consistency", "negatives")


@click.command("eval")
@click.argument("runs", metavar="RUN…", type=_A_PATH, nargs=-1, required=True)
@click.option("--bench", type=_A_PATH, required=True, help="The bench with the held-out patients.")
@out_option(
    "runs, evaluation.json and report.html (a folder; an unfinished one is resumed)", resumes=True
)
@click.option(
    "--control",
    "controls",
    type=_A_PATH,
    multiple=True,
    help="The answer-only run, once for each RUN.",
)
@click.option(
    "--untouched", type=_A_PATH, help="A bench of other questions, to see what was forgotten."
)
@click.option("--split", default="test", show_default=True, help="Which split to ask: val or test.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N items.")
@click.option(
    "--batch", type=click.IntRange(1), default=8, show_default=True, help="Questions asked at once."
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    default=512,
    show_default=True,
    help="Most tokens of one answer.",
)
@click.option("--device", default="", help="Where the model runs: cpu, cuda, mps or auto.")
@click.option("--no-sight", is_flag=True, help="Do not ask again without pictures.")
@json_option
def command(runs: tuple[Path, ...], bench: Path, out: Path, as_json: bool, **options: Any) -> None:
    """Show what box supervision did: base, answer-only and box-supervised on held-out patients.

    Give several RUNs (and controls) for several seeds.
    """
    from situs.tune.evaluation.evaluate import EvalChoices, evaluate

    choices = EvalChoices(
        split=options["split"],
        limit=options["limit"],
        batch=options["batch"],
        max_tokens=options["max_tokens"],
        device=options["device"],
        sight=not options["no_sight"],
    )
    evaluated = evaluate(
        runs,
        bench,
        out,
        controls=options["controls"],
        untouched=options["untouched"],
        choices=choices,
        run_progress=run_progress,
    )
    for note in evaluated.notes:
        warn(note)
    if as_json:
        print_json(evaluated)
        return
    print_evaluation(evaluated)


def print_evaluation(evaluated: Any) -> None:
    """The table of arms, what they do by seed, task and size, the differences, the statement."""
    names = list(next(iter(evaluated.arms.values())))
    rows = [
        [arm, *(_entry(entries[name]) for name in names)] for arm, entries in evaluated.arms.items()
    ]
    print_table("held-out patients", ["arm", *names], rows)
    if evaluated.seeds > 1:
        rows = [
            [arm, name, *(_number(one[name]) for one in by_seed)]
            for arm, by_seed in evaluated.by_seed.items()
            for name in _SEED_METRICS
        ]
        seeds = [f"seed {number + 1}" for number in range(evaluated.seeds)]
        print_table("seed by seed", ["arm", "metric", *seeds], rows)
    _print_groups("answers by task", "task", evaluated.by_task)
    _print_groups("grounding by size of the finding", "size", evaluated.by_size)
    pairs = [one for one in evaluated.differences if one.metric in _PAIRED_METRICS]
    pairs += evaluated.sight_gain.values()
    rows = [[f"{one.a} − {one.b}", one.metric, _difference(one)] for one in pairs]
    if evaluated.forgetting is not None:
        one = evaluated.forgetting
        rows.append([f"{one.a} − {one.b}", "accuracy, untouched set", _difference(one)])
    print_table("paired by patient", ["arms", "metric", "difference (95 % interval)"], rows)
    echo(evaluated.statement)
    echo(f"report: {evaluated.report}")


def _print_groups(title: str, what: str, groups: Any) -> None:
    """One metric of every arm, group by group."""
    names = sorted({name for entries in groups.values() for name in entries})
    rows = [
        [name, *(_entry(entries[name]) if name in entries else "–" for entries in groups.values())]
        for name in names
    ]
    if rows:
        print_table(title, [what, *groups], rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _entry(entry: Any) -> str:
    if entry.value is None:
        return "–"
    interval = "" if entry.ci95 is None else f" ({entry.ci95[0]:.2f}–{entry.ci95[1]:.2f})"
    return f"{entry.value:.3f}{interval}"


def _difference(one: Any) -> str:
    if one.difference is None:
        return "–"
    if one.ci95 is None:
        return f"{one.difference:+.3f} ({one.note or 'no interval'})"
    return f"{one.difference:+.3f} ({one.ci95[0]:+.3f} to {one.ci95[1]:+.3f})"
