"""Which frames a reply names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from situs.score._loose_json import Loose, loose_values
from situs.score._parse_claims import claims, sentences
from situs.score._parse_clean import clean, visible
from situs.score._parse_common import Parsed, RefusedInWords, Result, Unparsed
from situs.score._parse_numbers_listed import LONGEST_RANGE, listed_numbers
from situs.score._parse_refusal import refuses

__all__ = ["parse_frames"]

_WORD = r"(?:frame|slice|image|picture)s?(?:\s+(?:numbers?|nos?\.?|index|indices))?"
_JOIN = r"\s*(?:-|–|—|to|through|until|till|\.\.+|…|,\s*and|and|,|;|&|\+)\s*"
_NUMBERS = (
    rf"[0-9]{{1,5}}(?![0-9.]*[0-9]|\s*(?:mm|cm|%|ml|px|pixels))(?:{_JOIN}(?:{_WORD}\s*#?)?[0-9]{{1,5}}(?!\.?[0-9]))*"
)
_ORDINAL = re.compile(r"\b([0-9]{1,5})(?:st|nd|rd|th)\b(?=.{0,30}(?:frame|slice|image|picture))", re.IGNORECASE)
_NAMED = re.compile(rf"\b{_WORD}\s*(?:are|is|from|between|:|=|#)?\s*#?(?P<list>{_NUMBERS})", re.IGNORECASE)
_BEFORE = re.compile(rf"(?<![0-9.])(?P<list>{_NUMBERS})\s+{_WORD}\b", re.IGNORECASE)
_BARE = re.compile(rf"\W*(?:from\s+)?(?P<list>{_NUMBERS})\W*", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|from|starts?|starting|begins?|beginning|first|appears?)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\bnot|n't|\bno longer|\babsent|\bnever|\bwithout|\bexcept|\bbut not|\bdisappears?|\bgone)"
    r"(?: (?:\w+ ){0,3}?(?:on|in|at|from|for|visible|seen|present))? ?$",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\W*(?:none|no (?:frames?|slices?|images?)|not (?:seen|visible|present)(?: on any \w+)?)\W*", re.IGNORECASE
)
_ALL = re.compile(
    r"\b(?:all|every|each|throughout all)(?: of)?(?: the)? (?:[0-9]+ )?(?:frames?|slices?|images?)\b", re.IGNORECASE
)
_KEYS = (
    "frames",
    "framerange",
    "slices",
    "slicerange",
    "frame",
    "slice",
    "range",
    "images",
    "image",
    "answer",
    "finalanswer",
)
_ENDS = (
    ("start", "end"), ("first", "last"), ("from", "to"), ("startframe", "endframe"), ("firstframe", "lastframe"),
    ("startslice", "endslice"), ("firstslice", "lastslice"), ("min", "max"), ("begin", "end"),
)  # fmt: skip


def parse_frames(text: str, first: int, count: int, *, contiguous: bool = True) -> Result[tuple[int, ...]]:
    """Positions of the pictures that a reply names, in order.

    `first` is the number of the first picture and `count` how many were shown. Where one range is asked for
    (`contiguous`), its two ends are enough: "starts on frame 3 and ends on frame 7" and `[3, 7]` say 3 to 7.
    """
    plain = _ORDINAL.sub(r"\1", clean(text))
    if not plain:
        return Unparsed("empty")
    said = _from_json(visible(text), contiguous)
    if said is None:
        said = _from_prose(plain, first, count, contiguous)
    if said is None:
        return RefusedInWords() if refuses(plain) else Unparsed("no frame named")
    flags: list[str] = []
    if said and first == 1 and 0 in said and max(said) < count:
        first, flags = 0, ["frame_base_inferred"]
    elif said and first == 0 and count in said and 0 not in said and max(said) == count:
        first, flags = 1, ["frame_base_inferred"]
    shown = tuple(number - first for number in sorted(said) if first <= number < first + count)
    if len(shown) < len(said):
        if not shown:
            return Unparsed("no such frame")
        flags.append("no_such_frame")
    return Parsed(shown, tuple(flags))


def _from_json(text: str, contiguous: bool) -> set[int] | None:
    for found in reversed(list(loose_values(text))):
        if isinstance(found.value, dict):
            said = _in_object(found.value, contiguous, 0)
        elif isinstance(found.value, list) and not re.search(
            r"[a-z]{4}", text[: found.start] + text[found.end :], re.I
        ):
            said = _in_value(found.value, contiguous)
        else:
            continue
        if said is not None:
            return said
    return None


def _in_object(record: dict[str, Loose], contiguous: bool, depth: int) -> set[int] | None:
    fields = {re.sub(r"[^a-z]", "", name.lower()): value for name, value in record.items()}
    for low, high in _ENDS:
        a, b = _whole(fields.get(low)), _whole(fields.get(high))
        if a is not None and b is not None:
            return _spelled(a, b)
    for key in _KEYS:
        if key in fields:
            said = _in_value(fields[key], contiguous or "range" in key, depth)
            if said is not None:
                return said
    return None


def _in_value(value: Loose, contiguous: bool, depth: int = 0) -> set[int] | None:
    if isinstance(value, dict):
        return _in_object(value, contiguous, depth + 1) if depth < 4 else None
    if isinstance(value, str):
        if _NONE.fullmatch(value):
            return set()
        match = _BARE.fullmatch(value) or _NAMED.search(value)
        return set(listed_numbers(match["list"])) if match else None
    numbers = [_whole(part) for part in (value if isinstance(value, list) else [value])]
    whole = [number for number in numbers if number is not None]
    if len(whole) != len(numbers):
        return None
    return _spelled(*whole) if contiguous and len(whole) == 2 else set(whole)


def _from_prose(plain: str, first: int, count: int, contiguous: bool) -> set[int] | None:
    marked = claims(plain)
    finals = [claim.payload for claim in marked if claim.final]
    stated = finals[-1:] or [claim.payload for claim in marked][-1:]
    for part in (*stated, plain):
        if _NONE.fullmatch(part):
            return set()
        bare = _BARE.fullmatch(part.split("\n")[0]) if part in stated else _BARE.fullmatch(part)
        said = set(listed_numbers(bare["list"])) if bare else _named(sentences(part) or [part])
        if said:
            return _spelled(min(said), max(said)) if contiguous and _hull_is_meant(part, said) else said
        if _ALL.search(part):
            return set(range(first, first + count))
    return None


def _named(statements: Iterable[str]) -> set[int]:
    said: set[int] = set()
    for statement in statements:
        for pattern in (_NAMED, _BEFORE):
            for match in pattern.finditer(statement):
                if not _DENIED.search(statement, 0, match.start()) and not _is_total(statement, match):
                    said.update(listed_numbers(match["list"]))
    return said


def _is_total(statement: str, match: re.Match[str]) -> bool:
    """Whether "20 frames" tells how many were shown, rather than which."""
    plural = match[0].rstrip().lower().endswith("s")
    return match.re is _BEFORE and plural and match["list"].isdigit()


def _hull_is_meant(part: str, said: set[int]) -> bool:
    return len(said) < 3 or _BETWEEN.search(part) is not None


def _whole(value: Loose) -> int | None:
    if isinstance(value, str):
        match = re.fullmatch(rf"\s*(?:{_WORD})?\s*#?\s*([0-9]{{1,5}})\s*", value, re.IGNORECASE)
        return int(match[1]) if match else None
    return int(value) if isinstance(value, float) and 0 <= value == int(value) < 1e5 else None


def _spelled(*ends: int) -> set[int]:
    low, high = min(ends), max(ends)
    return set(range(low, min(high, low + LONGEST_RANGE) + 1))
