"""The tables of `situs probe`."""

from __future__ import annotations

from collections.abc import Mapping

from situs.probe.diagnosis import Diagnosis
from situs.probe.sight_gain import Gain, SightGain
from situs.probe.suite import ProbeResult
from situs.probe.table import ProbeRow
from situs.score import ShortcutGain
from situs.score.explain import budget_table
from situs.tables import INTERVAL, SIGNED, SIGNED_INTERVAL, Cell, Style, Table

__all__ = ["all_probes_table", "findings_table", "probe_tables", "verdict_words"]

_TITLES = {
    "blind": "With less to see",
    "representation": "The same patient shown differently: answers must not change",
    "patient": "Another patient: answers must follow",
    "choice": "Choices and words",
}
_COLUMNS = (
    "probe",
    "original",
    "changed",
    "95 %",
    "both",
    "same",
    "“flipped”",
    "items",
    "patients",
)
_OF_CHANGED = ("followed", "kept old", "neither", "of items", "of patients")


def probe_tables(result: ProbeResult) -> list[Table]:
    """Every probe by its kind, the blind rows, what sight adds,
    why answers are wrong, and the diagnosis."""
    tables = []
    for kind, title in _TITLES.items():
        rows = {name: row for name, row in result.probes.items() if row.kind == kind}
        if rows:
            tables.append(_kind_table(kind, title, rows))
    tables.append(_shortcut_table(result))
    tables.append(_gain_table(result.sight_gain))
    tables.append(budget_table(result.signatures))
    if result.diagnosis.groups:
        tables.append(_group_table(result.diagnosis))
    return tables


def all_probes_table(result: ProbeResult) -> Table:
    """Every probe in one table, for a data frame."""
    return _kind_table("all", "Probes", result.probes)


def findings_table(diagnosis: Diagnosis) -> Table:
    """What was found, and because of what."""
    rows = tuple(
        (name.replace("_", " "), verdict_words(finding.verdict), finding.words)
        for name, finding in diagnosis.findings.items()
    )
    return Table("diagnosis", diagnosis.summary, ("finding", "verdict", "in words"), rows)


def verdict_words(verdict: str) -> str:
    """A verdict as it is read out."""
    return "cannot be told" if verdict == "unclear" else verdict


def _kind_table(kind: str, title: str, rows: Mapping[str, ProbeRow]) -> Table:
    cells = []
    for name, row in rows.items():
        cells.append(_cells(name, row))
        cells += [_cells(f"  {group}", of_group) for group, of_group in row.groups.items()]
    changed = any(row.n_changed for row in rows.values())
    columns = (*_COLUMNS, *_OF_CHANGED) if changed else _COLUMNS
    note = "followed, kept old, neither: of the items right before whose right answer changes"
    return Table(
        f"probes_{kind}",
        title,
        columns,
        tuple(row[: len(columns)] for row in cells),
        note if changed else "",
        {"95 %": INTERVAL},
    )


def _cells(name: str, row: ProbeRow) -> tuple[Cell, ...]:
    return (
        name,
        row.original,
        row.changed,
        row.ci95,
        row.both_right,
        row.same_answer,
        row.looks_flipped,
        row.n,
        row.patients,
        row.followed,
        row.kept_old,
        row.neither,
        row.n_followed,
        row.patients_followed,
    )


def _shortcut_table(result: ProbeResult) -> Table:
    rows = tuple((name, row.value, row.ci95, row.n) for name, row in result.shortcuts.items())
    title = f"Without looking: {result.sight_gain.items}"
    columns = ("row", "right", "95 %", "items")
    same_patient = result.same_patient
    note = (
        ""
        if same_patient is None
        else f"{same_patient.words} No shortcut here, and no model, is told them."
    )
    return Table("without_looking", title, columns, rows, note, {"95 %": INTERVAL})


def _gain_table(gain: SightGain) -> Table:
    best = gain.over_best_shortcut
    gains: dict[str, SightGain | Gain | ShortcutGain] = {
        f"sight gain (minus its run without pictures, {gain.against})": gain,
        "… refusals and unread replies as guesses": gain.with_chance_credit,
        f"gain over the best shortcut ({best.best})": best,
    }
    if gain.volume_gain is not None:
        gains["volume gain (minus one slice)"] = gain.volume_gain
    return Table(
        "sight_gain",
        f"How much is sight: {gain.items}",
        ("gain", "value", "95 %", "items", "patients"),
        tuple((name, one.value, one.ci95, one.n, one.patients) for name, one in gains.items()),
        gain.note,
        {"value": SIGNED, "95 %": SIGNED_INTERVAL},
    )


def _group_table(diagnosis: Diagnosis) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, group in diagnosis.groups.items():
        gain, own_picture = group.gain, group.own_picture
        measured = (gain.value, gain.ci95, own_picture.value, own_picture.ci95)
        rows.append((name, group.verdict, *measured, gain.n, gain.patients))
    return Table(
        "sight_by_group",
        "Sight by group of tasks",
        ("group", "sight", "gain", "gain, 95 %", "own picture", "own, 95 %", "items", "patients"),
        tuple(rows),
        "own picture: right minus right if its answers were dealt out among patients asked the same"
        " question",
        {
            "gain": SIGNED,
            "gain, 95 %": Style(signed=True, ends=("gain low", "gain high"), absent="none"),
            "own picture": SIGNED,
            "own, 95 %": Style(signed=True, ends=("own low", "own high"), absent="none"),
        },
    )
