"""`situs debias`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from situs.cli.options.building import finish
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import json_option
from situs.cli.output.progress import working


@click.command("debias")
@click.argument("bench", type=INPUT)
@out_option("the new bench (a new folder)")
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing bench.")
@json_option
def command(bench: Path, data: Path | None, **arguments: Any) -> None:
    """Copy BENCH without the questions that can be answered from their words, the average anatomy
    or other patients' answers.

    A wording is left out for all patients or for none, and no model under test is asked.
    """
    from situs.build import debias

    with working("looking for questions that need no image"):
        built = debias(bench, arguments["out"], overwrite=arguments["overwrite"], data=data)
    finish(built, arguments)
