"""`situs probe`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.cli.options.asking import ask_options, asking_from
from situs.cli.output.numbers import STRATUM_HELP
from situs.cli.output.on_request import print_any
from situs.cli.output.printing import (
    echo,
    json_option,
    out_option,
    print_json,
    print_table,
    progress_bar,
    warn,
)

if TYPE_CHECKING:
    from situs.probe import Diagnosis, Effect, Gain, ProbeResult, ProbeRow, SightGain
    from situs.score import ShortcutGain


@click.command("probe")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--model", required=True, metavar="SPEC", help="As for situs run.")
@click.option(
    "--profile",
    default="default",
    show_default=True,
    help="What a model sees: a name or a TOML file.",
)
@click.option(
    "--probes",
    default="blind,swap",
    show_default=True,
    metavar="NAME,…",
    help="Probes or groups: all, blind, representation, patient, choice, lesions; see docs/probes.md.",
)
@out_option("the runs (a folder of run folders; unfinished ones go on)")
@click.option("--split", help="Only this split: train, val or test.")
@click.option("--limit", type=click.IntRange(1), help="Only the first N items.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The folder the volumes are in, if they were moved.",
)
@click.option("--stratum", default="headline", show_default=True, help=STRATUM_HELP)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap."
)
@ask_options
@json_option
def command(
    bench: Path,
    model: str,
    profile: str,
    probes: str,
    out: Path,
    split: str | None,
    limit: int | None,
    data: Path | None,
    stratum: str,
    seed: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Tell whether a model looks at the scan: ask it again with the picture withheld, changed or exchanged.

    Every run is an ordinary run folder under --out, which situs score, compare and report read. The run on the bench
    as it is (original) and two without pictures (text, silent) are always made. --max-cost and --max-tokens-total hold
    for all runs of one call together. Exit code 1: a run stopped early; 130: interrupted; the same command goes on.
    """
    from situs.bench import open_bench
    from situs.cli.output.progress import run_progress
    from situs.errors import SitusError
    from situs.probe import Stopped, choose_probes, probe
    from situs.profiles import load_profile
    from situs.run import respondent_of

    asker = respondent_of(
        model,
        asking_from(options),
        where="--model",
        run_progress=run_progress,
        item_progress=progress_bar,
        say=warn,
    )
    chosen, opened, names = load_profile(profile), open_bench(bench), choose_probes(probes)
    if out.is_file() or (out / "run.json").is_file() or (out / "bench.json").is_file():
        raise SitusError("is a run, a bench or a file", where=out, fix="choose another --out")
    try:
        result = probe(
            opened,
            chosen,
            names,
            out,
            asker,
            split=split,
            limit=limit,
            data=data,
            seed=seed,
            stratum=stratum,
        )
    except Stopped as stop:
        why = "interrupted" if stop.result.interrupted else f"stopped early: {stop.result.stopped}"
        warn(
            f"{stop.name}: {why}; {stop.result.unasked:,} items are left: the same command resumes with them"
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


_TITLES = {
    "blind": "With less to see",
    "representation": "The same patient shown otherwise: answers must not change",
    "patient": "Another patient: answers must follow",
    "choice": "Choices and words",
}


def _print(result: ProbeResult) -> None:
    from situs.score.explain import budget_table

    for kind, title in _TITLES.items():
        rows = {name: row for name, row in result.probes.items() if row.kind == kind}
        if rows:
            _print_rows(title, rows)
    rows_blind = [
        [name, _share(row.value), _interval(row.ci95), f"{row.n:,}"]
        for name, row in result.shortcuts.items()
    ]
    print_table(
        f"Without looking: {result.sight_gain.items}", ["row", "right", "95 %", "items"], rows_blind
    )
    _print_gains(result.sight_gain)
    print_any(budget_table(result.signatures))
    if result.rotations is not None and result.rotations.n:
        turned = result.rotations
        echo(
            f"rotations: {turned.n:,} questions, right in all {_share(turned.all_right)}, on average "
            f"{_share(turned.mean)}, same answer {_share(turned.same_answer)}, letter bias {_share(turned.letter_bias)}"
        )
    if result.yes_bias is not None:
        yes = result.yes_bias
        echo(
            f"yes/no questions: yes said {yes.said:.3f}, right {yes.right:.3f}, bias {_signed(yes.value)} "
            f"({_signed_interval(yes.ci95)}; {yes.n:,} items)"
        )
    if result.wordings is not None and result.wordings.band is not None:
        low, high = result.wordings.band
        echo(
            f"wordings: accuracy {low:.3f} to {high:.3f}, same answer {_share(result.wordings.same_answer)}"
        )
    _print_diagnosis(result.diagnosis)


def _print_gains(gain: SightGain) -> None:
    best, credited, volume = gain.over_best_shortcut, gain.with_chance_credit, gain.volume_gain
    rows = [
        [f"sight gain (minus its run without pictures, {gain.against})", *_gain_cells(gain)],
        ["… refusals and unread replies as guesses", *_gain_cells(credited)],
        [f"gain over the best shortcut ({best.best})", *_gain_cells(best)],
    ]
    if volume is not None:
        rows.append(["volume gain (minus one slice)", *_gain_cells(volume)])
    columns = ["gain", "value", "95 %", "items", "patients"]
    print_table(f"How much is sight: {gain.items}", columns, rows, gain.note)
    echo(
        f"without pictures: {_share(gain.text)} right when told so (text), {_share(gain.silent)} when not (silent)"
    )
    mirage = gain.mirage
    if mirage.rate is not None:
        rests = f"{_interval(mirage.ci95)}; {mirage.n:,} replies, {mirage.patients:,} patients"
        echo(f"mirage rate: {mirage.rate:.3f} of the silent replies describe a picture ({rests})")


def _gain_cells(gain: SightGain | Gain | ShortcutGain) -> list[str]:
    return [_signed(gain.value), _signed_interval(gain.ci95), f"{gain.n:,}", f"{gain.patients:,}"]


def _print_diagnosis(diagnosis: Diagnosis) -> None:
    if diagnosis.groups:
        rows = [
            [
                name,
                group.verdict,
                *(cell for one in (group.gain, group.own_picture) for cell in _effect_cells(one)),
                f"{group.gain.n:,}",
                f"{group.gain.patients:,}",
            ]
            for name, group in diagnosis.groups.items()
        ]
        columns = ["group", "sight", "gain", "95 %", "own picture", "95 %", "items", "patients"]
        note = "own picture: right minus right if its answers were dealt out among patients asked the same question"
        print_table("Sight by group of tasks", columns, rows, note)
    echo(f"\nDiagnosis: {diagnosis.summary}")
    echo(f"  (decided on: {diagnosis.items})")
    if diagnosis.detectable is not None:
        echo(
            f"  (a sight gain of {diagnosis.detectable:.3f} would be shown in four of five such benches)"
        )
    for name, finding in diagnosis.findings.items():
        verdict = "cannot be told" if finding.verdict == "unclear" else finding.verdict
        echo(f"  {name.replace('_', ' ')}: {verdict}: {finding.words}")


def _effect_cells(effect: Effect) -> list[str]:
    return [_signed(effect.value), _signed_interval(effect.ci95)]


def _print_rows(title: str, rows: dict[str, ProbeRow]) -> None:
    table = []
    for name, row in rows.items():
        table.append(_cells(name, row))
        table += [_cells(f"  {group}", own) for group, own in row.groups.items()]
    columns = [
        "probe",
        "original",
        "changed",
        "95 %",
        "both",
        "same",
        "“flipped”",
        "items",
        "patients",
    ]
    followed = any(row.n_changed for row in rows.values())
    if followed:
        columns += ["followed", "kept old", "neither", "of items", "of patients"]
    width = len(columns)
    note = ""
    if followed:
        note = "followed, kept old, neither: of the items right before whose right answer changes"
    print_table(title, columns, [cells[:width] for cells in table], note)


def _cells(name: str, row: ProbeRow) -> list[str]:
    shares = (row.followed, row.kept_old, row.neither)
    return [
        name,
        _share(row.original),
        _share(row.changed),
        _interval(row.ci95),
        *(_share(share) for share in (row.both_right, row.same_answer, row.looks_flipped)),
        f"{row.n:,}",
        f"{row.patients:,}",
        *(_share(share) for share in shares),
        f"{row.n_followed:,}",
        f"{row.patients_followed:,}",
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _interval(interval: tuple[float, float] | None) -> str:
    return "none" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def _signed_interval(interval: tuple[float, float] | None) -> str:
    return "none" if interval is None else f"{interval[0]:+.3f} to {interval[1]:+.3f}"
