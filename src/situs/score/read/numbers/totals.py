"""Counts: a total against its parts, and what is counted against other things."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from itertools import pairwise

from situs.score.read.numbers.roles import OF_WHICH
from situs.score.read.numbers.tokens import Token
from situs.score.read.numbers.words import LOOKS
from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.content import content_words

__all__ = ["asks_for_part", "sum_of_parts", "total"]

_TOTAL_BEFORE = re.compile(
    r"\b(?:i(?: can)? (?:count|see)|a total of|in total,?|altogether,?|total:?"
    r"|(?:that|this|it|which)(?: all)? (?:makes|gives|leaves)|making|(?:adds?|adding) up to"
    r"|sums? to) (?:about |exactly )?$",
    re.IGNORECASE,
)
_TOTAL_AFTER = re.compile(
    r"(?: [a-z]+)?,? (?:in (?:total|all)|altogether|overall|all told|all together)\b", re.IGNORECASE
)
_OF_THEM = re.compile(r"\bof (?:them|which|these|those)\b", re.IGNORECASE)
_PART_OF = re.compile(
    r" of (?:them|these|those|which)\b| (?:on|in) the (?:left|right)\b",
    re.IGNORECASE,
)
_PLACED = re.compile(
    r"(?: (?!(?:in|on|at|near|and|or|with|of)\b)[a-z-]+){0,3} (?:in|on|at|near) "
    r"(?:the )?[a-z]{2,}\b",
    re.IGNORECASE,
)
# "One in the right lung and another in the left": how many that makes is not said.
_ANOTHER = re.compile(
    r"(?:,|;|\band\b|\bplus\b|\bwith\b) ?(?:there is |i see )?(?:another|a second|a further"
    r"|an additional|yet another|one (?:in|on|at|near))\b",
    re.IGNORECASE,
)
# "Two large ones and a small one": as above.
_AND_ONE = re.compile(
    r"(?:,|;|\band\b|\bplus\b|\bwith\b) ?an? (?:[a-z]+ ){0,2}one\b", re.IGNORECASE
)
# "Three larger than 1 cm and two smaller ones": parts as well.
_FURTHER = re.compile(
    r" (?:more|others?|additional|further|(?:much |slightly )?(?:smaller|larger|bigger|tiny|small"
    r"|large))(?: (?:ones|lesions|nodules|cysts|masses|foci))?\b",
    re.IGNORECASE,
)
_HEADS_LIST = re.compile(
    r"(?: [a-z-]+){0,4} ?[:(]|(?: [a-z-]+){0,4}, (?:one|two|three|the largest|[0-9]+"
    r" (?:in|on|at))\b",
    re.IGNORECASE,
)


_OUT_OF = re.compile(
    r"(?:^|[.;,:\n] ?)(?:out )?of (?:the |these |all |a total of )*$", re.IGNORECASE
)
_CLAUSE_END = re.compile(r"[.,;!?\n]")


def asks_for_part(plain: str, question: str) -> bool:
    """Whether what the question asks for is said only of a part of what is counted."""
    asked = set(content_words(question))
    for match in _OF_THEM.finditer(plain):
        whole, part = plain[: match.start()], _CLAUSE_END.split(plain[match.end() :])[0]
        if asked & set(content_words(part)) - set(content_words(whole)):
            return True
    return False


def total(found: Sequence[Statement], plain: str, numbers: Sequence[Token], question: str) -> None:
    """Counts: a total outweighs its parts,
    and what the question names outweighs what it does not."""
    asked = set(re.findall(r"[a-z]{3,}", question.lower())) - {
        "how",
        "many",
        "are",
        "there",
        "the",
        "lesions",
        "lesion",
    }
    for statement in found:
        heading = None
        for claim in statement.claims:
            token = numbers[int(str(claim.values[0]))]
            before, after = (
                just_before(plain, token.start, 30),
                just_after(plain, token.end, 60),
            )
            partial = _PLACED.match(after)  # "I see one on slice 12"
            parted = _OF_THEM.search(after)  # "seven in total, five of them fully"
            summed = _TOTAL_BEFORE.search(before) and not partial
            if not parted and (_TOTAL_AFTER.match(after) or summed):
                claim.role = max(claim.role, Role.CONCLUDED)
            if (
                before.endswith((": ", "= "))
                and claim is statement.claims[-1]
                and len(statement.claims) > 2
            ):
                claim.role = max(claim.role, Role.CONCLUDED)  # "one here, two there: three"
            if heading is None and _HEADS_LIST.match(after) and not _PART_OF.match(after):
                heading = claim
            elif heading is not None and claim.role < Role.CONCLUDED:
                claim.certainty = Certainty.ASIDE
        open_ones = all(one.role < Role.CONCLUDED for other in found for one in other.claims)
        _weigh_parts(statement, plain, asked=open_ones and asks_for_part(plain, question))
        _doubt_parts(statement, plain)
        named = [
            claim
            for claim in statement.claims
            if asked & _noun(plain, numbers[int(str(claim.values[0]))])
        ]
        others = [claim for claim in statement.claims if claim not in named]
        if named and all(_noun(plain, numbers[int(str(claim.values[0]))]) for claim in others):
            for claim in others:
                claim.certainty = Certainty.ASIDE
        _set_aside_other_things(statement, plain, question)


def _weigh_parts(statement: Statement, plain: str, *, asked: bool) -> None:
    """A whole against its parts, one of which may be `asked` about."""
    parts = [
        claim
        for claim in statement.claims
        if _PART_OF.match(plain, claim.end) or OF_WHICH.search(just_before(plain, claim.start, 20))
    ]
    if len(parts) == 1 and asked:
        # "8 are seen, 6 of which are complete", where the complete ones are asked for.
        parts[0].role = max(parts[0].role, Role.CONCLUDED)
    elif any(claim.asserted for claim in statement.claims if claim not in parts):
        for claim in parts:
            claim.certainty = Certainty.ASIDE
    for claim, behind in pairwise(statement.claims):
        if behind.asserted and _OUT_OF.search(just_before(plain, claim.start, 24)):
            claim.certainty = Certainty.ASIDE  # "of 8 vertebrae, 6 are complete"


# What tells two parts of a count apart: where they lie ("in segment 4"), or what they look like.
_PLACE = re.compile(
    r"(?: (?:one|ones|[a-z]+s?))? (?:in|on|at) (?:the )?(?P<place>left|right|upper|middle|lower"
    r"|(?:segment|section|level|slice|lobe|sector|rib) [0-9ivx]{1,4}[ab]?)\b",
    re.IGNORECASE,
)
_LOOK = re.compile(rf" (?P<look>{LOOKS})\b(?=(?P<rest>[^0-9.,;:\n]*))", re.IGNORECASE)
_JOINS = frozenset({"and", "plus", "one", "ones", "in", "on", "at", "are", "is"})
_ADDED = re.compile(r"(?:,|;|\band\b|\bplus\b|\+)[a-z ]*$", re.IGNORECASE)
_ONE_MORE = re.compile(
    r"(?:,|;|\band\b|\bplus\b)(?: and)? ?(?:(?:yet )?another|one|a (?:second|third|fourth|further))"
    r"(?: one| [a-z]+)?(?= (?:in|on|at) )",
    re.IGNORECASE,
)


def sum_of_parts(
    found: Sequence[Statement], plain: str, numbers: Sequence[Token], things: Container[str] = ()
) -> int | None:
    """What several counts in different places, or of `things` that look differently, add up to
    ("two on the right and one on the left", "one large and two small lesions"), where nothing but
    them is said."""
    telling = [statement for statement in found if statement.claims]
    if len(telling) != 1:
        return None
    claims, end = telling[0].claims, telling[0].end
    counts = [(claim.end, _whole(claim, numbers)) for claim in claims]
    starts = {claim.start for claim in claims}
    counts += [
        (match.end(), 1)
        for match in _ONE_MORE.finditer(plain, claims[0].end, end)
        if not any(match.start() <= start < match.end() for start in starts)
    ]
    joined = all(_ADDED.search(plain[:start]) for start in sorted(starts)[1:])
    if not joined or None in [count for _, count in counts]:
        return None
    places = {
        match["place"].lower() for at, _ in counts if (match := _near(_PLACE, plain, at, end))
    }
    looks = {
        match["look"].lower()
        for at, _ in counts
        if (match := _LOOK.match(plain, at, end)) and _of_those(match["rest"], things)
    }
    apart = max(places, looks, key=len)
    return sum(count or 0 for _, count in counts) if 1 < len(apart) == len(counts) else None


def _of_those(rest: str, things: Container[str]) -> bool:
    """Whether what follows a look is no other thing ("one large cyst and …")."""
    words = rest.lower().split()
    return not words or words[0] in _JOINS or words[0] in things


def _near(pattern: re.Pattern[str], plain: str, at: int, end: int) -> re.Match[str] | None:
    return pattern.search(plain, at, min(at + 40, end))


def _whole(claim: Claim, numbers: Sequence[Token]) -> int | None:
    value = numbers[int(str(claim.values[0]))].parts[0]
    counted = claim.role < Role.CONCLUDED and claim.certainty is not Certainty.ASIDE
    plain = value is not None and value.denominator == 1 and not claim.negated
    return int(value) if counted and plain and value is not None else None


def _doubt_parts(statement: Statement, plain: str) -> None:
    """Equal numbers in several places, or one and another: parts of a total that is not told."""
    open_ones = [
        claim for claim in statement.claims if claim.asserted and claim.role < Role.CONCLUDED
    ]
    placed = [claim for claim in open_ones if _PLACED.match(plain, claim.end)]
    alike = len({plain[claim.start : claim.end].lower() for claim in placed}) < len(placed)
    another = _ANOTHER.search(plain, statement.start, statement.end) is not None
    one_more = _AND_ONE.search(plain, statement.start, statement.end) is not None
    further = [
        claim
        for claim in open_ones[1:]
        if _FURTHER.match(plain, claim.end) and _ADDED.search(just_before(plain, claim.start, 40))
    ]
    for claim in open_ones:
        single = plain[claim.start : claim.end].lower() in {"one", "1"}
        if (alike and claim in placed) or (another and single) or further or one_more:
            claim.certainty = Certainty.DOUBTED


_COUNTED_NOUN = re.compile(
    r"\bhow many (?:[a-z-]+ ){0,4}?([a-z]+?)e?s (?:are|do|does|can|were|have)\b", re.IGNORECASE
)
_THINGS_BEHIND = re.compile(r"(?: [a-z-]+){0,2}? ([a-z]+?)(?:es|s)\b", re.IGNORECASE)


def _set_aside_other_things(statement: Statement, plain: str, question: str) -> None:
    """ "Three nodules and two cysts" counts three nodules."""
    asked = _COUNTED_NOUN.search(question)
    things = {
        id(claim): match[1].lower()
        for claim in statement.claims
        if claim.asserted and (match := _THINGS_BEHIND.match(plain, claim.end, claim.end + 40))
    }
    if asked is None or asked[1].lower() not in things.values():
        return
    for claim in statement.claims:
        if things.get(id(claim), asked[1].lower()) != asked[1].lower():
            claim.certainty = Certainty.ASIDE


def _noun(plain: str, token: Token) -> set[str]:
    """The word before "lesions" behind a number."""
    match = re.match(
        r" ([a-z]{3,}) (?:lesions?|masses|cysts?|nodules?)\b",
        just_after(plain, token.end, 40).lower(),
    )
    return {match[1]} if match else set()
