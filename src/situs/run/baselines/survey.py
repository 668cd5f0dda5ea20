"""What a bench tells those who do not look: gathered once, as its items pass, for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from situs.bench import Bench
from situs.items import Choices, Compound, Frames, Grades, Item, Number, Simple, answer_key
from situs.run.baselines.box_prior import BoxPlaces
from situs.run.baselines.others import OtherCounts, OtherMedians
from situs.run.baselines.speaker import offered_keys
from situs.run.viewing import Viewing

__all__ = ["Survey", "survey_of", "surveyed", "text_key"]


_BATCH = 2000
"""Items that are looked at together; no more than what is seen of them is remembered for."""


class Survey:
    """What the patients of a bench answered, for whoever learns from the others."""

    def __init__(self, viewing: Viewing) -> None:
        self._viewing = viewing
        self._clear()

    def _clear(self) -> None:
        self.is_complete = False
        self.keys: OtherCounts[tuple[str, ...], str] = OtherCounts()
        self.values: OtherMedians[str] = OtherMedians()
        self.graded: OtherCounts[tuple[str, str], int] = OtherCounts()
        self.sets: OtherCounts[str, tuple[str, ...]] = OtherCounts()
        self.firsts: OtherMedians[str] = OtherMedians()
        self.lasts: OtherMedians[str] = OtherMedians()
        self.boxes = BoxPlaces(self._viewing)

    def passing(self, items: Iterable[Item]) -> Iterator[Item]:
        """All items of the bench on their way to somebody else, each taken down."""
        self._clear()
        stream = iter(items)
        while batch := list(islice(stream, _BATCH)):
            self._viewing.look_ahead(batch)
            for item in batch:
                self.boxes.add(item)
                answer = item.answer
                for part in answer.parts.values() if isinstance(answer, Compound) else (answer,):
                    self._learn(item, part)
                yield item
        self.is_complete = True

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
                positions = self._viewing.frames(item, frames)
                count = len(self._viewing.layout(item).frames)
                if positions:
                    self.firsts.add(item.question, item.patient_id, min(positions) / count)
                    self.lasts.add(item.question, item.patient_id, max(positions) / count)
            case _:
                key = answer_key(answer)
                if key is not None:
                    self.keys.add(text_key(item), item.patient_id, key)


def survey_of(bench: Bench, viewing: Viewing) -> Survey:
    """The survey of a bench, made once for all who look at it in this way."""
    survey = viewing.once("survey", lambda: Survey(viewing))
    if not survey.is_complete:
        for _ in survey.passing(bench.items(steps=False)):
            pass
    return survey


def surveyed(viewing: Viewing, items: Iterable[Item]) -> Iterator[Item]:
    """All items of a bench, which somebody goes through, taken down on the way for `survey_of`."""
    return viewing.once("survey", lambda: Survey(viewing)).passing(items)


def text_key(item: Item) -> tuple[str, ...]:
    """A question with the options it offers, in no order."""
    return (item.question, *sorted(offered_keys(item)))
