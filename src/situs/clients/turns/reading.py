"""A model's reply as one action, read with distrust: shapes differ, arguments may be anything."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from situs.base.text import whole_characters
from situs.clients.protocol import Reply
from situs.clients.turns.contract import ActionKind, Field
from situs.errors import did_you_mean

__all__ = ["Action", "Misread", "read_action"]

_LONGEST = 128_000
"""Characters of a reply that are looked at."""
_MOST_TRIES = 64
"""Places in a reply where an object may begin."""
_DEEPEST = 16
"""Levels of an object that is looked at; actions have three."""
_BLANKS = re.compile(r"\s{200,}")
"""Servers that enforce a schema are known to run on with white space until the tokens end."""
_THOUGHT_TAG = re.compile(
    r"<(/?)(think|thinking|thoughts?|reasoning|analysis|scratchpad)>", re.IGNORECASE
)
_NAMES = ("action", "tool", "name", "function")
_ARGUMENTS = ("arguments", "args", "parameters", "input")


class Action(msgspec.Struct, frozen=True):
    """A valid action; fields that were null or left out are not among the arguments."""

    name: str
    arguments: dict[str, Any] = {}
    call_id: str = ""
    """Of a native tool call."""


class Misread(msgspec.Struct, frozen=True):
    """Why a reply is no action, in words that are sent back to the model."""

    state: Literal["invalid", "cut"]
    """`cut`: it ended at the limit of tokens, or ran on with white space."""
    reason: str


def read_action(reply: Reply, kinds: Iterable[ActionKind]) -> Action | Misread:
    """The one action of a reply: a native tool call,
    or the first object of its text that names an action."""
    known = {kind.name: kind for kind in kinds}
    if reply.tool_calls:
        call = reply.tool_calls[0]
        read = _checked(call.name, _decoded(call.arguments), known)
        if isinstance(read, Action):
            return msgspec.structs.replace(read, call_id=call.id)
        return read
    text = _without_thoughts(reply.text[:_LONGEST])
    named = next(filter(None, (_named(candidate, known) for candidate in _objects(text))), None)
    if named is not None:
        return _checked(*named, known)
    if reply.finish_reason == "length" or _BLANKS.search(reply.text):
        return Misread("cut", "your reply was cut off; give one short JSON object and nothing else")
    return Misread("invalid", "your reply holds no JSON object with an action")


def _without_thoughts(text: str) -> str:
    """What is said outside of thoughts.

    One pass over the tags: replies run on, and a pattern that looks for the end of each thought
    takes minutes over a long one.
    """
    spoken: list[str] = []
    begin, thought = 0, ""
    for tag in _THOUGHT_TAG.finditer(text):
        is_end, name = bool(tag[1]), tag[2].lower()
        if not thought and not is_end:
            spoken.append(text[begin : tag.start()])
            thought = name
        elif is_end and not thought:
            # The chat template began the thought, so the reply holds its end only.
            spoken, begin = [], tag.end()
        elif is_end and name == thought:
            begin, thought = tag.end(), ""
    if not thought:
        spoken.append(text[begin:])
    return "".join(spoken)


def _objects(text: str) -> Iterable[dict[str, Any]]:
    decoder = json.JSONDecoder()
    start, tries = text.find("{"), 0
    while start >= 0 and tries < _MOST_TRIES:
        tries += 1
        try:
            decoded, end = decoder.raw_decode(text, start)
            _refuse_depth(decoded)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        if isinstance(decoded, dict):
            yield decoded
        start = text.find("{", end)


def _refuse_depth(decoded: Any) -> None:
    """ValueError for what is nested beyond sense.

    How deep Python itself can follow depends on who calls: a reply would be read now and not when
    it is played back.
    """
    level = [decoded]
    for _ in range(_DEEPEST):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise ValueError("is nested too deeply")


def _named(candidate: Mapping[str, Any], known: Mapping[str, ActionKind]) -> tuple[str, Any] | None:
    """Name and arguments in any of the shapes that models use;
    None if the object names no action."""
    for key in _NAMES:
        name = candidate.get(key)
        if isinstance(name, dict):
            return _named(name, known)
        if isinstance(name, str):
            inner: dict[str, Any] = next(
                (candidate[one] for one in _ARGUMENTS if isinstance(candidate.get(one), dict)), {}
            )
            inline = {k: v for k, v in candidate.items() if k != key and k not in _ARGUMENTS}
            return name, inline | inner
    if len(candidate) == 1:
        (name, inner), *_ = candidate.items()
        if name in known and isinstance(inner, dict):
            return name, inner
        if name in known and name in known[name].fields:
            # `{"answer": "B"}` for `{"action": "answer", "answer": "B"}`.
            return name, {name: inner}
    return None


def _checked(name: str, raw_arguments: Any, known: Mapping[str, ActionKind]) -> Action | Misread:
    kind = known.get(name.strip().lower())
    if kind is None:
        return Misread("invalid", f"unknown action {name[:40]!r}; {did_you_mean(name[:40], known)}")
    if not isinstance(raw_arguments, dict):
        return Misread("invalid", f"the arguments of {kind.name} are not an object")
    arguments: dict[str, Any] = {}
    for field, value in raw_arguments.items():
        if value is None:
            continue
        if field not in kind.fields and value in ("", []):
            # A schema that requires every property is often filled with blanks instead of null.
            continue
        if field not in kind.fields:
            names = did_you_mean(str(field)[:40], kind.fields) if kind.fields else "it takes none"
            return Misread("invalid", f"{kind.name} has no {str(field)[:40]!r}; {names}")
        try:
            arguments[field] = _value(kind.fields[field], value)
        except ValueError as error:
            return Misread("invalid", f"{kind.name}: {field} {error}")
    missing = [f for f, field in kind.fields.items() if field.required and f not in arguments]
    if missing:
        return Misread("invalid", f"{kind.name} needs {' and '.join(missing)}")
    return Action(kind.name, arguments)


def _value(field: Field, value: Any) -> Any:
    """A value of the field's kind; ValueError with the reason otherwise."""
    if field.kind == "text":
        return _text(field, value)
    if field.kind == "choice":
        word = str(value).strip().lower()
        if word not in field.choices:
            raise ValueError(f"is one of {', '.join(field.choices)}, not {str(value)[:40]!r}")
        return word
    if field.kind in ("numbers", "texts"):
        fewest, most = field.count
        if not isinstance(value, list | tuple) or not fewest <= len(value) <= most:
            size = str(fewest) if fewest == most else f"{fewest} to {most}"
            raise ValueError(f"is a list of {size} {field.kind}")
        return [_number(one) if field.kind == "numbers" else _text(field, one) for one in value]
    number = _number(value)
    if field.least is not None and number < field.least:
        raise ValueError(f"is at least {field.least:g}, not {number:g}")
    if field.most is not None and number > field.most:
        raise ValueError(f"is at most {field.most:g}, not {number:g}")
    if field.kind == "number":
        return number
    if number != int(number):
        raise ValueError(f"is a whole number, not {number:g}")
    return int(number)


def _text(field: Field, value: Any) -> str:
    """Words as they are; yes and no for booleans, and JSON for what else a model may put there."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) > field.longest:
        raise ValueError(f"has {len(text):,} characters; at most {field.longest:,} are read")
    # JSON may name half a character by its escape.
    return whole_characters(text)


def _number(value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise ValueError(f"is a number, not {value[:40]!r}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"is a number, not {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or abs(number) > 1e9:
        raise ValueError("is too large")
    return number


def _decoded(arguments: str) -> Any:
    try:
        decoded = json.loads(arguments[:_LONGEST] or "{}")
        _refuse_depth(decoded)
        return decoded
    except (ValueError, RecursionError):
        return None
