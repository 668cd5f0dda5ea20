"""The leaderboard and the table of tasks,
as rows of cells that the template draws and the CSV repeats."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from situs.report.scored import ReportedRun, entry_of
from situs.report.tables.standing import Gain, Standings, shortcut_gain
from situs.run import BLIND, blind_rows
from situs.score import ALL_STRATA, HEADLINE, BaselineScores, Entry, Headline, Scores, closed_or_all
from situs.score.metrics.registry import Shown, known_metrics, shown_in
from situs.tables import Cell as TableCell
from situs.tables import Table

__all__ = ["Board", "BoardRow", "Cell", "Grid", "GridRow", "board_of", "grid_of"]

_RUN_NOTES = {
    "oracle": "knows the key: it tests the scorer",
    **{name: f"a run of the {name} baseline" for name in BLIND},
}
_KIND_NOTES = {"reader": "a person's answers", "text": "the same model, all pictures withheld"}
_STATES = ("answered", "unparsed", "refused", "failed", "missing", "unjudged", "not answerable")
_ORDER = ("model", "reader", "text", "baseline", "blind")
_ALWAYS_SHOWN = ("answered", "unparsed", "refused", "missing")


class Cell(msgspec.Struct, frozen=True):
    """A share with its interval, in percent, ready to draw."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    chance: float | None = None
    n: int = 0
    note: str = ""

    @property
    def text(self) -> str:
        """The value as it is read out."""
        return "–" if self.value is None else f"{self.value:.1f} %"

    @property
    def interval(self) -> str:
        """The interval as it is read out; empty if there is none."""
        return "" if self.low is None or self.high is None else f"{self.low:.0f}–{self.high:.0f}"


class BoardRow(msgspec.Struct, frozen=True):
    """One run or blind row."""

    rank: str
    name: str
    note: str
    kind: str
    """`model`, `reader`, `text` (a model without pictures),
    `baseline` (a run of one) or `blind` (worked out here)."""
    headline: Cell
    overall: Cell
    answered_only: Cell
    states: dict[str, int]
    numbers: dict[str, str]
    profile: str
    incomplete: bool = False
    groups: str = ""
    rank_range: str = ""
    gain: Gain | None = None
    over_shortcut: Gain | None = None


class NumberColumn(msgspec.Struct, frozen=True):
    """A metric beside the accuracies, as its record declares it."""

    metric: str
    heading: str
    about: str


class Board(msgspec.Struct, frozen=True):
    """The leaderboard."""

    rows: list[BoardRow]
    states: list[str]
    numbers: list[NumberColumn]
    table: Table
    has_headline: bool
    headline_items: str
    """Which items the headline is about, in words."""
    has_groups: bool
    has_gain: bool
    has_shortcut: bool
    detectable: float | None
    same_patient: str = ""
    """What a patient's other answers tell, in a sentence."""


class GridRow(msgspec.Struct, frozen=True):
    """One task or stratum over all runs."""

    group: str
    name: str
    chance: Cell
    cells: list[Cell]
    extra: list[str]


class Grid(msgspec.Struct, frozen=True):
    """Task × run."""

    columns: list[tuple[str, str]]
    """(name, kind) of each run or blind row."""
    rows: list[GridRow]
    table: Table


def _cell(entries: Sequence[Entry] | None, metric: str = "accuracy") -> Cell:
    entry, chance = entry_of(entries, metric), entry_of(entries, "chance")
    if entry is None or entry.value is None:
        absent = next((e for e in entries or () if e.metric == metric), None)
        return Cell(note=absent.note if absent else "")
    if entry.states.get("unjudged", 0) >= entry.n:
        return Cell(note="waits for judges")
    low, high = (100.0 * v for v in entry.ci95) if entry.ci95 else (None, None)
    by_chance = None if chance is None or chance.value is None else 100.0 * chance.value
    return Cell(100.0 * entry.value, low, high, by_chance, entry.n, entry.note)


def _closed(entries: Sequence[Entry] | None) -> Cell:
    """Accuracy on questions with options, which chance fits;
    on numbers alone, the share inside their intervals."""
    return _cell(entries, closed_or_all(entries or ()))


def _headline(headline: Headline | None, entries: Sequence[Entry]) -> Cell:
    """The one number of a run, in percent."""
    if headline is None or headline.value is None:
        return Cell(note="" if headline is None else headline.note)
    overall = entry_of(entries, "accuracy")
    if overall is not None and overall.states.get("unjudged", 0) >= overall.n:
        return Cell(note="waits for judges")
    low, high = (100.0 * v for v in headline.ci95) if headline.ci95 else (None, None)
    chance = None if headline.chance is None else 100.0 * headline.chance
    return Cell(100.0 * headline.value, low, high, chance, headline.n, headline.note)


def _all_kinds(entries: Sequence[Entry] | None) -> Cell:
    """Primary accuracy over every kind of item;
    a guess is right on those with options, and on no other."""
    cell, chance = _cell(entries), entry_of(entries, "chance")
    if cell.chance is None or chance is None or not cell.n:
        return cell
    return msgspec.structs.replace(cell, chance=cell.chance * min(1.0, chance.n / cell.n))


def _number_texts(entries: Sequence[Entry] | None) -> dict[str, str]:
    entry_by_metric = {metric: entry_of(entries, metric) for metric in shown_in(Shown.LEADERBOARD)}
    return {
        metric: f"{entry.value:.2f}"
        for metric, entry in entry_by_metric.items()
        if entry and entry.value is not None
    }


def _of_stratum(scores: Scores | BaselineScores) -> Sequence[Entry]:
    """All kinds of item of the headline's stratum:
    numbers stand beside the headline, of the same stratum."""
    stratum = ALL_STRATA if scores.headline is None else scores.headline.stratum
    return scores.overall if stratum == ALL_STRATA else scores.by_stratum.get(stratum, ())


def _board_row(run: ReportedRun) -> BoardRow:
    scores, kind = run.scores, run.kind
    return BoardRow(
        rank="",
        name=run.name,
        note=_RUN_NOTES.get(run.baseline, "a baseline")
        if run.baseline
        else _KIND_NOTES.get(kind, ""),
        kind=kind,
        headline=_headline(scores.headline, scores.overall),
        overall=_all_kinds(scores.overall),
        answered_only=_cell(scores.overall, "accuracy.answered"),
        states=dict(run.states),
        numbers=_number_texts(_of_stratum(scores)),
        profile=run.info.profile.name,
        incomplete=run.incomplete,
        over_shortcut=shortcut_gain(run) if kind in ("model", "reader", "text") else None,
    )


def _blind_row(name: str, scores: BaselineScores, beside: str) -> BoardRow:
    note = (BLIND | blind_rows("boxes")).get(name, "")
    return BoardRow(
        rank="",
        name=name,
        note=", ".join(filter(None, (note, beside))),
        kind="blind",
        headline=_headline(scores.headline, scores.overall),
        overall=_all_kinds(scores.overall),
        answered_only=_cell(scores.overall, "accuracy.answered"),
        states={},
        numbers=_number_texts(_of_stratum(scores)),
        profile="",
    )


def _same_items(runs: Sequence[ReportedRun]) -> list[list[ReportedRun]]:
    """Runs grouped by the items that count in them:
    blind rows stand beside a run only on the same items.

    A baseline that was run is a blind row itself. It needs no others where a run that could look
    has its own: every row would be listed twice, on nearly the same items.
    """
    groups: dict[frozenset[str], list[ReportedRun]] = {}
    for run in runs:
        counted = frozenset(run.columns.judged_ids)
        groups.setdefault(counted, []).append(run)
    that_look = [group for group in groups.values() if any(run.kind != "baseline" for run in group)]
    return that_look or list(groups.values())


def _not_run(group: Sequence[ReportedRun]) -> dict[str, BaselineScores]:
    """The blind rows of runs on the same items,
    without those that were run and have a row of their own."""
    baselines = {run.baseline for run in group}
    return {name: row for name, row in group[0].scores.baselines.items() if name not in baselines}


def board_of(runs: Sequence[ReportedRun], standings: Standings) -> Board:
    """Models by headline accuracy, best first;
    incomplete ones, readers, text-only runs, baselines, then blind rows."""
    rows = [_placed(_board_row(run), standings) for run in runs]

    def order(row: BoardRow) -> tuple[int, bool, float, float]:
        first, second = (-1.0 if c.value is None else c.value for c in (row.headline, row.overall))
        return _ORDER.index(row.kind), row.incomplete, -first, -second

    rows.sort(key=order)
    ranked: list[BoardRow] = []
    for row in rows:
        rank = 1 + sum(other.rank != "" for other in ranked)
        ranked.append(msgspec.structs.replace(row, rank=str(rank)) if _is_ranked(row) else row)
    groups = _same_items(runs)
    for group in groups:
        blind = _not_run(group)
        names = [name for name in BLIND if name in blind] + sorted(set(blind) - set(BLIND))
        beside = (
            "" if len(groups) == 1 else f"on the items of {', '.join(run.name for run in group)}"
        )
        ranked += [_blind_row(name, blind[name], beside) for name in names]
    states = [s for s in _STATES if s in _ALWAYS_SHOWN or any(row.states.get(s) for row in rows)]
    numbers = [
        NumberColumn(metric.id, metric.column, metric.about)
        for metric in map(known_metrics().__getitem__, shown_in(Shown.LEADERBOARD))
        if any(metric.id in row.numbers for row in ranked)
    ]
    return Board(
        ranked,
        states,
        numbers,
        _board_table(ranked, states, numbers),
        has_headline=any(row.headline.value is not None for row in ranked),
        headline_items=next(
            (run.scores.headline.items for run in runs if run.scores.headline is not None), ""
        ),
        has_groups=any(row.groups for row in ranked),
        has_gain=any(row.gain is not None for row in ranked),
        has_shortcut=any(row.over_shortcut is not None for row in ranked),
        detectable=standings.detectable,
        same_patient=next(
            (run.scores.same_patient.words for run in runs if run.scores.same_patient), ""
        ),
    )


def _placed(row: BoardRow, standings: Standings) -> BoardRow:
    standing, gain = standings.places.get(row.name), standings.gains.get(row.name)
    if standing is None:
        return msgspec.structs.replace(row, gain=gain)
    low, high = standing.rank95 or (standing.rank, standing.rank)
    spread = "" if standing.rank95 is None else f"{low}–{high}"
    return msgspec.structs.replace(row, gain=gain, groups=standing.groups, rank_range=spread)


def _is_ranked(row: BoardRow) -> bool:
    return row.kind == "model" and not row.incomplete and row.overall.value is not None


def grid_of(runs: Sequence[ReportedRun]) -> Grid:
    """Accuracy of every run on every task, stratum and stratum of a task."""
    columns = [(run.name, run.kind) for run in runs]
    sources: list[Scores | BaselineScores] = [run.scores for run in runs]
    groups = _same_items(runs)
    for same in groups:
        beside = "" if len(groups) == 1 else f" ({same[0].name})"
        blind = _not_run(same)
        columns += [(name + beside, "blind") for name in BLIND if name in blind]
        sources += [blind[name] for name in BLIND if name in blind]
    rows = []
    for group in ("stratum", "task"):
        tables = [source.by_stratum if group == "stratum" else source.by_task for source in sources]
        names = sorted(
            {name for table in tables for name in table}, key=lambda name: (name != HEADLINE, name)
        )
        for name in names:
            cells = [_closed(table.get(name)) for table in tables]
            chance = next((c for c in cells if c.chance is not None), Cell())
            extra = [_number_texts(table.get(name)).get("mra.vsi-code@1", "") for table in tables]
            rows.append(GridRow(group, name, chance, cells, extra))
    return Grid(columns, rows, _grid_table(columns, rows))


def _board_table(
    rows: Sequence[BoardRow], states: Sequence[str], numbers: Sequence[NumberColumn]
) -> Table:
    shares = ("value", "low95", "high95", "chance", "n")
    head = ["rank", "rank95", "group", "run", "kind", "profile", "incomplete"]
    head += [f"{what}_{part}" for what in ("headline", "overall") for part in shares] + [
        "accuracy_answered"
    ]
    head += [
        f"{what}{part}"
        for what in ("sight_gain", "over_best_shortcut")
        for part in ("", "_low95", "_high95")
    ]
    head += ["best_shortcut"]
    body: list[tuple[TableCell, ...]] = [
        (
            *(row.rank, row.rank_range, row.groups, row.name, row.kind, row.profile),
            "yes" if row.incomplete else "no",
            *(
                _plain(v)
                for c in (row.headline, row.overall)
                for v in (c.value, c.low, c.high, c.chance, c.n)
            ),
            _plain(row.answered_only.value),
            *(_plain(value) for gain in (row.gain, row.over_shortcut) for value in _bounds(gain)),
            "" if row.over_shortcut is None else row.over_shortcut.against,
            *(row.states.get(state, 0) if row.states else None for state in states),
            *(row.numbers.get(column.metric, "") for column in numbers),
        )
        for row in rows
    ]
    note = "Percent. Rows of kind blind never see the scan; incomplete runs are not ranked."
    columns = (*head, *states, *(column.metric for column in numbers))
    return Table("leaderboard", "Leaderboard", columns, tuple(body), note)


def _bounds(gain: Gain | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if gain is None else (gain.value, gain.low, gain.high)


def _grid_table(columns: Sequence[tuple[str, str]], rows: Sequence[GridRow]) -> Table:
    head = [
        "group",
        "name",
        "run",
        "kind",
        "accuracy",
        "low95",
        "high95",
        "chance",
        "n",
        "mra.vsi-code@1",
    ]
    body: list[tuple[TableCell, ...]] = []
    for row in rows:
        for (name, kind), cell, extra in zip(columns, row.cells, row.extra):
            shares = [
                _plain(v) for v in (cell.value, cell.low, cell.high, row.chance.chance, cell.n)
            ]
            body.append((row.group, row.name, name, kind, *shares, extra))
    title, note = "Accuracy by stratum and task", "Percent, questions with options."
    return Table("tasks", title, tuple(head), tuple(body), note)


def _plain(value: float | None) -> float | None:
    return None if value is None else value if isinstance(value, int) else round(value, 2)
