"""What the page's script reads: items, answers, derivations and facts as one JSON value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from situs.anatomy import term
from situs.base.page import safe_in_script
from situs.bench import Bench, StudyRecord
from situs.facts import Fact, Measured, Quoted, mark_points, marked_structures
from situs.items import Item, Number, marks_of
from situs.items.answer_words import answer_words, option_rows
from situs.profiles import ToneScale
from situs.report.covered import CoveredItem, series_key
from situs.report.scored import ReportedRun
from situs.report.viewer.counterfactuals import ChangedTwin
from situs.report.viewer.fact_rows import FactRow, FactTable, rounded
from situs.report.viewer.flags import SeriesNote, authored_flags, fact_flags, series_note
from situs.report.viewer.subjects import ItemSubject, subjects_of
from situs.score.explain import StudyFactsById
from situs.space import Axis, WorldBox

__all__ = [
    "Detail",
    "FactsShown",
    "Payload",
    "Row",
    "Shared",
    "build_payload",
    "item_detail",
]

_RESPONSE_CHARS = 4000
_MOST_TWINS = 4
_TEXT_BYTES = 18_000_000
"""Derivations beyond this are left out, so that the file opens on a phone."""
_ROW_BYTES = 9_000_000
"""Lines of the list of items beyond this are left out, with all that belongs to them."""


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
    flags: tuple[str, ...] = ()
    """What a careful reader should know of how it was read."""
    cause: str = ""


class Row(msgspec.Struct, frozen=True, array_like=True):
    """One line of the item list."""

    item_id: str
    task: str
    stratum: str
    question: str
    marks: str
    """One letter per run; a space where the run does not cover the item."""
    pictured: bool
    causes: tuple[str, ...] = ()
    """Why each run is wrong, where it can be told; left out where it is nowhere."""


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
    twins: tuple[str, ...] = ()
    """Items with the same words about other patients,
    or made from this one by changing its scan."""
    changed: tuple[ChangedTwin, ...] = ()
    """The same question of the changed scan, where a probe lies beside the run."""


class Shared(msgspec.Struct, frozen=True):
    """Pictures and outlines, shared between items; empty where none are embedded."""

    views: dict[str, object] = {}
    pictures: dict[str, dict[str, dict[int, str]]] = {}
    outlines: dict[str, dict[str, dict[str, dict[int, str]]]] = {}
    planes: dict[str, object] = {}
    strips: dict[str, object] = {}
    """Item → what its models saw."""
    frames: dict[str, str] = {}
    """Those pictures, by content."""
    tones: dict[str, ToneScale] = {}
    """What the grey levels of pictures mean, by the key of the pictures."""


class Payload(msgspec.Struct):
    """The JSON of the page."""

    runs: list[tuple[str, str]]
    rows: list[Row]
    details: dict[str, msgspec.Raw]
    """Each a `Detail`, as JSON that may stand in a script."""
    facts: list[FactRow]
    series: dict[str, SeriesNote]
    shared: Shared
    picture_note: str
    """Why items are without pictures."""
    details_left_out: int = 0
    rows_left_out: int = 0


class FactsShown:
    """The facts of the items that are shown, found by study.

    Those of the items that come first are at hand; all others are read as their studies come, and
    let go.
    """

    def __init__(self, bench: Bench, at_hand: Mapping[str, Fact], first: Iterable[str]) -> None:
        self._at_hand = at_hand
        self._first = frozenset(first)
        self._by_study = StudyFactsById(bench)

    def of(self, item: Item) -> Mapping[str, Fact]:
        """The facts of an item's study by id."""
        if item.item_id in self._first:
            return self._at_hand
        return self._by_study.of_study(item.study_id)


def build_payload(
    bench: Bench,
    items: Iterable[Item],
    runs: Sequence[ReportedRun],
    facts: FactsShown,
    studies: Mapping[str, StudyRecord],
    *,
    quotes: bool,
    covered: Sequence[Item | CoveredItem],
    changed: Mapping[str, tuple[ChangedTwin, ...]] | None = None,
) -> Payload:
    """Rows and details of the items, the first ones first, while they fit; no item beyond is even
    asked for.

    `covered` are all items in bench order, in which the rows stand.
    """
    table = FactTable(quotes)
    twins = _Twins(covered)
    rows: dict[str, Row] = {}
    details: dict[str, msgspec.Raw] = {}
    used: set[str] = set()
    row_bytes = text_bytes = 0
    for item in items:
        row = _row(item, runs)
        row_bytes += len(msgspec.json.encode(row))
        if row_bytes > _ROW_BYTES:
            break
        rows[item.item_id] = row
        used.add(series_key(item))
        if text_bytes + table.bytes > _TEXT_BYTES:
            continue
        detail = item_detail(
            item,
            facts.of(item),
            table,
            bench,
            runs=runs,
            twins=twins.of(item),
            changed=(changed or {}).get(item.item_id, ()),
        )
        # As text it takes a third of the memory, and is not encoded again.
        text = msgspec.json.encode(detail)
        text_bytes += len(text)
        if text_bytes + table.bytes <= _TEXT_BYTES:
            details[item.item_id] = msgspec.Raw(safe_in_script(text))
    return Payload(
        runs=[(run.name, run.kind) for run in runs],
        rows=[rows[item.item_id] for item in covered if item.item_id in rows],
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
        details_left_out=len(covered) - len(details),
        rows_left_out=len(covered) - len(rows),
    )


def _row(item: Item, runs: Sequence[ReportedRun]) -> Row:
    marks = "".join(run.mark(item.item_id) for run in runs)
    causes = tuple(run.causes.get(item.item_id, "") for run in runs)
    return Row(
        item.item_id,
        item.task,
        item.stratum,
        item.question,
        marks,
        False,
        causes if any(causes) else (),
    )


def item_detail(
    item: Item,
    facts: Mapping[str, Fact],
    table: FactTable,
    bench: Bench,
    *,
    runs: Sequence[ReportedRun] = (),
    twins: tuple[str, ...] = (),
    changed: tuple[ChangedTwin, ...] = (),
) -> Detail:
    """What the item view shows of one item; its facts are added to `table`."""
    item_facts = [facts[fact_id] for fact_id in item.fact_ids if fact_id in facts]
    inputs = [f for f in _inputs(item_facts, facts) if f.fact_id not in item.fact_ids]
    number = item.answer if isinstance(item.answer, Number) else None
    low, high = (number.interval or (number.value, number.value)) if number else (0.0, 0.0)
    return Detail(
        series=series_key(item),
        form=item.form,
        options=tuple(option_rows(item)),
        answer=answer_words(item),
        number=None if number is None else (number.value, low, high, number.unit),
        steps=tuple(_steps(item, facts, table.quotes)),
        facts=tuple(table.place(fact) for fact in item_facts),
        inputs=tuple(table.place(fact) for fact in inputs),
        answers=tuple(_answers(item, runs)),
        flags=(*fact_flags(item_facts, bench.info.terms), *authored_flags(item)),
        subjects=tuple(subjects_of(item, [*item_facts, *inputs], bench.info.terms)),
        split=item.split,
        twins=twins,
        changed=changed,
    )


class _Twins:
    """For each item those it is to be looked at beside:
    what was made from it or it from, then its twin group."""

    def __init__(self, items: Sequence[Item | CoveredItem]) -> None:
        changed = [item for item in items if item.twin_of]
        known = {item.item_id for item in items} if changed else set()
        self._made: dict[str, list[str]] = defaultdict(list)
        self._groups: dict[str, list[str]] = defaultdict(list)
        for item in changed:
            if item.twin_of in known:
                self._made[item.twin_of].append(item.item_id)
                self._made[item.item_id].append(item.twin_of)
        for item in items:
            if item.twin_group:
                self._groups[item.twin_group].append(item.item_id)

    def of(self, item: Item) -> tuple[str, ...]:
        """The first of them."""
        others = [*self._made.get(item.item_id, ()), *self._groups.get(item.twin_group, ())]
        beside = [other for other in dict.fromkeys(others) if other != item.item_id]
        return tuple(beside[:_MOST_TWINS])


def _inputs(derived: Sequence[Fact], facts: Mapping[str, Fact]) -> list[Fact]:
    """The facts that others were computed from, one level down."""
    names = [
        source.removeprefix("fact:")
        for fact in derived
        if isinstance(fact.derivation, Measured)
        for source in fact.derivation.inputs
        if source.startswith("fact:")
    ]
    return [facts[name] for name in dict.fromkeys(names) if name in facts]


def _steps(item: Item, facts: Mapping[str, Fact], quotes: bool) -> list[StepRow]:
    rows = []
    for step in item.steps:
        measured = step.value
        about = [facts[fact_id] for fact_id in step.fact_ids if fact_id in facts]
        text = step.text if quotes else _without_quotes(step.text, about)
        if step.kind != "conclude":
            text += _mark_words(item, about)
        if measured is None:
            rows.append(StepRow(step.kind, text))
            continue
        open_end = any(
            ("cut" in f.flags and f.kind == "volume") or "unbounded" in f.flags for f in about
        )
        bounds = (
            None
            if measured.interval is None
            else (rounded(measured.interval[0]), rounded(measured.interval[1]))
        )
        threshold = None if measured.threshold is None else rounded(measured.threshold)
        rows.append(
            StepRow(
                step.kind,
                text,
                rounded(measured.value),
                measured.unit,
                bounds,
                threshold,
                open_end,
                _ends(about),
            )
        )
    return rows


def _mark_words(item: Item, about: Sequence[Fact]) -> str:
    """In which structure each of the question's marks lies;
    empty where the step is about no marks."""
    words = []
    for fact in about:
        if not fact.kind.startswith("marks.") or fact.value is None:
            continue
        inside = dict(zip(mark_points(fact), marked_structures(fact)))
        for letter, box in sorted(marks_of(item).items()):
            if isinstance(box, WorldBox) and box.lo_mm in inside:
                words.append(f"{letter} in the {term(inside[box.lo_mm]).plain}")
    return f" Marks: {', '.join(words)}." if words else ""


def _without_quotes(text: str, about: Sequence[Fact]) -> str:
    for fact in about:
        if isinstance(fact.derivation, Quoted) and fact.derivation.quote:
            text = text.replace(fact.derivation.quote, "[quote withheld]")
    return text


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


def _answers(item: Item, runs: Sequence[ReportedRun]) -> list[AnswerCell]:
    cells = []
    for run_number, run in enumerate(runs):
        if not run.covers(item.item_id):
            continue
        row = run.run.replies.rows.get(item.item_id)
        response = row.response if row is not None else ""
        place_in_run = run.columns.places[item.item_id]
        cut = max(0, len(response) - _RESPONSE_CHARS)
        cells.append(
            AnswerCell(
                run_number,
                run.mark(item.item_id),
                run.columns.reading(place_in_run)[1],
                response[:_RESPONSE_CHARS],
                cut,
                run.columns.flags(place_in_run),
                run.causes.get(item.item_id, ""),
            )
        )
    return cells
