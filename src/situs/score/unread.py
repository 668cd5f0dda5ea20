"""Replies that could not be read: how many, and what they look like."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from situs.run import AnswerRow
from situs.score.columns import Columns
from situs.score.records import record_of

__all__ = ["UnreadReplies", "UnreadSample", "unread_replies"]

MOST_UNREAD = 0.05
"""Above this share of unread replies,
the score says as much about the reader as about the model."""
_SAMPLES = 5
_CLIPPED = 160


class UnreadSample(msgspec.Struct, frozen=True):
    """One reply that could not be read."""

    item_id: str
    form: str
    reply: str
    """Its end, where answers stand."""
    reason: str


class UnreadReplies(msgspec.Struct, frozen=True):
    """How many replies could not be read, with some of them."""

    n: int
    of: int
    """Replies that a rule reads: answered, refused in words, or unread."""
    share: float
    samples: list[UnreadSample]

    @property
    def warning(self) -> str:
        """The warning for people; empty where few replies are unread."""
        if self.share <= MOST_UNREAD:
            return ""
        first = "; ".join(
            f"{_clipped(sample.reply, 60)!r} ({sample.reason})" for sample in self.samples[:3]
        )
        return (
            f"{self.n} of {self.of} replies ({self.share:.0%}) could not be read and count as not"
            f" right, e.g. {first}; ask for a plainer answer in the profile's prompt, or declare"
            " the language with --reply-language"
        )


def unread_replies(columns: Columns, rows: Mapping[str, AnswerRow]) -> UnreadReplies:
    """Count the replies that say something which could not be read,
    and show some, spread over the run."""
    of = int(columns.has_state("answered", "refused", "unparsed").sum())
    places = np.flatnonzero(columns.has_state("unparsed"))
    places = places[np.argsort(columns.numbers("position")[places], kind="stable")]
    unread = [place for place in places if _reply(columns.item_ids[place], rows)]
    step = max(1, len(unread) // _SAMPLES)
    samples = []
    for place in unread[::step][:_SAMPLES]:
        one = record_of(columns, int(place))
        reply = _clipped(_reply(one.outcome.item_id, rows), _CLIPPED)
        samples.append(UnreadSample(one.outcome.item_id, one.form, reply, one.outcome.parsed))
    return UnreadReplies(len(unread), of, len(unread) / of if of else 0.0, samples)


def _reply(item_id: str, rows: Mapping[str, AnswerRow]) -> str:
    answer = rows.get(item_id)
    return "" if answer is None else " ".join(answer.response.split())


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else "…" + text[-most:]
