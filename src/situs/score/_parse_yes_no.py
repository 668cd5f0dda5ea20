"""Whether a reply says yes or no."""

from __future__ import annotations

import re

from situs.score._parse_claims import Claim, claims, sentences
from situs.score._parse_clean import clean
from situs.score._parse_common import Parsed, RefusedInWords, Result, Unparsed, agree, settle
from situs.score._parse_refusal import refuses

__all__ = ["parse_yes_no", "read_head"]

_BOTH = re.compile(r"(?<!\w)(?:yes|no) ?(?:/|or|and) ?(?:yes|no)(?!\w)", re.IGNORECASE)
_HEAD = re.compile(
    r"(?:\(?[0-9]{1,2}[.):] ?|\(?[a-z]\) |[-–—•] )?[\"'(\[]*"
    r"(?:(?P<yes>yes|yeah|yep|yup)|(?P<no>no|nope|nah)|(?P<true>true)|(?P<false>false))(?!\w|'\w)(?!-\w)[\"')\]]*",
    re.IGNORECASE,
)
# "No" before a noun is a determiner ("No abnormality"); before these words it can only be an answer.
_CLAUSE = re.compile(
    r" (?:it|it's|its|the|this|that|that's|there|there's|they|he|she|i|because|since|as|these|those|we|you|"
    r"both|based)\b",
    re.IGNORECASE,
)
_DELIMITER = re.compile(r" ?(?:$|[.,;:!)\"'\n\ue001]| ?[-–—](?= |$)|[–—]|\()")
_CONCLUDED = re.compile(
    r"(?:\b(?:so|therefore|thus|hence|say|think|believe|actually|then|is|be|but|in fact|in reality|in truth|"
    r"rather|instead|overall)[,:]?|[,:]) "
    r"(?P<word>yes|no)(?= ?(?:[.,;!]|$|\n))",
    re.IGNORECASE,
)
# "…, yes there is an abnormality": a clause behind the word instead of a stop.
_LED = re.compile(r"[,:] (?P<word>yes|no) (?:it|it's|there|there's|this|that|they|i)\b", re.IGNORECASE)
_ENDS = re.compile(r"\b(yes|no)[ .!\"')]*$", re.IGNORECASE)
_DENIED = re.compile(r"(?:\bnot|n't|\bnever|\bneither|\bwhether it|\bif) ?(?:a |be |say |simply )?$", re.IGNORECASE)


_NONE_OF = re.compile(
    r"(?:[^.,:;?]{1,60}, )?(?:there (?:is|are|was|were) )?no (?:(?:evidence|signs?|indication) of )?(?:an? |any )?"
    r"(?P<noun>[a-z][a-z -]{1,60}?)"
    r"(?: (?:(?:is|are|was|were|has been|have been) )?(?:annotated|marked|seen|present|visible|found|identified|noted|"
    r"detected|there|shown|evident)\b)?(?: (?:on|in|within) (?:this|the|any) [a-z ]{1,40})?[.!]?",
    re.IGNORECASE,
)
_ASKS_FOR = re.compile(
    r"\b(?:there|annotated|marked|includes?|present|seen|visible|found|identified|detected|evidence|shows?)\b",
    re.IGNORECASE,
)
_TURNED_ROUND = re.compile(
    r"\b(?:no|not|normal|absent|free|without|unremarkable|intact|lacks?|none)\b|n't", re.IGNORECASE
)
_ANYTHING = {"finding", "abnormality"}


def _denies(text: str, question: str) -> bool:
    """Whether a reply is nothing but "No X" (or "there is no X") to a question that asks whether X is there.

    X must be named by the question, or be any finding at all; a question that itself speaks of absence or of what is
    normal is left alone.
    """
    match = _NONE_OF.fullmatch(clean(text))
    if not match or not _ASKS_FOR.search(question) or _TURNED_ROUND.search(question):
        return False
    said = [_singular(word) for word in re.findall("[a-z]+", match["noun"].lower())]
    asked = {_singular(word) for word in re.findall("[a-z]+", question.lower())}
    return set(said) <= asked or (len(said) == 1 and said[0] in _ANYTHING)


def _singular(word: str) -> str:
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


def parse_yes_no(text: str, question: str = "") -> Result[bool]:
    """True for yes, False for no.

    Only the words yes, no and their like count, and "no" only as an answer, not as a determiner: "There is an
    abnormality", "No abnormality is seen" and "notice" say neither, but for a "No X" to a `question` that asks whether
    X is there. A marked answer wins; otherwise every statement that begins with an answer, and every "so yes", must
    agree.
    """
    plain = clean(text)
    if not plain:
        return Unparsed("empty")
    result = settle(plain, _claim)
    if result is None or not any(claim.final for claim in claims(plain)):
        # A stated answer does not outweigh a lead that says the opposite ("No, … the answer is yes").
        result = agree(found for found in (result, _statements(plain)) if found is not None)
    if result is not None:
        return result
    if refuses(plain):
        return RefusedInWords()
    return Parsed(False) if _denies(text, question) else Unparsed("neither yes nor no")


def read_head(statement: str) -> bool | None:
    """The answer a statement begins with, if any."""
    match = _HEAD.match(statement)
    if not match or _BOTH.match(statement, match.start("yes") if match["yes"] else max(match.start("no"), 0)):
        return None
    rest = statement[match.end() :]
    delimited = _DELIMITER.match(rest) is not None
    if match["yes"]:
        return True
    if match["no"]:
        numbered = re.match(r"\.? ?[0-9]", rest)  # "No. 5"
        return False if not numbered and (delimited or _CLAUSE.match(rest)) else None
    return match["true"] is not None if delimited else None


def _claim(claim: Claim) -> Result[bool] | None:
    payload = re.sub(r"^(?:a|an|simply|just|the word|definitely|clearly) ", "", claim.payload, flags=re.IGNORECASE)
    if _BOTH.match(payload):
        return Unparsed("yes and no")
    value = read_head(payload)
    if value is not None:
        return agree([Parsed(value), *_turned(payload, said=value)])
    concluded = agree(_concluded(payload))
    if concluded is not None:
        return concluded
    return RefusedInWords() if refuses(payload) else None


def _statements(plain: str) -> Result[bool] | None:
    found: list[Result[bool]] = []
    for statement in sentences(plain):
        if _BOTH.match(statement):
            found.append(Unparsed("yes and no"))
            continue
        value = read_head(statement)
        if value is None:
            found += _concluded(statement)
            continue
        rest = _HEAD.sub("", statement, count=1).lstrip(" ,:-–—")
        if not value and refuses(rest[:40]):
            return Unparsed("a no or a refusal")
        found.append(Parsed(value))
        found += _concluded(rest)
        found += _turned(statement, said=value)
        if (second := read_head(rest)) is not None:
            found.append(Parsed(second))
    return agree(found)


def _turned(text: str, *, said: bool) -> list[Result[bool]]:
    """The opposite of what a text began with, where it ends with that ("Yes, it would seem so, but in fact no")."""
    end = _ENDS.search(text)
    if not end or not text[: end.start()].strip() or _DENIED.search(text, max(0, end.start() - 20), end.start()):
        return []
    last = end[1].lower() == "yes"
    return [Parsed(last)] if last is not said else []


def _concluded(statement: str) -> list[Result[bool]]:
    return [
        Parsed(match["word"].lower() == "yes")
        for match in (*_CONCLUDED.finditer(statement), *_LED.finditer(statement))
        if not _DENIED.search(statement, max(0, match.start() - 20), match.start("word"))
    ]
