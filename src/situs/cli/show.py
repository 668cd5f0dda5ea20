"""`situs show`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli._output import json_option, print_json


@click.command("show")
@click.argument("source", metavar="STUDY|BENCH", type=click.Path(path_type=Path))
@click.option("--item", "item_id", help="An item of the bench; its prompt is shown too.")
@click.option("--profile", default="default", show_default=True, help="A name or a TOML file.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A folder, or one .png with all pictures.")
@click.option("--data", type=click.Path(path_type=Path), help="The folder the volumes are in, if they were moved.")
@json_option
def command(source: Path, item_id: str | None, profile: str, out: Path, data: Path | None, as_json: bool) -> None:
    """See exactly what a model will see of a STUDY (an image file or study folder) or of an item of a BENCH."""
    from situs.build import show

    shown = show(source, profile, out, item_id=item_id, data=data)
    if as_json:
        print_json(shown)
        return
    click.echo(f"{out}: {shown.pictures} pictures, profile {shown.profile} ({shown.profile_hash[:8]})")
    if shown.prompt:
        click.echo(f"\n{shown.prompt}")
