"""Which of a reply's claims is its answer.

A final statement outweighs everything before it. Otherwise every claim that stands out (announced, concluded, or
standing alone) must agree, unless the reply turned between them ("wait", "correction"): then the later ones count.
Only where nothing stands out do claims in passing count, and they must agree as well.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from situs.score.read.grammar import Certainty, Claim, Role, Statement
from situs.score.read.result import CONTRADICTION, Parsed, Result, Unparsed

__all__ = ["SEVERAL", "TAKEN_BACK", "decide"]

SEVERAL = Unparsed("several options named")
TAKEN_BACK = Unparsed("the answer is taken back")
UNSURE = Unparsed("not said for sure")

Same = Callable[[Hashable, Hashable], bool]


def decide(found: Sequence[Statement], same: Same = lambda a, b: a == b) -> Result[Hashable] | None:
    """The one answer that the reply gives; None if it makes no claim at all."""
    claims = [claim for statement in found for claim in statement.claims]
    finals = [statement for statement in found if any(claim.role is Role.FINAL for claim in statement.claims)]
    if finals:
        return _final(finals[-1], same)
    for least in (Role.LEAD, Role.PLAIN):
        strong = [claim for claim in claims if claim.role >= least and claim.asserted]
        if strong:
            return _agreed(strong, claims, found, same)
    if any(claim.retracted and claim.role >= Role.LEAD for claim in claims):
        return TAKEN_BACK
    if any(claim.certainty is Certainty.DOUBTED or claim.alternatives for claim in claims):
        return UNSURE
    return None


def _final(statement: Statement, same: Same) -> Result[Hashable] | None:
    claims = [claim for claim in statement.claims if claim.role is Role.FINAL and claim.asserted]
    if not claims:
        return UNSURE
    last = [claim for claim in claims if claim.turns == claims[-1].turns]
    return _one(last, same)


def _agreed(strong: list[Claim], claims: list[Claim], found: Sequence[Statement], same: Same) -> Result[Hashable]:
    latest = [claim for claim in strong if claim.turns == strong[-1].turns]
    leads = [claim for claim in latest if claim.role is Role.LEAD]
    if len(leads) < len(latest) and not isinstance(_one(leads, same) if leads else Parsed(None), Parsed):
        # "A: 45 mm", "B: 12 mm", so B: a list heads its lines, and only what follows from it is the answer.
        latest = [claim for claim in latest if claim.role is not Role.LEAD]
    result = _one(latest, same)
    if not isinstance(result, Parsed):
        return result
    for claim in claims:
        denies = claim.denied and claim.role >= Role.STATED and claim.turns >= latest[0].turns
        if denies and any(same(value, result.value) for value in claim.values):
            return CONTRADICTION
    if _left_open(latest[-1], result.value, found, same):
        return UNSURE
    return result


def _left_open(last: Claim, value: Hashable, found: Sequence[Statement], same: Same) -> bool:
    """Whether the sentence of the last claim goes on with another answer that may be right ("B, or maybe C")."""
    for statement in found:
        if last in statement.claims and not statement.asks:
            behind = [claim for claim in statement.claims if claim.start > last.start]
            return any(
                claim.certainty is Certainty.DOUBTED and not claim.negated and not all(same(v, value) for v in claim.values)
                for claim in behind
            )
    return False


def _one(claims: Sequence[Claim], same: Same) -> Result[Hashable]:
    values: list[Hashable] = []
    claims = [claim for claim in claims if not _narrowed(claim, claims, same)]
    for claim in claims:
        if claim.alternatives:
            return SEVERAL
        values += claim.values
    if any(len(claim.values) > 1 and not all(same(v, claim.values[0]) for v in claim.values) for claim in claims):
        return SEVERAL
    return Parsed(values[0]) if all(same(value, values[0]) for value in values) else CONTRADICTION


def _narrowed(claim: Claim, claims: Sequence[Claim], same: Same) -> bool:
    """Whether a later claim chooses among several ("leaving B and C. Of these, C")."""
    later = [other for other in claims if other.start > claim.start and len(other.values) == 1]
    return len(claim.values) > 1 and any(same(value, other.values[0]) for other in later for value in claim.values)
