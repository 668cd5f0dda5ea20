"""On which side of the patient is the lesion?"""

from __future__ import annotations

from collections.abc import Iterator

from situs.anatomy import is_sided_lesion
from situs.facts import Ledger, number
from situs.items.average import AverageAnatomy
from situs.items.masks.shared import compose, measure_step, obstacle
from situs.items.posed import NotAsked, Posed, Question, share_words
from situs.items.record import Choice, Item, Option, Step
from situs.items.subjects import Subject, resolve
from situs.items.tasks import TaskRules
from situs.space import Side

__all__ = ["LesionSide"]

_EASY = 100.0
"""Difficulty of a lesion that no turn of the patient brings near the midline."""

_TEXT = "On which side of the patient is {}?"
_SIDES = (Option("left", "the left"), Option("right", "the right"))


class LesionSide:
    """Asks for the side of a lesion whose name does not give it away."""

    name = "lesion_side"
    rules = TaskRules(
        quotas={"choice": 4},
        mix="lesion",
        units=(),
        whole=False,
        decides=("side",),
        learns=("right_share",),
        group="sides",
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """One question per lesion family of the patient whose organ is paired or has two halves."""
        for subject in subjects:
            if subject.is_lesion and is_sided_lesion(ledger.terms[subject.structure]):
                yield Question(self.name, "choice", {"of": subject.key})

    def expected(self, item: Item, average: AverageAnatomy) -> list[str]:
        """The side on which others have it."""
        shares = average.numbers(
            "right_share", item.parameters["of"], without=item.patient_id, cut=True
        )
        sign = shares.sign(beyond=0.5)
        return ["right" if sign > 0 else "left"] if sign else []

    def expected_number(self, item: Item, average: AverageAnatomy) -> float | None:
        """It asks for no number."""
        return None

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if nearly all of the lesion lies on one side of the midline,
        however the patient is turned."""
        return self.pose_of(ledger, resolve(ledger, question.parameters["of"]))

    def pose_of(self, ledger: Ledger, subject: Subject) -> Posed | NotAsked:
        """On which side a lesion lies."""
        refusal = obstacle(ledger, [subject], whole=True, oriented=True)
        if refusal is not None:
            return refusal
        if ledger.midline is None:
            return _by_organ(ledger, subject)
        share, side = (
            ledger.fact("right_share", subject.structure),
            ledger.fact("side", subject.structure),
        )
        if side.value == Side.BOTH or "unstable" in side.flags:
            return NotAsked("lesion too near the midline")
        needed = ledger.recipe.truth.side_share
        right = number(share)
        on_side = right if side.value == Side.RIGHT else 1.0 - right
        low, high = share.interval or (right, right)
        worst = low if side.value == Side.RIGHT else 1.0 - high
        threshold = needed if side.value == Side.RIGHT else 1.0 - needed
        return compose(
            ledger,
            [subject],
            text=_TEXT.format(subject.phrase),
            answer=Choice(str(side.value)),
            facts=(side, share),
            steps=(
                measure_step(
                    f"{share_words(right)} of it lies right of the midline.",
                    share,
                    threshold,
                ),
            ),
            conclusion=f"{subject.opening} is on the {side.value}.",
            needs=("side_convention",),
            tags=(f"side_basis:{ledger.side_basis}",),
            difficulty=min(_EASY, (on_side - needed) / max(1e-6, on_side - worst)),
            pool=_SIDES,
        )


def _by_organ(ledger: Ledger, subject: Subject) -> Posed | NotAsked:
    """Without a midline, a lesion of a left or right organ is on that organ's side."""
    side = ledger.fact("holder_side", subject.structure)
    if side.value is None:
        return NotAsked("no midline: fewer than two vertebrae or paired organs annotated")
    holder = ledger.fact("organ_of", subject.structure)
    return compose(
        ledger,
        [subject],
        text=_TEXT.format(subject.phrase),
        answer=Choice(str(side.value)),
        facts=(side, holder),
        steps=(Step("compare", "See to which of the paired organs it belongs.", (side.fact_id,)),),
        conclusion=f"{subject.opening} is on the {side.value}.",
        needs=("side_convention",),
        tags=(f"side_basis:{ledger.side_basis}",),
        pool=_SIDES,
    )
