"""Answers of several parts: which stretch of a reply speaks of which part."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from situs.items import Simple
from situs.score._loose_json import Loose, loose_values
from situs.score._parse_clean import visible
from situs.score._parts import is_place, without_places

__all__ = ["split_response"]

_MOST = 200_000


def split_response(response: str, parts: dict[str, Simple]) -> dict[str, str]:
    """For each part the text to read it from.

    A JSON object with the parts' names as keys is taken apart; so are lines that begin with "name:". Otherwise every
    part is read from the whole reply, without boxes where the part is none.
    """
    text = visible(response, _MOST)
    fields = _fields(text, parts) or _sections(text, parts)
    whole = {True: response, False: without_places(response)}
    return {name: fields.get(name, "" if fields else whole[is_place(part)]) for name, part in parts.items()}


def _fields(text: str, names: Iterable[str]) -> dict[str, str]:
    wanted = {_key(name): name for name in names}
    for found in reversed(list(loose_values(text, "{"))):
        if isinstance(found.value, dict):
            fields = {wanted[_key(k)]: _text(v) for k, v in found.value.items() if _key(k) in wanted}
            if fields:
                return fields
    return {}


def _sections(text: str, names: Iterable[str]) -> dict[str, str]:
    """Stretches that begin with a part's name at the head of a line; only if at least two parts are named so."""
    wanted = {_key(name): name for name in names}
    heads = [
        (match.start(), match.end(), wanted[_key(match[1])])
        for match in re.finditer(r"^[\s#*>\-0-9.)]*([A-Za-z][\w \-]{0,40}?)[\s*]*[:=]", text, re.MULTILINE)
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


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
