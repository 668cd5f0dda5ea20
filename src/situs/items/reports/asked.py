"""Questions from what a report proves:
on which side, in which lobe, segment or part, at which level."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from situs.facts import Fact
from situs.facts.reports import LOBES, LOCATED, SEGMENTS, findings, place_of
from situs.items.posed import NotAsked, Question
from situs.items.record import Choice, Item, Option, item_id
from situs.items.tasks import OTHER_TASKS, OtherTask

__all__ = ["REPORT_TASKS", "Proves", "pose_report", "report_questions"]

_LATERALITY = "Laterality & Bilateral Symmetry"
_LONGITUDINAL = "Longitudinal (Vertical) Position"
_ADJACENCY = "Adjacency & Containment"
_DEPTH = "Anterior-Posterior (Depth) Relations"
_CENTRICITY = "Medial-Lateral Orientation (Centricity)"


class ReportTask(OtherTask, frozen=True, kw_only=True):
    """A kind of question about a report."""

    dimensions: tuple[str, ...]
    """The spatial dimensions it asks for."""


REPORT_TASKS = {
    "report_side": ReportTask(dimensions=(_LATERALITY,), ordered=False),
    "report_lobe": ReportTask(dimensions=(_LATERALITY, _LONGITUDINAL, _ADJACENCY), ordered=False),
    "report_segment": ReportTask(dimensions=(_ADJACENCY,), ordered=False),
    "report_part": ReportTask(dimensions=(_LONGITUDINAL, _ADJACENCY), ordered=True),
    "report_level": ReportTask(dimensions=(_LONGITUDINAL,), ordered=True),
}
OTHER_TASKS |= REPORT_TASKS

_ORGANS = {
    "lung": "lung",
    "kidney": "kidney",
    "adrenal": "adrenal gland",
    "breast": "breast",
    "thyroid": "thyroid lobe",
}
_PLEURAL = ("pleural effusion", "pneumothorax", "pleural thickening")
_POLES = {"upper": "the upper pole", "middle": "the middle third", "lower": "the lower pole"}
_LEVELS = tuple([f"T{n}" for n in range(1, 13)] + [f"L{n}" for n in range(1, 6)])
_SIZE = re.compile(r" (\d+(?:\.\d+)?) mm$")
_DEEP = {
    "anterior",
    "posterior",
    "apicoposterior",
    "anterobasal",
    "posterobasal",
    "anteromediobasal",
}
_ASIDE = {"medial", "lateral", "mediobasal", "laterobasal"}


class Proves(Protocol):
    """A report's ledger, as questions need it."""

    study_id: str
    series: str

    def located(self) -> list[tuple[str, str]]:
        """Finding and organ of every place that is proved."""

    def is_plural(self, finding: str, organ: str) -> bool:
        """Whether there are several of it."""

    def fact(self, kind: str, *subjects: str) -> Fact:
        """Where a finding in an organ lies."""


def report_questions(ledger: Proves) -> Iterator[Question]:
    """Every question that the report's sentences allow."""
    for finding, organ in ledger.located():
        where = place_of(ledger.fact(LOCATED, finding, organ))
        parameters = {"finding": finding, "organ": organ}
        # One thing is not on both sides, whatever a sentence says.
        single = _is_countable(finding) and not ledger.is_plural(finding, organ)
        has_side = "side" in where and not (single and where["side"] == "both")
        if organ in _ORGANS and has_side and not _is_on_both_sides(finding):
            yield Question("report_side", "choice", parameters)
        if organ == "lung" and "lobe" in where and finding not in _PLEURAL:
            yield Question("report_lobe", "choice", parameters)
            if "segment" in where:
                yield Question("report_segment", "choice", parameters)
        if "part" in where and _is_countable(finding):
            yield Question("report_part", "choice", parameters)
        if organ == "vertebra" and where.get("level") in _LEVELS:
            yield Question("report_level", "choice", parameters)


def pose_report(ledger: Proves, question: Question, patient_id: str) -> Item | NotAsked:
    """The item, with all the options it could have;
    a reason if the report does not prove an answer."""
    finding, organ = question.parameters["finding"], question.parameters["organ"]
    if question.task not in REPORT_TASKS or question not in list(report_questions(ledger)):
        return NotAsked("the report does not prove it")
    fact = ledger.fact(LOCATED, finding, organ)
    text, answer, options = _worded(
        question.task, finding, organ, place_of(fact), ledger.is_plural(finding, organ)
    )
    tags = [*REPORT_TASKS[question.task].dimensions]
    if question.task == "report_segment":
        tags += [tag for tag, words in ((_DEPTH, _DEEP), (_CENTRICITY, _ASIDE)) if answer in words]
    return Item(
        item_id=item_id(ledger.study_id, question.task, question.form, question.parameters),
        study_id=ledger.study_id,
        series=ledger.series,
        patient_id=patient_id,
        task=question.task,
        form=question.form,
        question=text,
        answer=Choice(answer),
        options=options,
        needs=("side_convention",) if question.task in ("report_side", "report_lobe") else (),
        tags=tuple(tags),
        fact_ids=(fact.fact_id,),
        parameters=question.parameters,
    )


def _worded(
    task: str, finding: str, organ: str, where: dict[str, str], plural: bool
) -> tuple[str, str, tuple[Option, ...]]:
    """The question, its answer, and every option."""
    what, verb = _called(finding, plural), "are" if plural else "is"
    match task:
        case "report_side":
            single = _is_countable(finding) and not plural
            asked, options = _side(finding, organ, what, verb, single=single)
            return asked, where["side"], options
        case "report_lobe":
            options = tuple(Option(name, words) for name, words in LOBES.items())
            return (
                f"In which lobe of the lungs {verb} the {what}?",
                f"{where['side']} {where['lobe']}",
                options,
            )
        case "report_segment":
            lobe = f"{where['side']} {where['lobe']}"
            options = tuple(Option(name, f"the {name} segment") for name in SEGMENTS[lobe])
            return (
                f"In which segment of {LOBES[lobe]} {verb} the {what}?",
                where["segment"],
                options,
            )
        case "report_part" if organ == "liver":
            options = (Option("left", "the left lobe"), Option("right", "the right lobe"))
            return f"In which lobe of the liver {verb} the {what}?", where["part"], options
        case "report_part":
            options = tuple(Option(name, words) for name, words in _POLES.items())
            return (
                f"In which part of the {where['side']} kidney {verb} the {what}?",
                where["part"],
                options,
            )
        case _:
            options = tuple(Option(name, name) for name in _LEVELS)
            return f"At which vertebral level {verb} the {what}?", where["level"], options


def _side(
    finding: str, organ: str, what: str, verb: str, *, single: bool
) -> tuple[str, tuple[Option, ...]]:
    """One thing is left or right; several, or what spreads, may be on both sides."""
    if finding in _PLEURAL:
        options = [
            Option("left", "on the left"),
            Option("right", "on the right"),
            Option("both", "on both sides"),
        ]
        return f"On which side {verb} the {what}?", tuple(options)
    name = _ORGANS[organ]
    options = [Option("left", f"the left {name}"), Option("right", f"the right {name}")]
    if single:
        return f"In which {name} {verb} the {what}?", tuple(options)
    return f"Which {name} has the {what}?", (*options, Option("both", f"both {name}s"))


def _is_on_both_sides(finding: str) -> bool:
    return any(
        known.on_both_sides for known, _ in findings() if known.name == _SIZE.sub("", finding)
    )


def _is_countable(finding: str) -> bool:
    return any(known.many for known, _ in findings() if known.name == _SIZE.sub("", finding))


def _called(finding: str, plural: bool) -> str:
    """How the finding is named in a question, with its size where it has one."""
    size = _SIZE.search(finding)
    entry_named = next(entry for entry, _ in findings() if entry.name == _SIZE.sub("", finding))
    name = entry_named.many if plural and entry_named.many else entry_named.one
    return f"{size[1]} mm {name}" if size else name
