"""Who learns from other patients:
the commonest and rarest answer, the average anatomy, a reader of the prompt."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from situs.bench import Bench
from situs.clients import Spec
from situs.items import (
    AverageAnatomy,
    Boxes,
    Choice,
    Choices,
    Frames,
    Grades,
    Item,
    Number,
    Simple,
    Text,
    YesNo,
)
from situs.run.baselines.box_prior import BoxPrior
from situs.run.baselines.knowledge import standing_out
from situs.run.baselines.majority_text import MajorityText
from situs.run.baselines.speaker import Speaker, guessed, offered_keys, option_words
from situs.run.baselines.survey import Survey, survey_of, text_key
from situs.run.baselines.text_classifier import CrossFitted, is_closed
from situs.run.viewing import Viewing
from situs.space import FrameBox

__all__ = ["Majority", "Minority", "Prior", "TextClassifier"]


class Majority(Speaker):
    """The most frequent answer to the same question among other patients,
    if it clearly stands out."""

    purpose = "majority"

    @cached_property
    def _learned(self) -> Survey:
        """What the patients of the bench answered; free text needs none of it."""
        return survey_of(self._bench, self._viewing)

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        """Fitted without this patient; guesses where others do not tell."""
        if isinstance(answer, Number):
            middle = self._learned.values.without(item.question, item.patient_id)
            return f"{100.0 if middle is None else middle:.3g} {answer.unit}"
        if isinstance(answer, Text):
            texts = self._viewing.once(
                "texts", lambda: MajorityText(self._bench.items(steps=False))
            )
            return texts.answer(item)
        if not isinstance(answer, YesNo | Choice):
            raise self._undeclared(item, answer)
        return option_words(item, guessed(item, self._seed, self.purpose, self.standing_out(item)))

    def standing_out(self, item: Item) -> list[str]:
        """The answer that other patients' clearly favour, else all that are offered."""
        offered = offered_keys(item)
        others = self._learned.keys.without(text_key(item), item.patient_id)
        return standing_out(Counter({key: others[key] for key in offered if others[key]}), offered)

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        return self._box_prior(1).boxes(item)

    def _box_prior(self, count: int) -> BoxPrior:
        """The boxes of other patients, so many a label."""
        return self._viewing.once(
            ("boxes", count),
            lambda: BoxPrior(self._learned.boxes, count),
        )

    def _frames(self, item: Item, answer: Frames, rng: random.Random) -> Sequence[int]:
        count = len(self._viewing.layout(item).frames)
        first = self._learned.firsts.without(item.question, item.patient_id)
        last = self._learned.lasts.without(item.question, item.patient_id)
        low = min(count - 1, round((0.25 if first is None else first) * count))
        return range(
            low, max(low, min(count - 1, round((0.75 if last is None else last) * count))) + 1
        )

    def _grades(self, item: Item, answer: Grades, rng: random.Random) -> dict[str, int]:
        graded, question, patient = self._learned.graded, item.question, item.patient_id
        return {name: graded.commonest((question, name), patient) or 0 for name in answer.grades}

    def _choices(self, item: Item, answer: Choices, rng: random.Random) -> Sequence[str]:
        offered = {option.value for option in item.options}
        sets = self._learned.sets
        commonest = sets.commonest(item.question, item.patient_id, offered.issuperset)
        return [rng.choice(sorted(offered))] if commonest is None else commonest


class Minority(Majority):
    """The rarest answer to the same question among other patients; all else as the majority says.

    Where answers are balanced exactly, the rarest so far is the one that is left.
    """

    purpose = "minority"

    def standing_out(self, item: Item) -> list[str]:
        """The answers that the fewest other patients have;
        all that are offered where nobody else was asked."""
        others = self._learned.keys.without(text_key(item), item.patient_id)
        offered = offered_keys(item)
        fewest = min(others[key] for key in offered)
        return [key for key in offered if others[key] == fewest]


class Prior(Majority):
    """The average anatomy: mean sizes and places of structures in other patients, else their
    majority answer.

    `boxes=5` says the five k-means boxes of each label instead of the median one.
    """

    purpose = "prior"

    def __init__(self, bench: Bench, spec: Spec, viewing: Viewing) -> None:
        super().__init__(bench, spec, viewing)
        self._count = max(1, spec.whole("boxes", 1))
        patient_of = {study.study_id: study.patient_id for study in bench.studies()}
        self._anatomy = AverageAnatomy(
            bench.facts(kind=AverageAnatomy.kinds(bench.info.by_task)), patient_of
        )

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        """What the average patient would suggest; a guess among what it leaves open."""
        if isinstance(answer, Number):
            mean = self._anatomy.expected_number(item)
            return (
                super()._words(item, answer, rng) if mean is None else f"{mean:.1f} {answer.unit}"
            )
        if not isinstance(answer, YesNo | Choice):
            return super()._words(item, answer, rng)
        return option_words(item, guessed(item, self._seed, self.purpose, self.left_open(item)))

    def left_open(self, item: Item) -> list[str]:
        """The answers that other patients leave open; one alone is what it is confident of."""
        offered = offered_keys(item)
        known = self._anatomy.consistent(item) or self.standing_out(item)
        return sorted(set(known) & set(offered)) or offered

    def number(self, item: Item) -> float | None:
        """The number that other patients suggest; None where there are none."""
        mean = self._anatomy.expected_number(item)
        return (
            self._learned.values.without(item.question, item.patient_id) if mean is None else mean
        )

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        return self._box_prior(self._count).boxes(item)


class TextClassifier(Majority):
    """A learner of the whole rendered prompt, fitted without the patient asked about;
    numbers are others' medians."""

    purpose = "text-classifier"

    def __init__(self, bench: Bench, spec: Spec, viewing: Viewing) -> None:
        super().__init__(bench, spec, viewing)
        prompts = {
            item.item_id: viewing.prompt(item)
            for item in bench.items(steps=False)
            if is_closed(item)
        }
        self._learner = CrossFitted(bench.items(steps=False), prompts)

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        if not isinstance(answer, YesNo | Choice) or answer is not item.answer:
            return super()._words(item, answer, rng)
        return option_words(item, offered_keys(item)[self._learner.place(item)])
