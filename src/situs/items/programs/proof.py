"""Proof of a wording by the round trip:
a text stands for a shape only if it can mean nothing else."""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from importlib.resources import files

import msgspec

from situs.base.files import digest
from situs.items.programs.expression import Expr
from situs.items.programs.language import load_language, vocabulary
from situs.items.programs.names import Names, tokens_of
from situs.items.programs.nouns import wrong_noun
from situs.items.programs.reading import parse

__all__ = [
    "LONGEST",
    "Refusal",
    "banned_word",
    "ends_of",
    "language_version",
    "prove",
    "prove_text",
    "text_problem",
]

LONGEST = 300
"""Characters of a wording."""
_SLOT = re.compile(r"\{[A-Z]s?\}")
_MARKUP = re.compile(r"[<>*_`#\[\]()|\\\"/=@~^+&%$“”„«»{}]")
_UNIT = re.compile(r"\((?:in )?(?:mm|mL|ml|millimet(?:re|er)s|millilit(?:re|er)s)\)")
"""What may stand in brackets, beside whose left or right is meant."""
_BRACKET = re.compile(r"\(([^()]*)\)")
_JOINED = re.compile(r"-\s*\{|\}\s*-")
"""A sign before a slot, or a word made of one: the parser takes hyphens for spaces."""
_RANKS = re.compile(
    r"(?:(?:please|kindly|(?:could|can|would) you)\s)*(?:rank|order|sort|list|put|arrange|place)\s",
    re.I,
)
_ENDS = re.compile(r"[?!.;](?=\s|$)")


class Refusal(msgspec.Struct, frozen=True):
    """Why a wording is not taken."""

    code: str
    """`too_long`, `character`, `number`, `markup`, `slots`, `second_question`, `banned`, `word`,
    `unreadable`, `other_meaning` or `ambiguous`."""
    reason: str


class _Banned(msgspec.Struct, frozen=True, rename={"but": "except"}):
    words: tuple[str, ...]
    why: str
    but: tuple[str, ...] = ()


class _Refusals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    asks: frozenset[str]
    tells: frozenset[str]
    parts: frozenset[str]
    banned: tuple[_Banned, ...]


@functools.cache
def _refusals() -> _Refusals:
    text = files("situs.items.programs").joinpath("data", "refusals.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _Refusals)


@functools.cache
def language_version() -> str:
    """A hash of the language file: what was proved by another grammar is proved again."""
    folder = files("situs.items.programs").joinpath("data")
    return digest(
        *(folder.joinpath(n).read_bytes() for n in ("language.toml", "refusals.toml")), size=6
    )


def prove(text: str, shape: Expr) -> Refusal | None:
    """Why a wording with slots does not stand for a shape;
    None if it does, and for nothing else."""
    problem = text_problem(text) or _slot_problem(text, shape)
    problem = problem or _part_problem(text) or _meaning_problem(text, shape, None)
    if problem is not None:
        return problem
    noun = wrong_noun(text, shape)
    return Refusal("other_meaning", f"{noun!r} is not what it asks about") if noun else None


def prove_text(text: str, program: Expr, names: Names) -> Refusal | None:
    """The same for a finished text, its slots filled with the names of structures."""
    return _meaning_problem(text, program, names)


def text_problem(text: str) -> Refusal | None:
    """What is wrong with the characters and words of a wording, whatever it means."""
    if not text.strip() or len(text) > LONGEST:
        return Refusal("too_long", f"is empty or has more than {LONGEST} characters")
    for character in text:
        if character not in "’" and not " " <= character <= "~":
            name = unicodedata.name(character, "a control character")
            return Refusal("character", f"has U+{ord(character):04X} ({name})")
    bare = _UNIT.sub(" ", _SLOT.sub(" ", text))
    bare = _BRACKET.sub(_without_aside, bare)
    if re.search(r"\d", bare):
        return Refusal("number", "has a number of its own; numbers are slots")
    markup = _MARKUP.search(bare)
    if markup is not None:
        return Refusal("markup", f"has {markup[0]!r}")
    if _JOINED.search(text):
        return Refusal("markup", "has a hyphen or a minus at a slot")
    if ends_of(bare) > 1 or text.strip()[-1] not in "?.":
        return Refusal("second_question", "is not exactly one question")
    if text.strip()[-1] == "." and not _tells_to(bare):
        return Refusal("second_question", "ends with a full stop, but tells nobody to do anything")
    return banned_word(bare)


def _without_aside(bracket: re.Match[str]) -> str:
    """Nothing in place of a bracket that says whose left or right is meant."""
    is_aside = bracket[1].lower().replace("’", "'") in load_language().restore.asides
    return " " if is_aside else bracket[0]


def ends_of(text: str) -> int:
    """How many sentences a question has, apart from the one that only says what is ranked."""
    ends = len(_ENDS.findall(text))
    # The one question of two sentences: `Rank …, from largest to smallest. Which order is right?`
    ranks = _RANKS.match(text) is not None
    return ends - 1 if ranks and ends == 2 else ends


def _tells_to(text: str) -> bool:
    """Whether the last sentence tells somebody to do something: `State how large …`, not `Which is
    larger.`"""
    last = _ENDS.split(text.strip()[:-1])[-1]
    asks, tells = _refusals().asks, _refusals().tells
    return next((token in tells for token in tokens_of(last) if token in asks | tells), False)


def banned_word(text: str) -> Refusal | None:
    """The first word of a text that no question may have, and why."""
    text = text.lower().replace("’", "'")
    for rule in _refusals().banned:
        plain = text
        for allowed in rule.but:
            plain = plain.replace(allowed, " ")
        for word in rule.words:
            if re.search(rf"(?<![\w']){re.escape(word)}(?![\w'])", plain):
                return Refusal("banned", f"{word!r}: {rule.why}")
    return None


def _part_problem(text: str) -> Refusal | None:
    """A part that only some structures have (the dome of the liver): a slot may hold any."""
    part = next((token for token in tokens_of(text) if token in _refusals().parts), None)
    if part is None:
        return None
    return Refusal("banned", f"{part!r}: names a part that not every structure has")


def _slot_problem(text: str, shape: Expr) -> Refusal | None:
    wanted = {f"{{{part.args[0]}}}" for part in shape.parts() if part.op == "slot"}
    present = {slot.replace("s}", "}") for slot in _SLOT.findall(text)}
    if present - wanted:
        return Refusal(
            "slots", f"has {', '.join(sorted(present - wanted))}, which is not one of its slots"
        )
    if wanted - present:
        return Refusal("slots", f"lacks {', '.join(sorted(wanted - present))}")
    return None


def _meaning_problem(text: str, wanted: Expr, names: Names | None) -> Refusal | None:
    meanings = parse(text, names)
    if meanings == {wanted}:
        return None
    if not meanings:
        unknown = [word for word in tokens_of(text) if word.isalpha() and word not in vocabulary()]
        if unknown and names is None:
            return Refusal("word", f"{unknown[0]!r} is not a word of the language")
        return Refusal("unreadable", "cannot be read as a question of the language")
    first_meanings = " or ".join(sorted(map(str, meanings))[:2])
    if wanted in meanings or len(meanings) > 1:
        return Refusal("ambiguous", f"may mean {first_meanings}")
    return Refusal("other_meaning", f"means {first_meanings}")
