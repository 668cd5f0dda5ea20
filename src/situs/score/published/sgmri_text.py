"""The wording part of SGMRI-VQA's AR-Score: BLEU with smoothing method 1 of NLTK, and what is left
of a reply without its boxes."""

from __future__ import annotations

import math
import re
from collections import Counter

__all__ = ["LONGEST", "bleu_smoothing_1", "squeezed", "without_boxes"]

LONGEST = 200_000
"""Characters of a reply that are read. With the bounds on runs and lists it keeps hostile replies
linear; the released code has neither, and differs only beyond them."""
_BLANK = re.compile(r"(\s{16})\s+")

_ORDERS = 4
_EPSILON = 0.1
"""What method 1 of Chen and Cherry (2014),
as NLTK has it, puts in the place of no shared n-gram."""

_REMOVED = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"<bbx>\[[\d,\s]+\]</bbx>", ""),
        (r"\[\d+(?:,\s*\d+){3}\]", ""),
        (r"\s+on\s+Frames?\s+[\d\-–,\s]+(?::\s*)?", " "),
        (r"Frame\s+\d+:\s*", ""),
        (r"(?:observed|appears|seen)\s+on\s+Frames?\s+[\d\-–,\s]+(?:and\s+\d+)?", ""),
        (r"\s*,\s*(?:and\s+)?\.", "."),
        (r",(\s*,)+", ","),
        (r",\s*\.", "."),
        (r"\s{2,}", " "),
        (r"\s+\.", "."),
    )
)


def squeezed(text: str) -> str:
    """The text with very long runs of white space shortened,
    which the released patterns read as they would the run."""
    return _BLANK.sub(r"\1", text)


def without_boxes(text: str) -> str:
    """The text without boxes and frames,
    as the released code strips it before wording is compared."""
    text = squeezed(text[:LONGEST])
    for pattern, replacement in _REMOVED:
        text = pattern.sub(replacement, text)
    return text.strip().rstrip(",. ")


def bleu_smoothing_1(prediction: str, reference: str) -> float:
    """Sentence BLEU of lower-case words, up to four;
    no shared n-gram counts as a tenth of one, no shared word as 0."""
    predicted, true = prediction.lower().split(), reference.lower().split()
    shared = [sum((_grams(predicted, n) & _grams(true, n)).values()) for n in range(1, _ORDERS + 1)]
    if not shared[0]:
        return 0.0
    logs = [
        math.log((hits or _EPSILON) / max(1, len(predicted) - n)) for n, hits in enumerate(shared)
    ]
    brevity = 0.0 if len(predicted) > len(true) else 1.0 - len(true) / len(predicted)
    return math.exp(brevity + sum(logs) / _ORDERS)


def _grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))
