"""From a program to its text: in one of Situs's own wordings, or in one of a bank."""

from __future__ import annotations

import re

from situs.items.programs.expression import FILTERS, Expr
from situs.items.programs.language import load_language
from situs.items.programs.names import Names, shipped_names
from situs.items.programs.shapes import slots_of

__all__ = ["fill", "phrase", "render", "wordings_of"]

_SLOT = re.compile(r"\{(\d)(p|:\w+)?\}")
_SHAPE_SLOT = re.compile(r"\{([A-Z])(s?)\}")


def render(program: Expr, wording: int = 0, names: Names | None = None) -> str:
    """The question as text.
    `wording` counts Situs's own ways to say it and begins anew after the last."""
    names = names or shipped_names()
    text, args = _sentence(program, wording)
    sentence = _SLOT.sub(lambda m: _argument(args[int(m[1]) - 1], m[2] or "", wording, names), text)
    return sentence[0].upper() + sentence[1:]


def wordings_of(program: Expr) -> int:
    """How many wordings of its own Situs has for a program."""
    language = load_language()
    counts = [len(_sentences(program))]
    for part in program.parts():
        operator = language.op.get(part.op)
        if operator is not None and operator.gives != "question":
            counts.append(max(len(operator.says), len(operator.says_p)))
    return max(counts)


def _nested(program: Expr) -> Expr | None:
    """What decides on the sentence beside the question:
    the pick of `which`, the filter of `any` and `count`."""
    inner = program.args[0] if program.args else None
    if not isinstance(inner, Expr):
        return None
    if program.op == "which" or (program.op in ("any", "count") and inner.op in FILTERS):
        return inner
    return None


def _sentences(program: Expr) -> tuple[str, ...]:
    inner, language = _nested(program), load_language()
    if inner is None:
        return language.op[program.op].says
    sentences = getattr(language, program.op)[inner.op]
    is_named_before = inner.op == "nearest" and inner.args[1] in inner.group.args
    return tuple(sentences.says_it if is_named_before else sentences.says)


def _sentence(program: Expr, wording: int) -> tuple[str, tuple[Expr | str | float, ...]]:
    inner, texts = _nested(program), _sentences(program)
    return texts[wording % len(texts)], program.args if inner is None else inner.args


def phrase(expr: Expr, names: Names | None = None, wording: int = 0) -> str:
    """A thing with its article, or a group in the singular."""
    return _argument(expr, "", wording, names or shipped_names())


def _argument(arg: Expr | str | float, form: str, wording: int, names: Names) -> str:
    if isinstance(arg, float | int):
        return f"{arg:g}"
    if isinstance(arg, str):
        return _word(arg, form, names)
    several = form == "p"
    if arg.op == "slot":
        return f"{{{arg.args[0]}{'s' if several else ''}}}"
    if arg.op == "name":
        return names.thing(str(arg.args[0]))
    operator = load_language().op[arg.op]
    texts = operator.says_p if several else operator.says
    text = texts[wording % len(texts)]
    return _SLOT.sub(lambda m: _argument(arg.args[int(m[1]) - 1], m[2] or "", wording, names), text)


def _word(arg: str, form: str, names: Names) -> str:
    """A direction, side or class in a form; or a kind of lesion, in singular or plural."""
    if form.startswith(":"):
        language = load_language()
        for table in (language.direction, language.side, language.klass):
            if arg in table and form[1:] in table[arg]:
                return table[arg][form[1:]][0]
    return names.lesions(arg) if form == "p" else names.lesion(arg)


def fill(text: str, program: Expr, names: Names | None = None) -> str:
    """A wording of the program's shape with its slots filled."""
    names = names or shipped_names()
    slots = slots_of(program)

    def said(match: re.Match[str]) -> str:
        value = slots[match[1]]
        return _argument(value, "p" if match[2] else "", 0, names)

    filled = _SHAPE_SLOT.sub(said, text)
    return filled[0].upper() + filled[1:]
