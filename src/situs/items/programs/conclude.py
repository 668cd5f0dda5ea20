"""From a program to a posed question: the conclusion, its proof and its options."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from situs.facts import Ledger
from situs.items.posed import NotAsked, Posed
from situs.items.programs.evaluate import Evaluation, Undecided
from situs.items.programs.expression import Expr
from situs.items.programs.groups import (
    conclude_any,
    conclude_count,
    conclude_which,
)
from situs.items.programs.orders import (
    conclude_closer,
    conclude_larger,
    conclude_rank,
    conclude_reaches_higher,
    conclude_reaches_lower,
    conclude_wider,
)
from situs.items.programs.saying import render
from situs.items.programs.things import (
    conclude_centre_distance,
    conclude_diameter,
    conclude_diameter_exceeds,
    conclude_gap,
    conclude_is_beyond,
    conclude_is_on,
    conclude_is_touching,
    conclude_is_within,
    conclude_length,
    conclude_level,
    conclude_same,
    conclude_side,
    conclude_volume,
    conclude_volume_exceeds,
)

__all__ = ["pose_program"]


def pose_program(ledger: Ledger, program: Expr) -> Posed | NotAsked:
    """Put a program to a patient.

    KeyError if a structure or kind of lesion it names is not there.
    """
    evaluation = Evaluation(ledger, program)
    try:
        posed = _CONCLUDE[program.op](evaluation, program)
    except Undecided as undecided:
        return undecided.reason
    if isinstance(posed, NotAsked):
        return posed
    return _finished(evaluation, posed, render(program, 0, evaluation.names))


def _finished(evaluation: Evaluation, posed: Posed, text: str) -> Posed:
    """The question in its own words, with what its descriptions rest on."""
    ledger = evaluation.ledger
    difficulties = [d for d in (posed.difficulty, *evaluation.margins) if d is not None]
    needs = dict.fromkeys((*evaluation.needs, *posed.needs))
    # A lesion goes by its kind: which of them it is, is for the reader to find.
    tags = dict.fromkeys(
        f"structure:{ledger.family(tag[10:]) or tag[10:]}" if tag.startswith("structure:") else tag
        for tag in posed.tags
        if not tag.startswith("structure:") or tag[10:] in ledger.terms or ":" in tag[10:]
    )
    last = posed.steps[-1:]
    before = posed.steps[:-1]
    finding = tuple(step for step in before if step.kind == "find")
    others = tuple(step for step in before if step.kind != "find")
    return msgspec.structs.replace(
        posed,
        text=text,
        facts=(*posed.facts, *evaluation.facts),
        steps=(*finding, *evaluation.steps, *others, *last),
        needs=tuple(sorted(needs, key=lambda need: need.startswith("sees:"))),
        tags=tuple(tags),
        difficulty=min(difficulties, default=None),
    )


_CONCLUDE: dict[str, Callable[[Evaluation, Expr], Posed | NotAsked]] = {
    "which": conclude_which,
    "any": conclude_any,
    "count": conclude_count,
    "is_touching": conclude_is_touching,
    "is_within": conclude_is_within,
    "is_on": conclude_is_on,
    "is_beyond": conclude_is_beyond,
    "same": conclude_same,
    "larger": conclude_larger,
    "wider": conclude_wider,
    "closer": conclude_closer,
    "reaches_higher": conclude_reaches_higher,
    "reaches_lower": conclude_reaches_lower,
    "rank": conclude_rank,
    "volume": conclude_volume,
    "volume_exceeds": conclude_volume_exceeds,
    "diameter": conclude_diameter,
    "diameter_exceeds": conclude_diameter_exceeds,
    "length": conclude_length,
    "gap": conclude_gap,
    "centre_distance": conclude_centre_distance,
    "level": conclude_level,
    "top_level": conclude_level,
    "bottom_level": conclude_level,
    "side": conclude_side,
}
"""Question → how it is concluded; a test holds it to the operators of the language."""
