"""Which of these is annotated? One of several, or all that apply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

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
)
from situs.items.findings.words import listed, opening, worded
from situs.items.posed import NotAsked, Question
from situs.items.record import Choice, Choices, Item, Option, Step, item_id

__all__ = ["Classification", "distractors"]


def distractors(ledger: BoxLedger, frame: int | None) -> tuple[str, ...]:
    """Findings that may stand beside the annotated ones as wrong options:
    nothing like them is near."""
    there = set(ledger.labels if frame is None else ledger.labels_on(frame))
    result = []
    for entry in (
        finding(name) for name in ledger.kinds if name not in there and finding(name).asked
    ):
        if frame is None:
            near = any(entry.confusable_with(finding(name)) for name in there)
            near = near or ledger.may_be_study_label(entry.name) or ledger.is_uncertain(entry.name)
        else:
            distance = ledger.distance(entry.name, frame)
            near = distance is not None and distance < ledger.rules.clear_frames
        if not near and not any(entry.overlaps(finding(name)) for name in there):
            result.append(entry.name)
    return tuple(result)


class Classification:
    """Naming what is annotated, on a slice or in a volume."""

    name = "classification"
    quotas: ClassVar = {"slice": 8, "volume": 3}

    def questions(self, ledger: BoxLedger) -> Iterator[Question]:
        """One of several for every finding;
        all that apply for every annotated slice, and for the volume."""
        frames = sorted({box.frame for box in ledger.boxes})
        for frame in (*frames, None) if frames else ():
            frame_parameter = {} if frame is None else {"frame": str(frame)}
            for name in asked_of(ledger.labels if frame is None else ledger.labels_on(frame)):
                yield Question(
                    self.name, "choice", {"ask": "one", "finding": name, **frame_parameter}
                )
            yield Question(self.name, "choices", {"ask": "several", **frame_parameter})

    def pose(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        """Put one question; its pool are all options it could have, the right ones first."""
        frame, ask = frame_of(question), question.parameters["ask"]
        there = asked_of(ledger.labels if frame is None else ledger.labels_on(frame))
        wrong = distractors(ledger, frame)
        rules = ledger.rules
        right: tuple[str, ...] = (question.parameters["finding"],) if ask == "one" else there
        if not right:
            return NotAsked("nothing on it is asked for by name")
        if not set(right) <= set(there):
            raise KeyError(question.parameters.get("finding", "no finding"))
        offered = rules.options if ask == "one" else rules.several_options
        if ask == "several" and not 1 <= offered - len(right) <= len(wrong):
            return NotAsked("too many or too few findings to choose among")
        if ask == "one" and len(wrong) < offered - 1:
            return NotAsked("too few findings to choose among")
        subjects = () if frame is None else (str(frame),)
        labels = ledger.fact("labels", *subjects)
        facts: list[Fact] = [ledger.fact("boxes", name, *subjects) for name in right]
        boxes = [box for name in right for box in ledger.boxes_of(name, frame)]
        where_words = "in this volume" if frame is None else "on this slice"
        own_id = item_id(ledger.study_id, question.task, question.form, question.parameters)
        phrases = listed([finding(name).phrase for name in right])
        where: Step = place_step("The boxes given show where.", facts, boxes)
        return compose(
            ledger,
            question,
            patient_id,
            Asked(
                text=worded(
                    f"classification.{ask}.{'volume' if frame is None else 'slice'}", own_id, seed
                ),
                answer=Choice(right[0]) if ask == "one" else Choices(right),
                pool=tuple(Option(name, finding(name).bare) for name in (*right, *wrong)),
            ),
            Reasoning(
                signs=[(f"The reader marked {phrases} {where_words}.", (labels,))],
                places=(where,),
                conclusion=f"{opening(where_words)}: {phrases}.",
            ),
            boxes=in_words(boxes),
            tags=(*(f"finding:{name}" for name in right), f"ask:{ask}"),
        )
