"""What a docstring says in brief, for lists that a user reads."""

from __future__ import annotations

import inspect


def summary(thing: object) -> str:
    """The first paragraph of a docstring on one line, however it is wrapped; empty without one."""
    paragraph = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())
