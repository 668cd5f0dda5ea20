"""`situs show`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.printing import echo, json_option, print_json


@click.command("show")
@click.argument("source", metavar="STUDY|BENCH", type=click.Path(path_type=Path), required=False)
@click.option(
    "--item",
    "item_id",
    help="An item of the bench (the first if not given); its prompt is shown too.",
)
@click.option(
    "--profile",
    default="default",
    show_default=True,
    help="A shipped name (see --list) or a TOML file.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="A folder, or one .png with all pictures."
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The folder the volumes are in, if they were moved.",
)
@click.option("--list", "list_all", is_flag=True, help="List the shipped profiles and leave.")
@json_option
def command(
    source: Path | None,
    item_id: str | None,
    profile: str,
    out: Path | None,
    data: Path | None,
    list_all: bool,
    as_json: bool,
) -> None:
    """See exactly what a model will see of a STUDY (an image file or study folder) or of an item of a BENCH.

    A folder gets the very pictures that are sent, 001.png …, and prompt.txt; a .png gets them all on one sheet.
    With --json: the prompt, where each picture lies in the patient, and why the profile hides the item, if it does.

    \b
    situs show scan.nii.gz --profile three-views --out sheet.png
    situs show BENCH --item i0123456789abcdef --profile default --out seen/
    """
    from situs.profiles import shipped_profiles

    if list_all:
        shipped = shipped_profiles()
        if as_json:
            print_json(shipped)
        else:
            for name, about in shipped.items():
                echo(f"{name:<24} {about}")
        return
    if source is None or out is None:
        raise click.UsageError("give STUDY|BENCH and --out, or --list.")
    from situs.show import show

    shown = show(source, profile, out, item_id=item_id, data=data)
    if as_json:
        print_json(shown)
        return
    echo(f"{out}: {shown.pictures} pictures, profile {shown.profile} ({shown.profile_hash[:8]})")
    if shown.prompt:
        echo(f"\n{shown.prompt}")
    for reason in shown.hidden:
        echo(f"not answerable: {reason}")
    for doubt in shown.unknown:
        echo(f"not decided: {doubt}")
