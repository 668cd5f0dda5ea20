"""Baselines: they answer items without a model, and none but the oracle knows this patient's answer."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from situs.base.files import digest
from situs.bench import Bench
from situs.clients import Spec
from situs.errors import SitusError, did_you_mean
from situs.items import (
    AverageAnatomy,
    Boxes,
    ByKind,
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
    has_places,
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
    spoken_boxes,
)
from situs.run.baselines.text_classifier import CrossFitted, is_closed
from situs.run.replay import Replay
from situs.run.viewing import Viewing
from situs.space import FrameBox

__all__ = [
    "BASELINES",
    "BLIND",
    "LEARNERS",
    "Baseline",
    "blind_rows",
    "is_baseline",
    "make_baseline",
]


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

    def meant(self, item: Item) -> dict[str, Any] | None:
        """What its words mean, part by part, for whoever need not hear them; None where it has no answer.

        Boxes are as they would be spoken: picture, label and numbers. Free text has no value. The values are those of
        the words, rounded as these are.
        """
        if has_places(item.answer) and self._viewing.obstacle(item):
            return None
        if isinstance(item.answer, Compound):
            return {
                name: self._value(item, part, _rng(self._seed, item, f"{self.purpose}:{name}"))
                for name, part in item.answer.parts.items()
            }
        return {"": self._value(item, item.answer, _rng(self._seed, item, self.purpose))}

    def _value(self, item: Item, answer: Simple, rng: random.Random) -> Any:
        return MEANING[answer](self, item, answer, rng)

    def _boxes_value(self, item: Item, answer: Boxes, rng: random.Random) -> Any:
        boxes, sizes = self._boxes(item, answer, rng), self._viewing.sizes(item)
        say = speakable_boxes if isinstance(item.answer, Compound) else spoken_boxes
        spoken: list[Any] = say(boxes, self._viewing.space, sizes)
        return tuple((b.get("frame", 0), b.get("label", ""), *b["bbox"]) for b in spoken)

    def _frames_value(self, item: Item, answer: Frames, rng: random.Random) -> Any:
        return tuple(sorted(self._frames(item, answer, rng)))

    def _choices_value(self, item: Item, answer: Choices, rng: random.Random) -> Any:
        return tuple(self._choices(item, answer, rng))

    def _yes_no_value(self, item: Item, answer: YesNo, rng: random.Random) -> Any:
        return self._words(item, answer, rng) == "yes"

    def _number_value(self, item: Item, answer: Number, rng: random.Random) -> Any:
        return Fraction(self._words(item, answer, rng).split()[0])

    def _choice_value(self, item: Item, answer: Choice, rng: random.Random) -> Any:
        words = self._words(item, answer, rng)
        return next(o.value for o in item.options if letter_of(item, o.value) == words)

    def _grades_value(self, item: Item, answer: Grades, rng: random.Random) -> Any:
        return self._grades(item, answer, rng)

    def _no_value(self, item: Item, answer: Text, rng: random.Random) -> Any:
        return None

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
        return SPEECH[answer](self, item, answer, rng)

    def _in_boxes(self, item: Item, answer: Boxes, rng: random.Random) -> str:
        boxes, sizes = self._boxes(item, answer, rng), self._viewing.sizes(item)
        return self._say_boxes(boxes, sizes, rng)

    def _in_frames(self, item: Item, answer: Frames, rng: random.Random) -> str:
        first = self._viewing.space.frame_base
        return say_frames(self._frames(item, answer, rng), first, rng)

    def _in_grades(self, item: Item, answer: Grades, rng: random.Random) -> str:
        return say_grades(self._grades(item, answer, rng), rng)

    def _in_letters(self, item: Item, answer: Choices, rng: random.Random) -> str:
        values = self._choices(item, answer, rng)
        return say_letters([letter_of(item, value) for value in values], rng)

    def _in_words(self, item: Item, answer: Simple, rng: random.Random) -> str:
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


SPEECH: ByKind[Callable[[_Speaker, Item, Any, random.Random], str]] = ByKind(
    "saying an answer",
    {
        YesNo: _Speaker._in_words,
        Choice: _Speaker._in_words,
        Number: _Speaker._in_words,
        Text: _Speaker._in_words,
        Choices: _Speaker._in_letters,
        Boxes: _Speaker._in_boxes,
        Frames: _Speaker._in_frames,
        Grades: _Speaker._in_grades,
    },
)


MEANING: ByKind[Callable[[_Speaker, Item, Any, random.Random], Any]] = ByKind(
    "meaning an answer",
    {
        YesNo: _Speaker._yes_no_value,
        Choice: _Speaker._choice_value,
        Choices: _Speaker._choices_value,
        Number: _Speaker._number_value,
        Grades: _Speaker._grades_value,
        Frames: _Speaker._frames_value,
        Boxes: _Speaker._boxes_value,
        Text: _Speaker._no_value,
    },
)
"""What is meant by the words, for whoever need not hear them."""


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

    @property
    def _extent(self) -> tuple[float, float]:
        return self._viewing.once(
            "extent", lambda: extent_of(self._bench.items(steps=False), self._viewing)
        )

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        """A uniform guess that depends on seed and item only."""
        if isinstance(answer, Number):
            most = unit_named(answer.unit).largest_guess
            return f"{math.exp(rng.uniform(0.0, math.log(most))):.1f} {answer.unit}".strip()
        return _say(item, rng.choice(_offered(item)))

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
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


class _Learned:
    """What the patients of a bench answered, for whoever learns from the others."""

    def __init__(self, bench: Bench, shown: Viewing) -> None:
        self._viewing = shown
        self.keys: OtherCounts[tuple[str, ...], str] = OtherCounts()
        self.values: OtherMedians[str] = OtherMedians()
        self.graded: OtherCounts[tuple[str, str], int] = OtherCounts()
        self.sets: OtherCounts[str, tuple[str, ...]] = OtherCounts()
        self.firsts: OtherMedians[str] = OtherMedians()
        self.lasts: OtherMedians[str] = OtherMedians()
        for item in bench.items(steps=False):
            answer = item.answer
            for part in answer.parts.values() if isinstance(answer, Compound) else (answer,):
                self._learn(item, part)

    def _learn(self, item: Item, answer: Simple) -> None:
        match answer:
            case Number(value):
                self.values.add(item.question, item.patient_id, value)
            case Grades(grades):
                for name, grade in grades.items():
                    self.graded.add((item.question, name), item.patient_id, grade)
            case Choices(values):
                self.sets.add(item.question, item.patient_id, tuple(sorted(values)))
            case Frames(frames) if frames and not self._viewing.obstacle(item):
                shown = self._viewing.frames(item, frames)
                count = len(self._viewing.layout(item).frames)
                if shown:
                    self.firsts.add(item.question, item.patient_id, min(shown) / count)
                    self.lasts.add(item.question, item.patient_id, max(shown) / count)
            case _:
                key = answer_key(answer)
                if key is not None:
                    self.keys.add(_text(item), item.patient_id, key)


class Majority(_Speaker):
    """The most frequent answer to the same question among other patients, if it clearly stands out."""

    purpose = "majority"

    def __init__(self, bench: Bench, spec: Spec, shown: Viewing) -> None:
        super().__init__(bench, spec, shown)
        self._learned = shown.once("learned", lambda: _Learned(bench, shown))

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
        return _say(item, _guess(item, self._seed, self.purpose, self.standing_out(item)))

    def standing_out(self, item: Item) -> list[str]:
        """The answer that other patients' clearly favour, else all that are offered."""
        offered = _offered(item)
        others = self._learned.keys.without(_text(item), item.patient_id)
        return standing_out(Counter({key: others[key] for key in offered if others[key]}), offered)

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        return self._box_prior(1).boxes(item)

    def _box_prior(self, count: int) -> BoxPrior:
        """The boxes of other patients, so many a label."""
        return self._viewing.once(
            ("boxes", count),
            lambda: BoxPrior(self._bench.items(steps=False), self._viewing, count),
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
        result = {}
        for name in answer.grades:
            counts = self._learned.graded.without((item.question, name), item.patient_id)
            result[name] = min(counts, key=lambda grade: (-counts[grade], grade)) if counts else 0
        return result

    def _choices(self, item: Item, answer: Choices, rng: random.Random) -> Sequence[str]:
        offered = {option.value for option in item.options}
        others = self._learned.sets.without(item.question, item.patient_id)
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
        others = self._learned.keys.without(_text(item), item.patient_id)
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
        return (
            self._learned.values.without(item.question, item.patient_id) if mean is None else mean
        )

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        return self._box_prior(self._count).boxes(item)


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
        sizes = tuple(self._viewing.sizes(item))
        return self._viewing.once(("grid", sizes), lambda: fixed_grid(sizes, self._extent))

    def _value(self, item: Item, answer: Simple, rng: random.Random) -> Any:
        """The same words for pictures of the same sizes."""
        if not isinstance(answer, Boxes):
            return super()._value(item, answer, rng)
        sizes, whole = tuple(self._viewing.sizes(item)), isinstance(item.answer, Compound)
        say = super()._value
        return self._viewing.once(("spoken grid", sizes, whole), lambda: say(item, answer, rng))


@dataclass(frozen=True, slots=True)
class Kind:
    """A baseline, declared once: every list of baselines and of blind rows is made of these."""

    make: Callable[[Bench, Spec, Viewing], Baseline]
    about: str = ""
    """What it does, as a table of blind rows says it."""
    beside: frozenset[str] = frozenset()
    """Where it stands as a blind row: `all` tables, those with `boxes`, the wording of free `text`."""
    learns: bool = False
    """Whether it learns from other patients' answers; none is told this patient's."""
    thins: bool = False
    """Whether `situs debias` drops what it answers."""
    settings: frozenset[str] = frozenset({"seed", "delay"})


_ALL, _TEXT, _BOXES = "all", "text", "boxes"

BASELINES: dict[str, Kind] = {
    "oracle": Kind(Oracle, "knows the key: it tests the scorer"),
    "random": Kind(Random, "picks any option", frozenset({_ALL})),
    "majority": Kind(
        Majority,
        "the answer most other patients have",
        frozenset({_ALL, _TEXT}),
        learns=True,
        thins=True,
    ),
    "minority": Kind(
        Minority, "the answer fewest other patients have", frozenset({_ALL}), learns=True
    ),
    "prior": Kind(
        Prior,
        "average anatomy, this patient left out",
        frozenset({_ALL}),
        learns=True,
        thins=True,
        settings=frozenset({"seed", "delay", "boxes"}),
    ),
    "nearest": Kind(
        lambda bench, spec, viewing: Nearest(bench, spec),
        "the answer to the most similar question of another patient",
        frozenset({_TEXT}),
        learns=True,
        thins=True,
    ),
    "text-classifier": Kind(
        TextClassifier, "a learner of the whole prompt", learns=True, thins=True
    ),
    "grid": Kind(FixedGrid, "a fixed grid of boxes", frozenset({_BOXES})),
    "replay": Kind(lambda bench, spec, viewing: Replay(bench, spec)),
}


def blind_rows(where: str) -> dict[str, str]:
    """The rows that stand beside every model in a place (`Kind.beside`), and what each does: none sees a picture."""
    return {name: kind.about for name, kind in BASELINES.items() if where in kind.beside}


BLIND = blind_rows(_ALL)
LEARNERS = tuple(name for name, kind in BASELINES.items() if kind.learns)
"""Baselines that learn from other patients' answers."""


def is_baseline(kind: str) -> bool:
    """Whether a run of this kind answers without any model; a replay holds the answers of one."""
    return kind in BASELINES and kind != "replay"


def make_baseline(
    bench: Bench, spec: Spec, profile: Profile | None = None, *, viewing: Viewing | None = None
) -> Baseline:
    """The baseline a spec names, fitted to the bench where it learns from other patients.

    It speaks of frames and boxes in the profile's coordinates; without one, in those of the stored frames. Several
    that are given one `viewing` learn from the bench once.
    """
    if spec.kind not in BASELINES:
        raise SitusError(
            f"unknown model {spec.kind!r}", where="--model", fix=did_you_mean(spec.kind, BASELINES)
        )
    known = BASELINES[spec.kind].settings
    unknown = set(spec.settings) - known
    if unknown or (spec.kind != "replay" and (spec.name or spec.url)):
        odd = min(unknown) if unknown else spec.name or spec.url
        fix = f"settings: {', '.join(sorted(known, reverse=True))}"
        raise SitusError(f"{spec.kind} does not know {odd!r}", where="--model", fix=fix)
    return BASELINES[spec.kind].make(bench, spec, viewing or Viewing(bench, profile))


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
