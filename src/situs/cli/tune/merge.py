"""`situs tune merge`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import echo, json_option, print_json

_A_PATH = INPUT


@click.command("merge")
@click.argument("run", type=_A_PATH)
@out_option("the whole model (a new folder)")
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="How many greedy replies must be the same before and after.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing model.")
@json_option
def command(run: Path, out: Path, sample: int, overwrite: bool, as_json: bool) -> None:
    """Put the adapter of RUN into its model's weights, with the processor beside them."""
    from situs.tune.merge import merge_adapter

    merged = merge_adapter(run, out, sample=sample, overwrite=overwrite)
    if as_json:
        print_json(merged)
    else:
        echo(f"{out}: {merged.compared} greedy replies are the same before and after")
        if merged.ties:
            echo(f"{merged.ties} more differ where two tokens tie: logits agree but for rounding")
        echo(f"ask it with --model hf:{out} --profile {run}/profile.toml")
