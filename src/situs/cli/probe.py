"""`situs probe`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from situs.cli._ask_options import AskOptions, ask_options
from situs.cli._looked_into import print_any
from situs.cli._numbers import STRATUM_HELP
from situs.cli._output import echo, json_option, out_option, print_json, print_table, warn

if TYPE_CHECKING:
    from situs.probe import ProbeResult, ProbeRow


@click.command("probe")
@click.argument("bench", type=click.Path(path_type=Path))
@click.option("--model", required=True, metavar="SPEC", help="As for situs run.")
@click.option("--profile", default="default", show_default=True, help="What a model sees: a name or a TOML file.")
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
@click.option("--data", type=click.Path(path_type=Path), help="The folder the volumes are in, if they were moved.")
@click.option("--stratum", default="headline", show_default=True, help=STRATUM_HELP)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap.")
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
    as it is (original) and the text-only run are always made. --max-cost and --max-tokens-total hold for all runs of
    one call together. Exit code 1: a run stopped early; 130: interrupted; the same command goes on.
    """
    from situs.bench import open_bench
    from situs.cli._asker import Asker, BaselineAsker
    from situs.clients import CLIENTS, parse_spec
    from situs.errors import SitusError, did_you_mean
    from situs.probe import Stopped, choose_probes, probe
    from situs.profiles import load_profile
    from situs.run import BASELINES

    spec, chosen, opened, names = parse_spec(model), load_profile(profile), open_bench(bench), choose_probes(probes)
    if spec.kind not in {*BASELINES, *CLIENTS}:
        known = did_you_mean(spec.kind, [*BASELINES, *CLIENTS])
        raise SitusError(f"unknown model {spec.kind!r}", where="--model", fix=known)
    if out.is_file() or (out / "run.json").is_file() or (out / "bench.json").is_file():
        raise SitusError("is a run, a bench or a file", where=out, fix="choose another --out")
    asker = BaselineAsker(spec) if spec.kind in BASELINES else Asker(spec, AskOptions(**options))
    try:
        result = probe(
            opened, chosen, names, out, asker, split=split, limit=limit, data=data, seed=seed, stratum=stratum
        )
    except Stopped as stop:
        why = "interrupted" if stop.result.interrupted else f"stopped early: {stop.result.stopped}"
        warn(f"{stop.name}: {why}; {stop.result.unasked:,} items are left: the same command goes on with them")
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
    from situs.probe import budget_table

    for kind, title in _TITLES.items():
        rows = {name: row for name, row in result.probes.items() if row.kind == kind}
        if rows:
            _print_rows(title, rows)
    rows_blind = [
        [name, _share(row.value), _interval(row.ci95), f"{row.n:,}"] for name, row in result.shortcuts.items()
    ]
    print_table(f"Without looking: {result.sight_gain.items}", ["row", "right", "95 %", "items"], rows_blind)
    gain = result.sight_gain
    best = gain.over_best_shortcut
    lines = [
        ["sight gain (minus own text-only run)", _signed(gain.value), _interval(gain.ci95), f"{gain.n:,}"],
        [
            "… refusals as guesses",
            _signed(gain.with_chance_credit.value),
            _interval(gain.with_chance_credit.ci95),
            f"{gain.with_chance_credit.n:,}",
        ],
        [f"gain over the best shortcut ({best.best})", _signed(best.value), _interval(best.ci95), f"{best.n:,}"],
    ]
    if gain.volume_gain is not None:
        volume = gain.volume_gain
        lines.append(["volume gain (minus one slice)", _signed(volume.value), _interval(volume.ci95), f"{volume.n:,}"])
    print_table(f"How much is sight: {gain.items}", ["gain", "value", "95 %", "items"], lines, gain.note)
    print_any(budget_table(result.signatures))
    if result.rotations is not None and result.rotations.n:
        turned = result.rotations
        echo(
            f"rotations: {turned.n:,} questions, right in all {_share(turned.all_right)}, on average "
            f"{_share(turned.mean)}, same answer {_share(turned.same_answer)}, letter bias {_share(turned.letter_bias)}"
        )
    if result.wordings is not None and result.wordings.band is not None:
        low, high = result.wordings.band
        echo(f"wordings: accuracy {low:.3f} to {high:.3f}, same answer {_share(result.wordings.same_answer)}")
    echo(f"\nDiagnosis: {result.diagnosis.summary}")
    for finding, one in result.diagnosis.findings.items():
        echo(f"  {finding.replace('_', ' ')}: {one.verdict}: {one.words}")


def _print_rows(title: str, rows: dict[str, ProbeRow]) -> None:
    table = []
    for name, row in rows.items():
        table.append(_cells(name, row))
        table += [_cells(f"  {group}", own) for group, own in row.groups.items()]
    columns = ["probe", "original", "changed", "95 %", "both", "followed", "kept old", "neither", "“flipped”", "items"]
    print_table(title, columns, table)


def _cells(name: str, row: ProbeRow) -> list[str]:
    shares = (row.both_right, row.followed, row.kept_old, row.neither, row.looks_flipped)
    return [
        name,
        _share(row.original),
        _share(row.changed),
        _interval(row.ci95),
        *(_share(share) for share in shares),
        f"{row.n:,}",
    ]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _interval(interval: tuple[float, float] | None) -> str:
    return "none" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"
