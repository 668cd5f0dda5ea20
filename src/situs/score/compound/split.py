"""Answers of several parts: which stretch of a reply speaks of which part."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping

import msgspec

from situs.items import Boxes, Simple
from situs.score.compound.parts import is_place, without_places
from situs.score.read.box_forms.stated import stated_in_json
from situs.score.read.prose.clean import visible
from situs.score.read.prose.loose_json import Loose, loose_values, proper_json

__all__ = ["part_text", "plain_names", "split_response"]

_MOST_CHARACTERS = 200_000
"""Of a reply that is taken apart."""
_DEEPEST = 6
_SHORT = 200
"""Characters of a part whose text is remembered."""


def split_response(response: str, parts: dict[str, Simple]) -> dict[str, str]:
    """For each part the text to read it from.

    JSON objects with the parts' names as keys are taken apart, the last one first; so are lines
    that begin with "name:". What is not named so is read from the rest of the reply, without boxes
    where the part is none.
    """
    text = visible(response, _MOST_CHARACTERS)
    if text == response and (stated := _stated_fields(response, parts)) is not None:
        return stated
    fields, remainder = _fields(text, parts)
    if not fields:
        fields, remainder = _sections(text, parts), response
    text_of_place = {True: remainder, False: without_places(remainder)}
    return {name: fields.get(name, text_of_place[is_place(part)]) for name, part in parts.items()}


def _stated_fields(text: str, parts: Mapping[str, Simple]) -> dict[str, str] | None:
    """The parts of a reply that is one JSON object with the parts' names as keys, and nothing else.

    None if it is anything else: it is then looked for them. Plainly stated boxes stay as they are
    written.
    """
    if text[:1] != "{" or text[-1:] != "}" or "\\" in text:
        return None
    quoted = plain_names(tuple(parts))
    # A name that stands in the text twice may be a key that is given twice.
    if quoted is None or any(text.count(name) != 1 for name in quoted):
        return None
    try:
        fields = _FIELDS.decode(text)
        if fields.keys() != parts.keys():
            return None
        texts = {name: str(bytes(value), "utf-8") for name, value in fields.items()}
        return {
            name: own
            if isinstance(parts[name], Boxes) and stated_in_json(own) is not None
            else (part_text(own) if len(own) <= _SHORT else _text(proper_json(own)))
            for name, own in texts.items()
        }
    except ValueError:
        return None


_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


@functools.lru_cache(maxsize=1 << 8)
def plain_names(names: tuple[str, ...]) -> list[str] | None:
    """The names as keys; None if two of them may be taken for each other, or one for thinking."""
    is_plain = len({_key(name) for name in names}) == len(names) and "[" not in "".join(names)
    return [f'"{name}"' for name in names] if is_plain else None


@functools.lru_cache(maxsize=1 << 12)
def part_text(value: str) -> str:
    """The text of a part as a reader gets it; short ones, as of grades, come again and again."""
    return _text(proper_json(value))


def _fields(text: str, names: Iterable[str]) -> tuple[dict[str, str], str]:
    """Part → its text, and the reply without them."""
    wanted = {_key(name): name for name in names}
    fields: dict[str, str] = {}
    remainder: list[str] = []
    end = len(text)
    for loose in reversed(
        [value for value in loose_values(text, "{") if isinstance(value.value, dict)]
    ):
        record = _holding(loose.value, wanted)
        named_fields = {wanted[_key(k)]: _text(v) for k, v in record.items() if _key(k) in wanted}
        if named_fields:
            fields = named_fields | fields
            other = {k: v for k, v in record.items() if _key(k) not in wanted}
            remainder = [json.dumps(other) if other else "", text[loose.end : end], *remainder]
            end = loose.start
    return fields, " ".join([text[:end], *remainder])


def _holding(value: Loose, wanted: Mapping[str, str], depth: int = 0) -> dict[str, Loose]:
    """The object, or the first one within it, that has a part's name as a key."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return {}
    if any(_key(key) in wanted for key in value):
        return value
    return next(
        (found for part in value.values() if (found := _holding(part, wanted, depth + 1))), {}
    )


def _sections(text: str, names: Iterable[str]) -> dict[str, str]:
    """Stretches that begin with a part's name at the head of a line;
    only if at least two parts are named so."""
    wanted = {_key(name): name for name in names}
    heads = [
        (match.start(), match.end(), wanted[_key(match[1])])
        for match in re.finditer(
            r"^[\s#*>\-0-9.)]*([A-Za-z][\w \-]{0,40}?)[\s*]*[:=]", text, re.MULTILINE
        )
        if _key(match[1]) in wanted
    ]
    if len({name for _, _, name in heads}) < 2:
        return {}
    ends = [start for start, _, _ in heads[1:]] + [len(text)]
    return {name: text[begin:end].strip(" *\n") for (_, begin, name), end in zip(heads, ends)}


def _text(value: Loose) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(str(part) for part in value)
    return json.dumps(value)


@functools.lru_cache(maxsize=1 << 12)
def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
