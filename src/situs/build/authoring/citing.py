"""Citations: per kind of question and lesion,
a sentence of the literature that says why it matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from situs.agents.author import Cited, librarian_role, library_reply
from situs.agents.author.librarian import LIBRARIAN_TURNS
from situs.base.files import digest
from situs.build.authoring.roles import Desk
from situs.items.programs import Expr, shipped_names
from situs.judges import Asker
from situs.library import Library

__all__ = ["cell_of", "cite_cells"]

_KINDS = {
    "which": "which structure lies where",
    "any": "whether one lies near a structure",
    "count": "how many there are",
    "same": "which lesion is which",
    "closer": "which structure is closer",
    "larger": "which is larger",
    "reaches_higher": "which reaches further up",
    "reaches_lower": "which reaches further down",
    "is_within": "distance to a structure",
    "is_touching": "contact with a structure",
    "gap": "distance to a structure",
    "level": "vertebral level",
    "top_level": "vertebral level of the upper end",
    "bottom_level": "vertebral level of the lower end",
    "side": "side of the body",
}


def cell_of(program: Expr) -> str:
    """Kind of question and kind of lesion, or the first structure."""
    about = (program.families or program.names or [""])[0]
    return f"{program.op}|{about}"


def _words(cell: str) -> str:
    kind, _, about = cell.partition("|")
    named = shipped_names()
    lesion = (
        named.lesion(about) if "lesion" in about or "tumour" in about else about.replace("_", " ")
    )
    return f"{_KINDS.get(kind, kind.replace('_', ' '))}: {lesion}"


def cite_cells(
    desk: Desk, librarian: Asker, library: Library, cells: Iterable[str], funnel: Counter[str]
) -> dict[str, Cited]:
    """Cell → citation, for those for which a quote was proved."""
    by_id = {"c" + digest(cell, size=5): cell for cell in sorted(set(cells))}
    history: dict[str, list[dict[str, Any]]] = {id_: [] for id_ in by_id}
    cited: dict[str, Cited] = {}
    active = list(by_id)
    for turn in range(LIBRARIAN_TURNS):
        subjects = {
            id_: {
                "about": _words(by_id[id_]),
                "turns_left": LIBRARIAN_TURNS - turn,
                "so_far": history[id_],
            }
            for id_ in active
        }
        entries = desk.ask(
            "librarian", librarian, librarian_role(), subjects, f"librarian-{turn + 1}"
        )
        active = []
        for id_, action in sorted(entries.items()):
            result, citation = library_reply(library, action)
            if citation is not None:
                cited[by_id[id_]] = Cited(by_id[id_], citation)
                funnel["citations proved"] += 1
            elif action["action"] != "stop":
                funnel["citations refused"] += action["action"] == "cite"
                history[id_].append({"action": action, "result": result})
                active.append(id_)
    return cited
