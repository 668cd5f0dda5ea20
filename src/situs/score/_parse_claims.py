"""Where a reply marks its answer: "Final answer: …", a box, an answer tag, "the answer is …", "I choose …"."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Claim", "claims", "lone_sentences", "sentences"]

_CUE = re.compile(
    "(?P<mark>\ue000)"
    r"|(?P<final>\b(?:final|overall) (?:answer|choice|verdict|decision|result|estimate|count|selection)"
    r"(?: is\b:?| would be\b:?| ?[:=]| ?-(?= )|(?=\n)|(?=\ue000)))"
    r"|\b(?:answer|(?:correct|right|best|appropriate|likely|chosen|selected|my) (?:option|choice|response|statement)"
    r"|(?:the )?(?:option|choice)(?= ?:)|verdict|my (?:response|estimate|count|guess))"
    r"(?: (?:to|for) (?:the|this|your) [a-z]{1,20})?"
    r"(?: is\b:?| would be\b:?| should be\b:?| must be\b:?| ?[:=](?!=)| ?(?:->|→)| [-–—](?= )|(?=\ue000))"
    r"|\bi(?:'ll|'d| will| would| must| therefore| thus)? "
    r"(?:choose|pick|select|answer|opt for|go with|went with|going with)\b:?",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?: |:|,|\"|'|\(?(?:clearly|likely|most likely|probably|definitely|therefore|thus|indeed|simply|as follows|"
    r"given by|correct|that|with|=|-(?= ))(?= |:|,))",
    re.IGNORECASE,
)
_JOINED = re.compile(r"[ ,;/&\ue000\ue001]*+(?:and|or)?+[ ,;/&\ue000\ue001]*+", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?:[.!;](?=\s|$)(?!(?<=[Nn]o\.) ?[0-9])(?!(?<=\b[A-Z]\.) [a-z]))|(?:\?)|\n|[\ue000\ue001]")
_LIST_MARK = re.compile(r"\s?[0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Claim:
    """A place where the reply says that its answer follows."""

    final: bool
    payload: str
    """What follows, to the end of the line or of the box."""
    tail: str
    """The rest of the line behind a box: a unit may stand there."""
    group: int
    """Claims joined by nothing but "and", "or" or a comma share a group: they are one answer of several parts."""
    own_line: bool = False
    """Whether the payload begins a line of its own, where "1." may number it."""


def claims(text: str) -> list[Claim]:
    """All marked answers, in order. Questions ("Is the answer B?") and bare cues are left out."""
    cues = list(_CUE.finditer(text))
    found: list[Claim] = []
    group = 0
    last_end = -1
    for cue, following in zip(cues, [*cues[1:], None]):
        limit = following.start() if following else len(text)
        boxed = cue["mark"] is not None
        start = cue.end()
        if not boxed:
            while (filler := _FILLER.match(text, start)) or text[start : start + 1] == "\n":
                start = filler.end() if filler else start + 1
        end = _find(text, "\ue001" if boxed else "\n", start, limit)
        payload = text[start:end].strip(" \ue001")
        if not payload and not boxed:
            continue
        if not boxed and _asks(payload):
            continue
        if last_end < 0 or not _JOINED.fullmatch(text, last_end, cue.start()):
            group += 1
        tail = text[end + 1 : _find(text, "\n", end + 1, limit)] if boxed else ""
        final = boxed or cue["final"] is not None
        own_line = "\n" in text[cue.end() : start]
        found.append(Claim(final=final, payload=payload, tail=tail, group=group, own_line=own_line))
        last_end = end if boxed else -1
    return found


def sentences(text: str) -> list[str]:
    """The statements of a reply, in order, without list marks; questions are left out."""
    found: list[str] = []
    start = 0
    for match in [*_SENTENCE_END.finditer(text), None]:
        end = match.start() if match else len(text)
        if match and match[0] == "." and text[end + 1 : end + 2] == " " and _LIST_MARK.fullmatch(text, start, end):
            start = end + 1
            continue
        sentence = text[start:end].strip()
        if sentence and not (match and match[0] == "?"):
            found.append(sentence)
        start = match.end() if match else end
    return found


def lone_sentences(text: str) -> list[str]:
    """The first and the last statement, where a bare answer may stand without any mark."""
    found = sentences(text)
    return found[:1] + found[-1:] if len(found) > 1 else found


def _asks(payload: str) -> bool:
    end = _SENTENCE_END.search(payload)
    return end is not None and end[0] == "?"


def _find(text: str, mark: str, start: int, limit: int) -> int:
    position = text.find(mark, start, limit)
    return limit if position < 0 else position
