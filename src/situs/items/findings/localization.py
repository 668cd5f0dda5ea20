"""Where is it? Boxes, frames, the largest frame,
the side of the picture, the compartment of a knee."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from situs.base.text import counted
from situs.facts import BoxLedger, Fact
from situs.items.findings.composed import (
    UNCERTAIN,
    Asked,
    Reasoning,
    asked_of,
    compose,
    finding,
    frame_of,
    in_words,
    place_step,
)
from situs.items.findings.words import opening, worded
from situs.items.posed import NotAsked, Question
from situs.items.record import Boxes, Choice, Frames, Item, Option, Step, item_id

__all__ = ["Localization"]

_SIDES = (
    Option("left", "on the left side of the image"),
    Option("right", "on the right side of the image"),
    Option("both", "on both sides of the image's midline"),
)
_COMPARTMENTS = (
    Option("medial", "the medial compartment"),
    Option("lateral", "the lateral compartment"),
)
_SIDED_ORGANS = {"brain"}
_COLLATERAL = {"mcl_sprain_low", "mcl_sprain_high", "lcl_sprain_low", "lcl_sprain_high"}
"""Their names say the compartment."""


class Localization:
    """Places of one kind of finding."""

    name = "localization"
    quotas: ClassVar = {"slice": 8, "volume": 10}

    def questions(self, ledger: BoxLedger) -> Iterator[Question]:
        """What can be asked of every annotated finding, slice by slice and over the volume."""
        sided = ledger.organ in _SIDED_ORGANS
        for name in asked_of(ledger.labels):
            halved = ledger.side is not None and ledger.organ == "knee" and name not in _COLLATERAL
            for ask, form in (
                ("boxes", "boxes"),
                ("frames", "frames"),
                ("range", "frames"),
                ("largest", "frames"),
            ):
                yield Question(self.name, form, {"ask": ask, "finding": name})
            if sided:
                yield Question(self.name, "choice", {"ask": "side", "finding": name})
            if halved:
                yield Question(self.name, "choice", {"ask": "compartment", "finding": name})
            for frame in ledger.frames_of(name):
                on_frame = {"finding": name, "frame": str(frame)}
                yield Question(self.name, "boxes", {"ask": "boxes", **on_frame})
                if sided:
                    yield Question(self.name, "choice", {"ask": "side", **on_frame})
                if halved:
                    yield Question(self.name, "choice", {"ask": "compartment", **on_frame})

    def pose(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        """Put one question."""
        ask = question.parameters["ask"]
        if not ledger.boxes_of(question.parameters["finding"], frame_of(question)):
            raise KeyError(question.parameters["finding"])
        if ledger.is_uncertain(question.parameters["finding"], frame_of(question)):
            return UNCERTAIN
        if ask == "boxes":
            return self._boxes(ledger, question, patient_id, seed)
        if ask in ("side", "compartment"):
            return self._choice(ledger, question, patient_id, seed)
        return self._frames(ledger, question, patient_id, seed)

    def _text(self, ledger: BoxLedger, question: Question, seed: int, kind: str) -> str:
        own_id = item_id(ledger.study_id, question.task, question.form, question.parameters)
        return worded(kind, own_id, seed, finding(question.parameters["finding"]))

    def _boxes(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        name, frame = question.parameters["finding"], frame_of(question)
        boxes = ledger.boxes_of(name, frame)
        if len(boxes) > ledger.rules.boxes_most:
            return NotAsked("too many boxes to ask for at once")
        level = "volume" if frame is None else "slice"
        subjects = (name,) if frame is None else (name, str(frame))
        fact, count = ledger.fact("boxes", *subjects), ledger.fact("box_count", *subjects)
        about, many = finding(name), counted(len(boxes), "box", "boxes")
        where_words = "on this slice" if frame is not None else "in this volume"
        sign = (f"The reader marked {about.phrase} {where_words}.", (fact,))
        return compose(
            ledger,
            question,
            patient_id,
            Asked(
                text=self._text(ledger, question, seed, f"localization.boxes.{level}"),
                answer=Boxes(in_words(boxes)),
            ),
            Reasoning(
                signs=[sign],
                places=(place_step(f"It lies in {many}.", (fact, count), boxes),),
                conclusion=f"The reader marked {about.phrase} {where_words} in {many}.",
            ),
            boxes=in_words(boxes),
            needs=() if frame is not None else ("frame_count",),
            tags=(f"finding:{name}", "ask:boxes"),
        )

    def _frames(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        name, ask = question.parameters["finding"], question.parameters["ask"]
        frames = ledger.frames_of(name)
        run = frames[-1] - frames[0] + 1 == len(frames)
        where = ledger.fact("frames", name)
        about, boxes = finding(name), ledger.boxes_of(name)
        facts: tuple[Fact, ...] = (where,)
        if ask == "largest":
            if len(frames) < 2:
                return NotAsked("it is on one frame only")
            largest = ledger.fact("largest_frame", name)
            if "unstable" in largest.flags:
                return NotAsked("two frames show it about equally large")
            answer, facts = Frames((int(largest.value),)), (where, largest)  # type: ignore[arg-type]
            boxes = ledger.boxes_of(name, answer.frames[0])
            conclusion = f"{opening(about.phrase)} covers most on the frame of these boxes."
        elif ask == "range":
            count_fact = ledger.fact("findings", name)
            if (
                "unstable" in count_fact.flags
                or count_fact.value != 1
                or not run
                or len(frames) < 2
            ):
                return NotAsked("it is not one finding over a run of frames")
            tube = ledger.fact("tube", name, "0")
            answer, facts = Frames(frames), (where, count_fact, tube)
            conclusion = (
                f"{opening(about.phrase)} extends from the first to the last of these frames."
            )
        else:
            if run and len(frames) > 1:
                return NotAsked("its frames are one run, which is asked as a range")
            answer = Frames(frames, contiguous=run)
            conclusion = f"The reader marked {about.phrase} on the frames of these boxes."
        return compose(
            ledger,
            question,
            patient_id,
            Asked(text=self._text(ledger, question, seed, f"localization.{ask}"), answer=answer),
            Reasoning(
                signs=[
                    (
                        (
                            f"The reader marked {about.phrase} on"
                            f" {counted(len(frames), 'frame', 'frames')}."
                        ),
                        (ledger.fact("frame_count", name), where),
                    )
                ],
                places=(
                    place_step(
                        "It lies in the boxes given.", (*facts, ledger.fact("boxes", name)), boxes
                    ),
                ),
                conclusion=conclusion,
                facts=facts,
            ),
            boxes=in_words(boxes),
            needs=("frame_count",),
            tags=(f"finding:{name}", f"ask:{ask}"),
        )

    def _choice(
        self, ledger: BoxLedger, question: Question, patient_id: str, seed: int
    ) -> Item | NotAsked:
        name, frame, ask = (
            question.parameters["finding"],
            frame_of(question),
            question.parameters["ask"],
        )
        subjects = (name,) if frame is None else (name, str(frame))
        about, boxes = finding(name), ledger.boxes_of(name, frame)
        pool: tuple[Option, ...]
        if ask == "side":
            if ledger.middle is None:
                return NotAsked("no image, or no midline found in it: the side is not known")
            fact, pool = ledger.fact("image_side", *subjects), _SIDES
            if "unstable" in fact.flags:
                return NotAsked("it lies too near to the midline to call its side")
        else:
            if (
                ledger.side is not None
                and ledger.side.midline_x is None
                and ledger.grid.width is None
            ):
                return NotAsked("no image: the middle of the knee is not known")
            fact, pool = ledger.fact("compartment", *subjects), _COMPARTMENTS
            if "unstable" in fact.flags:
                return NotAsked(
                    "it lies too near to the middle of the knee to call its compartment"
                )
        words = {option.value: option.text for option in pool}[str(fact.value)]
        where: Step = place_step(
            "It lies in the boxes given.", (ledger.fact("boxes", *subjects),), boxes
        )
        basis = "image" if ask == "side" else "table"
        level = "volume" if frame is None else "slice"
        return compose(
            ledger,
            question,
            patient_id,
            Asked(
                text=self._text(ledger, question, seed, f"localization.{ask}.{level}"),
                answer=Choice(str(fact.value)),
                pool=pool,
            ),
            Reasoning(
                signs=[
                    (f"The reader marked {about.phrase} here.", (ledger.fact("boxes", *subjects),))
                ],
                places=(where,),
                conclusion=(
                    f"{opening(about.phrase)} lies {words if ask == 'side' else f'in {words}'}."
                ),
                facts=(fact, *((ledger.fact("midline"),) if ask == "side" else ())),
            ),
            boxes=in_words(boxes),
            tags=(f"finding:{name}", f"ask:{ask}", f"side_basis:{basis}"),
        )
