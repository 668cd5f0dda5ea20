"""Whether a reply given without any picture describes one.

A small grammar, sentence by sentence. A reply describes a picture if a sentence claims to have seen
one ("the image shows", "I can see", "on slice 12"), or reports how something looks on a scan ("a
hypodense mass", "increased signal"). A sentence that says that there is no picture, that denies or
supposes ("if the scan showed", "would appear"), or that speaks of such pictures in general ("on CT
the liver usually appears") is no such claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from situs.score import Estimate, cluster_mean
from situs.score.explain import Answers
from situs.score.read.prose.clean import LONGEST_REPLY

__all__ = ["Mirage", "describes_a_picture", "mirage_of"]

_PICTURE = (
    r"(?:images?|pictures?|scans?|slices?|frames?|views?|ct|mri?|mr"
    r" images?|radiographs?|studies|study|"
    r"volumes?|sections?|stack)"
)
_SHOWN = r"(?:provided|given|shown|presented|attached|supplied|displayed|above|submitted|available)"
_SEEING = (
    r"(?:see|seen|observe|observed|notice|noted|visible|visuali[sz]ed?|identified|identify|"
    r"demonstrated?|"
    r"depicted|view(?:ed|ing)?|examin(?:ed|ing)|inspect(?:ed|ing)|look(?:ed|ing)"
    r" at|review(?:ed|ing)|apparent)"
)
_SHOWS = (
    r"(?:shows?|showing|demonstrates?|demonstrating|reveals?|depicts?|displays?|indicates?|"
    r"suggests?|confirms?)"
)

_SEES = re.compile(
    rf"\b{_PICTURE}\b[^.!?\n]{{0,40}}\b{_SHOWS}\b"
    rf"|\b(?:in|on|from|across|within|per|based on|according to|looking"
    rf" at|reviewing|examining|through)\s+"
    rf"(?:the|this|these|those|your|all|both|each|several|multiple|axial|coronal|sagittal)\s+"
    rf"(?:\w+\s+){{0,3}}{_PICTURE}\b"
    rf"|\b{_PICTURE}\s+(?:{_SHOWN})\b"
    r"|\b(?:i|we)\s+(?:can\s+|could\s+|do\s+)?(?:clearly\s+)?(?:see|observe|notice|identify|"
    r"visuali[sz]e)\b"
    rf"|\b{_SEEING}\b[^.!?\n]{{0,30}}\b(?:in|on|at|across|from)\b[^.!?\n]{{0,20}}\b{_PICTURE}\b"
    rf"|\b(?:as|is|are|clearly|best|well|can"
    rf" be)\s+(?:seen|visible|visuali[sz]ed|demonstrated|depicted|noted)\b"
    r"|\b(?:on|in|at|from|around|near|between|through)\s+(?:the\s+)?(?:slices?|frames?|"
    r"images?)\s*#?\s*\d+"
    r"|\b(?:slices?|frames?)\s+\d+\s*(?:-|–|to|through|and)\s*\d+\b[^.!?\n]*\b(?:shows?|seen|"
    r"contain|visible)",
    re.IGNORECASE,
)
_LOOKS_LIKE = re.compile(
    r"\b(?:hypo|hyper|iso)[- ]?(?:dense|intense|attenuating|echoic|density|intensity|attenuation)\b"
    r"|\b(?:low|high|increased|decreased|abnormal|bright|dark)[-"
    r" ](?:signal|attenuation|density|intensity)\b"
    r"|\b(?:contrast|rim|ring|heterogeneous|homogeneous|arterial|avid)[- ]enhanc\w+"
    r"|\b(?:ill|well)[- ](?:defined|circumscribed|demarcated)\b"
    r"|\bthere (?:is|are) (?!no\b|not\b)(?:an? |multiple |several |some |the )?(?:\w+[- ]){0,4}"
    r"(?:mass|lesions?|nodules?|cysts?|tumou?rs?|opacity|opacities|collection|effusion|tear|edema|"
    r"oedema)\b"
    r"|^\s*(?:findings|observations?)\s*:",
    re.IGNORECASE,
)
_NOT_SEEN = re.compile(
    r"\b(?:no|not|n't|cannot|can't|never|without|neither|nor|missing|lack(?:s|ing)?|absent|unable|"
    r"none|unavailable|"
    r"impossible|blind|didn't|isn't|aren't|wasn't|don't|doesn't|haven't|hasn't)\b|n't\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"(?<!\bi )\bwould\b|\b(?:if|were|could you|please|should|usually|typically|generally|"
    r"normally|commonly|often|in general|"
    r"in most|on average|most"
    r" (?:people|patients|adults)|assum\w+|expected|textbook|anatomically|once|when you|"
    r"can you|share|upload|provide)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_CONTRAST = re.compile(r",?\s+\b(?:but|however|although|though|yet)\b,?\s+", re.IGNORECASE)


class Mirage(msgspec.Struct, frozen=True):
    """How many replies without pictures describe one."""

    rate: float | None
    ci95: tuple[float, float] | None
    n: int
    patients: int
    examples: tuple[str, ...] = ()
    """The first few such replies, cut short."""
    note: str = ""


def describes_a_picture(response: str) -> bool:
    """Whether the words claim that a picture was seen, or report how something looks on one.

    English only, by rule.
    """
    return any(_claims(clause) for clause in _clauses(response))


def _clauses(response: str) -> Iterable[str]:
    # Patterns read a run of blanks anew from each of its signs, and a reply has no end but this.
    lines = (" ".join(line.split()) for line in response[:LONGEST_REPLY].splitlines())
    for sentence in _SENTENCE.split("\n".join(lines)):
        yield from _CONTRAST.split(sentence)


def _claims(clause: str) -> bool:
    if _SUPPOSED.search(clause):
        return False
    seen = _SEES.search(clause)
    if seen is not None:
        # "The image shows no lesion" describes a picture; "I cannot see the image" and "no image
        # shows" do not.
        return _NOT_SEEN.search(clause[: seen.end()]) is None
    looks = _LOOKS_LIKE.search(clause)
    return looks is not None and _NOT_SEEN.search(clause[: looks.start()]) is None


_EXAMPLES, _CUT = 3, 120


def mirage_of(silent: Answers) -> Mirage:
    """The share of replies of the silent run that describe a picture,
    over all items with a reply."""
    listed = [
        one
        for _, one in sorted(silent.by_id.items())
        if one.row is not None and one.row.response.strip()
    ]
    if not listed:
        return Mirage(None, None, 0, 0, note="no reply")
    replies = [one.row.response for one in listed if one.row is not None]
    described = [describes_a_picture(reply) for reply in replies]
    rate: Estimate = cluster_mean(
        [float(one) for one in described], [one.item.patient_id for one in listed]
    )
    examples = tuple(reply[:_CUT] for reply, hit in zip(replies, described) if hit)[:_EXAMPLES]
    return Mirage(rate.value, rate.ci95, rate.n, rate.clusters, examples, rate.note)
