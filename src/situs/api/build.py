"""`situs.build`: a bench from a source of evidence.

>>> bench = situs.build.masks("data/studies", out="bench", licence="CC-BY-4.0")
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Unpack

import msgspec

from situs.api.benches import Bench, bench_at
from situs.api.leaving import writes
from situs.api.results import PathLike, Paths, bar, maybe_path, out_path, path_of, paths_of
from situs.api.settings import BuildSettings, build_options
from situs.build import (
    GradeSource,
    build_boxes,
    build_grades,
    build_knees,
    build_masks,
    build_phantoms,
    build_reports,
    parse_mix,
)
from situs.clients import Asking
from situs.errors import SitusError
from situs.judges import AskedByID, asker_of

__all__ = ["boxes", "grades", "masks", "phantoms", "reports"]


@writes(bench_at, builds=True, synthetic=True)
def phantoms(
    studies: int,
    out: PathLike,
    *,
    body: str = "abdomen",
    progress: bool = False,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """Make synthetic patients and ask about them;
    `body` is `abdomen` or `knee` (which comes with grades)."""
    if body not in ("abdomen", "knee"):
        raise SitusError(
            f"no phantom has the body {body!r}", where="body", fix="give abdomen or knee"
        )
    make = build_knees if body == "knee" else build_phantoms
    with bar("phantoms", shown=progress) as show_progress:
        built = make(
            studies, out_path(out), build_options(out, settings, synthetic=True), show_progress
        )
    return Bench(out, built)


@writes(bench_at, builds=True)
def masks(
    roots: Paths,
    out: PathLike,
    *,
    layout: str = "auto",
    names: PathLike | None = None,
    annotation: str = "automatic",
    progress: bool = False,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """Ask about volumes with segmentation masks: study folders, datasets, DICOM folders, label
    files or tables.

    `names` is a vocabulary or a name map; `annotation` says how the masks were made (exact, manual,
    corrected, automatic), which sets how far they may err.
    """
    with bar("studies", shown=progress) as show_progress:
        built = build_masks(
            paths_of(roots),
            out_path(out),
            build_options(out, settings),
            names=None if names is None else str(names),
            annotation=annotation,
            layout=layout,
            progress=show_progress,
        )
    return Bench(out, built)


@writes(bench_at, builds=True)
def boxes(
    files: Paths,
    out: PathLike,
    *,
    lists: Paths = (),
    images: PathLike | None = None,
    sides: PathLike | None = None,
    mix: str | None = None,
    progress: bool = False,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """Ask about findings that readers drew as boxes on frames: fastMRI+ CSVs, CSVs of your own,
    COCO-style JSON.

    `lists` name the volumes that were reviewed, `images` is the folder of the volumes, `sides` a
    table for knees, `mix` the questions a study by task and level
    (`detection.slice=10,captioning=0`).
    """
    options = build_options(out, settings)
    recipe = msgspec.structs.replace(options.recipe, boxes=parse_mix(mix, options.recipe.boxes))
    with bar("images", shown=progress) as show_progress:
        built = build_boxes(
            paths_of(files),
            out_path(out),
            msgspec.structs.replace(options, recipe=recipe),
            lists=paths_of(lists),
            images=maybe_path(images),
            sides=maybe_path(sides),
            progress=show_progress,
        )
    return Bench(out, built)


@writes(bench_at, builds=True)
def reports(
    file: PathLike,
    out: PathLike,
    *,
    writer: str = "rules",
    validator: str | None = None,
    images: PathLike | None = None,
    asking: Asking | None = None,
    progress: bool = False,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """Ask what radiology reports prove.

    Rules write, or a model (`writer`, a spec) that another (`validator`) vets.
    """
    if writer != "rules" and validator is None:
        raise SitusError(
            "a model's questions need a validator", where="validator", fix="name another model"
        )
    how = asking or Asking()
    chosen = {"writer": writer, "validator": validator}
    specs = {role: spec for role, spec in chosen.items() if spec is not None and spec != "rules"}
    with ExitStack() as stack:
        cache = stack.enter_context(how.cache(lambda text: None)) if specs else None
        roles = {role: asker_of(spec, role, how, cache) for role, spec in specs.items()}
        show_progress = stack.enter_context(bar("volumes", shown=progress))
        built = build_reports(
            path_of(file),
            out_path(out),
            build_options(out, settings),
            images=maybe_path(images),
            writer=roles.get("writer"),
            validator=roles.get("validator"),
            ended=_refuse_unfinished,
            progress=show_progress,
        )
    return Bench(out, built)


@writes(bench_at, builds=True)
def grades(
    table: PathLike,
    out: PathLike,
    *,
    bank: str = "moaks-knee",
    label_map: PathLike | None = None,
    boxes: PathLike | None = None,
    columns: PathLike | None = None,
    words: Sequence[str] = ("plain",),
    by: Sequence[str] = ("reader", "geometry"),
    annotation: str = "manual",
    progress: bool = False,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """Ask for readers' grades: where the region lies, and how severe the sign is.

    `words` is `plain`, `guided` or both, `by` is `reader`, `geometry` or both.
    """
    source = GradeSource(
        table=path_of(table),
        bank=bank,
        columns=maybe_path(columns),
        label_map=None if label_map is None else str(label_map),
        boxes=maybe_path(boxes),
        words=(words,) if isinstance(words, str) else tuple(words),
        by=(by,) if isinstance(by, str) else tuple(by),
        annotation=annotation,
    )
    with bar("studies", shown=progress) as show_progress:
        built = build_grades(source, out_path(out), build_options(out, settings), show_progress)
    return Bench(out, built)


def _refuse_unfinished(asked: AskedByID) -> None:
    """What was answered is kept: the same call resumes."""
    if asked.interrupted:
        raise KeyboardInterrupt
    if asked.stopped:
        problem = f"stopped early: {asked.stopped}; {asked.left:,} are left"
        raise SitusError(problem, where=asked.name, fix="the same call resumes")
