"""`situs probe`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.base.text import counted
from situs.cli.options.asking import ask_options, asking_from
from situs.cli.options.engines import engine_from, engine_options
from situs.cli.options.rooms import room_from, room_options
from situs.cli.output.events import events_options
from situs.cli.output.forecast import dry_run_option, print_forecast
from situs.cli.output.numbers import STRATUM_HELP
from situs.cli.output.paths import INPUT, out_option
from situs.cli.output.printing import (
    echo,
    json_option,
    print_json,
    warn,
)
from situs.cli.output.progress import progress_bar

if TYPE_CHECKING:
    from situs.probe import Diagnosis, ProbeResult, SightGain


@click.command("probe")
@click.argument("bench", type=INPUT)
@click.option("--model", required=True, metavar="SPEC", help="As for situs run.")
@click.option(
    "--profile",
    help="What a model sees: a name or a TOML file. [default: default]",
)
@click.option(
    "--probes",
    default="blind,swap",
    show_default=True,
    metavar="NAME,…",
    help=(
        "Probes or groups: all, blind, representation, patient, choice, lesions; see"
        " docs/probes.md."
    ),
)
@out_option("the runs (a folder of run folders; unfinished ones resume)", resumes=True)
@click.option("--split", help="Only this split: train, val or test.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N items.")
@click.option(
    "--data",
    type=INPUT,
    help="The folder the volumes are in, if they were moved.",
)
@click.option("--stratum", default="headline", show_default=True, help=STRATUM_HELP)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the bootstrap."
)
@dry_run_option
@events_options
@engine_options
@room_options
@ask_options
@json_option
def command(
    bench: Path,
    model: str,
    profile: str | None,
    probes: str,
    out: Path,
    split: str | None,
    limit: int | None,
    data: Path | None,
    stratum: str,
    seed: int,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Test whether a model looks at the scan: ask it again with the picture withheld, changed or
    exchanged.

    Every run is an ordinary run folder under --out, which situs score, compare and report read. The
    run on the bench as it is (original) and two without pictures (text, silent) are always made.
    --max-cost and --max-tokens-total apply to all runs of one call together. With --room, every run
    consists of sessions in that room.

    Exit code 1: a run stopped early; 130: interrupted; the same command resumes.
    """
    from situs.bench import open_bench
    from situs.cli.output.progress import run_progress
    from situs.errors import SitusError
    from situs.probe import ProbeOptions, Stopped, choose_probes, forecast_probes, probe
    from situs.profiles import load_profile
    from situs.run import respondent_of

    engine = engine_from(options)
    room, ways = room_from(options)
    names = choose_probes(probes)
    if room is not None:
        names = _through_room(names, probes, profile)
    asker = respondent_of(
        model,
        asking_from(options),
        where="--model",
        ways=ways,
        run_progress=lambda folder: run_progress(_stage(folder, names)),
        item_progress=lambda folder: progress_bar(_stage(folder, names)),
        say=warn,
    )
    chosen = load_profile(profile or "default") if room is None else room.profile()
    opened = open_bench(bench)
    if out.is_file() or (out / "run.json").is_file() or (out / "bench.json").is_file():
        raise SitusError("is a run, a bench or a file", where=out, fix="choose another --out")
    try:
        if dry_run:
            forecast = forecast_probes(
                opened, chosen, names, out, asker, split=split, limit=limit, data=data
            )
            print_forecast(forecast, as_json)
            return
        result = probe(
            opened,
            chosen,
            names,
            out,
            asker,
            ProbeOptions(
                split=split, limit=limit, data=data, seed=seed, stratum=stratum, engine=engine
            ),
        )
    except Stopped as stop:
        why = "interrupted" if stop.result.interrupted else f"stopped early: {stop.result.stopped}"
        warn(
            f"{stop.name}: {why}; {counted(stop.result.unasked, 'item')} left; the same command"
            " resumes"
        )
        sys.exit(130 if stop.result.interrupted else 1)
    finally:
        asker.close()
    if as_json:
        print_json(result)
        return
    for text in result.warnings:
        warn(text)
    _print(result)


def _stage(folder: str, names: list[str]) -> str:
    """How far a suite has come: which probe is asked now, of how many."""
    if folder not in names:
        return folder  # the unchanged scan, and the runs without it
    return f"probe {names.index(folder) + 1} of {len(names)}, {folder}"


def _through_room(names: list[str], probes: str, profile: str | None) -> list[str]:
    """The probes that mean something in a room;
    one that was named and means nothing there is refused."""
    from situs.errors import SitusError
    from situs.probe import PROBES
    from situs.room import THROUGH_ROOMS

    if profile is not None:
        raise SitusError(
            "a room brings its own profile", where="--profile", fix="drop --profile or --room"
        )
    for name in (part.strip() for part in probes.split(",")):
        if name in PROBES and name not in THROUGH_ROOMS:
            problem = f"{name} changes a fixed set of pictures, and a room has none"
            fix = f"probes for rooms: {', '.join(n for n in PROBES if n in THROUGH_ROOMS)}"
            raise SitusError(problem, where="--probes", fix=fix)
    return [name for name in names if name in THROUGH_ROOMS]


def _print(result: ProbeResult) -> None:
    from situs.probe import probe_tables
    from situs.tables import print_table

    for table in probe_tables(result):
        print_table(table)
    _print_gain(result.sight_gain)
    if result.rotations is not None and result.rotations.n:
        turned = result.rotations
        echo(
            f"rotations: {turned.n:,} questions, right in all {_share(turned.all_right)}, on"
            f" average {_share(turned.mean)}, same answer {_share(turned.same_answer)}, letter bias"
            f" {_share(turned.letter_bias)}"
        )
    if result.yes_bias is not None:
        yes = result.yes_bias
        interval = "none" if yes.ci95 is None else f"{yes.ci95[0]:+.3f} to {yes.ci95[1]:+.3f}"
        echo(
            f"yes/no questions: yes said {yes.said:.3f}, right {yes.right:.3f}, "
            f"bias {yes.value:+.3f} ({interval}; {yes.n:,} items)"
        )
    if result.wordings is not None and result.wordings.band is not None:
        low, high = result.wordings.band
        echo(
            f"wordings: accuracy {low:.3f} to {high:.3f}, same answer"
            f" {_share(result.wordings.same_answer)}"
        )
    _print_diagnosis(result.diagnosis)


def _print_gain(gain: SightGain) -> None:
    echo(
        f"without pictures: {_share(gain.text)} right when told so (text), {_share(gain.silent)}"
        " when not (silent)"
    )
    mirage = gain.mirage
    if mirage.rate is not None:
        interval = (
            "none" if mirage.ci95 is None else f"{mirage.ci95[0]:.3f} to {mirage.ci95[1]:.3f}"
        )
        rests = f"{interval}; {mirage.n:,} replies, {mirage.patients:,} patients"
        echo(f"mirage rate: {mirage.rate:.3f} of the silent replies describe a picture ({rests})")


def _print_diagnosis(diagnosis: Diagnosis) -> None:
    from situs.probe import verdict_words

    echo(f"\nDiagnosis: {diagnosis.summary}")
    echo(f"  (decided on: {diagnosis.items})")
    if diagnosis.detectable is not None:
        echo(
            f"  (a sight gain of {diagnosis.detectable:.3f} would be shown in four of five such"
            " benches)"
        )
    for name, finding in diagnosis.findings.items():
        echo(f"  {name.replace('_', ' ')}: {verdict_words(finding.verdict)}: {finding.words}")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
