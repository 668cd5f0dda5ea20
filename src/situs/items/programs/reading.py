"""From a text to the programs it may mean: one if it is clear, several if it is not, none if it is
something else.

The grammar is closed: a word that no pattern has makes a text unreadable. So whatever is read means
what it says, and nothing can be said beside it.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from situs.items.programs.expression import FILTERS, PICKS, Expr
from situs.items.programs.language import (
    Alternatives,
    Pattern,
    Slot,
    compile_pattern,
    load_language,
    vocabulary,
)
from situs.items.programs.names import Names, Tokens, shipped_names, tokens_of
from situs.items.programs.restoring import restored

__all__ = ["parse"]

Value = Expr | str | float
Bound = tuple[tuple[int, Value], ...]
"""Number of an argument → what the text gives it."""
_IT = Expr("it", ())
_NUMBER = re.compile(r"\d{1,4}(\.\d{1,2})?")


class _Production(NamedTuple):
    """A way to say an expression: `ops` are nested around the arguments, outermost first."""

    ops: tuple[str, ...]
    takes: tuple[str, ...]
    pattern: Pattern
    begins: frozenset[str] | None
    """Words that it may begin with; None where that may be anything."""


def parse(text: str, names: Names | None = None) -> set[Expr]:
    """Every program that the text may mean.

    The text is a question with names of structures, or with the slots of a shape ({A}, {F}, {Fs},
    {X}).
    """
    tokens = tokens_of(text)
    if tokens and tokens[-1] in ("?", "."):
        tokens = tokens[:-1]
    if not tokens or "?" in tokens or "!" in tokens:
        return set()
    names = names or shipped_names()
    meanings = _Reading(tokens, names).questions()
    if not meanings and _could_be_read(tokens, names):
        meanings = meanings.union(*(_Reading(way, names).questions() for way in restored(text)))
    return meanings


def _could_be_read(tokens: Tokens, names: Names) -> bool:
    """Whether every word is known to some pattern or name: else no order of them can be read."""
    return all(token in vocabulary() or token in names.words for token in tokens if token.isalpha())


class _Reading:
    """One text, with what was found at each place so far."""

    def __init__(self, tokens: tuple[str, ...], names: Names) -> None:
        self._tokens = tokens
        self._names = names
        self._known_matches: dict[tuple[str, int], list[tuple[int, Value]]] = {}

    def questions(self) -> set[Expr]:
        """The programs of the whole text."""
        before, after = _frame()
        questions: set[Expr] = set()
        end = len(self._tokens)
        for start, _ in set(self._match(before, 0, 0, (), ())):
            for stop, question in self._productions("question", start):
                if any(last == end for last, _ in self._match(after, 0, stop, (), ())):
                    questions.add(question)
        meant = {expr for question in questions if (expr := _without_it(question)) is not None}
        return {
            question
            for question in meant
            if not _leads_nowhere(question) and not (self._is_of_picture and _leads(question))
        }

    @property
    def _is_of_picture(self) -> bool:
        """Whether the text speaks of a picture: its left and its top are not the patient's.

        An axial image on which something is measured is a slice.
        """
        return any(
            token in ("image", "images") and before != "axial"
            for before, token in itertools.pairwise(("", *self._tokens))
        )

    def _productions(self, kind: str, at: int) -> Iterator[tuple[int, Expr]]:
        token = self._tokens[at] if at < len(self._tokens) else ""
        for production in _productions_of(kind):
            if production.begins is not None and token not in production.begins:
                continue
            for end, bound in self._match(production.pattern, 0, at, (), production.takes):
                args: tuple[Value, ...] = tuple(value for _, value in sorted(bound, key=_number))
                if len(args) != len(production.takes):
                    continue
                expr = Expr(production.ops[-1], args)
                for op in production.ops[-2::-1]:
                    expr = Expr(op, (expr,))
                yield end, expr

    def _match(
        self, pattern: Pattern, step: int, at: int, bound: Bound, takes: tuple[str, ...]
    ) -> Iterator[tuple[int, Bound]]:
        """Ends of the pattern from its `step` on,
        at a token, with the arguments found on the way."""
        if step == len(pattern):
            yield at, bound
            return
        piece = pattern[step]
        if isinstance(piece, str):
            if at < len(self._tokens) and self._tokens[at] == piece:
                yield from self._match(pattern, step + 1, at + 1, bound, takes)
        elif isinstance(piece, Alternatives):
            for branch in piece.of:
                for end, more in self._match(branch, 0, at, bound, takes):
                    yield from self._match(pattern, step + 1, end, more, takes)
        else:
            known = dict(bound)
            for end, value in self._argument(takes[piece.number - 1], piece, at):
                if known.get(piece.number, value) == value:
                    more = (*bound, (piece.number, value)) if piece.number not in known else bound
                    yield from self._match(pattern, step + 1, end, more, takes)

    def _argument(self, kind: str, slot: Slot, at: int) -> list[tuple[int, Value]]:
        """What stands at a token for an argument of this kind: where it ends, and what it is."""
        key = (f"{kind}/{slot.form}", at)
        if key not in self._known_matches:
            self._known_matches[key] = []
            self._known_matches[key] = list(dict.fromkeys(self._read(kind, slot.form, at)))
        return self._known_matches[key]

    def _read(self, kind: str, form: str, at: int) -> Iterator[tuple[int, Value]]:
        if form == "x":
            if self._tokens[at : at + 1] == ("it",):
                yield at + 1, _IT
        elif form == "o":
            yield at, _IT
        elif kind in ("mm", "ml"):
            yield from self._numbers(at)
        elif kind in ("direction", "side", "klass"):
            for value, patterns in _forms(kind, form).items():
                for pattern in patterns:
                    yield from ((end, value) for end, _ in self._match(pattern, 0, at, (), ()))
        elif kind == "family":
            words = self._names.plurals_by_words if form == "p" else self._names.lesions_by_words
            yield from self._words(words, at)
        elif kind == "thing":
            yield from self._read("plain", "", at)
            yield from self._productions("pick lesions", at)
        elif kind == "plain":
            yield from self._words(self._names.things_by_words, at)
            yield from self._productions("plain", at)
        else:
            yield from self._productions(f"{kind} {form or 's'}", at)

    def _numbers(self, at: int) -> Iterator[tuple[int, Value]]:
        token = self._tokens[at] if at < len(self._tokens) else ""
        if token == "{x}":
            yield at + 1, Expr("slot", ("X",))
        elif _NUMBER.fullmatch(token) and float(token) > 0:
            yield at + 1, float(token)

    def _words(
        self, words: Mapping[tuple[str, ...], Sequence[Value]], at: int
    ) -> Iterator[tuple[int, Value]]:
        for length in range(1, max(map(len, words), default=0) + 1):
            for value in words.get(self._tokens[at : at + length], ()):
                yield at + length, value


def _number(pair: tuple[int, Value]) -> int:
    return pair[0]


def _without_it(question: Expr) -> Expr | None:
    """The question with `it` replaced by what the group was filtered against;
    None if that is nothing."""
    if not any(part == _IT for part in question.parts()):
        return question
    filtered = [part for part in question.parts() if part.op in FILTERS]
    others = [arg for part in filtered for arg in part.args if isinstance(arg, Expr)]
    meant = [
        arg
        for arg in others
        if arg.op not in ("lesions", "structures") and arg != Expr("slot", ("X",))
    ]
    if len(meant) != 1 or meant[0] == _IT:
        return None

    def replaced(expr: Expr) -> Expr:
        if expr == _IT:
            return meant[0]
        args = tuple(replaced(arg) if isinstance(arg, Expr) else arg for arg in expr.args)
        return Expr(expr.op, args)

    return replaced(question)


_LEADING = ("beyond", "is_beyond", "most", "on", "is_on", "side", "reaches_higher", "reaches_lower")


def _leads(question: Expr) -> bool:
    """Whether a question tells directions or sides."""
    return any(part.op in _LEADING for part in question.parts())


def _leads_nowhere(question: Expr) -> bool:
    """Whether a direction is told from what holds all else: `to the right of the body`."""
    everywhere = load_language().everywhere
    return any(
        isinstance(part.args[-1], Expr)
        and part.args[-1].op == "name"
        and part.args[-1].args[0] in everywhere
        for part in question.parts()
        if part.op in ("beyond", "is_beyond")
    )


@functools.cache
def _frame() -> tuple[Pattern, Pattern]:
    """What may stand before and after a question."""
    return compile_pattern("<before>"), compile_pattern("<after>")


@functools.cache
def _forms(kind: str, form: str) -> dict[str, tuple[Pattern, ...]]:
    """Each direction, side or class → the patterns of one form of it."""
    table: dict[str, dict[str, tuple[str, ...]]] = getattr(load_language(), kind)
    return {
        value: tuple(compile_pattern(text) for text in forms[form])
        for value, forms in table.items()
    }


def _first_words(pattern: Pattern) -> frozenset[str] | None:
    """The words that a pattern may begin with; None if it may begin with a slot, or be empty."""
    words: set[str] = set()
    for piece in pattern:
        if isinstance(piece, Slot):
            return None
        if isinstance(piece, str):
            return frozenset(words | {piece})
        branches = [_first_words(branch) for branch in piece.of if branch]
        if None in branches:
            return None
        words = words.union(*(branch for branch in branches if branch is not None))
        if () not in piece.of:
            return frozenset(words)
    return None


@functools.cache
def _productions_of(kind: str) -> tuple[_Production, ...]:
    """All ways to say a kind: `question`, `plain`,
    `pick lesions`, or a group in singular or plural."""
    language = load_language()
    productions: list[_Production] = []

    def add(ops: tuple[str, ...], takes: tuple[str, ...], texts: tuple[str, ...]) -> None:
        patterns = dict.fromkeys(compile_pattern(text) for text in texts)
        productions.extend(
            _Production(ops, takes, pattern, _first_words(pattern)) for pattern in patterns
        )

    def add_nested(outer: str, over: str, inner: tuple[str, ...]) -> None:
        for name in inner:
            sentence = getattr(language, outer)[name]
            takes = _of_group(language.op[name].takes, over)
            add((outer, name), takes, (*sentence.says, *sentence.accepts))

    if kind == "question":
        for name, operator in language.op.items():
            if operator.gives == "question":
                add((name,), _of_group(operator.takes, "base"), (*operator.says, *operator.accepts))
        add_nested("which", "any structures", PICKS)
        add_nested("any", "base lesions", FILTERS)
        add_nested("count", "base lesions", FILTERS)
    elif kind in ("plain", "pick lesions"):
        over = "base lesions" if kind == "plain" else "any lesions"
        for name in PICKS[:2] if kind == "plain" else PICKS:
            operator = language.op[name]
            add((name,), _of_group(operator.takes, over), (*operator.says, *operator.accepts))
    else:
        reach, members, form = kind.split(" ")
        operator = language.op[members]
        add((members,), operator.takes, operator.says if form == "s" else operator.says_p)
        for name in FILTERS if reach == "any" else ():
            operator = language.op[name]
            singular, several = (
                (*operator.says, *operator.accepts),
                (*operator.says_p, *operator.accepts_p),
            )
            takes = _of_group(operator.takes, f"base {members}")
            add((name,), takes, singular if form == "s" else several)
    return tuple(productions)


def _of_group(takes: tuple[str, ...], over: str) -> tuple[str, ...]:
    """The types of arguments, with those of groups as far as they reach here."""
    if over == "base":
        return tuple("base lesions" if kind == "lesions" else kind for kind in takes)
    return tuple(over if kind == "group" else kind for kind in takes)
