"""A program: a typed expression that says what a spatial question asks, apart from any wording.

`is_within(largest(lesions(liver_lesion)),aorta,10)` is its text. What operators there are, and what
they take and give, stands in `data/language.toml`.

Programs nest to a stated depth, by their types: a question is about things; a thing is a named
structure or one member picked from a group of lesions; a group may be filtered once, against a
*plain* thing (a named structure, or the largest or second largest lesion of a kind). So no phrase
can be attached to two places of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.items.programs.language import Operator, load_language

__all__ = [
    "FILTERS",
    "NUMBERS",
    "PICKS",
    "Expr",
    "can_be_written",
    "name_of",
    "program_text",
    "read_program",
]

FILTERS = ("touching", "within", "on", "beyond")
PICKS = ("largest", "second_largest", "nearest", "most")
_PLAIN_PICKS = ("largest", "second_largest")
_WORD = r"[\w.:+-]+(?: [\w.:+-]+)*"
_TOKEN = re.compile(rf"\s*({_WORD}|\{{[A-Z]\}}|[(),])")
"""A name (of several words in some files, "left lung"),
a number, a slot of a shape, or punctuation."""
_LONGEST = 400


class Expr(msgspec.Struct, frozen=True, order=True):
    """An operator with its arguments: expressions, names, directions, sides and numbers."""

    op: str
    """An operator of the language, `name` of a structure, or `slot` of a shape."""
    args: tuple[Expr | str | float, ...]

    def __str__(self) -> str:
        return program_text(self)

    @property
    def group(self) -> Expr:
        """Of a pick or a filter: the group it takes."""
        return next(arg for arg in self.args if isinstance(arg, Expr) and _is_group(arg))

    def parts(self) -> Iterator[Expr]:
        """The expression and all it is made of, outermost first."""
        yield self
        for arg in self.args:
            if isinstance(arg, Expr):
                yield from arg.parts()

    @property
    def names(self) -> list[str]:
        """The named structures it speaks of, in their order."""
        return [str(part.args[0]) for part in self.parts() if part.op == "name"]

    @property
    def families(self) -> list[str]:
        """The kinds of lesions it speaks of, in their order, each once."""
        return list(dict.fromkeys(str(p.args[0]) for p in self.parts() if p.op == "lesions"))


def name_of(name: str) -> Expr:
    """A named structure as an expression."""
    return Expr("name", (name,))


def _is_group(expr: Expr) -> bool:
    return expr.op in ("lesions", "structures", *FILTERS)


def program_text(expr: Expr) -> str:
    """The program as text, in one way only: what items and banks keep."""
    if expr.op == "name":
        return str(expr.args[0])
    if expr.op == "slot":
        return f"{{{expr.args[0]}}}"
    if expr.op == "structures" and expr.args == ("structures",):
        return "structures"
    return f"{expr.op}({','.join(_argument_text(arg) for arg in expr.args)})"


def _argument_text(arg: Expr | str | float) -> str:
    if isinstance(arg, Expr):
        return program_text(arg)
    return arg if isinstance(arg, str) else f"{arg:g}"


@cache
def read_program(text: str) -> Expr:
    """The program that a text stands for; an error says what is wrong with it."""
    if len(text) > _LONGEST:
        raise _wrong(f"a program of more than {_LONGEST} characters", text)
    tokens: list[str] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _wrong(f"{text[position : position + 8]!r} cannot be read", text)
        tokens.append(match[1])
        position = match.end()
    expr, remainder = _read_type("question", tokens, text)
    if remainder:
        raise _wrong(f"{''.join(remainder)!r} follows its end", text)
    return expr


def _wrong(problem: str, text: str) -> SitusError:
    return SitusError(problem, where=f"program {text[:80]!r}", fix="see docs/language.md")


def _read_type(kind: str, tokens: list[str], text: str) -> tuple[Expr, list[str]]:
    """One argument of a type from the tokens, and the tokens after it."""
    if not tokens:
        raise _wrong(f"ends where a {kind} is expected", text)
    if len(tokens) > 1 and tokens[1] == "(":
        return _read_call(kind, tokens, text)
    word, remainder = tokens[0], tokens[1:]
    if word == "structures" and kind in ("structures", "group"):
        return Expr("structures", ("structures",)), remainder
    if kind in ("thing", "plain") and (word.startswith("{") or _is_word(word)):
        return (Expr("slot", (word[1:-1],)) if word.startswith("{") else name_of(word)), remainder
    raise _wrong(f"{word!r} stands where {kind} is expected", text)


def can_be_written(name: str) -> bool:
    """Whether a program can speak of a structure by this name, and be read again."""
    return re.fullmatch(_WORD, name) is not None and _is_word(name)


def _is_word(word: str) -> bool:
    return word not in "()," and not word[0].isdigit()


def _read_call(kind: str, tokens: list[str], text: str) -> tuple[Expr, list[str]]:
    name, remainder = tokens[0], tokens[2:]
    operators = load_language().op
    if name not in operators:
        raise _wrong(f"no operator {name!r}: {did_you_mean(name, operators)}", text)
    operator = operators[name]
    args: list[Expr | str | float] = []
    for number, wanted in enumerate(operator.takes):
        if number:
            remainder = _skip(",", remainder, text)
        value: Expr | str | float
        if wanted in _LEAVES:
            value, remainder = _leaf(wanted, remainder, text)
        else:
            value, remainder = _read_type(wanted, remainder, text)
        args.append(value)
    expr = Expr(name, tuple(args))
    problem = _misfit(expr, operator, kind)
    if problem:
        raise _wrong(problem, text)
    return expr, _skip(")", remainder, text)


_LEAVES = ("direction", "side", "family", "klass", "mm", "ml")
NUMBERS = ("mm", "ml")


def _leaf(wanted: str, tokens: list[str], text: str) -> tuple[Expr | str | float, list[str]]:
    if not tokens:
        raise _wrong(f"ends where a {wanted} is expected", text)
    word, remainder = tokens[0], tokens[1:]
    language = load_language()
    if word.startswith("{") and wanted in ("family", *NUMBERS):
        return Expr("slot", (word[1:-1],)), remainder
    if wanted in NUMBERS:
        if not re.fullmatch(r"\d{1,4}(\.\d{1,2})?", word) or float(word) <= 0:
            raise _wrong(f"{word!r} is not a number above 0", text)
        return float(word), remainder
    if wanted == "family":
        if not _is_word(word):
            raise _wrong(f"{word!r} is not a kind of lesion", text)
        return word, remainder
    known = getattr(language, wanted)
    if word not in known:
        raise _wrong(f"no {wanted} {word!r}: {did_you_mean(word, known)}", text)
    return word, remainder


def _skip(wanted: str, tokens: list[str], text: str) -> list[str]:
    if not tokens or tokens[0] != wanted:
        actual = tokens[0] if tokens else "its end"
        raise _wrong(f"{actual!r} stands where {wanted!r} is expected", text)
    return tokens[1:]


def _misfit(expr: Expr, operator: Operator, kind: str) -> str:
    """Why an expression cannot stand where this type is wanted; empty if it can."""
    gives = {
        "question": ("question",),
        "ranking": ("pick",),
        "thing": ("pick",),
        "plain": ("pick",),
        "lesions": ("lesions", "group"),
        "structures": ("structures", "group"),
        "group": ("lesions", "structures", "group"),
    }[kind]
    if operator.gives not in gives:
        return f"{expr.op} stands where {kind} is expected"
    if expr.op in FILTERS and expr.group.op in FILTERS:
        return "a group is filtered only once"
    over = _over(expr)
    if kind == "ranking" and over != "structures":
        return "which asks for a structure: rank structures, not lesions"
    if kind in ("thing", "plain", "lesions") and over != "lesions":
        return f"a {kind} is picked from lesions"
    if kind == "plain" and (expr.op not in _PLAIN_PICKS or expr.group.op != "lesions"):
        return f"{expr.op} is nested too deep: name a structure, or the largest lesion of a kind"
    if expr.op == "any" and isinstance(expr.args[0], Expr) and expr.args[0].op not in FILTERS:
        return "any asks about a filtered group"
    return ""


def _over(expr: Expr) -> str:
    """`lesions` or `structures`: what a pick or a filtered group consists of."""
    if expr.op in ("lesions", "structures"):
        return expr.op
    if expr.op in (*PICKS, *FILTERS):
        return _over(expr.group)
    return ""
