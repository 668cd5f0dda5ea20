"""`situs tune audit-reward`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.paths import INPUT
from situs.cli.output.printing import json_option, print_json, print_table
from situs.cli.output.progress import progress_bar


@click.command("audit-reward")
@click.argument("bench", type=INPUT)
@click.option(
    "--reward",
    default="situs",
    show_default=True,
    metavar="NAME",
    help="situs, answer, grounding, consistency, format or v-score.",
)
@click.option("--profile", default="default", show_default=True, help="A name or a TOML file.")
@click.option(
    "--box-form",
    default="qwen3",
    show_default=True,
    metavar="FORM",
    help="How boxes are written: qwen3, qwen2.5, pixels, unit, bbx or json.",
)
@click.option("--split", help="Only this split.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=500,
    show_default=True,
    help="Only the first N items.",
)
@json_option
def command(
    bench: Path,
    reward: str,
    profile: str,
    box_form: str,
    split: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show what cheaters would earn on BENCH: a fixed grid, spammed boxes, the prior, a constant
    answer, a classifier of the text.

    A reward is exploitable if one of them earns as much as an honest reader whose boxes overlap by
    half, or if more boxes pay without looking at the picture.
    """
    from situs.tune import audit_reward

    with progress_bar("items") as progress:
        audited = audit_reward(
            bench,
            reward,
            profile=profile,
            box=box_form,
            split=split,
            limit=limit,
            progress=progress,
        )
    if as_json:
        print_json(audited)
        return
    rows = [
        ["perfect", f"{audited.perfect:.3f}"],
        ["honest (boxes half off)", f"{audited.honest:.3f}"],
    ]
    rows += [[name, f"{value:.3f}"] for name, value in audited.cheaters.items()]
    verdict = "EXPLOITABLE: " + "; ".join(audited.why) if audited.exploitable else "not exploitable"
    print_table(
        f"reward {reward} on {audited.items:,} items", ["reader", "mean reward"], rows, verdict
    )
