"""Options that every way of building shares."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.cli._ask_judges import print_asked
from situs.cli._output import json_option, out_option, print_json, print_table, warn

if TYPE_CHECKING:
    from situs.build import BuildOptions, BuildResult
    from situs.judges import AskedByID

__all__ = ["build_options", "finish", "options_from"]

_SHARED = [
    out_option("the bench (a new folder)"),
    click.option("--tasks", help="Only these, comma-separated, e.g. direction,volume (default: all)."),
    click.option("--per-study", type=click.IntRange(1), help="At most this many questions a study."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same bytes."),
    click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Worker processes."),
    click.option("--recipe", type=click.Path(path_type=Path), help="Your own thresholds (TOML); default: shipped."),
    click.option("--restricted", is_flag=True, help="Mark the bench as restricted data."),
    click.option("--skip-bad", is_flag=True, help="Leave out studies that cannot be read, instead of stopping."),
    click.option("--overwrite", is_flag=True, help="Replace an existing bench."),
    json_option,
]


def build_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared options to a build command."""
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(_SHARED), function)


def options_from(given: dict[str, Any], *, restricted: bool, licence: str = "") -> BuildOptions:
    """The options record from what the command was given."""
    from situs.build import BuildOptions
    from situs.facts import load_recipe

    return BuildOptions(
        name=Path(given["out"]).name,
        recipe=load_recipe(given["recipe"]),
        seed=given["seed"],
        tasks=given["tasks"],
        per_study=given["per_study"],
        jobs=given["jobs"],
        restricted=restricted,
        licence=licence,
        skip_bad=given["skip_bad"],
        overwrite=given["overwrite"],
    )


def finish(result: BuildResult, given: dict[str, Any], asked: Sequence[AskedByID] = ()) -> None:
    """Say what was built, and what the models that were asked cost."""
    if given["as_json"]:
        import msgspec

        print_json(msgspec.to_builtins(result) | {"asked": list(asked)} if asked else result)
        return
    print_asked(asked)
    for problem in result.problems[:5]:
        warn(f"{problem.where}: {problem.problem[:200]}{f'; {problem.fix}' if problem.fix else ''}")
    if len(result.problems) > 5:
        warn(f"and {len(result.problems) - 5} more (--json lists all)")
    rows = [[task, f"{count:,}"] for task, count in result.by_task.items()]
    strata = ", ".join(f"{name} {count:,}" for name, count in result.by_stratum.items())
    title = f"{given['out']}: {result.items:,} questions on {result.studies:,} studies"
    print_table(title, ["task", "questions"], rows, f"by stratum: {strata or 'none'}")
    rows = [[reason, f"{count:,}"] for reason, count in result.not_asked.items()]
    print_table("not asked", ["why", "n"], rows)
    if result.coverage is not None:
        words = {name: name.replace("_", " ") for name in result.coverage.__struct_fields__}
        rows = [[word, f"{getattr(result.coverage, name):,}"] for name, word in words.items()]
        print_table("studies", ["what became of them", "n"], [row for row in rows if row[1] != "0"])
    for note in result.notes:
        click.echo(note)
