"""What each sentence of a report says of a finding, and whether it is fit to prove anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

import msgspec

from situs.errors import SitusError
from situs.facts.reports.lexicon import (
    ABOUT_BEFORE,
    BESIDE,
    CLEARS,
    DENIED,
    DENIES_ALL,
    DENIES_NEXT,
    HEDGED,
    POINTS_BACK,
    RELATIVE,
    TURNS,
    Finding,
    findings,
    plain_words,
    spelt_out,
)
from situs.facts.reports.places import LEVEL, Named, named_places

__all__ = ["Mention", "Sentence", "cleared_places", "findings_in", "mentions_of", "sentences_of"]

_END = re.compile(
    r"(?i:(?<!\bvs)(?<!\bapprox)(?<!\brt)(?<!\blt)(?<!\bbilat)(?<!\be\.g)(?<!\bi\.e)(?<!\bca))(?:(?<!\d)[.;]|[.;](?!\d))|\n"
)
_HEADING = re.compile(r"(?:[^\w\n]|\d)*([A-Za-z][A-Za-z /&-]{2,40}):")
_ASIDE = re.compile(
    r"(?i:clinical\b.*|.*\bhistory|.*\bindications?|reason\b.*|.*\bcomparisons?|.*\btechnique|"
    r"procedure|protocol|method|"
    r"previous\b.*|prior\b.*|recommendations?|advice|complaints?|diagnosis)"
)
_BODY = re.compile(r"(?i:findings?|impressions?|conclusions?|results?|report)")
_BODY_HEADING = re.compile(r"^\W*(?:findings?|impressions?|conclusions?|results?):")
_HEADING_WORDS = 3
"""A heading without a colon has a line of its own and is short."""
# Space has three dimensions; a chain without end would be read anew from each of its links.
_SIZE = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?)(?: ?[x×*] ?\d+(?:[.,]\d+)?){0,3} ?-?(mm|cm)\b")
_ONE_SIZE = re.compile(r"[x×*]|\d ?- ?\d")
_LONGEST_SENTENCE = 4_000
_NO_PROOF = (DENIED, HEDGED, ABOUT_BEFORE, BESIDE, RELATIVE)
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|shows?|and an?)\b")
_COUNTED = re.compile(r"\b(?:several|few|multiple|two|three|many|some|numerous|scattered)\b")


class Sentence(msgspec.Struct, frozen=True):
    """A sentence and where it stands in the text."""

    start: int
    end: int
    text: str
    impression: bool
    aside: bool = False
    """Under a heading of its own for history,
    comparison, technique or advice: it proves nothing."""


class Mention(msgspec.Struct, frozen=True):
    """A finding that a sentence speaks of."""

    sentence: Sentence
    finding: Finding
    places: Named
    plural: bool
    size_mm: float | None
    """Of a single one whose only size the sentence gives."""
    status: Literal["stated", "unsure", "denied"]
    """`unsure`: hedged, about another examination,
    or beside another finding, so that its place is not proved."""


def sentences_of(text: str, findings_length: int) -> Iterator[Sentence]:
    """The sentences in order; what begins at or after `findings_length` belongs to the impression.

    A sentence that is longer than any radiologist's is an error: to read it takes its square.
    """
    start, aside, impression = 0, False, False
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        piece = text[start:end]
        left = start + len(piece) - len(piece.lstrip())
        right = start + len(piece.rstrip())
        if right - left > _LONGEST_SENTENCE:
            raise SitusError(
                f"a sentence of {right - left:,} characters", fix="is it the text of a report?"
            )
        if right > left and any(c.isalpha() for c in piece):
            heading = _HEADING.match(text, left, right)
            bare = (
                piece.strip()
                if text[end - 1 : end] in ("\n", "") and len(piece.split()) <= _HEADING_WORDS
                else ""
            )
            if _ASIDE.fullmatch(bare) or _BODY.fullmatch(bare):
                aside = _ASIDE.fullmatch(bare) is not None
            elif heading is not None:
                aside = _ASIDE.fullmatch(heading[1].strip()) is not None
            elif left >= findings_length and not impression:
                aside = False
            impression = left >= findings_length
            yield Sentence(left, right, text[left:right], impression, aside)
        start = end


def mentions_of(text: str, findings_length: int) -> list[Mention]:
    """Every mention of every known finding."""
    result: list[Mention] = []
    last: list[Mention] = []
    for sentence in sentences_of(text, findings_length):
        lower = spelt_out(sentence.text.lower())
        places = named_places(lower)
        findings = list(findings_in(lower))
        if not findings:
            # "A second one is seen on the left.", "Two in the left kidney."
            placed = places.sides or places.lobes or places.levels
            if last and placed and (POINTS_BACK.search(lower) or _is_plain(lower)):
                result += [
                    msgspec.structs.replace(m, sentence=sentence, places=places, status="unsure")
                    for m in last
                ]
            continue
        status = _status(sentence, lower, findings, places)
        counted = bool(_COUNTED.search(lower))
        times = Counter(finding.name for finding, _ in findings)
        last = []
        for finding, match in findings:
            if finding.name not in {mention.finding.name for mention in last}:
                plural = bool(finding.many) and (
                    counted or times[finding.name] > 1 or _is_plural(match[0])
                )
                size = _size(lower) if finding.many and not plural else None
                last.append(Mention(sentence, finding, places, plural, size, status))
        result += last
    return result


def cleared_places(text: str, findings_length: int) -> list[Named]:
    """The organs that a sentence of the report calls normal or missing as a whole."""
    lowers = (spelt_out(sentence.text.lower()) for sentence in sentences_of(text, findings_length))
    return [named_places(lower) for lower in lowers if CLEARS.search(lower)]


def _status(
    sentence: Sentence, lower: str, findings: list[tuple[Finding, re.Match[str]]], places: Named
) -> Literal["stated", "unsure", "denied"]:
    first = min(match.start() for _, match in findings)
    denial = DENIES_NEXT.search(lower, 0, first)
    if denial or DENIES_ALL.search(lower):
        # With a second verb or a new clause the denial may not reach what follows.
        reaches_all = len(
            _VERB.findall(lower, denial.end() if denial else 0)
        ) <= 1 and not TURNS.search(lower)
        return "denied" if reaches_all else "unsure"
    if (
        sentence.aside
        or any(words.search(lower) for words in _NO_PROOF)
        or len(findings) > 1
        or not places.consistent
    ):
        return "unsure"
    finding = findings[0][1]
    return (
        "stated" if _is_plain(f"{lower[: finding.start()]} {lower[finding.end() :]}") else "unsure"
    )


def _is_plain(remainder: str) -> bool:
    """Whether a sentence, without its finding,
    has no word but those that state a size and a place."""
    remainder = LEVEL.sub(" ", _SIZE.sub(" ", _BODY_HEADING.sub(" ", remainder)))
    return all(word in plain_words() for word in _TOKEN.findall(remainder))


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


def _is_plural(words: str) -> bool:
    last = words.split()[-1]
    return (
        words.endswith(("s", "i", "ae")) and not last.endswith(("ss", "sis", "us", "is"))
    ) or " areas" in words
