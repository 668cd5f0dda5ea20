"""`situs demo`."""

from __future__ import annotations

import os
from pathlib import Path

import click
import msgspec

from situs.cli.output.printing import echo, json_option, print_json, print_table, progress_bar

_STUDIES = 16
_BASELINES = ("oracle", "random", "majority", "minority", "prior")


@click.command("demo")
@click.option(
    "--out",
    default="demo",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder to work in.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Other patients."
)
@json_option
def command(out: Path, seed: int, as_json: bool) -> None:
    """End to end on synthetic patients: build a bench, check it, run baselines, score and report.

    Under a minute on two cores. Nothing is downloaded.
    """
    from situs.base.engines import Engine
    from situs.base.publish import new_folder
    from situs.bench import check_bench, open_bench
    from situs.build import BuildOptions, build_phantoms
    from situs.errors import SitusError
    from situs.facts import load_recipe
    from situs.profiles import load_profile
    from situs.report import write_report
    from situs.run import parse_spec, run_baseline
    from situs.score import score_run, value_of
    from situs.tables import INTERVAL

    jobs = min(4, os.cpu_count() or 1)
    with (
        new_folder(out, marker="report.html", overwrite=True) as folder,
        progress_bar("demo") as progress,
    ):
        # All in one split: the headline needs several patients with each answer, and these are few.
        recipe = msgspec.structs.replace(load_recipe(), splits={"test": 1.0})
        options = BuildOptions(
            "demo",
            recipe,
            seed=seed,
            engine=Engine(jobs=jobs),
            restricted=False,
            licence="synthetic",
        )
        built = build_phantoms(_STUDIES, folder / "bench", options, progress)
        checked = check_bench(folder / "bench")
        if checked.errors:
            raise SitusError(
                f"the check found {checked.errors} errors", where=out, fix="report this as a bug"
            )
        bench, profile = open_bench(folder / "bench"), load_profile("default")
        scores = {}
        for name in _BASELINES:
            run_baseline(bench, parse_spec(name), profile, folder / "runs" / name)
            scores[name] = score_run(folder / "bench", folder / "runs" / name)
        runs = [folder / "runs" / name for name in _BASELINES]
        report = write_report(runs, folder / "report.html", bench=folder / "bench")
    if as_json:
        rows = {name: table.overall for name, table in scores.items()}
        print_json(
            {"built": built, "checked": checked, "scores": rows, "report": str(out / "report.html")}
        )
        return
    print_table(
        f"{built.items} questions on {built.studies} synthetic patients; all {checked.recomputed} answers recomputed",
        ["baseline", "headline", "95 % interval", "textbook", "volume: MRA", "volume: skill"],
        [
            (
                name,
                None if table.headline is None else table.headline.value,
                None if table.headline is None else table.headline.ci95,
                value_of(table.by_stratum.get("textbook"), "accuracy.closed"),
                value_of(table.overall, "mra.vsi-code@1"),
                value_of(table.overall, "skill-over-mean@1"),
            )
            for name, table in scores.items()
        ],
        "headline: looking is needed. textbook: a control that the average anatomy (prior) answers without looking.",
        {"95 % interval": INTERVAL},
    )
    echo(f"report: {out / 'report.html'} ({report.bytes / 2**20:.1f} MB)")
