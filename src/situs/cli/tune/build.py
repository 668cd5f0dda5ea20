"""`situs tune build`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from situs.cli.options.engines import engine_from, engine_options
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import (
    json_option,
    print_json,
    print_table,
    warn,
)
from situs.cli.output.progress import progress_bar

_A_PATH = INPUT


@click.command("build")
@click.argument("bench", type=_A_PATH)
@out_option("the training data (a new folder)")
@click.option(
    "--target",
    default="boxes+answer",
    show_default=True,
    metavar="TARGET",
    help="answer, boxes+answer, answer+boxes, reasoning+boxes+answer or boxes.",
)
@click.option(
    "--box-form",
    default="qwen3",
    show_default=True,
    metavar="FORM",
    help="qwen3, qwen2.5, pixels, unit, bbx or json.",
)
@click.option(
    "--profile",
    default="default",
    show_default=True,
    help="What the model sees: a name or a TOML file.",
)
@click.option(
    "--frames",
    default="profile",
    show_default=True,
    help="Which slices: profile, all, item, or a number.",
)
@click.option(
    "--size", type=click.IntRange(16, 4096), help="Square pictures of this many pixels instead."
)
@click.option(
    "--split",
    "splits",
    multiple=True,
    metavar="SPLIT",
    help="train or val; both by default. The test split is refused.",
)
@click.option("--mix", metavar="TASK=SHARE,…", help="Shares of tasks, as detection=0.3.")
@click.option(
    "--negatives",
    type=float,
    metavar="SHARE",
    help="Share of examples with nothing to find, among those with boxes.",
)
@click.option(
    "--most-boxes",
    type=click.IntRange(1),
    default=64,
    show_default=True,
    help="Leave out examples with more boxes.",
)
@click.option(
    "--max-length",
    type=click.IntRange(1),
    metavar="TOKENS",
    help="Leave out longer examples; a trainer would cut off their boxes.",
)
@click.option(
    "--model",
    type=_A_PATH,
    help="Count tokens with this model folder's tokenizer instead of estimating them.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of the selection; the same one gives the same bytes.",
)
@click.option("--no-pictures", is_flag=True, help="Text only, to plan and count.")
@click.option("--data", type=_A_PATH, help="The folder the volumes are in, if they were moved.")
@click.option(
    "--allow-restricted", is_flag=True, help="Write pictures of restricted data, under a banner."
)
@click.option("--overwrite", is_flag=True, help="Replace existing training data.")
@engine_options
@json_option
def command(bench: Path, out: Path, as_json: bool, **options: Any) -> None:
    """Write training examples of BENCH: pictures, prompts and the replies to learn.

    BENCH may be a run in a room: then every action of sessions that were right and had seen what
    they answered is an example, as it was sent.

    The folder gets a profile.toml. Ask the trained model with situs run --profile OUT/profile.toml:
    its prompts are the training prompts, byte for byte.
    """
    from situs.tune import BuildChoices, build_data

    choices = BuildChoices(
        target=options["target"],
        box_form=options["box_form"],
        profile=options["profile"],
        frames=options["frames"],
        size=options["size"] or 0,
        splits=options["splits"] or ("train", "val"),
        mix=_mix(options["mix"]),
        negatives=options["negatives"],
        most_boxes=options["most_boxes"],
        max_length=options["max_length"] or 0,
        model=options["model"],
        seed=options["seed"],
        pictures=not options["no_pictures"],
    )
    with progress_bar("examples") as progress:
        built = build_data(
            bench,
            out,
            choices,
            data=options["data"],
            allow_restricted=options["allow_restricted"],
            overwrite=options["overwrite"],
            progress=progress,
            engine=engine_from(options),
        )
    if built.restricted:
        warn("this folder holds pictures of restricted data: do not share it")
    if as_json:
        print_json(built)
        return
    rows = [[f"examples: {split}", f"{count:,}"] for split, count in built.examples.items()]
    rows += [["with nothing to find", f"{built.negative:,}"]]
    rows += [["pictures", f"{built.pictures:,}"]]
    rows += [
        [f"longest, {family}", f"{'' if options['model'] else '≈ '}{n:,} tokens"]
        for family, n in built.lengths.items()
    ]
    rows += [[f"left out: {reason}", f"{count:,}"] for reason, count in built.left_out.items()]
    print_table(f"{out}: {built.target}", ["", ""], rows, f"next: situs tune check {out}")


def _mix(text: str | None) -> dict[str, float]:
    from situs.errors import SitusError

    mix: dict[str, float] = {}
    for part in filter(None, (text or "").split(",")):
        task, _, share = part.partition("=")
        try:
            mix[task.strip()] = float(share)
        except ValueError as error:
            raise SitusError(
                f"cannot read {part!r}", where="--mix", fix="write detection=0.3,counting=1"
            ) from error
    return mix
