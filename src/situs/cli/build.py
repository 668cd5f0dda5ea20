"""`situs build`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from situs.cli.options.asking import ask_options, asking_from
from situs.cli.options.building import finish, options_from, shared_options, source_options
from situs.cli.options.sharding import shardable
from situs.cli.options.sources import Sources
from situs.cli.output.paths import INPUT
from situs.cli.output.printing import warn
from situs.cli.output.progress import progress_bar


@click.group("build", cls=Sources)
def command() -> None:
    """Build a bench: a folder with studies, measured facts,
    and questions whose answers follow from them."""


@command.command("phantoms")
@click.option(
    "--studies", type=click.IntRange(1), required=True, help="How many synthetic patients."
)
@click.option(
    "--body",
    type=click.Choice(["abdomen", "knee"]),
    default="abdomen",
    show_default=True,
    help="Body part: knees come with grades and are asked about as in `build grades`.",
)
@shared_options
def _phantoms(studies: int, body: str, **arguments: Any) -> None:
    """Make synthetic patients (CT- and MR-like, with masks) and ask about them."""
    from situs.build import build_knees, build_phantoms

    with progress_bar("phantoms") as progress:
        options = options_from(arguments, synthetic=True)
        make = build_knees if body == "knee" else build_phantoms
        result = make(studies, arguments["out"], options, progress)
    finish(result, arguments)


_trust_option = click.option(
    "--trust",
    multiple=True,
    metavar="STUDY[:DOUBT]",
    help=(
        "Ask about a study (*: every study) although its anatomy looks wrong; repeatable. "
        "DOUBT: left_right, front_back, up_down, scale, levels, structure, or a structure's name; "
        "without it, everything."
    ),
)


@command.command("masks")
@click.argument("roots", nargs=-1, required=True, type=INPUT)
@click.option(
    "--layout",
    default="auto",
    show_default=True,
    help="How the files are laid out; `situs list layouts` shows the names.",
)
@click.option("--names", help="A vocabulary (totalsegmentator) or your own CSV or JSON name map.")
@click.option(
    "--annotation",
    default="automatic",
    show_default=True,
    help=(
        "How the masks were made: exact, manual, corrected or automatic; sets how far they may err."
    ),
)
@_trust_option
@source_options
@shared_options
@shardable("masks")
def _masks(
    roots: tuple[Path, ...], layout: str, names: str | None, annotation: str, **arguments: Any
) -> None:
    """Ask about volumes with segmentation masks.

    ROOTS are study folders (ct.nii.gz or mri.nii.gz beside segmentations/), folders of such, MSD,
    nnU-Net, AMOS, KiTS or BraTS datasets, DICOM folders with a SEG or RTSTRUCT, label files, or CSV
    tables with the columns study, patient, image, labels.
    """
    from situs.build import build_masks

    with progress_bar("studies") as progress:
        result = build_masks(
            roots,
            arguments["out"],
            options_from(arguments),
            names=names,
            annotation=annotation,
            layout=layout,
            progress=progress,
        )
    finish(result, arguments)


@command.command("boxes")
@click.argument("files", nargs=-1, required=True, type=INPUT)
@click.option(
    "--lists",
    multiple=True,
    type=INPUT,
    help="A list of the volumes that were reviewed, one per line; repeatable.",
)
@click.option(
    "--images",
    type=INPUT,
    help="Folder of fastMRI .h5 files, NIfTI files or PNG stacks.",
)
@click.option(
    "--sides",
    type=INPUT,
    help="CSV for knees: file, medial (left|right), midline_x.",
)
@click.option(
    "--mix", help="Questions per study by task and level, e.g. detection.slice=10,captioning=0."
)
@source_options
@shared_options
@shardable("boxes")
def _boxes(
    files: tuple[Path, ...],
    lists: tuple[Path, ...],
    images: Path | None,
    sides: Path | None,
    mix: str | None,
    **arguments: Any,
) -> None:
    """Ask about findings that readers drew as boxes on frames.

    FILES are the CSVs of fastMRI+ (brain.csv, knee.csv), CSVs of your own with columns file, slice
    (from 0), x, y, width, height, label, or COCO-style JSON. A file of names only, one per line,
    lists reviewed volumes, as after --lists. Without --images (found by the volume's name) the
    questions rest on the annotations alone: no model can be shown them, and boxes are run and
    scored with --profile sgmri-frames.
    """
    import msgspec

    from situs.build import build_boxes, parse_mix

    options = options_from(arguments)
    recipe = msgspec.structs.replace(options.recipe, boxes=parse_mix(mix, options.recipe.boxes))
    with progress_bar("images") as progress:
        result = build_boxes(
            [file for file in files if not _is_list(file)],
            arguments["out"],
            msgspec.structs.replace(options, recipe=recipe),
            lists=[*lists, *filter(_is_list, files)],
            images=images,
            sides=sides,
            progress=progress,
        )
    finish(result, arguments)


@command.command("reports")
@click.argument("file", type=INPUT)
@click.option(
    "--writer",
    default="rules",
    show_default=True,
    metavar="rules|SPEC",
    help="What writes the questions.",
)
@click.option(
    "--validator",
    metavar="SPEC",
    help="A model that vets every question; not the one that writes them.",
)
@click.option(
    "--images",
    type=INPUT,
    help="Folder of the volumes; found by the report's id.",
)
@source_options
@shared_options
@ask_options
@shardable("reports")
def _reports(
    file: Path, writer: str, validator: str | None, images: Path | None, **arguments: Any
) -> None:
    """Ask what radiology reports prove.

    FILE is CSV, JSON or JSON Lines with id, findings and impression (and patient, where known), or
    the reports of CT-SpatialVQA. Rules write by default: they ask only what one sentence states and
    no other contradicts. A model as writer proposes, quoting its sentence; rules check before and
    after a validator does. What models were asked is kept in OUT.asked: the same command resumes.
    """
    from contextlib import ExitStack

    from situs.build import build_reports
    from situs.cli.options.judges import leave_if_stopped
    from situs.cli.output.progress import run_progress
    from situs.errors import SitusError
    from situs.judges import asker_of

    asking = asking_from(arguments)
    if arguments["shard"] and (writer != "rules" or validator is not None):
        fix = "let rules write, or leave --shard out"
        raise SitusError("models are asked about all reports at once", where="--shard", fix=fix)
    if writer != "rules" and validator is None:
        raise SitusError(
            "a model's questions need a validator", where="--validator", fix="name another model"
        )
    done: list[Any] = []

    def ended(asked: Any) -> None:
        leave_if_stopped(asked)
        done.append(asked)

    with ExitStack() as stack:
        chosen = {"writer": writer, "validator": validator}
        by_model = {
            name: text for name, text in chosen.items() if text is not None and text != "rules"
        }
        cache = stack.enter_context(asking.cache(warn)) if by_model else None
        roles = {
            name: asker_of(
                text,
                f"--{name}",
                asking,
                cache,
                progress=stack.enter_context(run_progress(name)),
                say=warn,
            )
            for name, text in by_model.items()
        }
        looked = stack.enter_context(progress_bar("volumes", shown=images is not None))
        result = build_reports(
            file,
            arguments["out"],
            options_from(arguments),
            images=images,
            progress=looked,
            writer=roles.get("writer"),
            validator=roles.get("validator"),
            ended=ended,
        )
    finish(result, arguments, done)


@command.command("grades")
@click.argument("table", type=INPUT)
@click.option(
    "--bank",
    default="moaks-knee",
    show_default=True,
    help="The grading system: a shipped one or a TOML file.",
)
@click.option(
    "--label-map",
    help="Names of the masks' values: CSV label,name or JSON; not needed for a folder of masks.",
)
@click.option(
    "--boxes",
    type=INPUT,
    help="CSV of boxes of regions that were computed earlier.",
)
@click.option(
    "--columns",
    type=INPUT,
    help="TOML that maps other columns, or a wide table.",
)
@click.option(
    "--words",
    type=click.Choice(["plain", "guided", "both"]),
    default="plain",
    show_default=True,
    help="Whether a question says how the sign looks.",
)
@click.option(
    "--by",
    type=click.Choice(["reader", "geometry", "both"]),
    default="both",
    show_default=True,
    help="Whose grades are asked for; geometry needs masks.",
)
@click.option(
    "--annotation",
    default="manual",
    show_default=True,
    help="How the masks were made: exact, manual, corrected or automatic.",
)
@_trust_option
@source_options
@shared_options
@shardable("grades")
def _grades(
    table: Path,
    bank: str,
    label_map: str | None,
    boxes: Path | None,
    columns: Path | None,
    words: str,
    by: str,
    annotation: str,
    **arguments: Any,
) -> None:
    """Ask for readers' grades: where the region lies, and how severe the sign is.

    TABLE is a CSV with the columns study, question, sub_score, grade, and where they apply patient,
    side, time, image, labels (paths relative to the table), or shape and affine. Boxes come from
    the masks or from --boxes.
    """
    from situs.build import GradeSource, build_grades

    source = GradeSource(
        table=table,
        bank=bank,
        columns=columns,
        label_map=label_map,
        boxes=boxes,
        words=("plain", "guided") if words == "both" else (words,),
        by=("reader", "geometry") if by == "both" else (by,),
        annotation=annotation,
    )
    with progress_bar("studies") as progress:
        result = build_grades(source, arguments["out"], options_from(arguments), progress)
    finish(result, arguments)


def _is_list(path: Path) -> bool:
    """Whether a file holds names only, one a line: no table and no JSON."""
    from situs.base.files import check_regular
    from situs.errors import SitusError

    try:
        check_regular(path)
        with path.open("rb") as stream:
            first = stream.read(4096).strip()
    except (OSError, SitusError):
        return False  # its reader says what is wrong with it
    return bool(first) and not first.startswith((b"{", b"[")) and b"," not in first
