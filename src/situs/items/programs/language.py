"""The data file of the language: operators with their types,
how they are said, and how else they may be said."""

from __future__ import annotations

import functools
import re
import tomllib
from importlib.resources import files
from typing import NamedTuple

import msgspec

from situs.errors import SitusError
from situs.items.programs.frames import Frames, widened

__all__ = [
    "Alternatives",
    "Language",
    "Operator",
    "Pattern",
    "Restore",
    "Sentence",
    "Slot",
    "compile_pattern",
    "load_language",
    "vocabulary",
]


class Operator(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One operator."""

    takes: tuple[str, ...]
    gives: str
    form: str = ""
    says: tuple[str, ...] = ()
    accepts: tuple[str, ...] = ()
    says_p: tuple[str, ...] = ()
    accepts_p: tuple[str, ...] = ()


class Sentence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a question with a certain pick or filter is asked."""

    says: tuple[str, ...]
    accepts: tuple[str, ...] = ()
    says_it: tuple[str, ...] = ()
    """Where the thing was named before in the sentence."""


class Restore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a sentence in another order, or with words left out, is put back."""

    requests: tuple[str, ...]
    """Polite beginnings of a part, which say nothing."""
    units: frozenset[str]
    """Words that make a part by themselves, as if `in` stood before them."""
    asides: frozenset[str]
    """What may stand in brackets: whose left or right is meant."""
    among: tuple[str, ...]
    """What stands before the members of a group."""
    members: tuple[str, ...]
    """What stands for a group whose noun was named before."""
    fillers: frozenset[str]
    """Words that say nothing."""
    polite: frozenset[str]
    """Those of them that stand only first or last in a part."""
    opens: frozenset[str]
    """Words that a whole question begins with."""
    moves: frozenset[str]
    """First words of a part that may stand elsewhere."""
    ties: frozenset[str]
    """Words that belong to the next: nothing is put behind them, and no part ends with them."""
    topics: tuple[str, ...]
    """What names a thing that a pronoun stands for afterwards."""
    heads: tuple[str, ...]
    """Beginnings that a short question leaves out."""


class Language(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    everywhere: tuple[str, ...]
    """Structures that hold all others."""
    words: dict[str, str]
    restore: Restore
    direction: dict[str, dict[str, tuple[str, ...]]]
    side: dict[str, dict[str, tuple[str, ...]]]
    klass: dict[str, dict[str, tuple[str, ...]]]
    op: dict[str, Operator]
    which: dict[str, Sentence]
    any: dict[str, Sentence]
    count: dict[str, Sentence]


class _File(Language, frozen=True, forbid_unknown_fields=True):
    """The file as it is written: with the frames, and what fills them."""

    frames: Frames
    relation: dict[str, dict[str, str]]
    comparison: dict[str, dict[str, str]]
    measure: dict[str, dict[str, str]]
    place: dict[str, dict[str, str]]
    superlative: dict[str, dict[str, str]]


@functools.cache
def load_language() -> Language:
    """The shipped file, with every sentence that its frames make."""
    text = files("situs.items.programs").joinpath("data", "language.toml").read_text("utf-8")
    file = msgspec.convert(tomllib.loads(text), _File)
    made = widened(file, {name: operator.takes for name, operator in file.op.items()})

    def more(place: str) -> tuple[str, ...]:
        return tuple(made.get(place, ()))

    operators = {
        name: msgspec.structs.replace(
            operator,
            accepts=(*operator.accepts, *more(f"op.{name}")),
            accepts_p=(*operator.accepts_p, *more(f"op.{name}_p")),
        )
        for name, operator in file.op.items()
    }
    nested = {
        table: {
            name: msgspec.structs.replace(one, accepts=(*one.accepts, *more(f"{table}.{name}")))
            for name, one in getattr(file, table).items()
        }
        for table in ("which", "any", "count")
    }
    return Language(
        file.everywhere,
        file.words,
        file.restore,
        file.direction,
        file.side,
        file.klass,
        operators,
        **nested,
    )


class Slot(NamedTuple):
    """A place for an argument: `{1}`, `{1p}` in the plural,
    `{1:most}` in a form, `{2x}` as `it`, `{2o}` as an `it` that is left out."""

    number: int
    form: str


class Alternatives(NamedTuple):
    """One of several patterns."""

    of: tuple[Pattern, ...]


Pattern = tuple["str | Slot | Alternatives", ...]
"""A sequence of words, slots and alternatives."""

_PIECE = re.compile(r"\{(\d)(p|x|o|:\w+)?\}|<(\w+)>|([()\[\]|])|('s|[^\s()\[\]|{}<>]+)")
"""A slot, a macro, a bracket, or a word."""
_PUNCTUATION = re.compile(r"[,;?]|:(?!\w+\})|\.$")


def compile_pattern(text: str) -> Pattern:
    """A pattern or a saying of the file as a sequence to be matched."""
    plain = _PUNCTUATION.sub(" ", _expanded(text)).replace("-", " ").replace("'s", " 's").lower()
    # A full stop inside a text (`rank …. which order`) is a token of its own.
    pieces = _PIECE.findall(plain.replace(".", " . "))
    sequence, end = _sequence(pieces, 0)
    if end != len(pieces):
        raise SitusError(f"brackets do not match in {text!r}", where="language.toml")
    return sequence


def _expanded(text: str) -> str:
    """The text with its macros replaced; they may hold others."""
    words = load_language().words
    while match := re.search(r"<(\w+)>", text):
        text = text.replace(match[0], words[match[1]])
    return text


def _sequence(pieces: list[tuple[str, ...]], at: int) -> tuple[Pattern, int]:
    items: list[str | Slot | Alternatives] = []
    while at < len(pieces):
        number, form, _, bracket, word = pieces[at]
        if bracket in ("|", ")", "]"):
            break
        at += 1
        if number:
            items.append(Slot(int(number), (form or "").removeprefix(":")))
        elif word:
            items.append(word)
        else:
            branches, at = _branches(pieces, at, ")" if bracket == "(" else "]")
            items.append(Alternatives(branches if bracket == "(" else ((), *branches)))
    return tuple(items), at


def _branches(pieces: list[tuple[str, ...]], at: int, end: str) -> tuple[tuple[Pattern, ...], int]:
    branches = []
    while True:
        branch, at = _sequence(pieces, at)
        branches.append(branch)
        if at >= len(pieces) or pieces[at][3] not in ("|", end):
            raise SitusError("brackets do not match", where="language.toml")
        at += 1
        if pieces[at - 1][3] == end:
            return tuple(branches), at


@functools.cache
def vocabulary() -> frozenset[str]:
    """Every word that some pattern has, or that a sentence may be put back from."""
    language = load_language()
    texts = [*language.words.values()]
    for operator in language.op.values():
        texts += [*operator.says, *operator.accepts, *operator.says_p, *operator.accepts_p]
    for table in (language.which, language.any, language.count):
        texts += [text for one in table.values() for text in (*one.says, *one.accepts)]
    for forms in (language.direction, language.side, language.klass):
        texts += [text for one in forms.values() for wordings in one.values() for text in wordings]
    restore = language.restore
    beside = {
        word
        for text in (*restore.topics, *restore.requests, *restore.members)
        for word in text.split()
    }
    return frozenset(word for text in texts for word in _words(compile_pattern(text))).union(
        beside, restore.fillers
    )


def _words(pattern: Pattern) -> set[str]:
    words: set[str] = set()
    for piece in pattern:
        if isinstance(piece, str):
            words.add(piece)
        elif isinstance(piece, Alternatives):
            words = words.union(*(_words(branch) for branch in piece.of))
    return words
