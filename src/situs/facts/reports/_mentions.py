"""What each sentence of a report says of a finding, and whether it is fit to prove anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

import msgspec

from situs.facts.reports._lexicon import (
    ABOUT_BEFORE,
    BESIDE,
    DENIED,
    DENIES_ALL,
    DENIES_NEXT,
    HEDGED,
    RELATIVE,
    TURNS,
    Finding,
    findings,
    spelt_out,
)
from situs.facts.reports._places import Named, named_places

__all__ = ["Mention", "Sentence", "findings_in", "mentions_of", "sentences_of"]

_END = re.compile(
    r"(?i:(?<!\bvs)(?<!\bapprox)(?<!\brt)(?<!\blt)(?<!\bbilat)(?<!\be\.g)(?<!\bi\.e)(?<!\bca))(?:(?<!\d)[.;]|[.;](?!\d))|\n"
)
_HEADING = re.compile(r"(?:[^\w\n]|\d)*([A-Za-z][A-Za-z /&-]{2,40}):")
_ASIDE = re.compile(
    r"(?i:clinical\b.*|.*\bhistory|.*\bindications?|reason\b.*|.*\bcomparisons?|.*\btechnique|procedure|protocol|method|"
    r"previous\b.*|prior\b.*|recommendations?|advice|complaints?|diagnosis)"
)
_SIZE = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?)(?: ?[x×*] ?\d+(?:[.,]\d+)?)* ?-?(mm|cm)\b")
_ONE_SIZE = re.compile(r"[x×*]|\d ?- ?\d")
_NO_PROOF = (DENIED, HEDGED, ABOUT_BEFORE, BESIDE, RELATIVE)
_COUNTED = re.compile(r"\b(?:several|few|multiple|two|three|many|some|numerous|scattered)\b")


class Sentence(msgspec.Struct, frozen=True):
    """A sentence and where it stands in the text."""

    start: int
    end: int
    text: str
    impression: bool
    aside: bool = False
    """Under a heading of its own for history, comparison, technique or advice: it proves nothing."""


class Mention(msgspec.Struct, frozen=True):
    """A finding that a sentence speaks of."""

    sentence: Sentence
    finding: Finding
    places: Named
    plural: bool
    size_mm: float | None
    """Of a single one whose only size the sentence gives."""
    status: Literal["stated", "unsure", "denied"]
    """`unsure`: hedged, about another examination, or beside another finding, so that its place is not proved."""


def sentences_of(text: str, findings_length: int) -> Iterator[Sentence]:
    """The sentences in order; what begins at or after `findings_length` belongs to the impression."""
    start, aside, impression = 0, False, False
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        piece = text[start:end]
        left = start + len(piece) - len(piece.lstrip())
        right = start + len(piece.rstrip())
        if right > left and any(c.isalpha() for c in piece):
            heading = _HEADING.match(text, left, right)
            if heading is not None:
                aside = _ASIDE.fullmatch(heading[1].strip()) is not None
            elif left >= findings_length and not impression:
                aside = False
            impression = left >= findings_length
            yield Sentence(left, right, text[left:right], impression, aside)
        start = end


def mentions_of(text: str, findings_length: int) -> list[Mention]:
    """Every mention of every known finding."""
    result = []
    for sentence in sentences_of(text, findings_length):
        lower = spelt_out(sentence.text.lower())
        found = list(findings_in(lower))
        if not found:
            continue
        places = named_places(lower)
        status: Literal["stated", "unsure", "denied"] = "stated"
        first = min(match.start() for _, match in found)
        if (DENIES_NEXT.search(lower, 0, first) or DENIES_ALL.search(lower)) and not TURNS.search(lower):
            status = "denied"
        elif (
            sentence.aside or any(words.search(lower) for words in _NO_PROOF) or len(found) > 1 or not places.consistent
        ):
            status = "unsure"
        counted = bool(_COUNTED.search(lower))
        times = Counter(finding.name for finding, _ in found)
        seen: set[str] = set()
        for finding, match in found:
            if finding.name not in seen:
                seen.add(finding.name)
                plural = bool(finding.many) and (counted or times[finding.name] > 1 or _is_plural(match[0]))
                size = _size(lower) if finding.many and not plural else None
                result.append(Mention(sentence, finding, places, plural, size, status))
    return result


def _size(lower: str) -> float | None:
    """The one plain size of a sentence, in mm."""
    sizes = list(_SIZE.finditer(lower))
    if len(sizes) != 1 or _ONE_SIZE.search(sizes[0][0]):
        return None
    return float(sizes[0][1].replace(",", ".")) * (10.0 if sizes[0][2] == "cm" else 1.0)


def findings_in(lower: str) -> Iterator[tuple[Finding, re.Match[str]]]:
    """Findings in a sentence; a stretch of text belongs to the first that claims it."""
    taken: list[tuple[int, int]] = []
    for finding, pattern in findings():
        for match in pattern.finditer(lower):
            if all(match.end() <= start or match.start() >= end for start, end in taken):
                taken.append(match.span())
                yield finding, match


def _is_plural(said: str) -> bool:
    last = said.split()[-1]
    return (said.endswith(("s", "i", "ae")) and not last.endswith(("ss", "sis", "us", "is"))) or " areas" in said
