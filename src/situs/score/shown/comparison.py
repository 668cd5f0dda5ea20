"""The tables of `situs compare`."""

from __future__ import annotations

from collections.abc import Mapping

from situs.score.stats.paired import Comparison, SightGain
from situs.score.stats.sources import OverSources
from situs.tables import INTERVAL, SIGNED, SIGNED_INTERVAL, Cell, Style, Table

__all__ = ["comparison_tables"]

_P = Style(digits=4, absent="")


def comparison_tables(result: Comparison, metric: str) -> list[Table]:
    """Pairs and ranks, sight gains, means over sources: whatever was compared."""
    tables = []
    if result.pairs:
        tables.append(_pair_table(result, metric))
    if result.standings:
        tables.append(_rank_table(result, metric))
    if result.sight:
        tables.append(_sight_table(result))
    if result.sources:
        tables.append(_source_table(result.sources))
    return tables


def _pair_table(result: Comparison, metric: str) -> Table:
    interval = "95 % interval" if len(result.pairs) == 1 else "95 % interval (all pairs)"
    rows = tuple(
        (p.a, p.b, p.difference, p.ci_joint, p.p, p.p_holm, p.n, p.clusters) for p in result.pairs
    )
    reach = "unknown" if result.detectable is None else f"{result.detectable:.3f}"
    return Table(
        "pairs",
        f"{metric}: {result.items}",
        ("a", "b", "a − b", interval, "p", "p (Holm)", "items", "patients"),
        rows,
        f"Smallest difference these pairs would show in four of five such benches: {reach}.",
        {"a − b": SIGNED, interval: SIGNED_INTERVAL, "p": _P, "p (Holm)": _P},
    )


def _rank_table(result: Comparison, metric: str) -> Table:
    rows = tuple(
        (s.rank, None if s.rank95 is None else f"{s.rank95[0]}–{s.rank95[1]}", s.name, s.value)
        for s in result.standings
    )
    groups = "; ".join(", ".join(group) for group in result.tied_groups if len(group) > 1)
    caption = f"Cannot be told apart: {groups}." if groups else "All ranked runs can be told apart."
    return Table(
        "ranks",
        "Ranks on the items all share",
        ("rank", "95 %", "run", metric),
        rows,
        caption,
        {"95 %": Style(absent="")},
    )


def _sight_table(result: Comparison) -> Table:
    """Gains as they are, and with chance credit, by which it is decided whether a model looks."""
    return Table(
        "sight_gain",
        f"Sight gain: with pictures minus without; {result.items}",
        (
            "model",
            "gain",
            "gain, 95 %",
            "with chance credit",
            "with credit, 95 %",
            "p",
            "items",
            "patients",
        ),
        tuple(_sight_row(gain) for gain in result.sight),
        "With chance credit a reply that declines or cannot be read counts as a guess; p is of"
        " that.",
        {
            "gain": SIGNED,
            "gain, 95 %": Style(signed=True, ends=("gain low", "gain high"), absent="none"),
            "with chance credit": Style(signed=True, absent=""),
            "with credit, 95 %": Style(signed=True, ends=("credit low", "credit high"), absent=""),
            "p": _P,
        },
    )


def _sight_row(gain: SightGain) -> tuple[Cell, ...]:
    decided = gain.credited or gain.gain
    credited: tuple[Cell, Cell] = (None, None)
    if gain.credited is not None:
        credited = (gain.credited.difference, gain.credited.ci95)
    return (
        gain.name,
        gain.gain.difference,
        gain.gain.ci95,
        *credited,
        decided.p,
        decided.n,
        decided.clusters,
    )


def _source_table(sources: Mapping[str, OverSources]) -> Table:
    names = [one.source for one in next(iter(sources.values())).sources]
    rows: list[tuple[Cell, ...]] = []
    for run, over in sources.items():
        without = (one.macro_without for one in over.sources)
        rows.append((run, over.micro, over.macro, over.macro_ci95, *without))
    return Table(
        "sources",
        "Means over sources of data",
        ("run", "over items", "over sources", "95 % interval", *(f"without {s}" for s in names)),
        tuple(rows),
        styles={"95 % interval": INTERVAL},
    )
