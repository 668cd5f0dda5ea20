"""Is it annotated? With negatives that are proved as far as annotations can prove them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from situs.base.text import counted
from situs.facts import ANY, BoxLedger, Fact
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
from situs.items.record import Item, Step, YesNo

__all__ = ["Detection"]


class Detection:
    """Yes or no, for a finding or for any, on a slice or in a volume."""

    name = "detection"
    quotas: ClassVar = {"slice": 30, "volume": 24}

    def questions(self, ledger: BoxLedger) -> Iterator[Question]:
        """Every slice with a box and every slice that may stand for one without;
        the same for the volume."""
        normal = ledger.annotation.read_as_normal
        labels = [ANY, *asked_of(ledger.kinds if normal else ledger.labels)]
        for name in labels:
            annotated = set(ledger.frames_of(name))
            for frame in range(ledger.known_frames):
                if frame in annotated or ledger.is_negative(name, frame):
                    yield self._question(name, frame)
            if annotated or normal:
                yield self._question(name, None)

    def _question(self, name: str, frame: int | None) -> Question:
        frame_parameter = {} if frame is None else {"frame": str(frame)}
        return Question(self.name, "yes_no", {"finding": name, **frame_parameter})

    def pose(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        """Put one question."""
        name, frame = question.parameters["finding"], frame_of(question)
        about, level = finding(name), "volume" if frame is None else "slice"
        where_words = "in this volume" if frame is None else "on this slice"
        text = worded(f"detection.{level}", same_for_all(question), seed, about)
        tags = (f"finding:{name}",)
        frames = ledger.frames_of(name)
        if frames if frame is None else frame in frames:
            subjects = (name,) if frame is None else (name, str(frame))
            boxes = [b for b in ledger.boxes if name in (b.label, ANY) and frame in (b.frame, None)]
            signs: list[tuple[str, tuple[Fact, ...]]]
            places: tuple[Step, ...] = ()
            if name == ANY:
                there = ledger.fact("labels", *subjects[1:])
                signs = [
                    (
                        f"The reader marked something {where_words}.",
                        (there, ledger.fact("frames", ANY)),
                    )
                ]
            else:
                fact, count = ledger.fact("boxes", *subjects), ledger.fact("box_count", *subjects)
                many = counted(len(boxes), "box", "boxes")
                signs = [(f"The reader marked {about.phrase} {where_words}, in {many}.", (count,))]
                places = (
                    place_step(f"It lies in the boxes given, {many} in all.", (fact, count), boxes),
                )
            conclusion = (
                f"Yes: the reader marked {about.phrase if name != ANY else 'a finding'}"
                f" {where_words}."
            )
            return compose(
                ledger,
                question,
                patient_id,
                Asked(text=text, answer=YesNo(True)),
                Reasoning(signs=signs, places=places, conclusion=conclusion),
                boxes=in_words(boxes),
                tags=tags,
            )
        normal = ledger.fact("read_as_normal")
        why: tuple[str, tuple[Fact, ...]]
        if normal.value:
            if frame is not None and not ledger.is_negative(name, frame):
                return NotAsked("the slice is not known to exist")
            why = ("The reader went through the volume and found nothing.", (normal,))
        elif frame is None:
            return NotAsked("no box does not prove that the finding is absent")
        elif not ledger.is_negative(name, frame):
            return NotAsked(
                "the slice is too near to the finding or its like, or nothing tells that it was"
                " looked for"
            )
        else:
            nearest = ledger.fact("nearest_like", name, str(frame))
            why = (
                f"The nearest box of it or of anything like it is {nearest.value} frames away.",
                (nearest,),
            )
        none = "no finding" if name == ANY else f"no {about.bare}"
        return compose(
            ledger,
            question,
            patient_id,
            Asked(text=text, answer=YesNo(False)),
            Reasoning(signs=[why], conclusion=f"No: the reader marked {none} {where_words}."),
            tags=tags,
        )
