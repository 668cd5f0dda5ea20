"""Options that a reply names by those it leaves out: "all except C", "none but D"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from situs.score.read.option_names.letters import ALPHABET
from situs.score.read.option_names.names import OptionNames
from situs.score.read.prose.tokens import Mention

__all__ = ["with_rest_named"]

_OF_THEM = (
    r"(?: (?:of|one|the|these|those|them|above|listed|offered|given|other|findings?|options?"
    r"|choices?|structures?|organs?|items?|levels?|answers?|candidates?|on|this|list"
    r"|two|three|four|five|six|seven|eight|[2-9]))*"
)
_SAID = (
    r"(?: (?:are|is|were|was|have been|has been)"
    r" (?:marked|annotated|present|visible|seen|shown|there)| appl(?:y|ies))?"
)
_LEAVING_OUT = (
    r"(?:,? (?:except(?:ing)?(?: for)?|apart from|aside from|other than|save(?: for)?"
    r"|with the (?:sole |only )?exception of|excluding)| but(?: for)?)"
    r"(?: (?-i:the|an?|option|finding|letter|for))*[ *\"'(]+"
)
# "Not all except C" and "above all, but C" say something else.
_HEAD = re.compile(
    r"(?<!not )(?<!n't )(?<!above )(?<!after )(?<!in )(?<!at )"
    rf"\b(?:(?P<all>all|everything|every|each)|none|nothing|no (?=other|findings?|options?))"
    rf"{_OF_THEM}(?P<said>{_SAID}){_LEAVING_OUT}",
    re.IGNORECASE,
)
_NEXT = re.compile(r"[)\]\"'*]*(?:,? (?:and|or|nor|&)|,| &|/)(?: (?:the|an?|for|option))*[ *\"'(]+")
_SAME = re.compile(r"[)\].:\"'* ]*[(\"']?")
# What may stand behind the options left out: more of them in doubt may not.
_BEHIND = re.compile(
    r"[)\]\"'*]*(?:\s*(?:$|[.;!\n\ue000\ue001)])"
    r"|,? (?:are|is|were|was|appl(?:y|ies)|have|has|can|appear|on|in|here|which|because|since)\b)"
)
_BARE = re.compile(r"[\W_]*")


def _is_bare(head: re.Match[str], plain: str, end: int) -> bool:
    """Whether the whole reply is "Everything but C." without a verb: it may as well be the
    beginning of what is not said."""
    alone = _BARE.fullmatch(plain, 0, head.start()) and _BARE.fullmatch(plain, end)
    return bool(head["all"] and not head["said"] and alone)


def with_rest_named(plain: str, names: OptionNames) -> str:
    """The reply with "all except C" as the letters of the others, and "none but D" as "only D".

    What is said of all but some is said of the rest, be it that they are marked or ruled out.
    """
    heads = list(_HEAD.finditer(plain))
    if not heads:
        return plain
    mentions = sorted(names.mentions(plain), key=lambda mention: mention.start)
    offered = set(range(names.count)) - {*names.none, *names.unsure, *names.alike}
    for head in reversed(heads):
        left_out, end = _listed(plain, head.end(), mentions)
        rest = sorted(offered - left_out)
        if not left_out or not rest or not _BEHIND.match(plain, end):
            continue
        if _is_bare(head, plain, end):
            continue
        named = _letters(rest) if head["all"] else f"only {_letters(sorted(left_out))}"
        plain = plain[: head.start()] + named + head["said"] + plain[end:]
    return plain


def _listed(plain: str, start: int, mentions: Sequence[Mention]) -> tuple[set[int], int]:
    """The options that are listed from a place on, and where the list ends."""
    found: set[int] = set()
    end = start
    for mention in mentions:
        if mention.start < start:
            continue
        at_once = not found and mention.start == start
        again = mention.value in found and _SAME.fullmatch(plain, end, mention.start)
        if not at_once and not again and not (found and _NEXT.fullmatch(plain, end, mention.start)):
            break
        found.add(int(str(mention.value)))
        end = mention.end
    return found, end


def _letters(indices: Sequence[int]) -> str:
    letters = [ALPHABET[index] for index in indices]
    if len(letters) == 1:
        return f"option {letters[0]}"
    return f"{', '.join(letters[:-1])} and {letters[-1]}"
