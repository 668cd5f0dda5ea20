"""Mentions that stand in a row: joined by nothing but commas,
"and" and brackets, they are named together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from situs.score.read.prose.lexicon import Lexicon
from situs.score.read.prose.tokens import Mention, Token

__all__ = ["MentionRow", "row_of_mentions"]

_GLUE = frozenset(
    {"comma", "and", "or", "slash", "open", "close", "quote", "boxed", "unboxed", "colon", "dash"}
)
_LINKS = frozenset(
    {
        "the",
        "a",
        "an",
        "option",
        "options",
        "mark",
        "marks",
        "point",
        "letter",
        "choice",
        "i.e",
        "also",
        "slice",
        "to",
    }
)
_SINGULAR = frozenset(
    {"is", "was", "lies", "sits", "isn't", "measures", "appears", "seems", "looks", "being"}
)
"""Verbs of one subject: what stands before "and" is not part of it."""
_NOUNS = frozenset({"kidney", "one", "side", "lobe", "lung", "gland", "mark", "point", "adrenal"})
"""What an attribute that names an option may belong to."""
_MOST_GLUE = 8
"""Tokens between two mentions that are still one list."""


@dataclass(slots=True)
class MentionRow:
    """Mentions in a row, joined by nothing but commas, "and" and brackets."""

    mentions: list[Mention]
    joined: set[str] = field(default_factory=set)
    start: int = 0
    end: int = 0
    boxed: bool = False

    def parted(self) -> tuple[MentionRow, MentionRow]:
        """The first mention, and the others."""
        first, *others = self.mentions
        return (
            MentionRow([first], start=self.start, end=first.end, boxed=self.boxed),
            MentionRow(others, self.joined, others[0].start, self.end, self.boxed),
        )


def row_of_mentions(
    tokens: Sequence[Token], at: int, lexicon: Lexicon, *, boxed: bool, apart: bool
) -> tuple[MentionRow, int]:
    """The mentions that stand in a row from here on, and where the row ends;
    `apart` takes one at a time."""
    first = tokens[at]
    assert first.mention is not None
    row = MentionRow([first.mention], start=first.start, end=first.end, boxed=boxed)
    end = at + 1
    while not apart and (following := _next_mention(tokens, end)) is not None:
        between = tokens[end:following]
        token = tokens[following]
        assert token.mention is not None
        kinds = {part.kind for part in between}
        if _begins_anew(tokens, row, between, following, lexicon):
            break
        row.joined |= kinds & {"or", "slash", "and", "comma"}
        row.boxed |= "boxed" in kinds
        if not between and token.mention.value != row.mentions[-1].value:
            row.joined.add("comma")
        row.mentions.append(token.mention)
        row.end = token.end
        end = following + 1
    return row, end


def _next_mention(tokens: Sequence[Token], at: int) -> int | None:
    for index in range(at, min(at + _MOST_GLUE, len(tokens))):
        token = tokens[index]
        if token.kind == "mention":
            return index
        if token.kind not in _GLUE and not (token.kind == "word" and token.text in _LINKS):
            return None
    return None


def _begins_anew(
    tokens: Sequence[Token],
    row: MentionRow,
    between: Sequence[Token],
    following: int,
    lexicon: Lexicon,
) -> bool:
    """Whether "…, B is wrong" begins a clause of its own instead of going on with the list."""
    token = tokens[following]
    assert token.mention is not None
    kinds = {part.kind for part in between}
    behind = tokens[following + 1] if following + 1 < len(tokens) else None
    if token.mention.value == row.mentions[-1].value:
        # "between A and B, B is nearer" names B anew
        anew = len(row.mentions) > 1 and "comma" in kinds and behind is not None
        return anew and behind is not None and behind.text in lexicon.verbs
    if (
        {"comma", "and"} <= kinds
        and any(part.text in {"a", "an"} for part in between)
        and len(row.mentions) == 1
    ):
        return True  # "without a tear, and an effusion"
    if between and between[0].kind == "close" and _denied_in_brackets(tokens, row):
        return True  # "B (not C), D"
    verb = _verb_behind(tokens, following)
    if "and" in kinds and verb in _SINGULAR:
        return True  # "farther than the pancreas, and the gallbladder is nearest"
    if kinds & {"and", "or", "slash"}:
        return False
    if kinds & {"colon", "dash"} and len(tokens[following - len(between) - 1].text) > 1:
        return True  # "not in front: to the left"
    after = tokens[following + 1] if following + 1 < len(tokens) else None
    if after is None:
        return False
    if "and" in row.joined and "comma" in kinds and after.kind in {"conclude", "approve", "deny"}:
        return True  # "after ruling out A, B and C, D remains"
    if "comma" in kinds and verb in _SINGULAR:
        return True  # "compared with the left, the right kidney is smaller"
    if kinds & {"comma", "dash"}:
        is_verb = after.kind in {"word", "negate"} and after.text in lexicon.verbs
        return is_verb or (after.kind == "colon" and not _colon_names(tokens, following))
    return False


def _denied_in_brackets(tokens: Sequence[Token], row: MentionRow) -> bool:
    """Whether a row stands in brackets that deny it: these end with the bracket."""
    before = [token for token in tokens if token.end <= row.start][-_MOST_GLUE:]
    opened = max((i for i, token in enumerate(before) if token.kind == "open"), default=None)
    return (
        opened is not None
        and before[opened + 1 : opened + 2] != []
        and (before[opened + 1].kind in {"negate", "exclude", "deny"})
    )


def _verb_behind(tokens: Sequence[Token], at: int) -> str:
    """The word that follows a mention, or the noun it belongs to ("the right kidney is")."""
    words = [token.text for token in tokens[at + 1 : at + 3]]
    return next((word for word in words if word not in _NOUNS), "")


def _colon_names(tokens: Sequence[Token], at: int) -> bool:
    """Whether the colon behind a mention only leads to the words of the same option ("B:
    the gallbladder")."""
    mention = tokens[at].mention
    following = _next_mention(tokens, at + 1)
    other = tokens[following].mention if following is not None else None
    return mention is not None and other is not None and other.value == mention.value
