"""The librarian: finds a sentence that says why a kind of question matters.

The quote is proved word for word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from situs.agents.author.turn import turn_role
from situs.clients.turns import ActionKind, Field
from situs.errors import SitusError
from situs.judges import Role
from situs.library import Citation, Library

__all__ = ["LIBRARIAN_TURNS", "Cited", "librarian_role", "library_reply"]

LIBRARIAN_TURNS = 5
_HITS = 8
_SHOWN = 4000
"""Characters of an abstract, at most."""
_TASK = """\
You are a medical librarian. For a kind of question about scans, find one sentence in the library \
that says why it \
matters in practice. You are shown the kind of question, the turns left and what your actions \
gave so far."""
_PMID = Field("whole", "the number of a publication", required=True, least=1, most=1 << 40)
_ACTIONS = (
    ActionKind(
        "search", "Find publications.", {"words": Field("text", "words to look for", required=True)}
    ),
    ActionKind("read", "Read a title and abstract.", {"pmid": _PMID}),
    ActionKind(
        "cite",
        "Cite a sentence of a title or abstract.",
        {
            "pmid": _PMID,
            "quote": Field("text", "its words, copied exactly", required=True, longest=600),
        },
    ),
    ActionKind("stop", "Nothing fits."),
)


class Cited(msgspec.Struct, frozen=True):
    """Why a kind of question matters, with the words that say so."""

    cell: str
    citation: Citation


def _read(action: Mapping[str, Any]) -> dict[str, Any] | None:
    return {name: action[name] for name in ("action", "words", "pmid", "quote") if name in action}


def librarian_role() -> Role:
    """The role."""
    return turn_role("librarian", _TASK, _ACTIONS, _read)


def library_reply(library: Library, action: Mapping[str, Any]) -> tuple[Any, Citation | None]:
    """What an action gives, and the citation if one was proved."""
    match action["action"]:
        case "search":
            try:
                hits = library.search(action["words"], _HITS)
            except SitusError as error:
                return error.one_line(), None
            return [{"pmid": hit.pmid, "title": hit.title[:300]} for hit in hits], None
        case "read":
            article = library.read(action["pmid"])
            if article is None:
                return "no such publication", None
            text = " ".join(section.text for section in article.sections)
            return {"title": article.title, "abstract": text[:_SHOWN]}, None
        case "cite":
            citation = library.cite(action["pmid"], action["quote"])
            if citation is None:
                return "these words do not stand there", None
            return "cited", citation
        case _:
            return "stopped", None
