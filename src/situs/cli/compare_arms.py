"""`situs compare-arms`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.paths import INPUT
from situs.cli.output.printing import echo, json_option, print_json, print_table


@click.command("compare-arms")
@click.argument("folder", type=INPUT)
@click.option(
    "--ratings",
    type=INPUT,
    help="A CSV of readers' ratings: arm, item, rating (0, 1 or 2: would you ask this?). The arm"
    " may be left out where all arms word the item alike.",
)
@json_option
def command(folder: Path, ratings: Path | None, as_json: bool) -> None:
    """Test whether agents wrote better questions than templates, from the arms of `situs author
    --arms`.

    An arm is better only if no blind baseline is above chance on its headline, its wrong keys are
    shown to be at most 5 points more than those of T, and readers rate it above T. Keys are read
    with `situs audit import` into the benches of the folder. Without ratings or read keys the
    answer is: not shown.
    """
    from situs.build.authoring.arms import compare_arms

    result = compare_arms(folder, ratings)
    if as_json:
        print_json(result)
        return
    rows = [
        [
            name,
            f"{arm.items:,}",
            f"{arm.kinds}",
            "–" if arm.blind_accuracy is None else f"{arm.blind_accuracy:.2f} ({arm.blind})",
            "–" if arm.chance is None else f"{arm.chance:.2f}",
            "–" if not arm.keys_read else f"{arm.keys_wrong:,} of {arm.keys_read:,}",
            "–" if arm.rating is None else f"{arm.rating:.2f} (n {arm.rated})",
            arm.verdict,
        ]
        for name, arm in result.arms.items()
    ]
    columns = ["arm", "questions", "kinds", "best without the scan", "chance", "keys wrong"]
    columns += ["rating", "verdict"]
    print_table(f"arms of {folder}", columns, rows)
    echo(result.statement)
