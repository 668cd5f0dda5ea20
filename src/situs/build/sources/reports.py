"""From radiology reports to a bench: written by rule, or by a model between rules."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from situs.agents import (
    Proposal,
    Vetted,
    dimensions_of,
    propose_questions,
    validate_items,
    validator_sheet,
)
from situs.base.files import canonical_json, digest, write_atomic
from situs.base.publish import asked_beside, new_folder
from situs.bench import StudyRecord
from situs.build.frame import StudyWork, finished_studies, in_bench_order, placed, with_splits
from situs.build.scans import CT_RATE, Scan, find_scans
from situs.build.spool import resume_key
from situs.build.writer import BenchWriter, BuildOptions, BuildResult
from situs.errors import Problem, Severity, SitusError, did_you_mean
from situs.facts import Fact
from situs.facts.reports import (
    LOCATED,
    Report,
    ReportLedger,
    proposal_problem,
    quote_span,
    read_reports,
    report_problem,
    stated,
)
from situs.items import Candidate, Choice, Item, NotAsked, Text, arrange, outline
from situs.items.reports import REPORT_TASKS, WRITTEN, pose_report, report_questions, written_item
from situs.judges import AskedByID, Asker
from situs.score import same_family

__all__ = ["build_reports"]

_FORMS = 12


class _Study(msgspec.Struct, frozen=True):
    record: StudyRecord
    report: Report
    scan: Scan | None = None


class _Draft(msgspec.Struct, frozen=True):
    """An item that passed the rules, and the facts it rests on."""

    item: Item
    facts: tuple[Fact, ...]


class _ReportJob(msgspec.Struct, frozen=True):
    """A report to write questions on: by rule, or by checking what a model proposed."""

    record: StudyRecord
    report: Report
    proposals: list[Proposal] | None = None

    @property
    def where(self) -> str:
        """How messages on the terminal call it."""
        return self.report.name


class _Written(msgspec.Struct, frozen=True):
    """What became of a report."""

    drafts: list[_Draft]
    not_asked: dict[str, int]


def build_reports(
    path: Path,
    out: Path,
    options: BuildOptions,
    *,
    writer: Asker | None = None,
    validator: Asker | None = None,
    images: Path | None = None,
    ended: Callable[[AskedByID], None] = lambda asked: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> BuildResult:
    """Build a bench of questions that reports prove, each with the volume of its report's name
    under `images`.

    Without a writer, rules write. What models are asked is kept in `OUT.asked`, so that the same
    command goes on where it stopped; `ended` is called after each of them and may end the program.
    """
    tasks = _tasks(options.tasks)
    reports, problems = read_reports(path, skip_bad=options.skip_bad)
    stems = {_stem(report.name) for report in reports}
    scans = find_scans(images, stems, problems, skip_bad=options.skip_bad, progress=progress)
    studies, copies = _studies(reports, options, scans)
    if copies:
        text = f"{copies} reports have the text of another and are asked about once"
        problems.append(
            Problem(Severity.WARNING, "shared-report", path.name, text, "nothing to do")
        )
    asked_folder = asked_beside(out)
    not_asked: Counter[str] = Counter()
    jobs = _jobs(studies, writer, asked_folder, options, not_asked, ended)
    work = StudyWork(jobs, partial(_open_author, tasks), _Written, lambda job, written: [path])
    with new_folder(
        out,
        marker="bench.json",
        overwrite=options.overwrite,
        resume_key=resume_key("reports", tasks, *jobs),
    ) as scratch:
        drafts: list[_Draft] = []
        for _, written in finished_studies(work, scratch, options, problems, progress):
            drafts += written.drafts
            not_asked.update(written.not_asked)
        if validator is not None:
            problems += _one_family(writer, validator)
            drafts = _vetted(drafts, studies, validator, asked_folder, options, not_asked, ended)
        notes = [_written_by(writer, validator), *_prior_balance(drafts)]
        drafts = _limited(drafts, options, not_asked)
        with BenchWriter(scratch, "reports", options, {}) as table:
            _write(table, studies, drafts, path, options, not_asked)
        return table.finish(problems, tuple(notes))


def _jobs(
    studies: Sequence[_Study],
    writer: Asker | None,
    folder: Path,
    options: BuildOptions,
    not_asked: Counter[str],
    ended: Callable[[AskedByID], None],
) -> list[_ReportJob]:
    """A job a study, with what the writer proposed, if there is one."""
    if writer is None:
        return [_ReportJob(study.record, study.report) for study in studies]
    named = [(study.record.study_id, study.report) for study in studies]
    proposals, asked = propose_questions(writer, named, folder, restricted=options.restricted)
    ended(asked)
    not_asked["the writer gave no readable reply, in reports"] = len(studies) - len(proposals)
    return [
        _ReportJob(study.record, study.report, proposals.get(study.record.study_id, []))
        for study in studies
    ]


def _open_author(tasks: Sequence[str]) -> Callable[[_ReportJob], _Written]:
    """What a worker does with its reports."""
    return partial(_author, tasks)


def _author(tasks: Sequence[str], job: _ReportJob) -> _Written:
    """The questions that one report proves."""
    series = job.record.series[0].series if job.record.series else ""
    ledger = ReportLedger(job.report, job.record.study_id, series)
    not_asked: Counter[str] = Counter()
    if job.proposals is None:
        drafts = list(_by_rule(ledger, job.record, tasks, not_asked))
    else:
        drafts = list(_by_model(ledger, job.record, job.proposals, not_asked))
    return _Written(drafts, dict(not_asked))


def _one_family(writer: Asker | None, validator: Asker) -> list[Problem]:
    """A warning where a model vets its own questions."""
    if writer is None or not _same_model(writer, validator):
        return []
    text = (
        f"writer and validator are the same model or family ({writer.spec.name}): it vets its own"
        " work"
    )
    fix = "give another --validator"
    return [Problem(Severity.WARNING, "validator", validator.name, text, fix)]


def _tasks(names: str | None) -> tuple[str, ...]:
    if names is None:
        return tuple(REPORT_TASKS)
    chosen = tuple(name.strip() for name in names.split(","))
    odd = next((name for name in chosen if name not in REPORT_TASKS), None)
    if odd is not None:
        raise SitusError(
            f"unknown task {odd!r}", where="--tasks", fix=did_you_mean(odd, REPORT_TASKS)
        )
    return chosen


def _stem(name: str) -> str:
    return name.removesuffix(".gz").removesuffix(".nii")


def _studies(
    reports: Sequence[Report], options: BuildOptions, scans: Mapping[str, Scan]
) -> tuple[list[_Study], int]:
    """One study per text (with a scan, where one of several has it), and how many reports only
    repeat one.

    Patients are as told, or by a public name.
    """
    first: dict[str, Report] = {}
    for report in sorted(
        reports, key=lambda report: (_stem(report.name) not in scans, report.name)
    ):
        first.setdefault(digest(" ".join(report.text.split())), report)
    studies = []
    for report in first.values():
        stem = _stem(report.name)
        public = CT_RATE.fullmatch(stem)
        study_id = options.ids.study(stem, of_table=True, public=bool(public))
        if report.patient:
            patient = options.ids.patient(report.patient, of_table=True)
        else:
            patient = public["patient"] if public else study_id
        scan = scans.get(stem)
        record = StudyRecord(
            study_id, patient, "", (scan.series,) if scan else (), {"report": report.hash}
        )
        studies.append(_Study(record, report, scan))
    records = with_splits([study.record for study in studies], options)
    studies = [msgspec.structs.replace(s, record=record) for s, record in zip(studies, records)]
    return sorted(studies, key=lambda study: study.record.study_id), len(reports) - len(first)


def _by_rule(
    ledger: ReportLedger, record: StudyRecord, tasks: Sequence[str], not_asked: Counter[str]
) -> Iterator[_Draft]:
    has_question = False
    for question in report_questions(ledger):
        if question.task in tasks:
            item = pose_report(ledger, question, record.patient_id)
            if isinstance(item, NotAsked):
                not_asked[item.reason] += 1
                continue
            has_question = True
            subjects = question.parameters["finding"], question.parameters["organ"]
            fact = ledger.fact(LOCATED, *subjects)
            yield _Draft(item, (fact,))
    not_asked["the report proves no place, in reports"] += not has_question


def _by_model(
    ledger: ReportLedger,
    record: StudyRecord,
    proposals: Sequence[Proposal],
    not_asked: Counter[str],
) -> Iterator[_Draft]:
    """Proposals that pass the rules."""
    seen: set[str] = set()
    for proposal in proposals:
        span = quote_span(ledger.text, proposal.quote, ledger.findings_length)
        if span is None:
            not_asked["rules: the quote is not in the report"] += 1
            continue
        problem = proposal_problem(proposal.question, proposal.answer, ledger.text[slice(*span)])
        problem = problem or report_problem(ledger, proposal.question, *span)
        if problem is None and proposal.question in seen:
            problem = "it is asked twice"
        if problem is not None:
            not_asked[f"rules: {re.sub(chr(39) + '.*' + chr(39), '…', problem)}"] += 1
            continue
        seen.add(proposal.question)
        fact = stated(ledger, proposal.question, proposal.answer, *span)
        tags = tuple(
            dict.fromkeys([proposal.dimension, *dimensions_of(proposal.question, proposal.answer)])
        )
        item = written_item(
            fact, record.patient_id, record.split, tuple(tag for tag in tags if tag)
        )
        yield _Draft(item, (fact,))


def _vetted(
    drafts: list[_Draft],
    studies: list[_Study],
    validator: Asker,
    folder: Path,
    options: BuildOptions,
    not_asked: Counter[str],
    ended: Callable[[AskedByID], None],
) -> list[_Draft]:
    """What the validator lets stand; what it did not speak of does not."""
    texts = {study.record.study_id: study.report.text for study in studies}
    subjects = [
        (d.item.item_id, texts[d.item.study_id], d.item.question, _answer_text(d.item))
        for d in drafts
    ]
    verdicts, asked = validate_items(validator, subjects, folder, restricted=options.restricted)
    ended(asked)
    write_atomic(folder / "validator_sheet.csv", validator_sheet(verdicts, validator.name))
    accepted = []
    for draft in drafts:
        verdict: Vetted | None = verdicts.get(draft.item.item_id)
        problem = "the validator did not tell" if verdict is None else verdict.problem
        if problem is None:
            accepted.append(draft)
        else:
            not_asked[problem] += 1
    return accepted


def _answer_text(item: Item) -> str:
    match item.answer:
        case Choice(value):
            return next(option.text for option in item.options if option.value == value)
        case Text(references):
            return references[0]
        case _:
            return ""


def _same_model(writer: Asker, validator: Asker) -> bool:
    a, b = writer.spec, validator.spec
    return (a.kind, a.name) == (b.kind, b.name) or same_family(a.name, b.name) is not None


def _written_by(writer: Asker | None, validator: Asker | None) -> str:
    author = "rules" if writer is None else f"{writer.spec.name}, between rules"
    vetted = "" if validator is None else f"; vetted by {validator.spec.name}"
    return (
        f"Questions written by {author}{vetted}. Every answer rests on one quoted sentence of the"
        " report."
    )


def _prior_balance(drafts: Sequence[_Draft]) -> list[str]:
    """How often each form of question has the same answer over the corpus,
    before answers are balanced."""
    forms: dict[str, Counter[str]] = defaultdict(Counter)
    for draft in drafts:
        forms[draft.item.question][_answer_text(draft.item).lower().rstrip(".")] += 1
    repeated = {question: answers for question, answers in forms.items() if answers.total() > 1}
    order = sorted(repeated, key=lambda question: (-repeated[question].total(), question))
    if not order:
        return []
    asked = sum(answers.total() for answers in repeated.values())
    same = sum(max(answers.values()) for answers in repeated.values())
    notes = [
        f"Prior, before balancing: {same / asked:.0%} of {asked:,} questions have their text's"
        " commonest answer."
    ]
    for question in order[:_FORMS]:
        (answer, count), total = repeated[question].most_common(1)[0], repeated[question].total()
        notes.append(
            f"Prior of “{question}”: “{answer}” in {count:,} of {total:,} ({count / total:.0%})."
        )
    return notes


def _limited(drafts: list[_Draft], options: BuildOptions, not_asked: Counter[str]) -> list[_Draft]:
    """At most so many of a study, before twins are formed, so that none loses its partners."""
    if options.per_study is None:
        return drafts
    chosen_ids, per_study_count = set[str](), Counter[str]()
    for draft in sorted(drafts, key=lambda draft: digest(str(options.seed), draft.item.item_id)):
        per_study_count[draft.item.study_id] += 1
        if per_study_count[draft.item.study_id] <= options.per_study:
            chosen_ids.add(draft.item.item_id)
    not_asked["beyond the quota per study"] += len(drafts) - len(chosen_ids)
    return [draft for draft in drafts if draft.item.item_id in chosen_ids]


def _write(
    table: BenchWriter,
    studies: Sequence[_Study],
    drafts: Sequence[_Draft],
    path: Path,
    options: BuildOptions,
    not_asked: Counter[str],
) -> None:
    choices = [
        draft
        for draft in drafts
        if draft.item.task != WRITTEN and draft.item.item_id not in options.withdrawn
    ]
    not_asked.update(
        options.withdrawn[draft.item.item_id]
        for draft in drafts
        if draft.item.task != WRITTEN and draft.item.item_id in options.withdrawn
    )
    families = {
        d.item.item_id: f"{d.item.task}|{digest(canonical_json(d.item.parameters))}"
        for d in choices
    }
    splits = {study.record.study_id: study.record.split for study in studies}
    outlines = [
        outline(
            Candidate(
                d.item, families[d.item.item_id], primary=True, named_only=False, textbook=False
            ),
            splits[d.item.study_id],
        )
        for d in choices
    ]
    placements = arrange(outlines, options.seed, rules=options.recipe.twins)
    not_asked["set aside to keep answers balanced"] += len(choices) - len(placements)
    by_study: dict[str, list[_Draft]] = defaultdict(list)
    for draft in drafts:
        by_study[draft.item.study_id].append(draft)
    for study in studies:
        record, study_drafts = study.record, by_study[study.record.study_id]
        posed = [draft.item for draft in study_drafts if draft.item.task != WRITTEN]
        written = [draft.item for draft in study_drafts if draft.item.task == WRITTEN]
        items = in_bench_order([*placed(posed, placements, record.split), *written])
        asked = {item.item_id for item in items}
        facts = {
            fact.fact_id: fact
            for draft in sorted(
                study_drafts, key=lambda draft: (draft.item.task, draft.item.item_id)
            )
            if draft.item.item_id in asked
            for fact in draft.facts
        }
        places = {record.evidence["report"]: str(path)} | (study.scan.places if study.scan else {})
        table.add(record, facts.values(), items, {}, places)
    table.count_not_asked(not_asked)
