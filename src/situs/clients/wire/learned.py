"""What a server will not take, learned from its own words, so that any model runs without flags.

Models of 2025 and later refuse `max_tokens` or a temperature; gateways refuse what they do not
know. The refusal names the field. What Situs sends by itself is then renamed or left out, and a
note in the run says so; what the user asked for is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

__all__ = ["MAY_GO", "NO_SYSTEM_ROLE", "Lesson", "cure_of", "lesson_of", "refuses_system_role"]

_STATUSES = (400, 422)
_LIMIT = 4096
"""Bytes of an error that are read."""
_REFUSAL = re.compile(
    r"unsupported|(?:not|n't) (?:be |an? )?(?:support|permit|allow|implement|available)|unknown"
    r"|unrecogni[sz]ed|unexpected|extra_forbidden|no longer|deprecated|cannot find field|only the"
    r" default|cannot both be specified"
    # A model that thinks takes one value only.
    r"|only [\d.]+ is |may only be|must be (?:set to )?1\b",
    re.IGNORECASE,
)
"""How servers say that a field as such is unwelcome,
as against a value that is too large or of a wrong type."""
_RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""Two names of one thing; which of them a server knows depends on its age."""
MAY_GO = ("temperature", "top_p", "seed")
"""Fields without which a reply is still an answer to the same request."""


_SYSTEM_ROLE = re.compile(
    r"system (?:role|message|prompt|instruction)s?\b.{0,60}(?:not |un)(?:supported|allowed|enabled)"
    r"|role.{0,40}(?:not|n't) support.{0,20}system"
    r"|(?:not|n't) support.{0,20}system (?:role|message|prompt)"
    r"|roles must alternate",
    re.IGNORECASE | re.DOTALL,
)
"""How servers and chat templates (o1-mini, Gemma, Mistral) say that they know no system role."""
NO_SYSTEM_ROLE = "the server takes no system role; its words open the first question"


class Lesson(msgspec.Struct, frozen=True):
    """A field that a server does not take."""

    field: str
    instead: str = ""
    """The name under which it is sent instead; empty if it is left out."""

    def note(self) -> str:
        """In words, for a run's record."""
        if self.instead:
            return f"the server takes {self.instead} instead of {self.field}"
        extra = "; its own sampling applies" if self.field == "temperature" else ""
        return f"the server does not take {self.field}; it was left out{extra}"


def lesson_of(
    status: int, body: bytes, sent: Collection[str], asked_for: Collection[str]
) -> Lesson | None:
    """What an error teaches; None if it names no field that was sent, or one that the user asked
    for.

    `sent` are the fields of the request, `asked_for` those of them that the user gave.
    """
    named = _refused_fields(status, body, sent)
    for field in named:
        other = _RENAMED.get(field, "")
        if other and other not in sent:
            return Lesson(field, other)
    return next((Lesson(f) for f in named if f in MAY_GO and f not in asked_for), None)


def refuses_system_role(status: int, body: bytes) -> bool:
    """Whether an error says that instructions cannot come in a message of their own."""
    text = body[:_LIMIT].decode("utf-8", "replace")
    return status in (*_STATUSES, 500) and _SYSTEM_ROLE.search(text) is not None


def cure_of(status: int, body: bytes, asked_for: Collection[str]) -> str:
    """What the user can do about an error that names a setting of theirs;
    empty if it names none."""
    named = _refused_fields(status, body, asked_for)
    return f"; leave {named[0]} out of --model" if named else ""


def _refused_fields(status: int, body: bytes, fields: Collection[str]) -> list[str]:
    if status not in _STATUSES:
        return []
    text = body[:_LIMIT].decode("utf-8", "replace")
    if not _REFUSAL.search(text):
        return []
    return [field for field in fields if re.search(rf"(?<![\w.]){re.escape(field)}(?!\w)", text)]
