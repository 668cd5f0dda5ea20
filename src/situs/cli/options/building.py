"""Options that every way of building shares."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from situs.base.text import counted
from situs.cli.options.engines import engine_options
from situs.cli.options.judges import print_asked
from situs.cli.output.events import events_options
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import echo, json_option, print_json, print_table, warn

if TYPE_CHECKING:
    from situs.build import BuildOptions, BuildResult
    from situs.judges import AskedByID

__all__ = ["finish", "options_from", "shared_options", "source_options"]

ids_option = click.option(
    "--ids",
    type=click.Choice(["opaque", "table", "stem"]),
    default="opaque",
    show_default=True,
    help=(
        "Ids of studies and patients. opaque: keyed hashes, except names of public datasets; table:"
        " the table's or imported file's own; stem: those and file names."
    ),
)
licence_option = click.option(
    "--licence",
    default="",
    help="The data's licence, e.g. CC-BY-4.0; without a known one it is restricted.",
)

_MOST_SUSPECTS = 20

_SHARED: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
    out_option("the bench (a new folder)"),
    click.option(
        "--tasks", help="Only these, comma-separated, e.g. direction,volume (default: all)."
    ),
    click.option(
        "--per-study", type=click.IntRange(1), help="At most this many questions per study."
    ),
    click.option(
        "--seed",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="Seed; the same one gives the same bytes.",
    ),
    engine_options,
    click.option(
        "--recipe",
        type=INPUT,
        help="Your own thresholds (TOML); default: the built-in ones.",
    ),
    click.option("--restricted", is_flag=True, help="Mark the bench as restricted data."),
    click.option(
        "--skip-bad",
        is_flag=True,
        help="Leave out studies that cannot be read, instead of stopping.",
    ),
    click.option("--overwrite", is_flag=True, help="Replace an existing bench."),
    click.option(
        "--review",
        type=INPUT,
        help="Leave out what readers dropped or want fixed: a folder of situs review export.",
    ),
    events_options,
    json_option,
]


_NO_HEADLINE = (
    ". No headline question: one needs three patients for each of its answers, so at least six who"
    " can be asked the same, or three for a number. Textbook questions can be answered by knowing"
    " anatomy; untwinned ones look at the scan, but their answers are not balanced over patients."
)

_TWINNED = {"textbook", "untwinned"}
"""What is left where questions could have twins and none has."""


def shared_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options to a build command."""
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(_SHARED), function)


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of commands that read somebody's data."""
    return ids_option(licence_option(function))


def options_from(arguments: dict[str, Any], *, synthetic: bool = False) -> BuildOptions:
    """The options record from what the command was given; options that it does not have take their
    defaults.

    Nobody's data are `synthetic` ones; all others are restricted unless their licence is an open
    one.
    """
    from situs.api.settings import BuildSettings, build_options

    names = BuildSettings.__annotations__
    settings = {name: value for name, value in arguments.items() if name in names}
    return build_options(arguments["out"], settings, synthetic=synthetic)  # type: ignore[arg-type]


def _say_if_restricted(licence: str) -> None:
    """A licence that was named and opens nothing: a slip of the pen, or one that Situs does not
    know."""
    from situs.build import is_open_licence

    if licence and not is_open_licence(licence):
        warn(
            f"--licence {licence}: not one of the open licences that Situs knows (CC0-1.0,"
            " CC-BY-4.0, CC-BY-SA-4.0, Apache-2.0, MIT, …); the bench is restricted"
        )


def finish(result: BuildResult, arguments: dict[str, Any], asked: Sequence[AskedByID] = ()) -> None:
    """Say what was built, and what the models that were asked cost."""
    if arguments["as_json"]:
        import msgspec

        print_json(msgspec.to_builtins(result) | {"asked": list(asked)} if asked else result)
        return
    print_asked(asked)
    _say_if_restricted(arguments.get("licence", ""))
    for problem in result.problems[:5]:
        warn(f"{problem.where}: {problem.problem[:200]}{f'; {problem.fix}' if problem.fix else ''}")
    if len(result.problems) > 5:
        warn(f"and {len(result.problems) - 5} more (--json lists all)")
    rows = [[task, f"{count:,}"] for task, count in result.by_task.items()]
    strata = ", ".join(f"{name} {count:,}" for name, count in result.by_stratum.items())
    title = (
        f"{arguments['out']}: {counted(result.items, 'question')} on"
        f" {counted(result.studies, 'study', 'studies')}"
    )
    caption = f"by stratum: {strata or 'none'}"
    # Imported questions and grades have no twins to begin with.
    if not result.by_stratum.get("headline") and result.by_stratum.keys() & _TWINNED:
        caption += _NO_HEADLINE
    print_table(title, ["task", "questions"], rows, caption)
    _print_suspects(result)
    rows = [[reason, f"{count:,}"] for reason, count in result.not_asked.items()]
    if rows:
        print_table("not asked", ["why", "n"], rows)
    if result.coverage is not None:
        words = {name: name.replace("_", " ") for name in result.coverage.__struct_fields__}
        rows = [[word, f"{getattr(result.coverage, name):,}"] for name, word in words.items()]
        print_table("studies", ["outcome", "n"], [row for row in rows if row[1] != "0"])
    for note in result.notes:
        echo(note)


def _print_suspects(result: BuildResult) -> None:
    """Studies whose anatomy looks wrong, and what is withheld for it."""
    doubted = [suspect for suspect in result.suspects if suspect.doubt]
    if not doubted:
        return
    listed = doubted[:_MOST_SUSPECTS]
    rows = [
        [s.study_id, f"{s.doubt} (trusted)" if s.trusted else s.doubt, s.problem] for s in listed
    ]
    more = len(doubted) - len(listed)
    note = (
        f"and {more} more (--json lists all, with the fix)"
        if more
        else "--json says how to fix each"
    )
    print_table(
        "suspect studies: questions that depend on what is in doubt are not asked",
        ["study", "in doubt", "why"],
        rows,
        note,
    )
