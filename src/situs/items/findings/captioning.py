"""A description of what is annotated, written from facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from situs.anatomy import NORMAL, finding_of
from situs.base.text import counted
from situs.facts import ANY, BoxLedger, Fact, is_finding
from situs.items.findings.composed import (
    UNCERTAIN,
    Asked,
    Reasoning,
    compose,
    finding,
    frame_of,
    in_words,
    place_step,
)
from situs.items.findings.words import listed, opening, worded
from situs.items.posed import NotAsked, Question
from situs.items.record import Item, Text, item_id

__all__ = ["Captioning"]

_ON_SIDE = {
    "left": " on the left side of the image",
    "right": " on the right side of the image",
    "both": " on both sides of the image's midline",
}


class Captioning:
    """Free text about a slice or a volume."""

    name = "captioning"
    quotas: ClassVar = {"slice": 2, "volume": 1}

    def questions(self, ledger: BoxLedger) -> Iterator[Question]:
        """Every annotated slice, and the volume."""
        for frame in sorted({box.frame for box in ledger.boxes}):
            yield Question(self.name, "text", {"frame": str(frame)})
        yield Question(self.name, "text", {})

    def pose(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        """Put one question; two references of the same content."""
        frame = frame_of(question)
        names = ledger.labels if frame is None else ledger.labels_on(frame)
        if frame is not None and not names:
            raise KeyError(frame)
        if ledger.is_uncertain(ANY, frame):
            return UNCERTAIN
        if names and not any(is_finding(finding_of(name)) for name in names):
            return NotAsked("only an artifact or a normal variant is marked: nothing to describe")
        where_words = "in this volume" if frame is None else "on this slice"
        subjects = () if frame is None else (str(frame),)
        facts: list[Fact] = [ledger.fact("labels", *subjects)]
        parts = []
        for name in names:
            side = self._side(ledger, facts, name, *subjects)
            if frame is None:
                count = ledger.fact("frame_count", name)
                frames = counted(int(count.value), "frame", "frames")  # type: ignore[arg-type]
                parts.append(f"{finding(name).phrase}{side} on {frames}")
            else:
                count = ledger.fact("box_count", name, str(frame))
                places = counted(int(count.value), "place", "places")  # type: ignore[arg-type]
                parts.append(f"{finding(name).phrase}{side}, in {places}")
            facts.append(count)
        overall = [finding(name).phrase for name in ledger.annotation.study_labels]
        facts += [
            ledger.fact("study_label", name)
            for name in ledger.annotation.study_labels
            if frame is None
        ]
        references = self._references(
            ledger, parts, overall if frame is None else [], where_words, facts
        )
        if not references:
            return NotAsked("nothing to describe")
        boxes = [box for name in names for box in ledger.boxes_of(name, frame)]
        own_id = item_id(ledger.study_id, question.task, question.form, question.parameters)
        where = [ledger.fact("boxes", name, *subjects) for name in names]
        return compose(
            ledger,
            question,
            patient_id,
            Asked(
                text=worded(f"captioning.{'volume' if frame is None else 'slice'}", own_id, seed),
                answer=Text(references),
            ),
            Reasoning(
                signs=[(references[0], tuple(facts))],
                places=(place_step("The boxes given show where.", where, boxes),) if boxes else (),
                conclusion=references[0],
            ),
            boxes=in_words(boxes),
        )

    def _side(self, ledger: BoxLedger, facts: list[Fact], *subjects: str) -> str:
        if ledger.middle is None or ledger.organ != "brain":
            return ""
        fact = ledger.fact("image_side", *subjects)
        if "unstable" in fact.flags:
            return ""
        facts += [fact, ledger.fact("midline")]
        return _ON_SIDE[str(fact.value)]

    def _references(
        self,
        ledger: BoxLedger,
        parts: list[str],
        overall: list[str],
        where_words: str,
        facts: list[Fact],
    ) -> tuple[str, ...]:
        normal = ledger.fact("read_as_normal")
        if normal.value:
            facts.append(normal)
            recorded = (
                " It was labelled normal for age."
                if NORMAL in ledger.annotation.study_labels
                else ""
            )
            return (
                f"No finding was marked {where_words}.{recorded}",
                f"The reader marked nothing {where_words}.{recorded}",
            )
        study_sentence = (
            f" Recorded for the study as a whole: {listed(overall)}." if overall else ""
        )
        if not parts:
            return (study_sentence.strip(),) if study_sentence else ()
        return (
            f"{opening(where_words)}: {'; '.join(parts)}.{study_sentence}",
            f"{opening('; '.join(parts))}. The reader marked this {where_words}.{study_sentence}",
        )
