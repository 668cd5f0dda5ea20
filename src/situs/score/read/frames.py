"""Which frames a reply names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from situs.score.read.numbers.of_frames import in_digits
from situs.score.read.numbers.whole_numbers import LONGEST_RANGE
from situs.score.read.prose.beside import just_after, just_before
from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.clean import visible
from situs.score.read.prose.content import opposites
from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english
from situs.score.read.prose.loose_json import Loose, loose_values
from situs.score.read.prose.refusal import refuses
from situs.score.read.prose.resolve import decide
from situs.score.read.prose.tokens import Mention
from situs.score.read.prose.topic import set_aside_other_topics
from situs.score.read.remembered import remembered
from situs.score.read.reply import plain_reply
from situs.score.read.result import Parsed, RefusedInWords, Result, Unparsed
from situs.score.read.stated_frames import stated_frames

__all__ = ["parse_frames"]

_WORD = r"(?:frame|slice|image|picture)s?(?:\s+(?:numbers?|nos?\.?|index|indices))?"
_WHOLE = re.compile(
    r"(?<![\w'±])(?<!± )(?<![0-9][.,])([0-9]{1,5})(?:st|nd|rd|th)?(?![\w']|[.,][0-9])"
)
_UNIT = re.compile(
    r"\s?-?(?:mm|cm|%|ml|px|pixels?|millimet|centimet|hu\b|years?|°|degrees)", re.IGNORECASE
)
# "512 x 512", "3 lesions", "window level 40, width 400": numbers of other things.
_OF_ELSE = re.compile(
    r"\s?[x×]\s?[0-9]|\s+(?:[a-z-]+ )?(?:lesions?|findings?|tears?|masses|nodules?|cysts?|spots?"
    r"|areas?|regions?|boxes|patients?|views?|planes?|structures?|organs?)\b",
    re.IGNORECASE,
)
_ELSE_BEFORE = re.compile(
    r"(?:[0-9] ?[x×]"
    r"|\b(?:window|level|width|tr|te|ti|fov|field of view|kvp?|mas?|aged?|matrix|spacing|thickness)"
    r"(?: (?:of|is|about))? ?[=:]?) ?$",
    re.IGNORECASE,
)
_TOTAL_BEFORE = re.compile(r"(?:\bof(?: the| all)?|/|\bout of) ?$", re.IGNORECASE)
_TOTAL_AFTER = re.compile(
    r"\s+(?:axial |consecutive |contiguous )?(?:frames|slices|images|pictures)\b", re.IGNORECASE
)
_ASIDE = re.compile(r"\([^()]{0,40}\)|(?:/|\bof|\bout of)\s*[0-9]{1,5}")
_LINK = re.compile(rf"[\s#*\"'(\[]*(?:{_WORD})?[\s#*\"'(\[:=]*", re.IGNORECASE)
_RANGE = re.compile(
    r"[\s)\]\"']*,?\s*(?:(?:and |, )?(?:all the way )?(?:up |down )?"
    r"(?:-|–|—|~|→|->|to|through|thru|until|till|\.\.+|…|:)|"
    r"(?:,? ?(?:and )?ending (?:on|at|with|in)))[\s]*(?:the\s+)?",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\bsince (?=(?:the )?(?:[a-z]+ )?(?:number )?[0-9])", re.IGNORECASE)
_IS_END = re.compile(r"\b([0-9]+) (?:is|=) (first|last)\b", re.IGNORECASE)
_UP_TO = re.compile(
    r"\b(?:up to|until|till|as far as|down to|no later than) (?:and including )?(?:the )?"
    rf"(?:{_WORD} )?#?$",
    re.IGNORECASE,
)
_OPEN_ENDED = re.compile(
    r" ?(?:to|until|through|up to|-|–) (?:the )?(?:end|last|top|bottom)\b| on(?:wards?)?\W*$",
    re.IGNORECASE,
)
_LIST = re.compile(r"[\s)\]\"']*(?:,\s*and|and|,|;|&|\+)\s*(?:the\s+)?", re.IGNORECASE)
_FIRST = re.compile(
    r"\b(?:first|start(?:s|ing)?|begin(?:s|ning)?|appears?|lowest|from)\b", re.IGNORECASE
)
_LAST = re.compile(r"\b(?:last|end(?:s|ing)?|disappears?|final|until|highest)\b", re.IGNORECASE)
_NONE = re.compile(
    r"\W*(?:none|no (?:frames?|slices?|images?)|not (?:seen|visible|present)(?: on any \w+)?)\W*",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|every|each|throughout all)(?: of)?(?: the)? (?:[0-9]+"
    r" )?(?:frames?|slices?|images?)\b",
    re.IGNORECASE,
)
_KEYS = (
    "frames",
    "framerange",
    "slices",
    "slicerange",
    "frame",
    "slice",
    "range",
    "images",
    "image",
    "answer",
    "finalanswer",
)
_ENDS = (
    ("start", "end"), ("first", "last"), ("from", "to"), ("startframe", "endframe"),
    ("firstframe", "lastframe"),
    ("startslice", "endslice"), ("firstslice", "lastslice"), ("min", "max"), ("begin", "end"),
)  # fmt: skip
_NOT_BEFORE = re.compile(r"\b(?:not|no|never) (?:seen )?(?:before|earlier than)\b", re.IGNORECASE)
_NOT_AFTER = re.compile(
    r"\b(?:not|no|never) (?:seen )?(?:after|later than|beyond)\b", re.IGNORECASE
)
_MOST_GROUPED = 5000


@dataclass(slots=True)
class _Listed:
    """Numbers in a row: a range, a list, or one alone."""

    start: int
    end: int
    numbers: set[int] = field(default_factory=set)
    ranges: int = 0
    """How many of its members are ranges rather than single numbers."""
    measured: bool = False
    """With a unit: no frames at all."""
    label: str = ""
    before: str = ""
    """The words that lead to it."""
    behind: str = ""
    """The words that follow it."""
    last: int = 0
    """The number that stands last."""
    open_ended: bool = False
    """Goes on to where no number stands ("slice 6 to the end")."""

    @property
    def interrupted(self) -> bool:
        """Whether ranges in it leave a gap ("9-12 and 15-21"): they are not one range."""
        return self.ranges > 1 and len(self.numbers) <= max(self.numbers) - min(self.numbers)


@remembered
def parse_frames(
    text: str,
    first: int,
    count: int,
    *,
    contiguous: bool = True,
    question: str = "",
    language: str = "en",
    open_end: bool = False,
) -> Result[tuple[int, ...]]:
    """Positions of the pictures that a reply names, in order.

    `first` is the number of the first picture and `count` how many were shown; with `open_end`
    there may be more, so that none is left out of an answer as not there. Where one range is asked
    for (`contiguous`), its two ends are enough: "starts on frame 3 and ends on frame 7" and `[3,
    7]` say 3 to 7. Where several ranges are told, those beside the structure of the `question`
    count.
    """
    named = stated_frames(text) if language == "en" else None
    if named is None:
        plain = plain_reply(text, language, question)
        if isinstance(plain, Unparsed):
            return plain
        told: set[int] | Unparsed | None = _from_json(visible(text), contiguous)
        if told is None:
            told = _from_prose(plain, first, count, contiguous, question)
        if isinstance(told, Unparsed) or told is None:
            return RefusedInWords() if refuses(plain) else told or Unparsed("no frame named")
        named = told
    flags: list[str] = []
    if named and first == 1 and 0 in named and max(named) < count:
        first, flags = 0, ["frame_base_inferred"]
    elif named and first == 0 and not open_end and 0 not in named and max(named) == count:
        first, flags = 1, ["frame_base_inferred"]
    there = sorted(
        number for number in named if number >= first and (open_end or number < first + count)
    )
    positions = tuple(number - first for number in there)
    if len(positions) < len(named):
        if not positions:
            return Unparsed("no such frame")
        flags.append("no_such_frame")
    return Parsed(positions, tuple(flags))


def _from_prose(
    plain: str, first: int, count: int, contiguous: bool, question: str
) -> set[int] | Unparsed | None:
    if _NONE.fullmatch(plain):
        return set()
    plain = in_digits(plain)
    plain = _NOT_AFTER.sub("last", _NOT_BEFORE.sub("first", plain))
    plain = _IS_END.sub(r"\1 is the \2", _SINCE.sub("from ", plain))
    groups = [group for group in _grouped(plain) if not group.measured]
    sentences = statements(
        plain,
        [Mention(group.start, group.end, index) for index, group in enumerate(groups)],
        english(),
        apart=True,
    )
    if contiguous and len(groups) == 1 and not groups[0].ranges and refuses(plain):
        return Unparsed("one frame and a refusal")
    if contiguous:
        _beside_subject(sentences, groups, plain, question)
        set_aside_other_topics(sentences, plain, question)
    chosen = _chosen(sentences, groups, contiguous)
    if chosen is None and _ALL.search(plain):
        return set(range(first, first + count))
    return chosen


_SUBJECT = re.compile(
    r"\b(?:is|are) (?:the )?(?P<subject>[a-z][a-z -]+?) seen\b|\bshow (?:the )?(?P<shown>[a-z][a-z"
    r" -]+)"
)
_OTHERS = re.compile(r"[.;,\n]|\b(?:while|whereas|and the|but)\b", re.IGNORECASE)


def _beside_subject(
    found: Sequence[Statement], groups: Sequence[_Listed], plain: str, question: str
) -> None:
    """Ranges in clauses that name the structure asked
    about outweigh those in clauses that do not."""
    match = _SUBJECT.search(question.lower())
    subject = (match["subject"] or match["shown"]).strip() if match else ""
    claims = [
        claim
        for one in found
        for claim in one.claims
        if (claim.asserted or claim.certainty is Certainty.ASIDE)
        and not claim.negated
        and claim.role <= Role.CONCLUDED
        and len(groups[int(str(claim.values[0]))].numbers) > 1
    ]
    hulls = {frozenset(groups[int(str(claim.values[0]))].numbers) for claim in claims}
    if not subject or len(hulls) < 2:
        return
    clauses = {id(claim): _clause_before(plain, claim.start) for claim in claims}
    named = [claim for claim in claims if subject in clauses[id(claim)]]
    if not named:  # "the liver on 5 to 25, and the lesion on 12 to 17" for the largest liver lesion
        head = re.compile(rf"\b{re.escape(subject.split()[-1])}\b")
        against = frozenset().union(*(opposites().get(word, ()) for word in subject.split()))
        named = [
            claim
            for claim in claims
            if head.search(clauses[id(claim)]) and not against & {*clauses[id(claim)].split()}
        ]
    if named:
        for claim in claims:
            claim.certainty = Certainty.ASSERTED if claim in named else Certainty.ASIDE


def _clause_before(plain: str, start: int) -> str:
    before = just_before(plain, start, 80).lower()
    marks = list(_OTHERS.finditer(before))
    return before[marks[-1].end() - (4 if marks[-1][0] == "and the" else 0) :] if marks else before


def _chosen(
    found: Sequence[Statement], groups: Sequence[_Listed], contiguous: bool
) -> set[int] | Unparsed | None:
    claims = _deciding(found, groups)
    asserted = [groups[int(str(value))] for claim in claims for value in claim.values]
    if not asserted:
        doubted = decide(found)
        return doubted if isinstance(doubted, Unparsed) else None
    if not contiguous:
        return {number for group in asserted for number in group.numbers}
    ranges = [group for group in asserted if group.ranges or len(group.numbers) > 1]
    if any(group.interrupted for group in ranges):
        return Unparsed("several ranges")
    if ranges:
        hulls = {(min(group.numbers), max(group.numbers)) for group in ranges}
        return _spelled(*hulls.pop()) if len(hulls) == 1 else Unparsed("several ranges")
    ends = {
        label: {min(group.numbers) for group in asserted if group.label == label}
        for label in ("first", "last")
    }
    if len(ends["first"]) == len(ends["last"]) == 1:
        return _spelled(*ends["first"], *ends["last"])
    singles = {number for group in asserted for number in group.numbers}
    if len(singles) == 1 and not singles >= _set_aside(found, groups):
        return Unparsed("one frame of several")
    if len(singles) == 1 and any(
        group.label or group.open_ended or _UP_TO.search(group.before[-60:]) for group in asserted
    ):
        return Unparsed("one end of a range")
    if len(singles) == 1 and any(
        _BEST.search(f"{group.before} {group.behind}") for group in asserted
    ):
        return Unparsed("where it is seen best, not from where to where")
    return _spelled(*singles) if len(singles) <= 2 else Unparsed("several frames, but no range")


def _set_aside(found: Sequence[Statement], groups: Sequence[_Listed]) -> set[int]:
    """Frames that are told of something else, as far as the reader can tell."""
    return {
        number
        for statement in found
        for claim in statement.claims
        if claim.certainty is Certainty.ASIDE and not claim.negated and claim.role >= Role.PLAIN
        for number in groups[int(str(claim.values[0]))].numbers
    }


def _deciding(found: Sequence[Statement], groups: Sequence[_Listed]) -> list[Claim]:
    """The claims that count: of the last final statement,
    of announcements, or all since the last turn."""
    claims = [
        claim
        for statement in found
        for claim in statement.claims
        if claim.asserted and not claim.alternatives
    ]
    for role in (Role.FINAL, Role.STATED):
        marked = [
            one
            for one in found
            if any(claim in claims and claim.role is role for claim in one.claims)
        ]
        if marked:
            stated = [
                claim
                for claim in marked[-1].claims
                if claim in claims and claim.role is not Role.WEAK
            ]
            return [claim for claim in stated if claim.turns == stated[-1].turns]
    claims = [claim for claim in claims if claim.role is not Role.WEAK]
    if claims and claims[-1].role is Role.CONCLUDED:
        # "From 6 on, but 6 and 7 show the stomach. So 8 to 22."
        last = next(one for one in found if claims[-1] in one.claims)
        within = [claim for claim in last.claims if claim in claims]
        concluded = [claim for claim in within if claim.role is Role.CONCLUDED]
        if len(concluded) == len(within) or groups[int(str(claims[-1].values[0]))].ranges:
            claims = concluded
    latest = claims[-1].turns if claims else 0
    return [
        claim for claim in claims if claim.turns == latest and claim.certainty is Certainty.ASSERTED
    ]


def _grouped(plain: str) -> list[_Listed]:
    """All whole numbers that may be frames, those in a row together."""
    found: list[_Listed] = []
    end = 0
    for match in list(_WHOLE.finditer(plain))[-_MOST_GROUPED:]:
        between = plain[end : match.start()]
        value = int(match[1])
        if _TOTAL_BEFORE.search(between[-12:]) and found:
            continue
        joint = _joint(between) if found else None
        if joint == "list" and _is_total(plain, match):
            continue  # "starts at 9, 6 slices long"
        if joint is None:
            if _is_total(plain, match):
                continue
            label = _label(between) or _label_behind(plain, match.end())
            found.append(
                _Listed(
                    match.start(),
                    match.end(),
                    {value},
                    label=label,
                    last=value,
                    before=between[-60:],
                )
            )
        else:
            group = found[-1]
            low, high = sorted((group.last, value)) if joint == "range" else (value, value)
            group.numbers |= set(range(low, min(high, low + LONGEST_RANGE) + 1))
            group.ranges += joint == "range"
            group.end, group.last = match.end(), value
        found[-1].behind = just_after(plain, match.end(), 30).split(".")[0]
        found[-1].open_ended = _OPEN_ENDED.match(plain, match.end()) is not None
        found[-1].measured |= _measured(plain, match)
        end = match.end()
    return found


def _measured(plain: str, number: re.Match[str]) -> bool:
    """Whether a number is one of something else than frames."""
    before = just_before(plain, number.start(), 24)
    behind = _UNIT.match(plain, number.end()) or _OF_ELSE.match(plain, number.end())
    return behind is not None or _ELSE_BEFORE.search(before) is not None


def _joint(between: str) -> str | None:
    """Whether two numbers with this between them are the ends of a range,
    members of a list, or neither."""
    if len(between) > 80:
        return None
    bare = _ASIDE.sub(" ", between)
    for kind, pattern in (("range", _RANGE), ("list", _LIST)):
        match = pattern.match(bare)
        if match and _LINK.fullmatch(bare, match.end()):
            return kind
    return None


def _label(between: str) -> str:
    """Whether the words before a number call it the first or the last."""
    words = between[-60:]
    first = max((match.start() for match in _FIRST.finditer(words)), default=-1)
    last = max((match.start() for match in _LAST.finditer(words)), default=-1)
    return "" if first == last else "first" if first > last else "last"


_BEHIND = re.compile(
    r" ?(?:as|is|=|being|for|,) (?:the |its )?(?P<end>first|last)\b", re.IGNORECASE
)
_BEST = re.compile(r"\b(?:best|largest|clearest|most clearly)\b", re.IGNORECASE)


def _label_behind(plain: str, end: int) -> str:
    """Whether the words behind a number call it the first or the last ("21 as the first slice")."""
    match = _BEHIND.match(plain, end)
    return match["end"].lower() if match else ""


def _is_total(plain: str, match: re.Match[str]) -> bool:
    """Whether "20 frames" tells how many were shown, rather than which."""
    return _TOTAL_AFTER.match(plain, match.end()) is not None and not plain[
        match.start() : match.end()
    ].endswith("th")


def _from_json(text: str, contiguous: bool) -> set[int] | None:
    for found in reversed(list(loose_values(text))):
        if isinstance(found.value, dict):
            named = _in_object(found.value, contiguous, 0)
        elif isinstance(found.value, list) and not re.search(
            r"[a-z]{4}", text[: found.start] + text[found.end :], re.I
        ):
            named = _in_value(found.value, contiguous)
        else:
            continue
        if named is not None:
            return named
    return None


def _in_object(record: dict[str, Loose], contiguous: bool, depth: int) -> set[int] | None:
    fields = {re.sub(r"[^a-z]", "", name.lower()): value for name, value in record.items()}
    for low, high in _ENDS:
        a, b = _whole(fields.get(low)), _whole(fields.get(high))
        if a is not None and b is not None:
            return _spelled(a, b)
    for key in _KEYS:
        if key in fields:
            named = _in_value(fields[key], contiguous or "range" in key, depth)
            if named is not None:
                return named
    return None


def _in_value(value: Loose, contiguous: bool, depth: int = 0) -> set[int] | None:
    if isinstance(value, dict):
        return _in_object(value, contiguous, depth + 1) if depth < 4 else None
    if isinstance(value, str):
        if _NONE.fullmatch(value):
            return set()
        groups = [group for group in _grouped(value) if not group.measured]
        return groups[0].numbers if len(groups) == 1 else None
    numbers = [_whole(part) for part in (value if isinstance(value, list) else [value])]
    integers = [number for number in numbers if number is not None]
    if len(integers) != len(numbers):
        return None
    return _spelled(*integers) if contiguous and len(integers) == 2 else set(integers)


def _whole(value: Loose) -> int | None:
    if isinstance(value, str):
        match = re.fullmatch(rf"\s*(?:{_WORD})?\s*#?\s*([0-9]{{1,5}})\s*", value, re.IGNORECASE)
        return int(match[1]) if match else None
    return int(value) if isinstance(value, float) and 0 <= value == int(value) < 1e5 else None


def _spelled(*ends: int) -> set[int]:
    low, high = min(ends), max(ends)
    return set(range(low, min(high, low + LONGEST_RANGE) + 1))
