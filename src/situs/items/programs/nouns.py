"""What a wording calls the things it is about — a lesion, an organ, a vessel — and whether they are
that.

`Which lesion has the greater volume, {A} or {B}?` says what it means, but of the liver and the
spleen it is silly. So a wording stands only for programs whose things it names rightly.
"""

from __future__ import annotations

from situs.anatomy import term
from situs.items.programs.expression import PICKS, Expr
from situs.items.programs.names import tokens_of

__all__ = ["wrong_noun"]

_CALLED = {
    "lesion": "lesion",
    "lesions": "lesion",
    "finding": "lesion",
    "organ": "organ",
    "organs": "organ",
    "vessel": "vessel",
    "vessels": "vessel",
}
_KLASS = {"organ": "organs", "vessel": "vessels"}
_KINDS = {"organ": ("organ", "tract"), "vessel": ("vessel",), "lesion": ("lesion",)}


def wrong_noun(text: str, program: Expr) -> str:
    """A noun of a wording with slots that does not suit what the program is about; empty if all do.

    A slot of a shape may come to hold anything, so every noun suits it.
    """
    for token in tokens_of(text):
        called = _CALLED.get(token)
        if called is not None and not _suits(called, program):
            return token
    return ""


def _suits(called: str, program: Expr) -> bool:
    if program.op == "which":
        return any(part.args == (_KLASS.get(called),) for part in program.parts())
    if program.op in ("any", "count"):
        return called == "lesion"
    things = [arg for arg in program.args if isinstance(arg, Expr)]
    # Which of two is closer to a third: the noun is said of the two.
    return all(_is_called(called, thing) for thing in things[program.op == "closer" :])


def _is_called(called: str, thing: Expr) -> bool:
    if thing.op == "name":
        return term(str(thing.args[0])).kind in _KINDS[called]
    return thing.op == "slot" or (thing.op in PICKS and called == "lesion")
