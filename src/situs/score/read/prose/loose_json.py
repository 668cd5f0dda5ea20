"""JSON as models write it: in prose and code fences,
with single quotes, bare keys, trailing commas, or cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

__all__ = ["Found", "Loose", "loose_values", "proper_json"]

Loose: TypeAlias = "str | float | bool | list[Loose] | dict[str, Loose] | None"
"""What was written. A repeated key keeps every value that differs, in a list."""

_MOST_STEPS = 200_000
_WASTE = 4
"""Work on attempts that fail may be so many times the text's length; then the rest is passed over.
Without it a text of nothing but brackets costs its square."""
_LEAST_WASTE = 20_000
_NESTED_COST = 1000
"""What a text costs that is nested too deeply to be decoded."""
_DEEPEST = 12
_SPACE = re.compile(r"(?:\s+|//[^\n]{0,500}|/\*.{0,500}?\*/|#[^\n]{0,500}(?=\n))*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?(?![\w%])")
_BARE = re.compile(r"[^\s\"'{}\[\],:()][^\"'{}\[\],:\n()]{0,80}")
_ESCAPES = {"n": "\n", "t": " ", "r": "\n", "b": "", "f": ""}
_CLOSERS = {"{": "}", "[": "]", "(": ")"}
_ESCAPED = re.compile(r'[^"{]*(?:"\s*)?\{(?:\s|\\n)*\\"')
"""An object that was put into a string, its quotes escaped."""
_WORDS: dict[str, bool | None] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "nan": None,
}


class Found(NamedTuple):
    """An object or array, and where it stands."""

    value: Loose
    start: int
    end: int


class _NotJson(Exception):
    pass


def _unrepeated(pairs: list[tuple[str, Loose]]) -> dict[str, Loose]:
    """An object as JSON would have it; one with a repeated key is left to the careful reader."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError
    return record


_DECODER = json.JSONDecoder(
    parse_int=float, parse_constant=lambda word: None, object_pairs_hook=_unrepeated
)


def proper_json(text: str) -> Loose:
    """The value of a text that is JSON as it should be and nothing else;
    a ValueError if it is not."""
    value: Loose = _DECODER.decode(text)
    return value


def loose_values(text: str, opening: str = "{[") -> Iterator[Found]:
    """The outermost objects and arrays of a text, in order;
    what does not read as one is passed over."""
    if _ESCAPED.match(text):
        # As long as before, so that places in the text still hold.
        text = text.replace('\\"', ' "').replace("\\n", "  ")
    reader = _Reader(text)
    position = 0
    left = max(_LEAST_WASTE, _WASTE * len(text))
    pattern = re.compile(f"[{re.escape(opening)}]")
    while left > 0 and (match := pattern.search(text, position)) is not None:
        proper, cost = _proper(text, match.start())
        if proper is not None:
            yield Found(proper[0], match.start(), proper[1])
            position = proper[1]
            continue
        before = reader.steps
        try:
            value, end = reader.value(match.start(), 0)
        except _NotJson:
            position = match.end()
            left -= cost + reader.steps - before
            continue
        yield Found(value, match.start(), end)
        position = end


def _proper(text: str, start: int) -> tuple[tuple[Loose, int] | None, int]:
    """A value that is JSON as it should be, read fast, or None; and how far it was looked at."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return None, error.pos - start + 1
    except (ValueError, RecursionError):
        return None, _NESTED_COST
    return (value, end), 0


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.steps = 0

    def value(self, at: int, depth: int) -> tuple[Loose, int]:
        self.steps += 1
        if self.steps > _MOST_STEPS or depth > _DEEPEST:
            raise _NotJson
        character = self._text[at : at + 1]
        if character == "{":
            return self._object(at + 1, depth)
        if character in {"[", "("}:
            return self._array(at + 1, _CLOSERS[character], depth)
        if character in {'"', "'"}:
            return self._string(at)
        number = _NUMBER.match(self._text, at)
        if number:
            return float(number[0]), number.end()
        bare = _BARE.match(self._text, at)
        if not bare:
            raise _NotJson
        word = bare[0].strip()
        return _WORDS.get(word.lower(), word), bare.end()

    def _object(self, at: int, depth: int) -> tuple[dict[str, Loose], int]:
        result: dict[str, Loose] = {}
        while True:
            at = self._skip(at)
            character = self._text[at : at + 1]
            if character == "}":
                return result, at + 1
            if character == "":
                if not result:
                    raise _NotJson
                return result, at
            if character == ",":
                at += 1
                continue
            key, at = self._key(at)
            at = self._skip(at)
            if at >= len(self._text) and result:
                return result, at
            if self._text[at : at + 1] not in {":", "="}:
                raise _NotJson
            at = self._skip(at + 1)
            if at >= len(self._text):
                return result, at
            value, at = self.value(at, depth + 1)
            if key in result and result[key] != value:
                value = [result[key], value]
            result[key] = value

    def _key(self, at: int) -> tuple[str, int]:
        if self._text[at] in {'"', "'"}:
            return self._string(at)
        bare = re.compile(r"[^\s\"'{}\[\],:=()][^\"'{}\[\],:=\n()]{0,80}").match(self._text, at)
        if not bare:
            raise _NotJson
        return bare[0].strip(), bare.end()

    def _array(self, at: int, closer: str, depth: int) -> tuple[list[Loose], int]:
        result: list[Loose] = []
        while True:
            at = self._skip(at)
            character = self._text[at : at + 1]
            if character == closer:
                return result, at + 1
            if character == "":
                if closer == ")" or not result:
                    raise _NotJson
                return result, at
            if character in {",", ";"}:
                at += 1
                continue
            value, at = self.value(at, depth + 1)
            result.append(value)

    def _string(self, at: int) -> tuple[str, int]:
        quote = self._text[at]
        parts: list[str] = []
        position = at + 1
        while position < len(self._text):
            self.steps += 1
            character = self._text[position]
            if character == "\\":
                escaped = self._text[position + 1 : position + 2]
                parts.append(_ESCAPES.get(escaped, escaped))
                position += 2
            elif character == quote and (quote == '"' or self._closes(position)):
                return "".join(parts), position + 1
            else:
                parts.append(character)
                position += 1
        if self.steps > _MOST_STEPS:
            raise _NotJson
        return "".join(parts), position

    def _closes(self, position: int) -> bool:
        """Whether a single quote ends its string:
        an apostrophe ("patient's") has a letter behind it."""
        following = self._text[position + 1 : position + 2]
        return not following.isalnum()

    def _skip(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at
