"""Measuring files, and writing reports and exports."""

from __future__ import annotations

from collections.abc import Sequence

from situs.api.leaving import writes
from situs.api.results import (
    PathLike,
    Result,
    at_address,
    counted,
    maybe_out,
    maybe_path,
    out_path,
    path_of,
    paths_of,
)
from situs.errors import SitusError
from situs.export import Exported, Scope, export_bench, export_run
from situs.facts import MeasuredFile, measure_file, measured_tables
from situs.report import ReportOptions, ReportResult, write_report

__all__ = ["export", "measure", "report"]


def measure(
    labels: PathLike,
    *,
    names: PathLike | None = None,
    pairs: str | None = None,
    annotation: str = "automatic",
    details: bool = False,
) -> Result[MeasuredFile]:
    """Measure every structure of a label file, a folder of masks or the folder of one study.

    Volumes in mL with intervals, places in RAS+ millimetres. `pairs` is `all`, `touching` or two
    structures as `A,B`.

    >>> situs.measure("labels.nii.gz", names="totalsegmentator").to_pandas()
    """
    vocabulary = None if names is None else str(names)
    measured = measure_file(
        path_of(labels), names=vocabulary, pairs=pairs, annotation=annotation, details=details
    )
    return Result(measured, measured_tables(measured, path_of(labels).name))


@writes(at_address)
def report(
    *runs: PathLike,
    out: PathLike,
    pictures: int = 12,
    bench: PathLike | None = None,
    data: PathLike | None = None,
    allow_restricted: bool = False,
    max_mb: float = 30,
    tables: PathLike | None = None,
    charts: PathLike | None = None,
    names: Sequence[str] = (),
    published: str | None = None,
    stratum: str = "headline",
    seed: int = 0,
    allow_remote: bool = False,
) -> Result[ReportResult]:
    """Write one self-contained HTML file about runs of one bench:
    leaderboard, tables and an item viewer."""
    if not runs:
        raise SitusError("no run to report on", where="runs", fix="give one or more run folders")
    del allow_remote  # what it allows is decided before
    path = out_path(out)
    result = write_report(
        paths_of(runs),
        path,
        ReportOptions(
            bench=maybe_path(bench),
            data=maybe_path(data),
            pictures=pictures,
            allow_pixels=allow_restricted,
            max_bytes=int(max_mb * 1_000_000),
            tables=maybe_out(tables),
            charts=maybe_out(charts),
            names=names,
            published=published,
            stratum=stratum,
            seed=seed,
        ),
    )
    counts = {"runs": result.runs, "items": result.items, "with pictures": result.pictures_embedded}
    return Result(result, [counted("report", counts, str(path))], path)


@writes(at_address)
def export(
    source: PathLike,
    to: str,
    out: PathLike,
    *,
    profile: str | None = None,
    split: str | None = None,
    limit: int | None = None,
    data: PathLike | None = None,
    allow_restricted: bool = False,
    overwrite: bool = False,
    allow_remote: bool = False,
) -> Result[Exported]:
    """Write a bench, with its pictures, or the answers of a run as files that another tool loads.

    `to` is lmms-eval, vlmevalkit, inspect, hf or 3dreasonknee; dicom-seg, dicom-sr, slicer-markups
    or croissant write what was measured. The options besides `overwrite` are for benches; without
    `profile` it is `default`.
    """
    del allow_remote
    folder, target = path_of(source), out_path(out)
    if (folder / "run.json").is_file():
        result = export_run(folder, to, target, overwrite=overwrite)
    else:
        result = export_bench(
            folder,
            to,
            target,
            Scope(split, limit, maybe_path(data)),
            profile=profile,
            allow_restricted=allow_restricted,
            overwrite=overwrite,
        )
    counts = {result.counted: result.items, "pictures": result.pictures}
    counts |= {f"left out: {reason}": count for reason, count in result.left_out.items()}
    return Result(
        result, [counted("export", counts, f"{target}: load it with {result.load}")], target
    )
