"""The writer's wordings: asked for by shape, proved by the round trip, kept in the bank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from situs.agents.author import writer_role, writer_shown
from situs.base.files import digest
from situs.build.authoring.roles import Desk
from situs.items.programs import (
    Expr,
    Wording,
    built_in_wordings,
    language_version,
    prove,
    read_program,
)
from situs.judges import Asker

__all__ = ["shape_wordings"]

_ROUNDS = 3
"""The parser's reasons come back at most twice."""
_ENOUGH = 2
"""Proved wordings after which a shape is not asked again."""


def shape_wordings(
    desk: Desk,
    writer: Asker | None,
    shapes: Sequence[Expr],
    bank: Iterable[Wording],
    funnel: Counter[str],
) -> dict[str, list[Wording]]:
    """Shape → wordings that are proved: those of the bank and of the writer, else Situs's own."""
    proved: dict[str, list[Wording]] = {str(shape): [] for shape in shapes}
    for one in bank:
        if one.shape in proved:
            proved[one.shape].append(one)
    if writer is not None:
        _ask(desk, writer, proved, funnel)
    return {
        shape: found or built_in_wordings(read_program(shape)) for shape, found in proved.items()
    }


def _ask(desk: Desk, writer: Asker, proved: dict[str, list[Wording]], funnel: Counter[str]) -> None:
    refused: dict[str, list[tuple[str, str]]] = {shape: [] for shape in proved}
    for number in range(_ROUNDS):
        waiting = [s for s, found in proved.items() if len(found) < _ENOUGH]
        shown = {
            "s" + digest(s, size=5): writer_shown(read_program(s), refused[s]) for s in waiting
        }
        by_id = {"s" + digest(s, size=5): s for s in waiting}
        entries = desk.ask("writer", writer, writer_role(number > 0), shown, f"writer-{number + 1}")
        for id_, entry in sorted(entries.items()):
            _take(by_id[id_], entry["wordings"], writer.name, proved, refused, funnel)
        funnel["shapes without a reply"] += len(waiting) - len(entries)


def _take(
    shape: str,
    texts: Sequence[str],
    by: str,
    proved: dict[str, list[Wording]],
    refused: dict[str, list[tuple[str, str]]],
    funnel: Counter[str],
) -> None:
    refused[shape] = []
    for text in texts:
        funnel["wordings proposed"] += 1
        refusal = prove(text, read_program(shape))
        if refusal is not None:
            funnel[f"wording refused: {refusal.code}"] += 1
            refused[shape].append((text, refusal.reason))
        elif all(one.text != text for one in proved[shape]):
            funnel["wordings proved"] += 1
            proved[shape].append(Wording(shape, text, by, language_version()))
