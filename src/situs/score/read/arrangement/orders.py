"""Orders told the other way round: "liver > kidney > pancreas" where the smallest comes first.

The options are orders of the same members, and the question says from which end they run. A reply
may tell its order by signs, by comparisons ("the liver is larger than the kidney, which is larger
than …"), under a heading of its own ("from largest to smallest: …") or by the superlative of its
first member. Such a chain is written as the question asks for it, so that the readers of options
find their own words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["GREATER", "LESSER", "order_members", "order_of_ends", "with_orders_as_asked"]

GREATER = frozenset(
    {"largest", "larger", "biggest", "highest", "longest", "farthest", "greatest", "most", "far"}
)
LESSER = frozenset(
    {"smallest", "smaller", "lowest", "shortest", "nearest", "closest", "least", "near"}
)
_ENDS = re.compile(
    r"\b(?:from )?(?:the )?(largest|biggest|greatest|smallest|highest|lowest|longest|shortest"
    r"|nearest|closest|farthest|"
    r"top|bottom|front|back|left|right)(?: one)?(?: to |-to-|→)(?:the )?([a-z]+)\b",
    re.IGNORECASE,
)
_FALLING = re.compile(r"\b(?:descending|decreasing|falling)\b", re.IGNORECASE)
_RISING = re.compile(r"\b(?:ascending|increasing|rising)\b", re.IGNORECASE)
_ORDER_HEADING = re.compile(
    r"\b(?:(?:arranged|listed|ordered|ranked) )?(?:in )?(?:descending|decreasing|ascending"
    r"|increasing) order"
    r"(?: (?:of|by) [a-z]+)?[:,]? ?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;!?](?=\s|$)|\n")
_BESIDE = (
    r"(?:\s*\([^()\n]{0,60}\)|,? (?:at|with) (?:about |approximately |roughly |~ ?)?[0-9.,]+ ?mL)?"
)
_SUPERLATIVE = (
    r"(?P<superlative{}>(?: (?:is|being|comes))?(?: by far)?(?: the)? (?:largest|biggest|smallest)"
    r"(?: (?:one|organ|structure))?)?"
)
_IN_TURN = r"(?:,? (?:and |but )?(?:which|it|that)(?: in turn)?)? ?(?:is|being)(?: [a-z]+ly)?"
_GREATER_THAN = rf">|≥|»|{_IN_TURN} (?:larger|bigger|greater) than"
_LESS_THAN = rf"<|≤|{_IN_TURN} smaller than"
_JOINT = (
    rf"\s*(?:(?P<greater{{0}}>{_GREATER_THAN})|(?P<less{{0}}>{_LESS_THAN})"
    r"|→|,? (?:and )?(?:then|followed by|next)|,? and(?: finally| lastly)?|[,;]|\s*\n)"
    r"\s*(?:[0-9]{{1,2}}[.)] |[-*•] )?(?:the )?(?:[0-9]{{1,2}}[.)] )?"
)


def order_members(cores: Sequence[str]) -> frozenset[str]:
    """What the options put in order; empty where they are no orders of the same things."""
    orders = [tuple(part.strip() for part in words.split(",")) for words in cores]
    lists = [order for order in orders if len(order) > 2]
    members = frozenset(lists[0]) if lists else frozenset()
    return members if lists and all(frozenset(order) == members for order in lists) else frozenset()


def with_orders_as_asked(plain: str, cores: Sequence[str], question: str) -> str:
    """The reply with every chain of all members in the direction that the question asks for."""
    members = order_members(cores)
    asked = _ENDS.search(question)
    if not members or asked is None:
        return plain
    chain = _chain(members)
    count = len(members)
    turned = chain.sub(lambda match: _as_asked(match, plain, count, asked), plain)
    # "In descending order" has done its work, also where it said what was asked for.
    told = any(_runs_down(one, plain, count, asked) is not None for one in chain.finditer(plain))
    return _ORDER_HEADING.sub("", turned) if told else plain


def order_of_ends(plain: str, cores: Sequence[str], question: str) -> int | None:
    """The option that both ends of three tell ("the largest is A, the smallest is B")."""
    members = order_members(cores)
    asked = _ENDS.search(question)
    if len(members) != 3 or asked is None or not _is_size(asked[1]):
        return None
    named = "|".join(re.escape(member) for member in members)
    ends: dict[bool, set[str]] = {True: set(), False: set()}
    for match in re.finditer(
        rf"\b(?P<end>largest|biggest|smallest)(?: one| organ| structure)?(?: by volume)?"
        rf"(?::| is| being| \(|,)? ?(?:the )?(?P<member>{named})\b"
        rf"|\b(?P<subject>{named})(?: is| being|,)?(?: by far| clearly)? (?:the |\()?"
        rf"(?P<said>largest|biggest|smallest)\b",
        plain,
        re.IGNORECASE,
    ):
        end = (match["end"] or match["said"]).lower()
        ends[end in GREATER].add((match["member"] or match["subject"]).lower())
    if len(ends[True]) != 1 or len(ends[False]) != 1 or ends[True] == ends[False]:
        return None
    greatest, least = *ends[True], *ends[False]
    middle = next(iter(members - {greatest, least}))
    first, last = (greatest, least) if asked[1].lower() in GREATER else (least, greatest)
    ordered = ", ".join((first, middle, last))
    return cores.index(ordered) if ordered in cores else None


def _is_size(end: str) -> bool:
    return end.lower() in GREATER | LESSER


@lru_cache(maxsize=256)
def _chain(members: frozenset[str]) -> re.Pattern[str]:
    named = "|".join(re.escape(member) for member in sorted(members, key=lambda m: (-len(m), m)))
    parts = [f"(?:[0-9]{{1,2}}[.)] )?(?P<m0>{named}){_SUPERLATIVE.format(0)}{_BESIDE}"]
    for index in range(1, len(members)):
        parts.append(
            f"{_JOINT.format(index)}(?P<m{index}>{named}){_SUPERLATIVE.format(index)}{_BESIDE}"
        )
    return re.compile(r"(?<!\w)" + "".join(parts) + r"(?!\w)", re.IGNORECASE)


def _as_asked(match: re.Match[str], plain: str, count: int, asked: re.Match[str]) -> str:
    members = [match[f"m{index}"] for index in range(count)]
    if len({member.lower() for member in members}) != count:
        return match[0]
    runs_down = _runs_down(match, plain, count, asked)
    if runs_down is None:
        return match[0]
    wanted = asked[1].lower() in GREATER if _is_size(asked[1]) else True
    return ", ".join(members if runs_down is wanted else reversed(members))


def _runs_down(match: re.Match[str], plain: str, count: int, asked: re.Match[str]) -> bool | None:
    """Whether a chain begins with the greatest or first-named end; None if that is not told."""
    greater = sum(match[f"greater{index}"] is not None for index in range(1, count))
    less = sum(match[f"less{index}"] is not None for index in range(1, count))
    if greater or less:
        return greater > 0 if count - 1 in (greater, less) and _is_size(asked[1]) else None
    for index, first in ((0, True), (count - 1, False)):
        superlative = match[f"superlative{index}"]
        if superlative:
            return ("smallest" not in superlative.lower()) is first
    start = max(
        (end.end() for end in _SENTENCE_END.finditer(plain, 0, match.start()) if end[0] != "\n"),
        default=0,
    )
    end = _SENTENCE_END.search(plain, match.end())
    before = plain[start : match.start()]
    around = f"{before} {plain[match.end() : end.start() if end else len(plain)]}"
    # "From the bottom it is C, B, A, so from the top: A, B, C": the last heading before a chain.
    headings = list(_ENDS.finditer(before))
    ends = headings[-1] if headings else _ENDS.search(around) or _ENDS.search(match[0])
    if ends is None:
        return True if _FALLING.search(around) else False if _RISING.search(around) else None
    if _is_size(asked[1]):
        return ends[1].lower() in GREATER if _is_size(ends[1]) else None
    return ends[1].lower() == asked[1].lower()
