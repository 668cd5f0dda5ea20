"""Programs that another task asks already: they are that task's items, under the same ids."""

from __future__ import annotations

from collections.abc import Mapping

from situs.anatomy import measured, reaching, shipped_terms
from situs.errors import SitusError
from situs.items.posed import Question
from situs.items.programs.evaluate import subject_key
from situs.items.programs.expression import Expr, name_of, read_program
from situs.items.record import Item

__all__ = ["COMPOSE", "program_of", "question_of"]

COMPOSE = "compose"
_ENDS = {"reaches_higher": "top", "reaches_lower": "bottom"}
_LEVEL_ENDS = {"top_level": "top", "bottom_level": "bottom"}
_ROLES = {"largest": "largest", "second": "second_largest"}


def question_of(program: Expr, form: str) -> Question:
    """The question that a program is: another task's where one asks it, else one of `compose`."""
    keys = [subject_key(arg) if isinstance(arg, Expr) else None for arg in program.args]
    if program.op == "is_beyond":
        keys = keys[1:]
    question = _of_other_task(program, form, keys)
    return question or Question(COMPOSE, form, {"ask": program.op, "program": str(program)})


def _of_other_task(program: Expr, form: str, keys: list[str | None]) -> Question | None:
    first = keys[0] if keys else None
    second = keys[1] if len(keys) > 1 else None
    if program.op == "count" and isinstance(program.args[0], Expr):
        group = program.args[0]
        return (
            Question("count", form, {"of": str(group.args[0])}) if group.op == "lesions" else None
        )
    if first is None or program.op == "which":
        return None
    number = f"{program.args[-1]:g}" if isinstance(program.args[-1], float) else ""
    of_one: dict[str, tuple[str, dict[str, str]]] = {
        "volume": ("volume", {"of": first}),
        "volume_exceeds": ("volume", {"ask": "more_than", "of": first, "ml": number}),
        "diameter": ("extent", {"ask": "diameter", "of": first}),
        "diameter_exceeds": ("extent", {"ask": "wider_than", "of": first, "mm": number}),
        "level": ("level", {"of": first, "at": "centre"}),
        "side": ("lesion_side", {"of": first}),
    }
    if program.op in _LEVEL_ENDS:
        end = _LEVEL_ENDS[program.op]
        return Question("level", form, {"of": first, "at": end}) if _is_asked(first, end) else None
    if program.op in of_one and (program.op == "volume" or ":" in first):
        task, parameters = of_one[program.op]
        return Question(task, form, parameters)
    if second is None:
        return None
    pair = {"a": first, "b": second}
    if program.op == "is_beyond":
        return Question("direction", form, {**pair, "claim": str(program.args[0])})
    # Other tasks hold lesions against structures, and structures against structures by volume.
    if program.op == "larger" and ":" not in first + second:
        return Question("comparison", form, {"ask": "larger", **pair, "which": "larger"})
    if program.op == "larger" and first.startswith("largest:") and second.startswith("largest:"):
        return Question("lesion_pair", form, {"ask": "larger", **pair})
    if program.op in _ENDS:
        return _of_reach(form, first, second, _ENDS[program.op])
    if not first.startswith("largest:") or ":" in second:
        return None
    of_two: dict[str, tuple[str, dict[str, str]]] = {
        "is_touching": ("contact", pair),
        "is_within": ("distance", {"ask": "within", **pair, "mm": number}),
        "gap": ("distance", {"ask": "gap", **pair}),
    }
    if program.op not in of_two:
        return None
    task, parameters = of_two[program.op]
    return Question(task, form, parameters)


def _is_asked(name: str, end: str) -> bool:
    """Whether readers ask for the vertebra at which this end of a structure lies."""
    entry = shipped_terms().get(name)
    return entry is not None and bool(
        {"top": measured(entry).top, "bottom": measured(entry).bottom}[end]
    )


def _of_reach(form: str, first: str, second: str, end: str) -> Question | None:
    """The pairs of the table of relevance, whichever of the two is named first.

    Of left and right it asks in other words, and for the side: "Which kidney reaches further up?"
    """
    pairs = (entry.of for entry in reaching() if entry.end == end)
    a, b = next((pair for pair in pairs if set(pair) == {first, second}), ("", ""))
    if not a or _are_partners(a, b):
        return None
    return Question("reach", form, {"a": a, "b": b, "end": end})


def _are_partners(a: str, b: str) -> bool:
    entry = shipped_terms().get(a)
    return entry is not None and entry.partner == b


def program_of(item: Item) -> Expr | None:
    """The program of an item; None for questions that the language does not have."""
    p = item.parameters
    if item.task == COMPOSE:
        try:
            return read_program(p.get("program", ""))
        except SitusError:
            return None
    return _program_of_parameters(item.task, p)


def _program_of_parameters(task: str, p: Mapping[str, str]) -> Expr | None:
    """The inverse of `question_of`, for parameters as the other tasks have them."""
    ask = p.get("ask", "")
    things = [_thing(p[key]) for key in ("of", "a", "b") if key in p and "+" not in p[key]]
    number = next((float(p[key]) for key in ("mm", "ml") if key in p), None)
    if "or" in p or any(thing is None for thing in things):
        return None
    op = _OPERATORS.get((task, "claim" if "claim" in p else ask or p.get("end") or p.get("at", "")))
    args: tuple[Expr | str | float, ...] = tuple(thing for thing in things if thing is not None)
    if op is None or p.get("which", "larger") != "larger":
        return None
    if task == "reach" and _are_partners(p["a"], p["b"]):
        return None
    if op == "count":
        return Expr(op, (Expr("lesions", (p["of"],)),))
    if op in ("is_within", "volume_exceeds", "diameter_exceeds"):
        # Of an organ, `larger than 120 mL` is asked with its lesions: not what the language says.
        if number is None or (op == "volume_exceeds" and ":" not in p["of"]):
            return None
        args = (*args, number)
    return Expr(op, (p["claim"], *args) if op == "is_beyond" else args)


_OPERATORS = {
    ("count", ""): "count",
    ("contact", ""): "is_touching",
    ("distance", "within"): "is_within",
    ("distance", "gap"): "gap",
    ("volume", ""): "volume",
    ("volume", "more_than"): "volume_exceeds",
    ("extent", "diameter"): "diameter",
    ("extent", "wider_than"): "diameter_exceeds",
    ("level", "centre"): "level",
    ("level", "top"): "top_level",
    ("level", "bottom"): "bottom_level",
    ("lesion_side", ""): "side",
    ("comparison", "larger"): "larger",
    ("lesion_pair", "larger"): "larger",
    ("direction", "claim"): "is_beyond",
    ("reach", "top"): "reaches_higher",
    ("reach", "bottom"): "reaches_lower",
}
"""Task and what it asks → the operator of the language that asks the same."""


def _thing(key: str) -> Expr | None:
    """A plain thing as the other tasks name it."""
    role, _, family = key.rpartition(":")
    if not role:
        return name_of(key)
    if role not in _ROLES or family == "*":
        return None
    return Expr(_ROLES[role], (Expr("lesions", (family,)),))
