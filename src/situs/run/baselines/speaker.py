"""How baselines speak: what each kind of answer is called, and what is meant by the words."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol, cast

from situs.base.files import digest
from situs.bench import Bench
from situs.clients import Spec
from situs.errors import SitusError
from situs.items import (
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
    has_places,
    kind_of,
    letter_of,
    parts_of,
)
from situs.run.baselines.speech import (
    list_boxes,
    say_frames,
    say_grades,
    say_letters,
    speakable_boxes,
    spoken_boxes,
)
from situs.run.viewing import Viewing
from situs.space import FrameBox

__all__ = [
    "MEANING",
    "SPEECH",
    "Baseline",
    "Speaker",
    "guessed",
    "item_rng",
    "offered_keys",
    "option_words",
]


_MOST_SPOKEN = 1024
"""Lists of boxes whose value is remembered: the prior says the same of many items."""


class Baseline(Protocol):
    """Answers an item in words, as a model would."""

    def answer(self, item: Item) -> str | None:
        """The answer; None where it has none to give."""


class Speaker:
    """Says answers; what it answers, simple answer by simple answer, is each baseline's own."""

    purpose = ""

    def __init__(self, bench: Bench, spec: Spec, viewing: Viewing) -> None:
        self._seed = spec.whole("seed", 0)
        self._bench = bench
        self._viewing = viewing
        self._spoken: dict[tuple[int, int, bool], tuple[object, object, Any]] = {}

    def answer(self, item: Item) -> str:
        """The answer; a compound one as one JSON object, a key a part."""
        if has_places(item.answer) and self._viewing.obstacle(item):
            return "It cannot be told."
        if isinstance(item.answer, Compound):
            parts = {name: self._part(item, name, part) for name, part in item.answer.parts.items()}
            return json.dumps(parts)
        return self._simple(item, item.answer, item_rng(self._seed, item, self.purpose))

    def meant(self, item: Item) -> dict[str, Any] | None:
        """What its words mean, part by part, for whoever need not hear them; None where it has no
        answer.

        Boxes are as they would be spoken: picture, label and numbers. Free text has no value. The
        values are those of the words, rounded as these are.
        """
        if has_places(item.answer) and self._viewing.obstacle(item):
            return None
        return {
            name: self._meant_by(item, name, part) for name, part in parts_of(item.answer).items()
        }

    def meant_by(self, item: Item, name: str) -> Any:
        """The same of one part of the answer; None where it has none."""
        if has_places(item.answer) and self._viewing.obstacle(item):
            return None
        return self._meant_by(item, name, parts_of(item.answer)[name])

    def _meant_by(self, item: Item, name: str, part: Simple) -> Any:
        is_part = isinstance(item.answer, Compound)
        purpose = f"{self.purpose}:{name}" if is_part else self.purpose
        return self._value(item, part, item_rng(self._seed, item, purpose))

    def _value(self, item: Item, answer: Simple, rng: random.Random) -> Any:
        return MEANING[answer](self, item, answer, rng)

    def _boxes_value(self, item: Item, answer: Boxes, rng: random.Random) -> Any:
        boxes, sizes = self._boxes(item, answer, rng), self._viewing.sizes(item)
        is_part = isinstance(item.answer, Compound)
        known = self._spoken.get((id(boxes), id(sizes), is_part))
        # Both are held, so that no others can have their ids.
        if known is None or known[0] is not boxes or known[1] is not sizes:
            if len(self._spoken) >= _MOST_SPOKEN:
                self._spoken.clear()
            say = speakable_boxes if is_part else spoken_boxes
            spoken: list[Any] = say(boxes, self._viewing.space, sizes)
            value = tuple((b.get("frame", 0), b.get("label", ""), *b["bbox"]) for b in spoken)
            known = self._spoken[id(boxes), id(sizes), is_part] = boxes, sizes, value
        return known[2]

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
        rng = item_rng(self._seed, item, f"{self.purpose}:{name}")
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

    def _undeclared(self, item: Item, answer: Simple) -> SitusError:
        """What to raise for a kind that has words, of which this baseline knows none."""
        kind, name = kind_of(answer), type(self).__name__
        return SitusError(
            f"nothing is declared for what {self.purpose} says to an answer of the kind {kind!r}",
            where=item.item_id,
            fix=f"say it in _words of {name} (run/baselines)",
        )


SPEECH: ByKind[Callable[[Speaker, Item, Any, random.Random], str]] = ByKind(
    "saying an answer",
    {
        YesNo: Speaker._in_words,
        Choice: Speaker._in_words,
        Number: Speaker._in_words,
        Text: Speaker._in_words,
        Choices: Speaker._in_letters,
        Boxes: Speaker._in_boxes,
        Frames: Speaker._in_frames,
        Grades: Speaker._in_grades,
    },
)


MEANING: ByKind[Callable[[Speaker, Item, Any, random.Random], Any]] = ByKind(
    "meaning an answer",
    {
        YesNo: Speaker._yes_no_value,
        Choice: Speaker._choice_value,
        Choices: Speaker._choices_value,
        Number: Speaker._number_value,
        Grades: Speaker._grades_value,
        Frames: Speaker._frames_value,
        Boxes: Speaker._boxes_value,
        Text: Speaker._no_value,
    },
)
"""What is meant by the words, for whoever need not hear them."""


def item_rng(seed: int, item: Item, purpose: str) -> random.Random:
    """Chance for one item: the same each time, whatever was asked before."""
    return cast("random.Random", _Chance(purpose, str(seed), item.item_id))


class _Chance:
    """A generator that is seeded when it is first asked: most answers are not left to chance."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        # Looked up where the attribute is not there: the generator is the first that is not.
        if name == "_generator":
            self._generator = random.Random(digest(*self._names))
            return self._generator
        return getattr(self._generator, name)


def offered_keys(item: Item) -> list[str]:
    """The keys that a closed question offers."""
    return [option.value for option in item.options] or ["yes", "no"]


def option_words(item: Item, key: str) -> str:
    """How an option is said."""
    return letter_of(item, key) if item.options else key


def guessed(item: Item, seed: int, purpose: str, among: Sequence[str]) -> str:
    """One of `among` that is offered, drawn; one of all where none is."""
    offered = offered_keys(item)
    left = sorted(set(among) & set(offered)) or offered
    # Nothing is left to chance among one, and a generator takes long to seed.
    return left[0] if len(left) == 1 else item_rng(seed, item, purpose).choice(left)
