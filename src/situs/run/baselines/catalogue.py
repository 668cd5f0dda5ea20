"""Baselines: they answer items without a model, and none but the oracle knows this patient's answer."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from situs.base.files import digest
from situs.bench import Bench
from situs.clients import Spec
from situs.errors import SitusError, did_you_mean
from situs.items import (
    AverageAnatomy,
    Boxes,
    Choice,
    Choices,
    Compound,
    Frames,
    Grades,
    Item,
    Number,
    Simple,
    Text,
    YesNo,
    answer_key,
    letter_of,
    unit_named,
)
from situs.profiles import Profile
from situs.run.baselines.box_prior import BoxPrior, extent_of, fixed_grid, labels_of, random_boxes
from situs.run.baselines.knowledge import standing_out
from situs.run.baselines.majority_text import MajorityText
from situs.run.baselines.nearest import Nearest
from situs.run.baselines.others import OtherCounts, OtherMedians
from situs.run.baselines.speech import (
    list_boxes,
    say_boxes,
    say_frames,
    say_grades,
    say_letters,
    speakable_boxes,
)
from situs.run.baselines.text_classifier import CrossFitted, is_closed
from situs.run.replay import Replay
from situs.run.viewing import Viewing, has_places
from situs.space import FrameBox

__all__ = ["BASELINES", "BLIND", "LEARNERS", "Baseline", "is_baseline", "make_baseline"]


class Baseline(Protocol):
    """Answers an item in words, as a model would."""

    def answer(self, item: Item) -> str | None:
        """The answer; None where it has none to give."""


class _Speaker:
    """Says answers; what it answers, simple answer by simple answer, is each baseline's own."""

    purpose = ""

    def __init__(self, bench: Bench, spec: Spec, shown: Viewing) -> None:
        self._seed = spec.whole("seed", 0)
        self._bench = bench
        self._viewing = shown

    def answer(self, item: Item) -> str:
        """The answer; a compound one as one JSON object, a key a part."""
        if has_places(item.answer) and self._viewing.obstacle(item):
            return "It cannot be told."
        if isinstance(item.answer, Compound):
            parts = {name: self._part(item, name, part) for name, part in item.answer.parts.items()}
            return json.dumps(parts)
        return self._simple(item, item.answer, _rng(self._seed, item, self.purpose))

    def _part(self, item: Item, name: str, part: Simple) -> object:
        rng = _rng(self._seed, item, f"{self.purpose}:{name}")
        match part:
            case Boxes():
                return speakable_boxes(
                    self._boxes(item, part, rng), self._viewing.space, self._viewing.sizes(item)
                )
            case Grades():
                return self._grades(item, part, rng)
            case _:
                return self._simple(item, part, rng)

    def _simple(self, item: Item, answer: Simple, rng: random.Random) -> str:
        match answer:
            case Boxes():
                boxes, sizes = self._boxes(item, answer, rng), self._viewing.sizes(item)
                return self._say_boxes(boxes, sizes, rng)
            case Frames():
                return say_frames(
                    self._frames(item, answer, rng), self._viewing.space.frame_base, rng
                )
            case Grades():
                return say_grades(self._grades(item, answer, rng), rng)
            case Choices():
                return say_letters(
                    [letter_of(item, value) for value in self._choices(item, answer, rng)], rng
                )
            case _:
                return self._words(item, answer, rng)

    def _say_boxes(
        self, boxes: list[FrameBox], sizes: list[tuple[float, float]], rng: random.Random
    ) -> str:
        return list_boxes(boxes, self._viewing.space, sizes)

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        raise NotImplementedError

    def _frames(self, item: Item, answer: Frames, rng: random.Random) -> Sequence[int]:
        raise NotImplementedError

    def _grades(self, item: Item, answer: Grades, rng: random.Random) -> dict[str, int]:
        raise NotImplementedError

    def _choices(self, item: Item, answer: Choices, rng: random.Random) -> Sequence[str]:
        raise NotImplementedError

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        raise NotImplementedError


class Oracle(_Speaker):
    """Knows the answer and says it in one of the ways models do, so that parsers are tested with it."""

    purpose = "oracle"

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        match answer:
            case YesNo(value):
                word = "yes" if value else "no"
                return rng.choice(
                    [
                        word.title() + ".",
                        f"The answer is {word}.",
                        f'{{"answer": "{word}"}}',
                        f"**{word}**",
                    ]
                )
            case Choice(value):
                letter = letter_of(item, value)
                text = next(option.text for option in item.options if option.value == value)
                ways = [
                    letter,
                    f"({letter})",
                    f"The answer is ({letter}).",
                    f'{{"answer": "{letter}"}}',
                    f"{letter}. {text}",
                ]
                return rng.choice(ways)
            case Number(value, unit):
                return rng.choice(
                    [
                        f"{value:.6g} {unit}",
                        f"It is about {value:.6g} {unit}.",
                        f'{{"answer": {value:.6g}}}',
                    ]
                )
            case Text(references):
                return references[0]
            case _:
                raise SitusError(f"the oracle cannot say a {item.form} answer", where=item.item_id)

    def _say_boxes(
        self, boxes: list[FrameBox], sizes: list[tuple[float, float]], rng: random.Random
    ) -> str:
        return say_boxes(boxes, self._viewing.space, sizes, rng)

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        return self._viewing.boxes(item, answer.boxes)

    def _frames(self, item: Item, answer: Frames, rng: random.Random) -> Sequence[int]:
        return self._viewing.frames(item, answer.frames)

    def _grades(self, item: Item, answer: Grades, rng: random.Random) -> dict[str, int]:
        return answer.grades

    def _choices(self, item: Item, answer: Choices, rng: random.Random) -> Sequence[str]:
        return answer.values


_HIGHEST_GRADE = 3


class Random(_Speaker):
    """Draws an option, a set, a range, a box or a grade; a number on a log scale from 1 to the most of its unit."""

    purpose = "random"

    def __init__(self, bench: Bench, spec: Spec, shown: Viewing) -> None:
        super().__init__(bench, spec, shown)
        self._extent: tuple[float, float] | None = None

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        """A uniform guess that depends on seed and item only."""
        if isinstance(answer, Number):
            most = unit_named(answer.unit).largest_guess
            return f"{math.exp(rng.uniform(0.0, math.log(most))):.1f} {answer.unit}".strip()
        return _say(item, rng.choice(_offered(item)))

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        if self._extent is None:
            self._extent = extent_of(self._bench.items(steps=False), self._viewing)
        return random_boxes(labels_of(item) or [""], self._viewing.sizes(item), self._extent, rng)

    def _frames(self, item: Item, answer: Frames, rng: random.Random) -> Sequence[int]:
        count = len(self._viewing.layout(item).frames)
        first, last = sorted((rng.randrange(count), rng.randrange(count)))
        return range(first, last + 1)

    def _grades(self, item: Item, answer: Grades, rng: random.Random) -> dict[str, int]:
        return {name: rng.randint(0, _HIGHEST_GRADE) for name in answer.grades}

    def _choices(self, item: Item, answer: Choices, rng: random.Random) -> Sequence[str]:
        """Every set but the empty one is as likely."""
        offered = [option.value for option in item.options]
        drawn = rng.randrange(1, 2 ** len(offered))
        return [value for place, value in enumerate(offered) if drawn >> place & 1]


class Majority(_Speaker):
    """The most frequent answer to the same question among other patients, if it clearly stands out."""

    purpose = "majority"

    def __init__(self, bench: Bench, spec: Spec, shown: Viewing) -> None:
        super().__init__(bench, spec, shown)
        self._keys: OtherCounts[tuple[str, ...], str] = OtherCounts()
        self._values: OtherMedians[str] = OtherMedians()
        self._graded: OtherCounts[tuple[str, str], int] = OtherCounts()
        self._sets: OtherCounts[str, tuple[str, ...]] = OtherCounts()
        self._firsts: OtherMedians[str] = OtherMedians()
        self._lasts: OtherMedians[str] = OtherMedians()
        self._prior: BoxPrior | None = None
        self._texts: MajorityText | None = None
        for item in bench.items(steps=False):
            parts = (
                item.answer.parts.values() if isinstance(item.answer, Compound) else (item.answer,)
            )
            for part in parts:
                self._learn(item, part)

    def _learn(self, item: Item, answer: Simple) -> None:
        match answer:
            case Number(value):
                self._values.add(item.question, item.patient_id, value)
            case Grades(grades):
                for name, grade in grades.items():
                    self._graded.add((item.question, name), item.patient_id, grade)
            case Choices(values):
                self._sets.add(item.question, item.patient_id, tuple(sorted(values)))
            case Frames(frames) if frames and not self._viewing.obstacle(item):
                shown = self._viewing.frames(item, frames)
                count = len(self._viewing.layout(item).frames)
                if shown:
                    self._firsts.add(item.question, item.patient_id, min(shown) / count)
                    self._lasts.add(item.question, item.patient_id, max(shown) / count)
            case _:
                key = answer_key(answer)
                if key is not None:
                    self._keys.add(_text(item), item.patient_id, key)

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        """Fitted without this patient; guesses where others do not tell."""
        if isinstance(answer, Number):
            middle = self._values.without(item.question, item.patient_id)
            return f"{100.0 if middle is None else middle:.3g} {answer.unit}"
        if isinstance(answer, Text):
            if self._texts is None:
                self._texts = MajorityText(self._bench.items(steps=False))
            return self._texts.answer(item)
        return _say(item, _guess(item, self._seed, self.purpose, self.standing_out(item)))

    def standing_out(self, item: Item) -> list[str]:
        """The answer that other patients' clearly favour, else all that are offered."""
        offered = _offered(item)
        others = self._keys.without(_text(item), item.patient_id)
        return standing_out(Counter({key: others[key] for key in offered if others[key]}), offered)

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        if self._prior is None:
            self._prior = BoxPrior(self._bench.items(steps=False), self._viewing)
        return self._prior.boxes(item)

    def _frames(self, item: Item, answer: Frames, rng: random.Random) -> Sequence[int]:
        count = len(self._viewing.layout(item).frames)
        first = self._firsts.without(item.question, item.patient_id)
        last = self._lasts.without(item.question, item.patient_id)
        low = min(count - 1, round((0.25 if first is None else first) * count))
        return range(
            low, max(low, min(count - 1, round((0.75 if last is None else last) * count))) + 1
        )

    def _grades(self, item: Item, answer: Grades, rng: random.Random) -> dict[str, int]:
        result = {}
        for name in answer.grades:
            counts = self._graded.without((item.question, name), item.patient_id)
            result[name] = min(counts, key=lambda grade: (-counts[grade], grade)) if counts else 0
        return result

    def _choices(self, item: Item, answer: Choices, rng: random.Random) -> Sequence[str]:
        offered = {option.value for option in item.options}
        others = self._sets.without(item.question, item.patient_id)
        counts = {one: count for one, count in others.items() if offered.issuperset(one)}
        if not counts:
            return [rng.choice(sorted(offered))]
        return min(counts, key=lambda one: (-counts[one], one))


class Minority(Majority):
    """The rarest answer to the same question among other patients; all else as the majority says.

    Where answers are balanced exactly, the rarest so far is the one that is left.
    """

    purpose = "minority"

    def standing_out(self, item: Item) -> list[str]:
        """The answers that the fewest other patients have; all that are offered where nobody else was asked."""
        others = self._keys.without(_text(item), item.patient_id)
        offered = _offered(item)
        fewest = min(others[key] for key in offered)
        return [key for key in offered if others[key] == fewest]


class Prior(Majority):
    """The average anatomy: mean sizes and places of structures in other patients, else their majority answer.

    `boxes=5` says the five k-means boxes of each label instead of the median one.
    """

    purpose = "prior"

    def __init__(self, bench: Bench, spec: Spec, shown: Viewing) -> None:
        super().__init__(bench, spec, shown)
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
        if isinstance(answer, Text):
            return super()._words(item, answer, rng)
        return _say(item, _guess(item, self._seed, self.purpose, self.left_open(item)))

    def left_open(self, item: Item) -> list[str]:
        """The answers that other patients leave open; one alone is what it is confident of."""
        offered = _offered(item)
        known = self._anatomy.consistent(item) or self.standing_out(item)
        return sorted(set(known) & set(offered)) or offered

    def number(self, item: Item) -> float | None:
        """The number that other patients suggest; None where there are none."""
        mean = self._anatomy.expected_number(item)
        return self._values.without(item.question, item.patient_id) if mean is None else mean

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        if self._prior is None:
            self._prior = BoxPrior(self._bench.items(steps=False), self._viewing, self._count)
        return self._prior.boxes(item)


class TextClassifier(Majority):
    """A learner of the whole rendered prompt, fitted without the patient asked about; numbers are others' medians."""

    purpose = "text-classifier"

    def __init__(self, bench: Bench, spec: Spec, shown: Viewing) -> None:
        super().__init__(bench, spec, shown)
        prompts = {item.item_id: shown.prompt(item) for item in bench.items() if is_closed(item)}
        self._learner = CrossFitted(bench.items(), prompts)

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        if not isinstance(answer, YesNo | Choice) or answer is not item.answer:
            return super()._words(item, answer, rng)
        return _say(item, _offered(item)[self._learner.place(item)])


class FixedGrid(Random):
    """A fixed grid of boxes on every picture; all else is guessed."""

    purpose = "grid"

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        if self._extent is None:
            self._extent = extent_of(self._bench.items(steps=False), self._viewing)
        return fixed_grid(self._viewing.sizes(item), self._extent)


BASELINES: dict[str, Callable[[Bench, Spec, Viewing], Baseline]] = {
    "oracle": Oracle,
    "random": Random,
    "majority": Majority,
    "minority": Minority,
    "prior": Prior,
    "grid": FixedGrid,
    "text-classifier": TextClassifier,
    "nearest": lambda bench, spec, viewing: Nearest(bench, spec),
    "replay": lambda bench, spec, viewing: Replay(bench, spec),
}
BLIND = {
    "random": "picks any option",
    "majority": "the answer most other patients have",
    "minority": "the answer fewest other patients have",
    "prior": "average anatomy, this patient left out",
}
"""The rows that stand beside every model, and what each does: none sees a picture."""
LEARNERS = ("majority", "minority", "prior", "nearest", "text-classifier")
"""Baselines that learn from other patients' answers; none is told this patient's."""
_SETTINGS = {"prior": {"seed", "delay", "boxes"}}


def is_baseline(kind: str) -> bool:
    """Whether a run of this kind answers without any model; a replay holds the answers of one."""
    return kind in BASELINES and kind != "replay"


def make_baseline(bench: Bench, spec: Spec, profile: Profile | None = None) -> Baseline:
    """The baseline a spec names, fitted to the bench where it learns from other patients.

    It speaks of frames and boxes in the profile's coordinates; without one, in those of the stored frames.
    """
    if spec.kind not in BASELINES:
        raise SitusError(
            f"unknown model {spec.kind!r}", where="--model", fix=did_you_mean(spec.kind, BASELINES)
        )
    known = _SETTINGS.get(spec.kind, {"seed", "delay"})
    unknown = set(spec.settings) - known
    if unknown or (spec.kind != "replay" and (spec.name or spec.url)):
        odd = min(unknown) if unknown else spec.name or spec.url
        fix = f"settings: {', '.join(sorted(known, reverse=True))}"
        raise SitusError(f"{spec.kind} does not know {odd!r}", where="--model", fix=fix)
    return BASELINES[spec.kind](bench, spec, Viewing(bench, profile))


def _text(item: Item) -> tuple[str, ...]:
    """A question with the options it offers, in no order."""
    return (item.question, *sorted(_offered(item)))


def _rng(seed: int, item: Item, purpose: str) -> random.Random:
    return random.Random(digest(purpose, str(seed), item.item_id))


def _offered(item: Item) -> list[str]:
    return [option.value for option in item.options] or ["yes", "no"]


def _say(item: Item, key: str) -> str:
    return letter_of(item, key) if item.options else key


def _guess(item: Item, seed: int, purpose: str, among: Sequence[str]) -> str:
    offered = _offered(item)
    return _rng(seed, item, purpose).choice(sorted(set(among) & set(offered)) or offered)
