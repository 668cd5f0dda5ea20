"""`situs show`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.base.text import counted
from situs.cli.output.paths import INPUT, OUTPUT, writes
from situs.cli.output.printing import echo, json_option, print_json


@click.command("show")
@click.argument("source", metavar="STUDY|BENCH|RUN", type=INPUT, required=False)
@click.option(
    "--item",
    "item_id",
    help="An item of the bench (the first if not given); its prompt is shown too.",
)
@click.option(
    "--profile",
    help="A shipped name (see --list) or a TOML file. [default: default]",
)
@click.option("--out", type=OUTPUT, help="A folder, or one .png with all pictures.")
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
@click.option(
    "--allow-restricted",
    "--allow-pixels",
    "allow_pixels",
    is_flag=True,
    help="For a RUN: write pictures of restricted data too, under a banner.",
)
@click.option("--list", "list_all", is_flag=True, help="List the shipped profiles and exit.")
@json_option
@writes()
def command(
    source: Path | None,
    item_id: str | None,
    profile: str | None,
    out: Path | None,
    data: Path | None,
    allow_pixels: bool,
    list_all: bool,
    as_json: bool,
) -> None:
    """See exactly what a model will see of a STUDY (an image file or study folder) or of an item of
    a BENCH.

    A folder gets the very pictures that are sent, 001.png …, and prompt.txt; a .png gets them all
    on one sheet. With --json: the prompt, where each picture lies in the patient, and why the
    profile hides the item, if it does.

    \b
    situs show scan.nii.gz --profile three-views --out sheet.png
    situs show BENCH --item i0123456789abcdef --profile default --out seen/

    For a RUN in a room it replays the session of an item: every look with what it showed of the
    evidence, what was measured, what a tool said, and the answer; as one .html page, one .png
    sheet, or a folder of the pictures.

    \b
    situs show runs/frugal --item i0123456789abcdef --out session.html
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
    if (source / "room.json").is_file():
        _session(source, item_id, profile, out, data, allow_pixels, as_json)
        return
    from situs.show import show

    result = show(source, profile or "default", out, item_id=item_id, data=data)
    if as_json:
        print_json(result)
        return
    echo(
        f"{out}: {counted(result.pictures, 'picture')}, profile {result.profile}"
        f" ({result.profile_hash[:8]})"
    )
    if result.prompt:
        echo(f"\n{result.prompt}")
    for reason in result.hidden:
        echo(f"not answerable: {reason}")
    for doubt in result.unknown:
        echo(f"not decided: {doubt}")


def _session(
    run: Path,
    item_id: str | None,
    profile: str | None,
    out: Path,
    data: Path | None,
    allow_pixels: bool,
    as_json: bool,
) -> None:
    """Play a session back."""
    from situs.errors import SitusError
    from situs.room import show_session

    if item_id is None:
        raise SitusError("needs --item ID", where=run, fix="take an id from answers.jsonl")
    if profile is not None:
        raise SitusError("a run has its own profile", where="--profile", fix="leave it out")
    result = show_session(run, item_id, out, data=data, allow_pixels=allow_pixels)
    if as_json:
        print_json(result)
        return
    echo(
        f"{out}: {counted(result.turns, 'turn')}, {counted(result.pictures, 'picture')};"
        f" {result.verdict}"
    )
