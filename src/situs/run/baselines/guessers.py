"""Who knows the key, and who guesses: the oracle, chance, a grid of boxes."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from situs.items import (
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
    letter_of,
    unit_named,
)
from situs.run.baselines.box_prior import fixed_grid, labels_of, random_boxes
from situs.run.baselines.speaker import Speaker, offered_keys, option_words
from situs.run.baselines.speech import say_boxes
from situs.run.baselines.survey import survey_of
from situs.space import FrameBox

__all__ = ["FixedGrid", "Oracle", "Random"]


class Oracle(Speaker):
    """Knows the answer and says it in one of the ways models do,
    so that parsers are tested with it."""

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
                raise self._undeclared(item, answer)

    def _say_boxes(
        self, boxes: list[FrameBox], sizes: list[tuple[float, float]], rng: random.Random
    ) -> str:
        return say_boxes(boxes, self._viewing.space, sizes, rng)

    def _boxes(self, item: Item, answer: Boxes, rng: random.Random) -> list[FrameBox]:
        return list(self._viewing.boxes(item, answer.boxes))

    def _frames(self, item: Item, answer: Frames, rng: random.Random) -> Sequence[int]:
        return self._viewing.frames(item, answer.frames)

    def _grades(self, item: Item, answer: Grades, rng: random.Random) -> dict[str, int]:
        return answer.grades

    def _choices(self, item: Item, answer: Choices, rng: random.Random) -> Sequence[str]:
        return answer.values


_HIGHEST_GRADE = 3


class Random(Speaker):
    """Draws an option, a set, a range, a box or a grade;
    a number on a log scale from 1 to the most of its unit."""

    purpose = "random"

    @property
    def _extent(self) -> tuple[float, float]:
        return survey_of(self._bench, self._viewing).boxes.extent

    def _words(self, item: Item, answer: Simple, rng: random.Random) -> str:
        """A uniform guess that depends on seed and item only."""
        if isinstance(answer, Number):
            most = unit_named(answer.unit).largest_guess
            return f"{math.exp(rng.uniform(0.0, math.log(most))):.1f} {answer.unit}".strip()
        if not isinstance(answer, YesNo | Choice | Text):
            raise self._undeclared(item, answer)
        return option_words(item, rng.choice(offered_keys(item)))

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
        return [value for bit, value in enumerate(offered) if drawn >> bit & 1]


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
        sizes, is_part = tuple(self._viewing.sizes(item)), isinstance(item.answer, Compound)
        say = super()._value
        return self._viewing.once(("spoken grid", sizes, is_part), lambda: say(item, answer, rng))
