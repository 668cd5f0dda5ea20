"""Whether a server counts the pictures it is sent: some answer 200 and never look at them."""

from __future__ import annotations

import msgspec

from situs.clients.protocol import Reply, Request

__all__ = ["blind_notice", "without_pictures"]

_FEWEST_TOKENS = 4
"""Per picture. A placeholder that is read as text costs two or three;
the leanest vision models spend tens."""


def without_pictures(request: Request) -> Request:
    """The same request in words only, with an answer as short as can be: its prompt tokens are what
    words cost.

    Tools stay: they are words of the prompt too, and some servers refuse a conversation that used
    tools it has not.
    """
    extra = {
        name: 1 if name == "max_completion_tokens" else value
        for name, value in request.settings.extra.items()
    }
    settings = msgspec.structs.replace(request.settings, max_tokens=1, extra=extra)
    return msgspec.structs.replace(request.words_only(), settings=settings, schema=None)


def blind_notice(request: Request, reply: Reply, words: Reply) -> str:
    """A warning if the pictures added next to no prompt tokens;
    empty if they count, or nobody can tell."""
    pictures = len(request.images())
    with_them, without = reply.usage.get("prompt_tokens"), words.usage.get("prompt_tokens")
    if with_them is None or without is None or with_them - without >= _FEWEST_TOKENS * pictures:
        return ""
    return (
        f"the server seems to ignore the pictures: {with_them:.0f} prompt tokens with {pictures} of"
        f" them, {without:.0f} with none. Is the model served with its image processor?"
    )
