"""`situs quiz`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.base.text import counted
from situs.cli.output.paths import INPUT, LOCAL
from situs.cli.output.printing import echo, json_option, print_json, print_table
from situs.cli.output.progress import working

_ITEM_BYTES = 700_000
"""What a quiz should take for each item, so that it can be mailed."""


@click.command("quiz")
@click.argument("bench", type=INPUT)
@click.option("--out", type=LOCAL, help="The HTML file to write; with --import, the run.")
@click.option(
    "--profile",
    default="default",
    show_default=True,
    help="What the reader sees: a name or a TOML file.",
)
@click.option("--full-stack", is_flag=True, help="Every slice: the same as --profile full-stack.")
@click.option(
    "--items",
    type=click.IntRange(1),
    help="How many, drawn at random. [default: 20, or all where there are fewer]",
)
@click.option(
    "--verify",
    is_flag=True,
    help="Show the key and ask whether it is right, instead of asking for answers.",
)
@click.option("--split", help="Only this split: train, val or test.")
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
@click.option(
    "--allow-restricted", is_flag=True, help="Embed pictures of restricted data, under a banner."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the draw."
)
@click.option("--import", "answers", type=INPUT, help="A file that a reader exported.")
@json_option
def command(
    bench: Path,
    out: Path | None,
    profile: str,
    full_stack: bool,
    items: int | None,
    verify: bool,
    split: str | None,
    data: Path | None,
    allow_restricted: bool,
    seed: int,
    answers: Path | None,
    as_json: bool,
) -> None:
    """Let people read a sample of BENCH in a browser, offline, and take their answers back.

    The file holds no answer key; with `--verify` it shows the key, to find out how often that is
    wrong. `--import FILE --out RUN` turns a reader's answers into a run like a model's; `--import
    FILE` puts verdicts on the key onto the bench's card.
    """
    from situs.errors import SitusError

    if answers is not None:
        _import(bench, answers, out, as_json)
        return
    if out is None:
        raise SitusError("no file to write to", where="--out", fix="give --out quiz.html")
    from situs.review import QuizDraw, write_quiz

    chosen = "full-stack" if full_stack else profile
    with working("drawing the pictures"):
        result = write_quiz(
            bench,
            out,
            QuizDraw(items, seed, split),
            profile=chosen,
            verify=verify,
            data=data,
            allow_restricted=allow_restricted,
        )
    if as_json:
        print_json(result)
        return
    lost = "".join(f"; left out, {reason}: {count}" for reason, count in result.left_out.items())
    echo(
        f"{out}: {counted(result.items, 'item')} to {result.mode}, {result.bytes / 1e6:.1f}"
        f" MB{lost}"
    )
    if result.bytes > _ITEM_BYTES * result.items:
        echo(
            "Over 0.7 MB per item: a profile with fewer slices makes it smaller (situs list"
            " profiles)."
        )


def _import(bench: Path, answers: Path, out: Path | None, as_json: bool) -> None:
    from situs.review import import_answers

    result = import_answers(bench, answers, out)
    if as_json:
        print_json(result)
        return
    rows = [[state.replace("_", " "), f"{count:,}"] for state, count in result.states.items()]
    caption = result.key_errors.words if result.key_errors is not None else f"The run is in {out}."
    print_table(
        f"{result.reader}: {counted(result.items, 'item')}", ["said", "items"], rows, caption
    )
