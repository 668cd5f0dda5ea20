"""`situs quiz`."""

from __future__ import annotations

from pathlib import Path

import click

from situs.cli.output.printing import echo, json_option, print_json, print_table


@click.command("quiz")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="The HTML file to write; with --import, the run."
)
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
    default=20,
    show_default=True,
    help="How many, drawn at random.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="Show the key and ask whether it is right, instead of asking for answers.",
)
@click.option("--split", help="Only this split: train, val or test.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The folder the volumes are in, if they were moved.",
)
@click.option(
    "--allow-restricted", is_flag=True, help="Embed pictures of restricted data, under a banner."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the draw.")
@click.option(
    "--import", "answers", type=click.Path(path_type=Path), help="A file that a reader exported."
)
@json_option
def command(
    bench: Path,
    out: Path | None,
    profile: str,
    full_stack: bool,
    items: int,
    verify: bool,
    split: str | None,
    data: Path | None,
    allow_restricted: bool,
    seed: int,
    answers: Path | None,
    as_json: bool,
) -> None:
    """Let people read a sample of BENCH in a browser, offline, and take their answers back.

    The file holds no key; `--verify` makes one that shows it, to find how often it is wrong. Answers come back with
    `--import FILE --out RUN` as a run like a model's; verdicts on the key with `--import FILE`, onto the bench's card.
    """
    from situs.errors import SitusError

    if answers is not None:
        _import(bench, answers, out, as_json)
        return
    if out is None:
        raise SitusError("where to?", where="--out", fix="give --out quiz.html")
    from situs.review import write_quiz

    chosen = "full-stack" if full_stack else profile
    result = write_quiz(
        bench,
        out,
        profile=chosen,
        items=items,
        seed=seed,
        verify=verify,
        split=split,
        data=data,
        allow_restricted=allow_restricted,
    )
    if as_json:
        print_json(result)
        return
    lost = "".join(f"; left out, {reason}: {count}" for reason, count in result.left_out.items())
    echo(f"{out}: {result.items} items to {result.mode}, {result.bytes / 1e6:.1f} MB{lost}")


def _import(bench: Path, answers: Path, out: Path | None, as_json: bool) -> None:
    from situs.review import import_answers

    result = import_answers(bench, answers, out)
    if as_json:
        print_json(result)
        return
    rows = [[state.replace("_", " "), f"{count:,}"] for state, count in result.states.items()]
    caption = result.key_errors.words if result.key_errors is not None else f"The run is in {out}."
    print_table(f"{result.reader}: {result.items:,} items", ["said", "items"], rows, caption)
