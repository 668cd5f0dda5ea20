"""What is it? A marked finding among those it is taken for, and the labels of the whole study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from situs.anatomy import NORMAL, known_findings
from situs.facts import BoxLedger, Fact
from situs.items.findings.composed import (
    Asked,
    Reasoning,
    asked_of,
    compose,
    finding,
    frame_of,
    in_words,
    place_step,
    same_for_all,
)
from situs.items.findings.words import worded
from situs.items.posed import NotAsked, Question
from situs.items.record import Choice, Item, Option, YesNo, item_id, mark_label
from situs.space import FrameBox

__all__ = ["Diagnosis"]

_MARK = "P"


class Diagnosis:
    """Telling kindred findings apart, and the overall reading."""

    name = "diagnosis"
    quotas: ClassVar = {"slice": 6, "volume": 6}

    def questions(self, ledger: BoxLedger) -> Iterator[Question]:
        """A marked box on every annotated slice,
        the kind in the volume, and the study's own labels."""
        for name in asked_of(ledger.labels):
            for family in finding(name).families:
                yield Question(self.name, "choice", {"ask": "kind", "family": family})
                for frame in ledger.frames_of(name):
                    marked = {"frame": str(frame), "finding": name}
                    yield Question(self.name, "choice", {"ask": "mark", "family": family, **marked})
        if ledger.annotation.study_labels:
            yield Question(self.name, "choice", {"ask": "study"})
            for name in asked_of(ledger.annotation.study_labels):
                if name != NORMAL:
                    yield Question(self.name, "yes_no", {"ask": "study_yes_no", "finding": name})
        if ledger.annotation.read_as_normal and ledger.organ:
            for entry in known_findings(ledger.organ):
                if entry.asked and not entry.plural and entry.name != NORMAL:
                    yield Question(
                        self.name, "yes_no", {"ask": "study_yes_no", "finding": entry.name}
                    )

    def pose(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        """Put one question."""
        own_id = item_id(ledger.study_id, question.task, question.form, question.parameters)
        ask = question.parameters["ask"]
        about = finding(question.parameters["finding"]) if ask == "study_yes_no" else None
        wording_id = same_for_all(question) if about is not None else own_id
        text = worded(f"diagnosis.{ask}", wording_id, seed, about)
        if ask == "mark":
            return self._mark(ledger, question, patient_id, text)
        if ask == "kind":
            return self._kind(ledger, question, patient_id, text)
        return self._study(ledger, question, patient_id, text)

    def _mark(
        self, ledger: BoxLedger, question: Question, patient_id: str, text: str
    ) -> Item | NotAsked:
        name, frame, family = (
            question.parameters["finding"],
            frame_of(question),
            question.parameters["family"],
        )
        boxes = ledger.boxes_of(name, frame)
        if frame is None or not boxes or family not in finding(name).families:
            raise KeyError(name)
        box = max(boxes, key=lambda b: b.area)
        if sum(other.area == box.area for other in boxes) > 1:
            return NotAsked("two boxes are equally large, so that neither is the one to mark")
        x, y = (box.x0 + box.x1) / 2.0, (box.y0 + box.y1) / 2.0
        others = [b for b in ledger.boxes if b.frame == frame and b.label != name]
        if any(b.x0 <= x <= b.x1 and b.y0 <= y <= b.y1 for b in others):
            return NotAsked("the mark would lie on two findings")
        pool = _family(ledger, family)
        if len(pool) < 2 or name not in {option.value for option in pool}:
            return NotAsked("nothing that it is taken for")
        mark = FrameBox(frame, x, y, x, y, mark_label(_MARK))
        fact = ledger.fact("boxes", name, str(frame))
        return compose(
            ledger,
            question,
            patient_id,
            Asked(text=text, answer=Choice(name), pool=pool),
            Reasoning(
                signs=[(f"The mark lies in a box labelled {finding(name).bare}.", (fact,))],
                places=(place_step("This is the box around the mark.", (fact,), (box,)),),
                conclusion=f"It is {finding(name).phrase}.",
            ),
            boxes=(*in_words((box,)), mark),
            tags=(f"finding:{name}", "ask:mark"),
        )

    def _kind(
        self, ledger: BoxLedger, question: Question, patient_id: str, text: str
    ) -> Item | NotAsked:
        family = question.parameters["family"]
        present = [name for name in ledger.labels if family in finding(name).families]
        pool = _family(ledger, family)
        if not present:
            raise KeyError(family)
        if present[0] not in {option.value for option in pool}:
            return NotAsked("nothing that it is taken for")
        if (
            len(present) > 1
            or len(pool) < 2
            or ledger.may_be_study_label(present[0])
            or ledger.is_uncertain(present[0])
        ):
            return NotAsked("several kindred findings, or none to tell it from")
        fact = ledger.fact("boxes", present[0])
        return compose(
            ledger,
            question,
            patient_id,
            Asked(text=text, answer=Choice(present[0]), pool=pool),
            Reasoning(
                signs=[
                    (
                        f"The reader marked {finding(present[0]).phrase}.",
                        (fact, ledger.fact("labels")),
                    )
                ],
                places=(
                    place_step("The boxes given show where.", (fact,), ledger.boxes_of(present[0])),
                ),
                conclusion=f"It is {finding(present[0]).phrase}.",
            ),
            boxes=in_words(ledger.boxes_of(present[0])),
            tags=(f"finding:{present[0]}", "ask:kind"),
        )

    def _study(
        self, ledger: BoxLedger, question: Question, patient_id: str, text: str
    ) -> Item | NotAsked:
        labels, normal = ledger.annotation.study_labels, ledger.fact("read_as_normal")
        if question.parameters["ask"] == "study":
            if len(labels) != 1:
                return NotAsked("several labels of the whole study, or none")
            label = finding(labels[0])
            alternatives = (
                [
                    entry
                    for entry in known_findings(ledger.organ)
                    if entry.asked and not entry.plural
                ]
                if ledger.organ
                else []
            )
            if label not in alternatives:
                return NotAsked("no other study label to tell it from")
            fact = ledger.fact("study_label", label.name)
            return compose(
                ledger,
                question,
                patient_id,
                Asked(
                    text=text,
                    answer=Choice(label.name),
                    pool=tuple(Option(entry.name, entry.bare) for entry in alternatives),
                ),
                Reasoning(
                    signs=[(f"The study as a whole was labelled: {label.bare}.", (fact,))],
                    conclusion=f"The study was read as {label.phrase}.",
                ),
                tags=(f"finding:{label.name}", "ask:study"),
            )
        about = finding(question.parameters["finding"])
        said_so = about.name in labels
        if not said_so and not normal.value:
            return NotAsked("no label does not prove that the finding is absent")
        fact = ledger.fact("study_label", about.name)
        facts: tuple[Fact, ...] = (fact,) if said_so else (normal, fact)
        sign = "The label is recorded." if said_so else "The study was read as normal."
        return compose(
            ledger,
            question,
            patient_id,
            Asked(text=text, answer=YesNo(said_so)),
            Reasoning(
                signs=[(sign, facts)],
                conclusion=(
                    f"{'Yes' if said_so else 'No'}: {about.phrase} is"
                    f" {'' if said_so else 'not '}recorded."
                ),
            ),
            tags=(f"finding:{about.name}", "ask:study"),
        )


def _family(ledger: BoxLedger, family: str) -> tuple[Option, ...]:
    """Kindred findings that are drawn as boxes, none of which is a kind of another:
    one answer only is right."""
    kin = [finding(name) for name in asked_of(ledger.kinds) if family in finding(name).families]
    names = {entry.name for entry in kin}
    return tuple(
        Option(entry.name, entry.bare) for entry in kin if names.isdisjoint(entry.includes)
    )
