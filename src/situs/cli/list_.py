"""`situs list`."""

from __future__ import annotations

import click

from situs.cli.options.sources import Sources
from situs.cli.output.printing import json_option, print_json, print_table


@click.group("list", cls=Sources)
def command() -> None:
    """Show what Situs knows: models, names, layouts,
    tasks, profiles, rooms, probes, metrics and formats."""


@command.command("models")
@json_option
def _models(as_json: bool) -> None:
    """List what --model takes: kinds of models, with the form of their spec, and baselines."""
    from situs.run import known_models

    _show("models", known_models(), as_json)


@command.command("names")
@click.argument("words", nargs=-1)
@click.option("--kind", help="Only structures of this kind: organ, vessel, bone, lesion, …")
@click.option("--vocabulary", help="Only structures of this vocabulary: totalsegmentator, kits, …")
@json_option
def _names(words: tuple[str, ...], kind: str | None, vocabulary: str | None, as_json: bool) -> None:
    """List the structures and lesions whose names are known, and the vocabularies that number them.

    WORDS narrow the list: every word must occur in the name, its synonyms, its kind or what it is
    part of. Any spelling of a name works in files and name maps: `kidney_left`, `Left Kidney`, `L
    kidney`. A name map (--names of build and measure) adds names of your own, lesions too.

    \b
    situs list names lung lesion
    situs list names --vocabulary kits
    """
    from situs.anatomy import KINDS, list_names, shipped_vocabularies

    names = list_names(words, kind=kind, vocabulary=vocabulary)
    vocabularies = shipped_vocabularies()
    if as_json:
        print_json({"names": names, "vocabularies": vocabularies, "kinds": KINDS})
        return
    rows = [[n.name, n.plain, n.kind, n.part_of or "", "; ".join(n.synonyms)] for n in names]
    title = f"{len(names)} names" + (f" with {' '.join(words)}" if words else "")
    caption = f"vocabularies for --names: {', '.join(vocabularies)}"
    print_table(title, ["name", "in a question", "kind", "part of", "also called"], rows, caption)


@command.command("layouts")
@json_option
def _layouts(as_json: bool) -> None:
    """List the folder layouts that are recognised, for `build masks --layout`."""
    from situs.volumes import LAYOUTS

    _show("layouts", LAYOUTS, as_json)


@command.command("tasks")
@json_option
def _tasks(as_json: bool) -> None:
    """List what can be asked about masks, for `build --tasks`."""
    from situs.base.docstrings import summary
    from situs.items import all_tasks

    _show(
        "tasks",
        {name: summary(task) for name, task in all_tasks().items()},
        as_json,
    )


@command.command("profiles")
@json_option
def _profiles(as_json: bool) -> None:
    """List the shipped profiles: what a model is shown, for --profile."""
    from situs.profiles import shipped_profiles

    _show("profiles", shipped_profiles(), as_json)


@command.command("rooms")
@json_option
def _rooms(as_json: bool) -> None:
    """List the shipped reading rooms, for `run --room`,
    and the scripted readers and lying tools that go with them."""
    from situs.room import LIES, READERS, shipped_rooms

    if as_json:
        print_json({"rooms": shipped_rooms(), "readers": READERS, "lies": LIES})
        return
    _show("rooms", shipped_rooms(), as_json)
    for title, entries in (
        ("scripted readers (--model)", READERS),
        ("lies (--tools segmentation:lying:NAME)", LIES),
    ):
        click.echo(f"\n{title}")
        _show(title, entries, as_json)


@command.command("probes")
@json_option
def _probes(as_json: bool) -> None:
    """List the changes that `situs probe` can make."""
    from situs.probe import PROBES

    _show(
        "probes", {name: f"{probe.kind}: {probe.about}" for name, probe in PROBES.items()}, as_json
    )


@command.command("metrics")
@json_option
def _metrics(as_json: bool) -> None:
    """List the metrics that `situs score --metrics` computes; docs/reference.md defines them."""
    from situs.score import known_metrics

    _show("metrics", {name: one.about for name, one in known_metrics().items()}, as_json)


@command.command("formats")
@json_option
def _formats(as_json: bool) -> None:
    """List the formats that `situs export --to` writes."""
    from situs.export import known_formats

    _show("formats", known_formats(), as_json)


def _show(what: str, entries: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json({what: entries})
        return
    width = max(map(len, entries), default=0) + 2
    for name, about in entries.items():
        click.echo(f"{name:<{width}}{about}".rstrip())
