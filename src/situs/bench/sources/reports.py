"""From report files back to the ledgers of a bench of reports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from situs.bench.checks.cohort import Arrangement
from situs.bench.checks.comparison import fact_problems, item_differences
from situs.bench.locations import Locations
from situs.bench.sources.source import Checking, Source, StudyRows, check_repeated
from situs.bench.study import StudyRecord
from situs.errors import SitusError
from situs.facts import Fact, Quoted
from situs.facts.reports import (
    LOCATED,
    STATED,
    Report,
    ReportLedger,
    proposal_problem,
    quote_span,
    read_reports,
    report_problem,
)
from situs.items import Item, NotAsked, Question, Text
from situs.items.reports import REPORT_TASKS, WRITTEN, pose_report

__all__ = ["ReportEvidence", "ReportSource"]


class ReportEvidence:
    """Reads each report file once and finds a study's report in it by the hash of its text."""

    def __init__(self, locations: Locations) -> None:
        self._locations = locations
        self._files: dict[Path, dict[str, Report]] = {}

    def ledger(self, study: StudyRecord) -> ReportLedger:
        """The ledger of a study's report,
        refused if the file no longer holds the text the bench was built from."""
        wanted = study.evidence["report"]
        path = self._locations.find(wanted)
        if path not in self._files:
            reports, _ = read_reports(path, skip_bad=True)
            self._files[path] = {report.hash: report for report in reports}
        report = self._files[path].get(wanted)
        if report is None:
            problem = "its report in the file is not the one the bench was built from"
            raise SitusError(problem, where=study.study_id, fix="restore the file, or rebuild")
        series = study.series[0].series if study.series else ""
        return ReportLedger(report, study.study_id, series)


class ReportSource(Source):
    """Reports: every fact and answer anew from the text, by quote and offsets."""

    builds = ("reports",)
    alone = True

    def __init__(self, checking: Checking) -> None:
        super().__init__(checking)
        self._evidence = ReportEvidence(self.locations)

    def claims(self, study: StudyRecord) -> bool:
        """Every study of a bench that was built from reports, also one that has lost its own."""
        return self.bench.info.source in self.builds

    def check(self, rows: StudyRows) -> None:
        """The text, and whether the images are those the bench knows."""
        self._check_text(rows)
        for series in rows.study.series:
            self.check_image(rows.study, series)

    def _check_text(self, rows: StudyRows) -> None:
        study = rows.study
        try:
            ledger = self._evidence.ledger(study)
        except (SitusError, KeyError) as error:
            problem = error.problem if isinstance(error, SitusError) else "it has no report"
            fix = "restore the report file, or give --data ROOT"
            self.result.error("evidence", study.study_id, problem, fix)
            return
        check_repeated(rows.facts, self.result)
        self.result.recomputed += len(rows.items)
        for code, id_, text in report_problems(
            study, ledger, rows.items, rows.facts, self.arrangement
        ):
            fix = f"the stored {code} does not follow from the report; rebuild"
            self.result.error(code, id_, text, fix)


def report_problems(
    study: StudyRecord,
    ledger: ReportLedger,
    items: list[Item],
    facts: list[Fact],
    arrangement: Arrangement,
) -> Iterator[tuple[str, str, str]]:
    """`fact` or `item`, its id, and what is wrong with it."""
    stored = {fact.fact_id: fact for fact in facts}
    for fact in facts:
        yield from (("fact", fact.fact_id, text) for text in _fact_problems(fact, ledger))
    for item in items:
        yield from (
            ("item", item.item_id, text)
            for text in _item_problems(item, study, ledger, stored, arrangement)
        )


def _fact_problems(fact: Fact, ledger: ReportLedger) -> Iterator[str]:
    span = fact.derivation
    if not isinstance(span, Quoted) or span != ledger.quoted(span.start, span.end):
        yield "its quote is not where it should be in the report"
        return
    if fact.kind == LOCATED:
        yield from fact_problems(fact, ledger)
        return
    if fact.kind != STATED or len(fact.subjects) != 1:
        yield f"a report gives no fact {fact.kind!r}"
        return
    if quote_span(ledger.text, span.quote, ledger.findings_length) is None:
        yield "its quote is not a whole sentence of the report"
    problem = proposal_problem(fact.subjects[0], str(fact.value), span.quote)
    problem = problem or report_problem(ledger, fact.subjects[0], span.start, span.end)
    if problem is not None:
        yield f"its quote does not prove it: {problem}"


def _item_problems(
    item: Item,
    study: StudyRecord,
    ledger: ReportLedger,
    stored: dict[str, Fact],
    arrangement: Arrangement,
) -> Iterator[str]:
    if not item.fact_ids:
        yield "names no fact"
    if not item.fact_ids or any(fact_id not in stored for fact_id in item.fact_ids):
        return
    if item.task == WRITTEN:
        yield from _written_problems(item, stored[item.fact_ids[0]])
        return
    question = Question(item.task, item.form, item.parameters)
    known = item.task in REPORT_TASKS and {"finding", "organ"} == item.parameters.keys()
    anew = (
        pose_report(ledger, question, study.patient_id)
        if known
        else NotAsked("its task is unknown")
    )
    if isinstance(anew, NotAsked):
        yield f"would not be asked: {anew.reason}"
        return
    yield from item_differences(item, anew)
    yield from arrangement.problems_of(item, anew)


def _written_problems(item: Item, fact: Fact) -> Iterator[str]:
    if item.answer != Text((str(fact.value),)):
        yield "its answer is not what its fact states"
    if item.question != fact.subjects[0] or item.parameters != {"question": item.question}:
        yield "its question is not that of its fact"
    if item.form != "text" or item.options:
        yield "its form is not free text"
    if item.stratum != "report":
        yield f"its stratum {item.stratum!r} is not that of its task"
