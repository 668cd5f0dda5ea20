"""Baselines: they answer items without a model, and none but the oracle knows this patient's answer."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Protocol

from situs._files import digest
from situs.bench import Bench
from situs.clients import Spec
from situs.errors import SitusError, did_you_mean
from situs.items import AverageAnatomy, Choice, Item, Number, Text, YesNo, answer_key, letter_of

__all__ = ["BASELINES", "Baseline", "make_baseline"]

_CLEAR_Z = 2.0
"""How far a majority must stand out from an even split before it counts as knowledge (standard errors)."""


class Baseline(Protocol):
    """Answers an item in words, as a model would."""

    def answer(self, item: Item) -> str:
        """The answer."""


class Oracle:
    """Knows the answer and says it in one of the ways models do, so that parsers are tested with it."""

    def __init__(self, bench: Bench, spec: Spec) -> None:
        self._seed = spec.whole("seed", 0)

    def answer(self, item: Item) -> str:
        """The right answer, in prose, as a letter, or as JSON."""
        rng = _rng(self._seed, item, "oracle")
        match item.answer:
            case YesNo(value):
                word = "yes" if value else "no"
                return rng.choice(
                    [word.title() + ".", f"The answer is {word}.", f'{{"answer": "{word}"}}', f"**{word}**"]
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
                    [f"{value:.6g} {unit}", f"It is about {value:.6g} {unit}.", f'{{"answer": {value:.6g}}}']
                )
            case Text(references):
                return references[0]
            case _:
                raise SitusError(f"the oracle cannot yet say a {item.form} answer", where=item.item_id)


_LARGEST_GUESS = {"mL": 2000.0, "mm": 300.0, "cm": 30.0, "": 10.0}


class Random:
    """Draws an option; a number is drawn on a log scale from 1 to the most its unit is likely to have."""

    def __init__(self, bench: Bench, spec: Spec) -> None:
        self._seed = spec.whole("seed", 0)

    def answer(self, item: Item) -> str:
        """A uniform guess that depends on seed and item only."""
        rng = _rng(self._seed, item, "random")
        if isinstance(item.answer, Number):
            most = _LARGEST_GUESS.get(item.answer.unit, 1000.0)
            return f"{math.exp(rng.uniform(0.0, math.log(most))):.1f} {item.answer.unit}".strip()
        return _say(item, rng.choice(_offered(item)))


class Majority:
    """The most frequent answer to the same question among other patients, if it clearly stands out."""

    def __init__(self, bench: Bench, spec: Spec) -> None:
        self._seed = spec.whole("seed", 0)
        self._keys: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self._own: dict[tuple[str, ...], dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self._values: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for item in bench.items():
            key = answer_key(item.answer)
            if isinstance(item.answer, Number):
                self._values[item.question].append((item.patient_id, item.answer.value))
            elif key is not None:
                self._keys[_text(item)][key] += 1
                self._own[_text(item)][item.patient_id][key] += 1

    def answer(self, item: Item) -> str:
        """Fitted without this patient; guesses where others do not tell."""
        if isinstance(item.answer, Number):
            others = sorted(v for patient, v in self._values[item.question] if patient != item.patient_id)
            middle = others[len(others) // 2] if others else 100.0
            return f"{middle:.3g} {item.answer.unit}"
        return _say(item, _guess(item, self._seed, "majority", self.standing_out(item)))

    def standing_out(self, item: Item) -> list[str]:
        """The answer that other patients' clearly favour, else all that are offered."""
        offered = _offered(item)
        text = _text(item)
        own = self._own[text].get(item.patient_id, Counter())
        others = {key: self._keys[text][key] - own[key] for key in offered}
        return _standing_out(Counter({key: count for key, count in others.items() if count}), offered)


class Prior:
    """The average anatomy: mean sizes and places of structures in other patients, else their majority answer."""

    def __init__(self, bench: Bench, spec: Spec) -> None:
        self._seed = spec.whole("seed", 0)
        self._majority = Majority(bench, spec)
        patient_of = {study.study_id: study.patient_id for study in bench.studies()}
        facts = (fact for fact in bench.facts() if fact.kind in AverageAnatomy.FACTS)
        self._anatomy = AverageAnatomy(facts, patient_of)

    def answer(self, item: Item) -> str:
        """What the average patient would suggest; a guess among what it leaves open."""
        if isinstance(item.answer, Number):
            of = item.parameters.get("of", "")
            mean = self._anatomy.volume_ml(of, item.patient_id) if item.task == "volume" else None
            return self._majority.answer(item) if mean is None else f"{mean:.1f} {item.answer.unit}"
        known = self._anatomy.consistent(item) or self._majority.standing_out(item)
        return _say(item, _guess(item, self._seed, "prior", known))


BASELINES: dict[str, Callable[[Bench, Spec], Baseline]] = {
    "oracle": Oracle,
    "random": Random,
    "majority": Majority,
    "prior": Prior,
}


def make_baseline(bench: Bench, spec: Spec) -> Baseline:
    """The baseline a spec names, fitted to the bench where it learns from other patients."""
    if spec.kind not in BASELINES:
        raise SitusError(f"unknown model {spec.kind!r}", where="--model", fix=did_you_mean(spec.kind, BASELINES))
    unknown = set(spec.settings) - {"seed", "delay"}
    if unknown or spec.name or spec.url:
        odd = min(unknown) if unknown else spec.name or spec.url
        raise SitusError(f"{spec.kind} does not know {odd!r}", where="--model", fix="settings: seed, delay")
    return BASELINES[spec.kind](bench, spec)


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


def _standing_out(counts: Counter[str], offered: list[str]) -> list[str]:
    """The most frequent answer if it clearly stands out, else all that are offered.

    Leaving one patient out of a balanced group makes the *other* answer the majority; without this bar the
    baseline would sit below chance instead of at it.
    """
    total = sum(counts.values())
    if not total:
        return offered
    best, count = max(sorted(counts.items()), key=lambda pair: pair[1])
    share = 1.0 / len(offered)
    clear = count - total * share > _CLEAR_Z * math.sqrt(total * share * (1.0 - share))
    return [best] if clear else offered
