"""`situs.import_`: a bench of questions that another set published;
their answers are given, not proved."""

from __future__ import annotations

from typing import Any, Unpack

from situs.api.benches import Bench, bench_at
from situs.api.leaving import writes
from situs.api.results import PathLike, Paths, bar, maybe_path, out_path, path_of, paths_of
from situs.api.settings import BuildSettings, build_options
from situs.build import (
    CategorySource,
    Importer,
    import_3dreasonknee,
    import_bench,
    import_ct_spatialvqa,
    import_items,
    import_sgmri,
)

__all__ = ["ct_spatialvqa", "items", "reasonknee", "sgmri_vqa", "with_importer"]


@writes(bench_at, builds=True)
def items(
    paths: Paths,
    out: PathLike,
    *,
    images: PathLike | None = None,
    progress: bool = False,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """Questions from JSON Lines files: study, question, answer, and where they apply options, unit,
    patient, ….

    A scan in the folder `images` whose name is the study's is what a model is shown.
    """
    options = build_options(out, settings)
    with bar("volumes", shown=progress and images is not None) as show_progress:
        built = import_items(
            paths_of(paths),
            out_path(out),
            options,
            images=maybe_path(images),
            progress=show_progress,
        )
    return Bench(out, built)


@writes(bench_at, builds=True)
def ct_spatialvqa(
    path: PathLike,
    out: PathLike,
    *,
    reports: PathLike | None = None,
    images: PathLike | None = None,
    categories: PathLike | None = None,
    progress: bool = False,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """The released questions of CT-SpatialVQA; `categories` is a file that has them, or `rules`."""
    with bar("volumes", shown=progress and images is not None) as show_progress:
        built = import_ct_spatialvqa(
            path_of(path),
            out_path(out),
            build_options(out, settings),
            reports=maybe_path(reports),
            images=maybe_path(images),
            categories=CategorySource(None if categories is None else str(categories)),
            progress=show_progress,
        )
    return Bench(out, built)


@writes(bench_at, builds=True)
def sgmri_vqa(
    paths: Paths,
    out: PathLike,
    *,
    images: PathLike | None = None,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """SGMRI-VQA: its QA JSON, or result files of its inference script.

    Volumes in the folder `images` (fastMRI's HDF5 files, pictures) are what a model is shown.
    """
    options = build_options(out, settings)
    result = import_sgmri(paths_of(paths), out_path(out), options, images=maybe_path(images))
    return Bench(out, result)


@writes(bench_at, builds=True)
def reasonknee(
    table: PathLike,
    answers: PathLike,
    out: PathLike,
    *,
    images: PathLike | None = None,
    fields: PathLike | None = None,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """3DReasonKnee: its split table and its released answers;
    `fields` is TOML that names the answers' fields."""
    options = build_options(out, settings)
    folders = {"images": maybe_path(images), "fields": maybe_path(fields)}
    return Bench(
        out,
        import_3dreasonknee(path_of(table), path_of(answers), out_path(out), options, **folders),
    )


@writes(bench_at, builds=True)
def with_importer(
    importer: Importer[Any],
    out: PathLike,
    *,
    images: PathLike | None = None,
    progress: bool = False,
    **settings: Unpack[BuildSettings],
) -> Bench:
    """A set that an importer of your own reads (`situs.build.Importer`)."""
    options = build_options(out, settings)
    with bar("volumes", shown=progress and images is not None) as show_progress:
        built = import_bench(
            importer, out_path(out), options, images=maybe_path(images), progress=show_progress
        )
    return Bench(out, built)
