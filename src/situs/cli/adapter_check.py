"""`situs adapter-check`."""

from __future__ import annotations

import sys

import click

from situs.cli.output.printing import json_option, print_json, print_table, warn
from situs.cli.output.progress import run_progress


@click.command("adapter-check")
@click.argument("spec")
@click.option(
    "--profile",
    default="default",
    show_default=True,
    help="What the model is shown: a name or a TOML file.",
)
@click.option(
    "--trials",
    type=click.IntRange(12, 500),
    default=20,
    show_default=True,
    help="Questions per ability; fewer than 12 cannot be told from chance.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed; another one makes other phantoms.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 4096),
    default=8,
    show_default=True,
    help="Calls at once.",
)
@click.option(
    "--room",
    "of_turns",
    is_flag=True,
    help="Check the turns of a reading room instead: JSON actions and native tool calls.",
)
@json_option
def command(
    spec: str,
    profile: str,
    trials: int,
    seed: int,
    concurrency: int,
    of_turns: bool,
    as_json: bool,
) -> None:
    """Test on phantoms whether the model SPEC tells left from right, front from back, up from down,
    and slice order.

    Bright balls in a dark body go through the profile to the model, as the questions of a bench do.
    Each count is shown beside the range in which guessing ends 99.9 % of the time. `reversed` means
    that the model is wrong more often than guessing, so something between scan and model is
    mirrored. Exit code 1 if any ability that the profile allows is missing or reversed.

    With --room: tests whether known actions come back as JSON and as native tool calls. situs run
    --room uses what is found here; a server that accepts tools but calls none is asked for JSON.
    """
    if of_turns:
        _check_turns(spec, seed, concurrency, as_json)
    from situs.clients import Limits, make_client, parse_spec
    from situs.probe import check_adapter
    from situs.profiles import load_profile

    parsed, chosen = parse_spec(spec), load_profile(profile)
    client = make_client(parsed)
    with run_progress(parsed.name) as progress:
        limits = Limits(concurrency=concurrency)
        report = check_adapter(
            client,
            parsed,
            chosen,
            trials=trials,
            seed=seed,
            limits=limits,
            progress=progress,
            say=warn,
        )
    if as_json:
        print_json(report)
    else:
        rows = [
            [
                ability.ability.replace("_", " "),
                ability.verdict,
                *map(str, (ability.right, ability.wrong, ability.unread)),
                f"{ability.chance[0]}–{ability.chance[1]}",
            ]
            for ability in report.abilities
        ]
        head = ["ability", "verdict", "right", "wrong", "unread", "chance"]
        print_table(f"{report.model} through profile {report.profile}", head, rows)
    sys.exit(0 if report.passed else 1)


def _check_turns(spec: str, seed: int, concurrency: int, as_json: bool) -> None:
    """The turns of a room."""
    from situs.clients import Limits, make_client, parse_spec
    from situs.room import check_turns

    parsed = parse_spec(spec)
    check = check_turns(
        make_client(parsed), parsed, limits=Limits(concurrency=concurrency), seed=seed
    )
    if as_json:
        print_json(check)
    else:
        rows = [
            ["JSON actions", f"{check.schema} of {check.trials}"],
            ["native tool calls", f"{check.native} of {check.trials}"],
        ]
        used = "native tool calls" if check.proved else "JSON actions"
        caption = f"situs run --room uses {used}." if check.usable else "Neither can be used."
        print_table(f"{check.model}: turns of a room", ["", "right"], rows, caption)
        for trial, reply in check.replies.items():
            warn(f"{trial}: {reply}")
    sys.exit(0 if check.usable else 1)
