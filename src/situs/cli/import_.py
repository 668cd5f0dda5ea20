"""`situs import`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from situs.base.plugins import offered, offered_names
from situs.cli.options.asking import ask_options, asking_from
from situs.cli.options.building import finish, options_from, source_options
from situs.cli.options.sources import Sources
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import json_option, warn
from situs.cli.output.progress import progress_bar


class _Importers(Sources):
    """The shipped importers, and those of installed packages."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names."""
        return sorted({*super().list_commands(ctx), *offered_names(_GROUP)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A shipped importer's own command, or the common one."""
        if cmd_name not in self.commands and cmd_name in offered(_GROUP):
            return _offered_command(cmd_name)
        return super().get_command(ctx, cmd_name)


_GROUP = "situs.importers"


@click.group("import", cls=_Importers)
def command() -> None:
    """Make a bench of questions that another set published; their answers are given, not proved."""


def _shared_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every importer has."""
    options = (
        source_options,
        click.option(
            "--seed",
            type=click.IntRange(0),
            default=0,
            show_default=True,
            help="Seed of the splits.",
        ),
        click.option(
            "--skip-bad",
            is_flag=True,
            help="Leave out entries that cannot be read, instead of stopping.",
        ),
        click.option("--overwrite", is_flag=True, help="Replace an existing bench."),
        json_option,
    )
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), function)


def _files_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add those of importers of files whose scans are found by name."""
    options = (
        click.argument("paths", nargs=-1, required=True, type=INPUT),
        out_option("the bench (a new folder)"),
        click.option(
            "--images", type=INPUT, help="Folder of the scans, found by the study's name."
        ),
        _shared_options,
    )
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), function)


@command.command("items")
@_files_options
def _items(paths: tuple[Path, ...], images: Path | None, **arguments: Any) -> None:
    """Import questions from JSON Lines files.

    One object per line: study, question, answer, and where they apply options, unit, tolerance,
    patient, task, id, split, tags. The answer is yes/no, a letter or text of an option (a list for
    several), a number, or free text. With --images a model is shown the scan that is named
    after the study, in whatever folder below; without it, questions are asked as text only.
    """
    from situs.build import import_items

    options = options_from(arguments)
    with progress_bar("volumes", shown=images is not None) as looked:
        result = import_items(
            list(paths), arguments["out"], options, images=images, progress=looked
        )
    finish(result, arguments)


@command.command("ct-spatialvqa")
@click.argument("path", metavar="QA.json", type=INPUT)
@out_option("the bench (a new folder)")
@click.option(
    "--reports",
    type=INPUT,
    help="The released reports; patients who share a report count as one.",
)
@click.option(
    "--images",
    type=INPUT,
    help="Folder of the volumes, e.g. of CT-RATE; found by name.",
)
@click.option(
    "--categories",
    metavar="FILE|rules|SPEC",
    help="A QA file with categories, `rules` to label by wording, or a model to ask for them.",
)
@source_options
@click.option(
    "--skip-bad", is_flag=True, help="Leave out rows that cannot be read, instead of stopping."
)
@click.option("--overwrite", is_flag=True, help="Replace an existing bench.")
@ask_options
@json_option
def _ct_spatialvqa(
    path: Path, reports: Path | None, images: Path | None, categories: str | None, **arguments: Any
) -> None:
    """Import the released questions of CT-SpatialVQA.

    QA.json is the released file with or without categories, or JSON Lines with case_id, question
    and answer. Ids are `volume::position`, as published; the patient is taken from the volume's
    name. Import predictions with `situs run --model replay:FILE`, verdicts with `situs score
    --verdicts NAME=FILE`.
    """
    from situs.build import CategorySource, import_ct_spatialvqa
    from situs.cli.options.judges import leave_if_stopped
    from situs.cli.output.progress import run_progress
    from situs.judges import asker_of

    asking = asking_from(arguments)
    options = options_from(arguments)
    by_model = (
        categories is not None
        and categories != "rules"
        and not Path(categories).exists()
        and ":" in categories
    )
    load = functools.partial(
        import_ct_spatialvqa, path, arguments["out"], options, reports=reports, images=images
    )
    if not by_model:
        with progress_bar("volumes", shown=images is not None) as looked:
            result = load(categories=CategorySource(categories), progress=looked)
        finish(result, arguments)
        return
    done: list[Any] = []

    def ended(asked: Any) -> None:
        leave_if_stopped(asked)
        done.append(asked)

    with asking.cache(warn) as cache, run_progress("labels") as progress:
        labeller = asker_of(
            str(categories), "--categories", asking, cache, progress=progress, say=warn
        )
        result = load(categories=CategorySource(None, labeller, ended))
    finish(result, arguments, done)


@command.command("sgmri-vqa")
@click.argument("paths", nargs=-1, required=True, type=INPUT)
@click.option(
    "--images",
    type=INPUT,
    help=(
        "Folder of fastMRI .h5 files or PNG stacks, found by the volume's name: what a model is"
        " shown."
    ),
)
@out_option("the bench (a new folder)")
@_shared_options
def _sgmri(paths: tuple[Path, ...], images: Path | None, **arguments: Any) -> None:
    """Import SGMRI-VQA: its QA JSON, or result files of its inference script.

    Boxes and answers are taken as they are given. A result file's own answers are scored with
    `replay:FILE`.
    """
    from situs.build import import_sgmri

    options = options_from(arguments)
    with progress_bar("volumes", shown=images is not None) as looked:
        result = import_sgmri(
            list(paths), arguments["out"], options, images=images, progress=looked
        )
    finish(result, arguments)


@command.command("3dreasonknee")
@click.argument("table", metavar="SPLIT.csv", type=INPUT)
@click.argument("answers", metavar="ANSWERS.json", type=INPUT)
@out_option("the bench (a new folder)")
@click.option(
    "--images",
    type=INPUT,
    help="Folder that the table's file paths start from.",
)
@click.option(
    "--fields",
    type=INPUT,
    help="TOML that names the fields of the answers file.",
)
@_shared_options
def _3dreasonknee(
    table: Path, answers: Path, images: Path | None, fields: Path | None, **arguments: Any
) -> None:
    """Import 3DReasonKnee: its split table and its released answers.

    The names of the fields in the answers are not published: the shipped field map is a guess,
    marked unverified. Give your own with --fields. Boxes need the images, since they count voxels.
    """
    from situs.build import import_3dreasonknee

    options = options_from(arguments)
    finish(
        import_3dreasonknee(
            table, answers, arguments["out"], options, images=images, fields=fields
        ),
        arguments,
    )


def _offered_command(name: str) -> click.Command:
    """The command of an importer that an installed package offers."""

    @click.command(name, help=f"Import files with {name}, which an installed package offers.")
    @_files_options
    def run(paths: tuple[Path, ...], images: Path | None, **arguments: Any) -> None:
        from situs.build import import_bench, offered_importer

        importer = offered_importer(name, paths)
        with progress_bar("volumes", shown=images is not None) as looked:
            result = import_bench(
                importer, arguments["out"], options_from(arguments), images=images, progress=looked
            )
        finish(result, arguments)

    return run
