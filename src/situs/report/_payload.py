"""What the page's script reads: items, answers, derivations and facts as one JSON value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from situs.bench import Bench, StudyRecord
from situs.facts import Fact, Measured
from situs.items import Choice, Choices, Item, Number, Text, YesNo
from situs.report._fact_rows import FactRow, FactTable, rounded, short
from situs.report._flags import SeriesNote, fact_flags, series_note
from situs.report._scored import ScoredRun, mark_of
from situs.report._subjects import ItemSubject, subjects_of
from situs.space import Axis

__all__ = ["Detail", "Payload", "Row", "Shared", "build_payload", "series_key"]

_RESPONSE_CHARS = 4000
_TEXT_BYTES = 18_000_000
"""Derivations beyond this are left out, so that the file opens on a phone."""


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
    ends: tuple[str, str] | None = None
    """What the lower and upper end of the number line mean."""


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
    table = FactTable(quotes)
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
            f"{study.study_id}/{series.series}": series_note(study, series)
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


def _detail(item: Item, runs: Sequence[ScoredRun], facts: Mapping[str, Fact], table: FactTable, bench: Bench) -> Detail:
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
        flags=tuple(fact_flags(held, bench.info.terms)),
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
            spread = f" ({short(interval[0])} to {short(interval[1])} count as right)" if interval else ""
            return f"{short(value)} {unit}".strip() + spread
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
        bounds = None if measured.interval is None else (rounded(measured.interval[0]), rounded(measured.interval[1]))
        threshold = None if measured.threshold is None else rounded(measured.threshold)
        rows.append(
            StepRow(
                step.kind, step.text, rounded(measured.value), measured.unit, bounds, threshold, open_end, _ends(about)
            )
        )
    return rows


def _ends(about: Sequence[Fact]) -> tuple[str, str] | None:
    for fact in about:
        if fact.kind.startswith("gap."):
            axis = Axis(fact.kind.partition(".")[2])
            return axis.negative.value, axis.positive.value
        if fact.kind == "right_share":
            return "all on the left", "all on the right"
        if fact.kind == "height_in":
            return "lower end", "upper end"
    return None


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
