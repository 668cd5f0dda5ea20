"""What the page's script reads: items, answers, derivations and facts as one JSON value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from situs.bench import Bench, SeriesRecord, StudyRecord
from situs.facts import Cell, Fact, FactValue, Measured, Quoted
from situs.items import Choice, Choices, Item, Number, Text, YesNo
from situs.report._scored import ScoredRun, mark_of
from situs.report._subjects import ItemSubject, subjects_of
from situs.space import Affine

__all__ = ["Detail", "Payload", "Row", "SeriesNote", "Shared", "build_payload", "series_key"]

_RESPONSE_CHARS = 4000
_TEXT_BYTES = 18_000_000
"""Derivations beyond this are left out, so that the file opens on a phone."""

_OBLIQUE_DEGREES = 5.0


class FactRow(msgspec.Struct, frozen=True, array_like=True):
    """One fact as the table of an item shows it."""

    kind: str
    subjects: str
    value: str
    interval: str
    function: str
    flags: tuple[str, ...]


class StepRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of the derivation; its number is drawn on a number line."""

    kind: str
    text: str
    value: float | None = None
    unit: str = ""
    interval: tuple[float, float] | None = None
    threshold: float | None = None
    open_end: bool = False
    """The interval has no upper end (a cut structure)."""


class AnswerCell(msgspec.Struct, frozen=True, array_like=True):
    """One run's answer to one item."""

    run: int
    mark: str
    parsed: str
    response: str
    cut_chars: int
    """How many characters of the response are not shown."""


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One line of the item list."""

    item_id: str
    task: str
    stratum: str
    question: str
    marks: str
    """One letter per run; a space where the run does not cover the item."""
    pictured: bool


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything the item view shows besides pictures."""

    series: str
    form: str
    options: tuple[tuple[str, str, bool], ...]
    """(letter, text, right)."""
    answer: str
    number: tuple[float, float, float, str] | None = None
    """Value, low, high and unit of a number."""
    steps: tuple[StepRow, ...] = ()
    facts: tuple[int, ...] = ()
    inputs: tuple[int, ...] = ()
    """Facts that `facts` were computed from."""
    answers: tuple[AnswerCell, ...] = ()
    flags: tuple[tuple[str, str], ...] = ()
    """(kind, words): `warn` or `note`."""
    subjects: tuple[ItemSubject, ...] = ()
    split: str = ""


class SeriesNote(msgspec.Struct, frozen=True):
    """What a reader must know of a series."""

    study: str
    modality: str
    spacing: str
    flags: tuple[tuple[str, str], ...]


class Shared(msgspec.Struct, frozen=True):
    """Pictures and outlines, shared between items; empty where none are embedded."""

    views: dict[str, object] = {}
    pictures: dict[str, dict[str, dict[int, str]]] = {}
    outlines: dict[str, dict[str, dict[str, dict[int, str]]]] = {}
    planes: dict[str, object] = {}


class Payload(msgspec.Struct):
    """The JSON of the page."""

    runs: list[tuple[str, str]]
    rows: list[Row]
    details: dict[str, Detail]
    facts: list[FactRow]
    series: dict[str, SeriesNote]
    shared: Shared
    picture_note: str
    """Why items are without pictures."""
    details_left_out: int = 0


def series_key(item: Item) -> str:
    """How the page names a series."""
    return f"{item.study_id}/{item.series}"


def build_payload(
    bench: Bench,
    items: Sequence[Item],
    runs: Sequence[ScoredRun],
    facts: Mapping[str, Fact],
    studies: Mapping[str, StudyRecord],
    *,
    quotes: bool,
    first: Iterable[str],
) -> Payload:
    """Rows of all items, and details in bench order, those of `first` before all others, while they fit."""
    table = _FactTable(facts, quotes)
    wanted = set(first)
    details: dict[str, Detail] = {}
    spent = 0
    for item in sorted(items, key=lambda item: item.item_id not in wanted):
        detail = _detail(item, runs, facts, table, bench)
        spent += len(msgspec.json.encode(detail))
        if spent + table.bytes > _TEXT_BYTES:
            break
        details[item.item_id] = detail
    used = {series_key(item) for item in items}
    return Payload(
        runs=[(run.name, "baseline" if run.baseline else "model") for run in runs],
        rows=[_row(item, runs) for item in items],
        details=details,
        facts=table.rows,
        series={
            f"{study.study_id}/{series.series}": _series_note(study, series)
            for study in studies.values()
            for series in study.series
            if f"{study.study_id}/{series.series}" in used
        },
        shared=Shared(),
        picture_note="",
        details_left_out=len(items) - len(details),
    )


def _covers(run: ScoredRun, item: Item) -> bool:
    return item.item_id in run.scores.outcomes


def _row(item: Item, runs: Sequence[ScoredRun]) -> Row:
    marks = "".join(mark_of(run.scores.outcomes[item.item_id]) if _covers(run, item) else " " for run in runs)
    return Row(item.item_id, item.task, item.stratum, item.question, marks, False)


def _detail(
    item: Item, runs: Sequence[ScoredRun], facts: Mapping[str, Fact], table: _FactTable, bench: Bench
) -> Detail:
    held = [facts[fact_id] for fact_id in item.fact_ids if fact_id in facts]
    inputs = [f for f in _inputs(held, facts) if f.fact_id not in item.fact_ids]
    number = item.answer if isinstance(item.answer, Number) else None
    low, high = (number.interval or (number.value, number.value)) if number else (0.0, 0.0)
    return Detail(
        series=series_key(item),
        form=item.form,
        options=tuple(_options(item)),
        answer=_answer_text(item),
        number=None if number is None else (number.value, low, high, number.unit),
        steps=tuple(_steps(item, facts)),
        facts=tuple(table.place(fact) for fact in held),
        inputs=tuple(table.place(fact) for fact in inputs),
        answers=tuple(_answers(item, runs)),
        flags=tuple(_flags(held)),
        subjects=tuple(subjects_of(item, [*held, *inputs], bench.info.terms)),
        split=item.split,
    )


def _inputs(held: Sequence[Fact], facts: Mapping[str, Fact]) -> list[Fact]:
    """The facts that others were computed from, one level down."""
    names = [
        source.removeprefix("fact:")
        for fact in held
        if isinstance(fact.derivation, Measured)
        for source in fact.derivation.inputs
        if source.startswith("fact:")
    ]
    return [facts[name] for name in dict.fromkeys(names) if name in facts]


def _options(item: Item) -> list[tuple[str, str, bool]]:
    match item.answer:
        case Choice(value, also_right):
            right = {value, *also_right}
        case Choices(values):
            right = set(values)
        case _:
            right = set()
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return [(letter, option.text, option.value in right) for letter, option in zip(letters, item.options)]


def _answer_text(item: Item) -> str:
    match item.answer:
        case YesNo(value):
            return "yes" if value else "no"
        case Number(value, unit, interval):
            spread = f" ({_short(interval[0])} to {_short(interval[1])} count as right)" if interval else ""
            return f"{_short(value)} {unit}".strip() + spread
        case Choice() | Choices():
            return "; ".join(f"{letter}. {text}" for letter, text, right in _options(item) if right)
        case Text(references):
            return " / ".join(references)
        case _:
            return f"see the item's record ({item.form})"


def _steps(item: Item, facts: Mapping[str, Fact]) -> list[StepRow]:
    rows = []
    for step in item.steps:
        measured = step.value
        if measured is None:
            rows.append(StepRow(step.kind, step.text))
            continue
        about = [facts[fact_id] for fact_id in step.fact_ids if fact_id in facts]
        open_end = any(("cut" in f.flags and f.kind == "volume") or "unbounded" in f.flags for f in about)
        bounds = None if measured.interval is None else (_round(measured.interval[0]), _round(measured.interval[1]))
        threshold = None if measured.threshold is None else _round(measured.threshold)
        rows.append(StepRow(step.kind, step.text, _round(measured.value), measured.unit, bounds, threshold, open_end))
    return rows


def _answers(item: Item, runs: Sequence[ScoredRun]) -> list[AnswerCell]:
    cells = []
    for place, run in enumerate(runs):
        if not _covers(run, item):
            continue
        outcome, row = run.scores.outcomes[item.item_id], run.rows.get(item.item_id)
        response = row.response if row is not None else ""
        cut = max(0, len(response) - _RESPONSE_CHARS)
        cells.append(AnswerCell(place, mark_of(outcome), outcome.parsed, response[:_RESPONSE_CHARS], cut))
    return cells


def _flags(held: Sequence[Fact]) -> list[tuple[str, str]]:
    cut = sorted({s for fact in held if "cut" in fact.flags and len(fact.subjects) == 1 for s in fact.subjects})
    flags = []
    if cut:
        flags.append(("warn", f"cut off by the scan: {', '.join(cut)} (sizes are lower bounds)"))
    if any("unstable" in fact.flags for fact in held):
        flags.append(("warn", "unstable: a fact does not hold over its whole interval"))
    if any("islands" in fact.flags for fact in held):
        flags.append(("warn", "islands were set aside"))
    if not held:
        flags.append(("note", "answer given by the source, not derived from facts"))
    return flags


def _series_note(study: StudyRecord, series: SeriesRecord) -> SeriesNote:
    affine = Affine([series.affine[row * 4 : row * 4 + 4] for row in range(4)])
    angle = affine.obliquity_degrees
    flags = []
    if angle > _OBLIQUE_DEGREES:
        flags.append(("warn", f"oblique grid ({angle:.0f}°), letters are nearest axis"))
    if affine.is_sheared:
        flags.append(("warn", "sheared grid (tilted gantry): angles on screen are not true"))
    if series.side_basis == "affine":
        flags.append(("note", "left and right from the file's affine"))
    else:
        flags.append(("warn", f"side basis: {series.side_basis}"))
    flags.append(("note", f"masks: {series.annotation}"))
    spacing = " × ".join(f"{step:.2g}" if step < 1 else f"{step:.3g}" for step in affine.spacing_mm)
    return SeriesNote(study.study_id, series.modality.upper(), f"{spacing} mm voxels", tuple(flags))


class _FactTable:
    """Facts by place, each written once however many items use it."""

    def __init__(self, facts: Mapping[str, Fact], quotes: bool) -> None:
        self.rows: list[FactRow] = []
        self.bytes = 0
        self._places: dict[str, int] = {}
        self._quotes = quotes

    def place(self, fact: Fact) -> int:
        """Where the fact stands, added if it is new."""
        if fact.fact_id not in self._places:
            row = FactRow(
                fact.kind,
                ", ".join(fact.subjects),
                f"{_value_text(fact.value)} {fact.unit if fact.unit != 'fraction' else ''}".strip(),
                _interval_text(fact.interval),
                _how(fact, self._quotes),
                fact.flags,
            )
            self._places[fact.fact_id] = len(self.rows)
            self.rows.append(row)
            self.bytes += len(msgspec.json.encode(row))
        return self._places[fact.fact_id]


def _how(fact: Fact, quotes: bool) -> str:
    match fact.derivation:
        case Measured(function):
            return function
        case Quoted(quote=quote):
            return f"report: “{quote}”" if quotes else "report (quote withheld)"
        case Cell(column=column):
            return f"table, column {column}"


def _value_text(value: FactValue) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{v:.1f}" for v in value) + ")"
    return value if isinstance(value, str) else _short(value)


def _interval_text(interval: tuple[float, ...] | None) -> str:
    if interval is None:
        return ""
    half = len(interval) // 2
    if half == 1:
        low, high = interval
        return f"{_short(low)} to {'∞' if high >= 1e9 else _short(high)}"
    slack = max(abs(high - low) / 2 for low, high in zip(interval[:half], interval[half:]))
    return f"± {slack:.1f}"


def _short(value: float) -> str:
    """A number as a reader wants it: three significant digits, thousands apart."""
    size = abs(value)
    if isinstance(value, int) or size >= 100:
        return f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.01 or value == 0 else f"{value:.1g}"


def _round(value: float) -> float:
    return float(f"{value:.6g}")
