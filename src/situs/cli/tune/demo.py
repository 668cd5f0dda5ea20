"""`situs tune demo`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.paths import LOCAL
from situs.cli.output.printing import echo, json_option, print_json, warn
from situs.cli.tune.eval import print_evaluation


@click.command("demo")
@click.option(
    "--out", default="demo-tune", show_default=True, type=LOCAL, help="Folder to work in."
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 10),
    default=1,
    show_default=True,
    help="How many times to train, each with another seed.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="A few steps only, to see that everything runs; nothing is learned.",
)
@json_option
def command(out: Path, seeds: int, quick: bool, as_json: bool) -> None:
    """Train a tiny model to look, on synthetic slices, and print what the boxes did.

    Under 25 minutes on two idle cores; nothing is downloaded. Interrupted, the same command
    resumes.
    """
    from situs.tune.demo.demonstration import QUICK, demonstrate
    from situs.tune.demo.prepare import Sizes

    evaluated = demonstrate(
        out,
        QUICK if quick else Sizes(),
        seeds=seeds,
        limit=60 if quick else 300,
        say=warn,
    )
    if quick:
        warn("--quick: so few steps teach nothing; the numbers below say only that every part runs")
    if as_json:
        print_json(evaluated)
    else:
        print_evaluation(evaluated)
        echo(
            f"ask the tuned model: situs run {out}/bench --profile {out}/boxes/profile.toml "
            f"--model hf:{out}/boxes-seed0/model --out answers"
        )
