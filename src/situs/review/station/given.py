"""What a reader gives before the reveal, checked: afterwards it is locked, and what nobody can
read as an answer would be neither right nor wrong for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from situs.errors import SitusError
from situs.items import Option
from situs.review.station.places import place_problem
from situs.score.read import Unparsed, parse_choices, parse_number

__all__ = ["check_answer"]


def check_answer(body: Mapping[str, Any], visible: Mapping[str, Any]) -> None:
    """Refuse what is no answer to the question as it is shown; that it cannot be told is one."""
    if body.get("confidence") not in (1, 2, 3):
        raise SitusError("a confidence of 1, 2 or 3 is needed", fix="choose one")
    if str(body.get("cannot", "")).strip():
        return
    answers = body.get("answers", {})
    names = [part["name"] for part in visible["parts"]]
    if sorted(answers) != sorted(names) or not all(str(v).strip() for v in answers.values()):
        raise SitusError("the answer is incomplete", fix="answer, or say why it cannot be told")
    for part in visible["parts"]:
        _check_part(str(answers[part["name"]]), part, visible)


def _check_part(reply: str, part: Mapping[str, Any], visible: Mapping[str, Any]) -> None:
    letters = {letter for letter, _ in visible["options"]}
    match part["form"]:
        case "yes_no" if reply not in ("yes", "no"):
            raise SitusError("the answer is yes or no", fix="choose one")
        case "choice" if reply not in letters:
            raise SitusError("the answer is one of the letters", fix="choose one")
        case "choices":
            _check_letters(reply, visible["options"])
        case "number":
            _check_number(reply, part["unit"])
        case "boxes" | "frames" as form:
            problem = place_problem(form, reply, tuple(visible["size"]))
            if problem:
                raise SitusError(problem, fix="mark it again")
        case "grades":
            _check_grades(reply, part["grades"])


def _check_number(reply: str, unit: str) -> None:
    """The scores' own reader decides, so that nothing is locked here that it cannot read later."""
    if isinstance(parse_number(reply, unit), Unparsed):
        asked = f" in {unit}, or with its unit" if unit else ""
        raise SitusError(
            f"the answer is one number{asked}",
            fix="e.g. 12.5 or 12,5; or say why it cannot be told",
        )


def _check_letters(reply: str, options: Sequence[Sequence[str]]) -> None:
    offered = [Option(letter, words) for letter, words in options]
    if isinstance(parse_choices(reply, offered), Unparsed):
        raise SitusError("the answer is letters of the options", fix="e.g. A, C")


def _check_grades(reply: str, names: Sequence[str]) -> None:
    try:
        grades = msgspec.json.decode(reply.encode(), type=dict[str, int])
    except msgspec.DecodeError:
        grades = {}
    if sorted(grades) != sorted(names) or any(grade < 0 for grade in grades.values()):
        raise SitusError("every grade is a whole number", fix=", ".join(names))
