"""Which of a reply's claims is its answer.

A final statement outweighs everything before it. Otherwise every claim that stands out (announced,
concluded, or standing alone) must agree, unless the reply turned between them ("wait",
"correction"): then the later ones count. Only where nothing stands out do claims in passing count,
and they must agree as well.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.result import CONTRADICTION, Parsed, Result, Unparsed

__all__ = ["SEVERAL", "TAKEN_BACK", "decide"]

SEVERAL = Unparsed("several options named")
TAKEN_BACK = Unparsed("the answer is taken back")
UNSURE = Unparsed("not said for sure")
NOT_FINAL = Unparsed("the final answer is not understood")

_LETTER = 3
"""Characters of a letter with its brackets."""

Same = Callable[[Hashable, Hashable], bool]


def decide(
    found: Sequence[Statement], same: Same = lambda a, b: a == b, *, ranked: bool = False
) -> Result[Hashable] | None:
    """The one answer that the reply gives; None if it makes no claim at all.

    `ranked` lets an announced answer stand against what was concluded or said alone before it:
    numbers on the way to the answer stand alone as well.
    """
    claims = [claim for statement in found for claim in statement.claims]
    if _ends_unread(found):
        return NOT_FINAL
    finals = [
        statement
        for statement in found
        if any(claim.role is Role.FINAL for claim in statement.claims)
    ]
    if finals:
        return _final(finals[-1], same)
    for least in (Role.LEAD, Role.PLAIN):
        strong = [claim for claim in claims if claim.role >= least and claim.asserted]
        if strong:
            if ranked:
                strong = _strongest(strong)
            return _agreed(strong, claims, found, same)
    if any(claim.retracted and claim.role >= Role.LEAD for claim in claims):
        return TAKEN_BACK
    if any(claim.certainty is Certainty.DOUBTED or claim.alternatives for claim in claims):
        return UNSURE
    return None


def _ends_unread(found: Sequence[Statement]) -> bool:
    """Whether the reply announces its final answer last of all, and nothing in it can be read."""
    last = max(
        (index for index, one in enumerate(found) if one.announced is Role.FINAL), default=None
    )
    return last is not None and not any(one.claims for one in found[last:])


def _strongest(strong: list[Claim]) -> list[Claim]:
    """The claims of the highest role since the reply last turned;
    of those before, if none came after."""
    latest = [claim for claim in strong if claim.turns == strong[-1].turns]
    highest = max(claim.role for claim in latest)
    return [claim for claim in latest if claim.role is highest]


def _final(statement: Statement, same: Same) -> Result[Hashable] | None:
    claims = [claim for claim in statement.claims if claim.role is Role.FINAL and claim.asserted]
    if not claims:
        return UNSURE
    last = [claim for claim in claims if claim.turns == claims[-1].turns]
    return _one(last, same)


def _agreed(
    strong: list[Claim], claims: list[Claim], found: Sequence[Statement], same: Same
) -> Result[Hashable]:
    latest = [claim for claim in strong if claim.turns == strong[-1].turns]
    leads = [claim for claim in latest if claim.role is Role.LEAD]
    if 0 < len(leads) < len(latest) and not isinstance(_one(leads, same), Parsed):
        # "A: 45 mm", "B: 12 mm", so B: a list heads its lines, and only what follows from it is the
        # answer.
        latest = [claim for claim in latest if claim.role is not Role.LEAD]
    result = _one(latest, same)
    for weighed in (_concluding, _choosing, _behind_list):
        if result != CONTRADICTION:
            break
        weightier = weighed(latest, found)
        if weightier and len(weightier) != len(latest):
            latest, result = weightier, _one(weightier, same)
    if not isinstance(result, Parsed):
        return result
    if not any(claim.licensed for claim in latest):
        return UNSURE
    if _beside_another(latest[-1], found, same):
        return SEVERAL
    if any(_turns_from(claim, latest[-1], same) for claim in claims):
        return CONTRADICTION
    for claim in claims:
        denies = claim.denied and claim.role >= Role.STATED and claim.turns >= latest[0].turns
        if denies and any(same(value, result.value) for value in claim.values):
            return CONTRADICTION
    if _left_open(latest[-1], result.value, found, same):
        return UNSURE
    return result


def _concluding(latest: list[Claim], found: Sequence[Statement]) -> list[Claim]:
    """ "…, but it is, so no": what a sentence concludes outweighs what led to it.

    "No, the answer is yes" says both.
    """
    last = latest[-1]
    if last.role < Role.CONCLUDED:
        return []
    beside = next((one.claims for one in found if any(last is own for own in one.claims)), [])
    led = {
        id(one)
        for one in beside
        if one.role < last.role and (last.role is Role.CONCLUDED or one.role is not Role.LEAD)
    }
    return [claim for claim in latest if id(claim) not in led]


def _choosing(latest: list[Claim], found: Sequence[Statement]) -> list[Claim]:
    """ "… so the bladder is close. I'd go with A.": what is said of others leads to the choice."""
    if latest[-1].role is not Role.STATED:
        return []
    return [one for one in latest if one.role >= Role.STATED or not one.subject]


def _behind_list(heads: list[Claim], found: Sequence[Statement]) -> list[Claim]:
    """What the sentence behind a list says whose lines name one option after the other."""
    if any(claim.role is not Role.LEAD for claim in heads):
        return []
    behind = [one for one in found if one.start > heads[-1].start and one.claims and not one.asks]
    claims = behind[0].claims if len(behind) == 1 else []
    named = [claim for claim in claims if claim.asserted and claim.role is Role.PLAIN]
    return named if len(named) == len(claims) else []


def _beside_another(last: Claim, found: Sequence[Statement], same: Same) -> bool:
    """Whether another letter stands beside the one that
    heads its sentence ("A (frontal), B (lateral)")."""
    if last.role is not Role.LEAD or last.end - last.start > _LETTER:
        return False
    beside = next((one.claims for one in found if last in one.claims), [])
    return any(
        other.asserted
        and other.role is Role.PLAIN
        and other.start > last.start
        and other.end - other.start <= _LETTER
        and not other.subject
        and not same(other.values[0], last.values[0])
        for other in beside
    )


def _turns_from(claim: Claim, last: Claim, same: Same) -> bool:
    """Whether the reply turned and then names another answer, in passing as it may be."""
    later = (
        claim.asserted
        and claim.turns > last.turns
        and claim.role is Role.PLAIN
        and not claim.subject
    )
    return later and not any(same(value, last.values[0]) for value in claim.values)


def _left_open(last: Claim, value: Hashable, found: Sequence[Statement], same: Same) -> bool:
    """Whether the sentence of the last claim goes on with
    another answer that may be right ("B, or maybe C")."""
    for statement in found:
        if last in statement.claims and not statement.asks:
            behind = [claim for claim in statement.claims if claim.start > last.start]
            if last.role >= Role.STATED or last.likely:
                # "I'd go with B, but C is conceivable" and "likely B, possibly C" have chosen; "the
                # answer is B or maybe C" has not.
                behind = [claim for claim in behind if claim.after_or]
            return any(
                claim.certainty is Certainty.DOUBTED
                and not claim.negated
                and not all(same(v, value) for v in claim.values)
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
    if any(
        len(claim.values) > 1 and not all(same(v, claim.values[0]) for v in claim.values)
        for claim in claims
    ):
        return SEVERAL
    return Parsed(values[0]) if all(same(value, values[0]) for value in values) else CONTRADICTION


def _narrowed(claim: Claim, claims: Sequence[Claim], same: Same) -> bool:
    """Whether a later claim chooses among several ("leaving B and C. Of these, C")."""
    later = [other for other in claims if other.start > claim.start and len(other.values) == 1]
    return len(claim.values) > 1 and any(
        same(value, other.values[0]) for other in later for value in claim.values
    )
