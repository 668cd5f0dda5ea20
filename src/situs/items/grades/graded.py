"""Graded questions: a box of the region, the steps of a reader, and the grades.

Reader's grades and what geometry gives are different questions: `by` is `reader` or `geometry`.
Geometry is asked only where its interval lies within one bin, and never under the name of the
reader's score.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from situs.anatomy.banks import BankQuestion, Scale, SubScore
from situs.facts import Fact
from situs.facts.grades import GEOMETRY, READER, REGION_BOX, GradeLedger
from situs.items.gate import grades_in_doubt
from situs.items.posed import NotAsked, Question
from situs.items.record import Answer, Boxes, Compound, Grades, Item, Measurement, Step, item_id
from situs.items.tasks import OTHER_TASKS, OtherTask

__all__ = ["GEOMETRY_TASKS", "GRADED", "graded_questions", "pose_grades", "scale_tags"]

GRADED = "grade."
"""The tasks are `grade.<family>` for a reader's grades and `geometry.<family>`."""
GEOMETRY_TASKS = "geometry."
OTHER_TASKS |= dict.fromkeys((GRADED, GEOMETRY_TASKS), OtherTask())

NO_BOX = "its region has no mask or box here, as it has in other studies"
NEAR_EDGE = "its measured value lies near the edge of a bin"
_VISIBILITIES = ("no", "unknown", "partly", "yes")
_STRATA = {
    "yes": "graded",
    "partly": "graded.partly-shown",
    "no": "graded.not-shown",
    "unknown": "graded.unknown",
}
_MEASURE_WORDS = {
    "lesion_share": "By the masks, lesions take up {value} % of it.",
    "lesion_count": "By the masks, there are {value} lesions in it.",
    "cartilage_loss_share": "By the masks, {value} % of the surface is worn or bare.",
    "cartilage_full_thickness_share": "By the masks, {value} % of that is bare.",
    "extrusion_mm": "By the masks, it stands out by {value} mm.",
}


def graded_questions(
    ledger: GradeLedger, words: Sequence[str], by: Sequence[str]
) -> Iterator[Question]:
    """Every question of the bank that the evidence may answer, in the bank's order."""
    for question in ledger.bank.question:
        form = "compound" if ledger.is_boxed(question.region) else "grades"
        for basis in by:
            if basis == "reader" and question.id not in ledger.graded.grades:
                continue
            if basis == "geometry" and not any(
                sub.measures for sub in ledger.bank.sub_scores_of(question)
            ):
                continue
            task = f"{GRADED if basis == 'reader' else GEOMETRY_TASKS}{question.family}"
            for way in words:
                yield Question(task, form, {"question": question.id, "words": way})


def pose_grades(
    ledger: GradeLedger, asked: Question, patient_id: str, split: str
) -> Item | NotAsked:
    """The question put to this joint; a question for which nothing is known is not asked."""
    question = ledger.bank.by_id[asked.parameters["question"]]
    kind = READER if asked.task.startswith(GRADED) else GEOMETRY
    subs = {sub.key: sub for sub in ledger.bank.sub_scores_of(question)}
    grade_facts = {
        key: fact for key in subs if (fact := ledger.has(kind, question.id, key)) is not None
    }
    facts = {key: fact for key, fact in grade_facts.items() if fact.value is not None}
    if not facts:
        return NotAsked(NEAR_EDGE if grade_facts else "nothing tells its grades")
    region_box = ledger.box(question.region) if asked.form == "compound" else None
    if asked.form == "compound" and region_box is None:
        return NotAsked(NO_BOX)
    box_fact = () if region_box is None else (ledger.fact(REGION_BOX, question.region),)
    grades = Grades({key: int(fact.value) for key, fact in facts.items()})  # type: ignore[arg-type]
    answer: Answer = grades
    if region_box is not None:
        answer = Compound({"box": Boxes((region_box.box,)), "grades": grades})
    measured = _measured(ledger, question, facts) if kind == GEOMETRY else {}
    in_doubt = grades_in_doubt(ledger, [*box_fact, *facts.values(), *measured.values()], question)
    if in_doubt is not None:
        return in_doubt
    visibility = min(
        (subs[key].shown_by.get(ledger.series, "unknown") for key in facts), key=_VISIBILITIES.index
    )
    used = [*box_fact, *facts.values(), *measured.values()]
    return Item(
        item_id=item_id(ledger.study_id, asked.task, asked.form, asked.parameters),
        study_id=ledger.study_id,
        series=ledger.series,
        patient_id=patient_id,
        task=asked.task,
        form=asked.form,
        question=_words(ledger, asked, question, list(facts), boxed=region_box is not None),
        answer=answer,
        split=split,
        stratum=_STRATA[visibility] if kind == READER else "geometry",
        needs=("scale",) if _is_length(ledger, [subs[key] for key in facts]) else (),
        tags=(
            f"family:{question.family}",
            f"region:{question.region}",
            f"structure:{ledger.bank.regions[question.region].structure}",
            f"{ledger.series}:{visibility}",
            f"words:{asked.parameters['words']}",
            *(("approximate",) if region_box is not None and region_box.approximate else ()),
            *scale_tags({key: ledger.bank.scales[subs[key].scale] for key in facts}),
        ),
        fact_ids=tuple(fact.fact_id for fact in used),
        steps=_steps(ledger, question, facts, measured, box_fact),
        boxes=() if region_box is None else (region_box.box,),
        parameters=asked.parameters,
    )


def scale_tags(scales: Mapping[str, Scale]) -> Iterator[str]:
    """What scores must know of the sub-scores' scales:
    `nominal:key`, and `absent:key:grade` where that is not 0."""
    for key, scale in scales.items():
        if not scale.ordered:
            yield f"nominal:{key}"
        if scale.absent_grade != 0:
            yield f"absent:{key}:{'' if scale.absent_grade is None else scale.absent_grade}"


def _words(
    ledger: GradeLedger, asked: Question, question: BankQuestion, keys: list[str], *, boxed: bool
) -> str:
    bank = ledger.bank
    lines = []
    if ledger.graded.side:
        lines.append(f"This is a {ledger.graded.side} {bank.body_part}.")
    if asked.task.startswith(GEOMETRY_TASKS):
        lines.append("Grade by measurement, not by impression.")
    lines.append(bank.words_of(question, guided=asked.parameters["words"] == "guided", keys=keys))
    if boxed:
        lines.append(f"box: the box around the {bank.regions[question.region].text}.")
    return "\n".join(lines)


def _measured(
    ledger: GradeLedger, question: BankQuestion, facts: dict[str, Fact]
) -> dict[str, Fact]:
    """Sub-score → the measured value beside it, where masks give one."""
    subs = {sub.key: sub for sub in ledger.bank.sub_scores_of(question)}
    values = {
        key: ledger.has(subs[key].measures, question.id, key) for key in facts if subs[key].measures
    }
    return {key: fact for key, fact in values.items() if fact is not None}


def _is_length(ledger: GradeLedger, subs: list[SubScore]) -> bool:
    return any(ledger.bank.scales[sub.scale].quantity == "length" for sub in subs)


def _steps(
    ledger: GradeLedger,
    question: BankQuestion,
    facts: dict[str, Fact],
    measured: dict[str, Fact],
    box_fact: tuple[Fact, ...],
) -> tuple[Step, ...]:
    """The reader's chain with what was found at each link:
    the box, the measured values, the grades."""
    region_box = ledger.box(question.region) if box_fact else None
    steps: list[Step] = []
    for link in ledger.bank.chain_of(question):
        if link.kind == "find":
            ids = tuple(fact.fact_id for fact in box_fact)
            steps.append(
                Step("find", link.text, ids, () if region_box is None else (region_box.box,))
            )
        elif link.kind == "grade":
            grade_words = "; ".join(f"{key}: {fact.value}" for key, fact in facts.items())
            ids = tuple(fact.fact_id for fact in facts.values())
            steps.append(Step("grade", f"{link.text} {grade_words}.", ids))
        else:
            steps.append(Step(link.kind, link.text))
            if link.kind == "measure":
                steps += [_measured_step(fact) for fact in measured.values()]
    return tuple(steps)


def _measured_step(fact: Fact) -> Step:
    assert isinstance(fact.value, float)
    assert fact.interval is not None
    text = _MEASURE_WORDS[fact.kind].format(
        value=f"{fact.value:.0f}" if fact.kind == "lesion_count" else f"{fact.value:.1f}"
    )
    low, high = fact.interval
    return Step(
        "measure", text, (fact.fact_id,), value=Measurement(fact.value, fact.unit, (low, high))
    )
