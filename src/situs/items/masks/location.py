"""Where is it? The slices that show it, or the box around it."""

from __future__ import annotations

from collections.abc import Iterator

from situs.facts import Ledger, has_axial_slices, spanned
from situs.items.masks.shared import ISLANDS, compose, obstacle
from situs.items.posed import NotAsked, Posed, Question
from situs.items.record import Boxes, Frames, Step
from situs.items.subjects import Subject, resolve, sized, world_box
from situs.items.tasks import NothingExpected, TaskRules
from situs.space import WorldBox

__all__ = ["Location"]


class Location(NothingExpected):
    """Asks for the axial slices that show a lesion, or for the box around it.

    How slices are numbered and boxes written is for the profile to say.
    """

    name = "location"
    rules = TaskRules(
        quotas={"frames": 2, "boxes": 2},
        mix="lesion",
        units=(),
        whole=False,
        decides=(),
        learns=(),
        group="sides",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """The slices and the box of every lesion."""
        for subject in subjects:
            if subject.is_lesion:
                yield Question(self.name, "frames", {"of": subject.key})
                yield Question(self.name, "boxes", {"of": subject.key})

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked of whole structures; for slices, on scans acquired in axial slices."""
        subject = sized(ledger, resolve(ledger, question.parameters["of"]))
        refusal = obstacle(ledger, [subject], whole=True, oriented=True)
        if refusal is not None:
            return refusal
        return (
            self._pose_frames(ledger, subject)
            if question.form == "frames"
            else self._pose_box(ledger, subject)
        )

    def _pose_frames(self, ledger: Ledger, subject: Subject) -> Posed | NotAsked:
        if not has_axial_slices(ledger.regions.grid):
            return NotAsked("not acquired in axial slices")
        fact = ledger.fact("slice_span", subject.structure)
        first, last = spanned(fact)
        if "islands" in fact.flags:
            return ISLANDS
        if "gaps" in fact.flags:
            return NotAsked("seen on slices that do not follow each other")
        if last - first + 1 < ledger.recipe.truth.fewest_slices:
            return NotAsked("seen on too few slices")
        return compose(
            ledger,
            [subject],
            text=f"On which axial slices is {subject.phrase} seen? Give the first and the last.",
            answer=Frames(tuple(range(first, last + 1))),
            facts=(fact,),
            steps=(
                Step("measure", "Note the first and the last slice that show it.", (fact.fact_id,)),
            ),
            conclusion="It is seen on these two slices and on all between them.",
            needs=("axial_slices", "slice_order", "frame_count"),
        )

    def _pose_box(self, ledger: Ledger, subject: Subject) -> Posed | NotAsked:
        fact = ledger.fact("box", subject.structure)
        if "islands" in fact.flags:
            return ISLANDS
        around = world_box(ledger, subject)
        if min(around.extent_mm) < ledger.recipe.truth.box_smallest_mm:
            return NotAsked("lesion too small for a box")
        return compose(
            ledger,
            [subject],
            text=f"Where is {subject.phrase}? Give the box around it.",
            answer=Boxes((WorldBox(around.lo_mm, around.hi_mm),)),
            facts=(fact,),
            steps=(Step("measure", "Draw the box around it.", (fact.fact_id,), (around,)),),
            conclusion="This box just encloses it.",
        )
