"""The most frequent free answer of other patients."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from situs.items import Item, Text

__all__ = ["MajorityText"]


class MajorityText:
    """To the same question, else to questions that begin alike, else to any question."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._all: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._by_patient: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        for item in items:
            if isinstance(item.answer, Text):
                for key in _keys(item):
                    self._all[key][item.answer.references[0]] += 1
                    self._by_patient[(*key, item.patient_id)][item.answer.references[0]] += 1
        self._ranked = {
            key: sorted(c.items(), key=lambda pair: (-pair[1], pair[0]))
            for key, c in self._all.items()
        }

    def answer(self, item: Item) -> str:
        """Without this patient's own answers; empty if there is no other patient."""
        for key in _keys(item):
            patient_texts = self._by_patient.get((*key, item.patient_id), Counter())
            best, most = "", 0
            for text, count in self._ranked.get(key, ()):
                if count <= most:
                    break
                if count - patient_texts[text] > most:
                    best, most = text, count - patient_texts[text]
            if most:
                return best
        return ""


def _keys(item: Item) -> tuple[tuple[str, str], ...]:
    opening = " ".join(item.question.lower().split()[:2])
    return ("question", item.question), ("opening", opening), ("any", "")
