"""The answer to the most similar question that another patient was asked:
what wording alone gives away."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from situs.base.files import digest
from situs.bench import Bench
from situs.clients import Spec
from situs.items import Choice, Item, Number, Text, YesNo, answer_key, letter_of
from situs.run.baselines.knowledge import standing_out
from situs.run.baselines.others import OtherCounts

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["Nearest", "tfidf"]

_WORD = re.compile(r"\b\w\w+\b")
_BLOCK = 256
"""Questions compared with all others at a time; bounds the memory."""
_FIRST_LOOK = 32


def tfidf(texts: list[str]) -> csr_matrix:
    """One unit row per text over words and pairs of neighbouring words (of two letters or more, in
    lower case).

    Weight = count × (ln((1 + texts) / (1 + texts with the term)) + 1), rows scaled to length 1.
    """
    from scipy.sparse import csr_matrix

    vocabulary: dict[str, int] = {}
    ends, columns, counts = [0], list[int](), list[int]()
    for text in texts:
        words = _WORD.findall(text.lower())
        terms = Counter(vocabulary.setdefault(t, len(vocabulary)) for t in words)
        terms.update(vocabulary.setdefault(f"{a} {b}", len(vocabulary)) for a, b in pairwise(words))
        columns.extend(terms)
        counts.extend(terms.values())
        ends.append(len(columns))
    at = np.array(columns, dtype=np.int32)
    document_counts = np.bincount(at, minlength=max(len(vocabulary), 1))
    weights = np.array(counts, dtype=np.float64) * (
        np.log((1 + len(texts)) / (1 + document_counts[at])) + 1
    )
    rows = np.repeat(np.arange(len(texts)), np.diff(ends))
    lengths = np.sqrt(np.bincount(rows, weights**2, minlength=len(texts)))
    weights /= lengths[rows]
    return csr_matrix((weights, at, np.array(ends)), shape=(len(texts), max(len(vocabulary), 1)))


class Nearest:
    """Copies the answer of the question with the nearest wording (TF-IDF of words and pairs) of
    another patient.

    Where several patients were asked that same question, the answer most of them have is copied. It
    never sees a scan, and never an answer of this patient.
    """

    def __init__(self, bench: Bench, spec: Spec) -> None:
        questions: set[str] = set()
        self._others: OtherCounts[tuple[str, str], str] = OtherCounts()
        for item in bench.items(steps=False):
            text = _answer_text(item)
            if text is not None:
                questions.add(item.question)
                self._others.add((item.question, item.form), item.patient_id, text)
        self._questions = sorted(questions)
        self._number_of = {question: number for number, question in enumerate(self._questions)}
        self._near: dict[int, list[int]] = {}
        self._vectors: Any = None

    def answer(self, item: Item) -> str:
        """The copied answer, as a letter where options are offered;
        a first option where nothing can be copied."""
        asked = self._number_of.get(item.question)
        if asked is not None:
            if asked not in self._near:
                self._look(asked)
            for other in chain(self._near[asked], self._all_others(asked)):
                answer = self._copied(item, other, same=other == asked)
                if answer is not None:
                    return answer
        return "A" if item.options else "no"

    def _copied(self, item: Item, other: int, *, same: bool) -> str | None:
        key = self._questions[other], item.form
        if not item.options and not (same and isinstance(item.answer, YesNo)):
            return self._others.commonest(key, item.patient_id)
        counts = self._others.without(key, item.patient_id)
        if item.options:
            offered = {option.value for option in item.options}
            counts = Counter({value: count for value, count in counts.items() if value in offered})
        if not counts:
            return None
        best = min(counts, key=lambda text: (-counts[text], text))
        if same and isinstance(item.answer, YesNo | Choice):
            # Twins ask the same words with each answer equally often: to copy one would be to take
            # the other answer.
            clear = standing_out(counts, [option.value for option in item.options] or ["yes", "no"])
            best = random.Random(digest("nearest", item.item_id)).choice(clear)
        return letter_of(item, best) if item.options else best

    def _look(self, asked: int) -> None:
        """The nearest questions of a whole block, nearest first;
        equal ones in the order of their wording."""
        if self._vectors is None:
            self._vectors = tfidf(self._questions)
        start = asked // _BLOCK * _BLOCK
        block = (self._vectors[start : start + _BLOCK] @ self._vectors.T).toarray()
        few = min(_FIRST_LOOK, block.shape[1])
        for row, similar in enumerate(block):
            best = np.argpartition(-similar, few - 1)[:few]
            self._near[start + row] = best[np.lexsort((best, -similar[best]))].tolist()

    def _all_others(self, asked: int) -> Iterator[int]:
        """All questions, nearest first;
        worked out only if none of the nearest few has an answer to copy."""
        similar = (self._vectors[asked] @ self._vectors.T).toarray().ravel()
        yield from np.argsort(-similar, kind="stable").tolist()


def _answer_text(item: Item) -> str | None:
    match item.answer:
        case Text(references):
            return references[0]
        case Number(value, unit) if math.isfinite(value):
            return f"{value:.6g} {unit}".strip()
        case answer:
            return answer_key(answer)
