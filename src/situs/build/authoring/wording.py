"""The writer's wordings: asked for by shape, proved by the round trip, kept in the bank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from situs.agents.author import writer_role, writer_shown
from situs.anatomy import Term, shipped_terms
from situs.base.files import digest
from situs.build.authoring.roles import Desk
from situs.items import Item
from situs.items.programs import (
    BUILT_IN,
    Names,
    Wording,
    built_in_wordings,
    fill,
    language_version,
    program_of,
    prove,
    prove_text,
    read_program,
    shape_of,
    wording_for,
    wrong_noun,
)
from situs.judges import Asker

__all__ = ["names_with", "program_wordings", "shape_wordings", "worded"]

_ROUNDS = 3
"""The parser's reasons come back at most twice."""
_ENOUGH = 2
"""Proved wordings after which a shape is not asked again."""


def program_wordings(
    programs: Iterable[str], proved: Mapping[str, list[Wording]], seed: int
) -> dict[str, Wording]:
    """Program → its wording, the same for every patient;
    Situs's own for shapes that nobody was asked to word, and for programs that no wording suits."""
    wordings = {}
    for text in set(programs):
        program = read_program(text)
        shape = shape_of(program)
        known = [one for one in proved.get(str(shape), ()) if not wrong_noun(one.text, program)]
        wordings[text] = wording_for(program, known or built_in_wordings(shape), seed)
    return wordings


def shape_wordings(
    desk: Desk,
    writer: Asker | None,
    programs: Iterable[str],
    bank: Iterable[Wording],
    funnel: Counter[str],
) -> dict[str, list[Wording]]:
    """Shape → wordings that are proved, for the shapes of these programs:
    those of the bank and of the writer."""
    shapes = {str(shape_of(read_program(text))) for text in set(programs)}
    proved: dict[str, list[Wording]] = {shape: [] for shape in sorted(shapes)}
    for one in bank:
        if one.shape in proved:
            proved[one.shape].append(one)
    if writer is not None:
        _ask(desk, writer, proved, funnel)
    return proved


def _ask(desk: Desk, writer: Asker, proved: dict[str, list[Wording]], funnel: Counter[str]) -> None:
    refused: dict[str, list[tuple[str, str]]] = {shape: [] for shape in proved}
    for number in range(_ROUNDS):
        waiting = [s for s, wordings in proved.items() if len(wordings) < _ENOUGH]
        subjects = {
            "s" + digest(s, size=5): writer_shown(read_program(s), refused[s]) for s in waiting
        }
        by_id = {"s" + digest(s, size=5): s for s in waiting}
        entries = desk.ask(
            "writer", writer, writer_role(number > 0), subjects, f"writer-{number + 1}"
        )
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


def names_with(own_terms: Mapping[str, Term]) -> Names:
    """What structures are called: the user's own terms before the shipped ones."""
    terms = {**shipped_terms(), **own_terms}
    families = {name: entry for name, entry in terms.items() if entry.kind == "lesion"}
    return Names.of_terms(terms.values(), families)


def worded(item: Item, wordings: Mapping[str, Wording], names: Names) -> Item:
    """The item in its program's wording, if the text still means the program and nothing else."""
    program = program_of(item)
    wording = wordings.get(str(program))
    if program is None or wording is None or wording.by == BUILT_IN:
        return item
    text = fill(wording.text, program, names)
    if prove_text(text, program, names) is not None:
        return item
    tags = (*item.tags, f"wording:{wording.wording_id}")
    return msgspec.structs.replace(item, question=text, tags=tags)
