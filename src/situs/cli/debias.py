"""`situs debias`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from situs.cli.options.building import finish
from situs.cli.output.printing import json_option, out_option


@click.command("debias")
@click.argument("bench", type=click.Path(path_type=Path))
@out_option("the new bench (a new folder)")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The folder the volumes are in, if they were moved.",
)
@click.option("--overwrite", is_flag=True, help="Replace an existing bench.")
@json_option
def command(bench: Path, data: Path | None, **given: Any) -> None:
    """Copy BENCH without the question texts that the prompt, the average anatomy or others' answers predict.

    Whole texts leave, never single items, and no model under test is asked.
    """
    from situs.build import debias

    finish(debias(bench, given["out"], overwrite=given["overwrite"], data=data), given)
