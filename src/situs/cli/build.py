"""`situs build`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from situs.cli._build_options import build_options, finish, options_from
from situs.cli._output import progress_bar
from situs.cli._sources import Sources


@click.group("build", cls=Sources)
def command() -> None:
    """Build a bench: a folder with studies, measured facts, and questions whose answers follow from them."""


@command.command("phantoms")
@click.option("--studies", type=click.IntRange(1), required=True, help="How many synthetic patients.")
@build_options
def _phantoms(studies: int, **given: Any) -> None:
    """Make synthetic patients (CT- and MR-like, with masks) and ask about them."""
    from situs.build import build_phantoms

    with progress_bar("phantoms") as progress:
        options = options_from(given, restricted=given["restricted"], licence="synthetic")
        result = build_phantoms(studies, given["out"], options, progress)
    finish(result, given)


@command.command("masks")
@click.argument("roots", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--layout",
    default="auto",
    show_default=True,
    help="How files lie: auto, totalsegmentator, msd, nnunet, amos, kits, brats, dicom, table or file.",
)
@click.option("--names", help="A vocabulary (totalsegmentator) or your own CSV or JSON name map.")
@click.option(
    "--annotation",
    default="automatic",
    show_default=True,
    help="How the masks were made: exact, manual, corrected or automatic; sets how far they may err.",
)
@click.option("--ids", type=click.Choice(["opaque", "stem"]), default="opaque", show_default=True, help="Study ids.")
@click.option("--licence", default="", help="The data's licence, e.g. CC-BY-4.0; without a known one it is restricted.")
@build_options
def _masks(
    roots: tuple[Path, ...], layout: str, names: str | None, annotation: str, ids: str, licence: str, **given: Any
) -> None:
    """Ask about volumes with segmentation masks.

    ROOTS are study folders (ct.nii.gz or mri.nii.gz beside segmentations/), folders of such, MSD, nnU-Net, AMOS,
    KiTS or BraTS datasets, DICOM folders with a SEG or RTSTRUCT, label files, or CSV tables with the columns
    study, patient, image, labels.
    """
    from situs.build import build_masks, is_open_licence

    restricted = given["restricted"] or not is_open_licence(licence)
    with progress_bar("studies") as progress:
        result = build_masks(
            roots,
            given["out"],
            options_from(given, restricted=restricted, licence=licence),
            names=names,
            annotation=annotation,
            layout=layout,
            keep_stems=ids == "stem",
            progress=progress,
        )
    finish(result, given)


@command.command("boxes")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--lists",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Volumes that were reviewed, one a line; repeatable.",
)
@click.option(
    "--images", type=click.Path(path_type=Path), help="Folder of fastMRI .h5 files, NIfTI files or PNG stacks."
)
@click.option("--sides", type=click.Path(path_type=Path), help="CSV for knees: file, medial (left|right), midline_x.")
@click.option("--mix", help="Questions a study by task and level, e.g. detection.slice=10,captioning=0.")
@click.option("--ids", type=click.Choice(["opaque", "stem"]), default="opaque", show_default=True, help="Study ids.")
@click.option("--licence", default="", help="The data's licence, e.g. CC-BY-4.0; without a known one it is restricted.")
@build_options
def _boxes(
    files: tuple[Path, ...],
    lists: tuple[Path, ...],
    images: Path | None,
    sides: Path | None,
    mix: str | None,
    ids: str,
    licence: str,
    **given: Any,
) -> None:
    """Ask about findings that readers drew as boxes on frames.

    FILES are the CSVs of fastMRI+ (brain.csv, knee.csv), CSVs of your own with the same columns, or COCO-style JSON.
    A file of names only, one a line, is a list of reviewed volumes, as after --lists. Without images the questions rest
    on the annotations alone.
    """
    import msgspec

    from situs.build import build_boxes, is_open_licence, parse_mix

    restricted = given["restricted"] or not is_open_licence(licence)
    options = options_from(given, restricted=restricted, licence=licence)
    recipe = msgspec.structs.replace(options.recipe, boxes=parse_mix(mix, options.recipe.boxes))
    with progress_bar("images") as progress:
        result = build_boxes(
            [file for file in files if not _is_list(file)],
            given["out"],
            msgspec.structs.replace(options, recipe=recipe),
            lists=[*lists, *filter(_is_list, files)],
            images=images,
            sides=sides,
            keep_stems=ids == "stem",
            progress=progress,
        )
    finish(result, given)


def _is_list(path: Path) -> bool:
    """Whether a file holds names only, one a line: no table and no JSON."""
    try:
        with path.open("rb") as stream:
            first = stream.read(4096).strip()
    except OSError:
        return False
    return bool(first) and not first.startswith((b"{", b"[")) and b"," not in first
