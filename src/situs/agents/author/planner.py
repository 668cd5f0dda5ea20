"""The planner: chooses what is asked, from what can be proved.

It sees structures and programs, never a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from situs.agents.author.turn import turn_role
from situs.clients.turns import ActionKind, Field
from situs.errors import SitusError, did_you_mean
from situs.items.programs import read_program
from situs.judges import Role

__all__ = ["MEASURED", "PLANNER_TURNS", "PlannerView", "planner_reply", "planner_role"]

PLANNER_TURNS = 6
_MOST_IDS, _MOST_PROGRAMS, _MOST_SHOWN = 24, 8, 24
_KIND_OF = {"gap": "main_gap", "contact": "contact_area", "diameter": "axial_diameter"}
_MEASURES = ("volume", "extent", "box", "centre_distance", "gap", "contact", "level", "diameter")
MEASURED = tuple(_KIND_OF.get(name, name) for name in _MEASURES)
"""Kinds of facts that the planner may ask about."""

_TASK = """\
You are an experienced radiologist who plans an exam on one scan. You do not see the scan; tools \
tell you what is \
annotated and what can be asked with a provable answer. Propose questions that a radiologist would \
ask and that need \
a look at the scan: about lesions before organs, and spread over different kinds of question. You \
are shown the turns \
left and what your actions gave so far."""
_KIND = Field("text", "an operator, or a measure", longest=32)
_NAMES = Field("texts", "structures", longest=80, count=(0, 2))
_IDS = Field("texts", "ids of candidates", longest=24, count=(0, _MOST_IDS))
_PROGRAMS = Field("texts", "programs in the same form", longest=400, count=(0, _MOST_PROGRAMS))
_ACTIONS = (
    ActionKind("list_structures", "What is annotated, and what is cut off."),
    ActionKind("coverage", "How many questions of each kind are planned so far."),
    ActionKind(
        "candidates",
        "Questions that can be proved; kind narrows them to one operator (which, any, count, …).",
        {"kind": _KIND},
    ),
    ActionKind(
        "measure",
        f"Whether a measure ({', '.join(_MEASURES)}) of names is reliable; no value is given.",
        {"kind": _KIND, "names": _NAMES},
    ),
    ActionKind("propose", "Take questions into the plan.", {"ids": _IDS, "programs": _PROGRAMS}),
    ActionKind("stop", "You are done."),
)


def _read(action: Mapping[str, Any]) -> dict[str, Any] | None:
    return {name: action[name] for name in ("action", *_BLANK) if name in action}


_BLANK: dict[str, Any] = {"kind": "", "names": [], "ids": [], "programs": []}


def planner_role() -> Role:
    """The role."""
    return turn_role("planner", _TASK, _ACTIONS, _read)


class PlannerView(msgspec.Struct):
    """What may be told of one study: names, cut flags, programs.

    No value, no answer, no id of the patient.
    """

    structures: dict[str, bool]
    """Name → whether the scan cuts it off."""
    candidates: dict[str, str]
    """Id → program."""
    clear: dict[str, bool]
    """Id → whether the answer holds by a wide margin."""
    measured: dict[tuple[str, ...], dict[str, Any]]
    """Kind and names → fact id and flags."""
    proposed: list[str] = []
    """Programs that were proposed so far."""
    refused: dict[str, int] = {}


def planner_reply(view: PlannerView, action: Mapping[str, Any], coverage: Mapping[str, int]) -> Any:
    """What an action gives: sorted, capped, the same for the same input."""
    action = _BLANK | dict(action)
    match action["action"]:
        case "list_structures":
            return [{"name": name, "cut": cut} for name, cut in sorted(view.structures.items())][
                : 4 * _MOST_SHOWN
            ]
        case "coverage":
            return dict(sorted(coverage.items()))
        case "candidates":
            kind = action["kind"]
            fitting = [
                {"id": id_, "program": text, "margin": "clear" if view.clear[id_] else "close"}
                for id_, text in sorted(view.candidates.items(), key=lambda pair: pair[1])
                if not kind or text.startswith(f"{kind}(")
            ]
            return {"shown": fitting[:_MOST_SHOWN], "more": max(0, len(fitting) - _MOST_SHOWN)}
        case "measure":
            return _measure(view, action["kind"], action["names"])
        case "propose":
            return _propose(view, action)
        case _:
            return "stopped"


def _measure(view: PlannerView, kind: str, names: list[str]) -> Any:
    if kind not in _MEASURES:
        return f"no measure {kind!r}: {did_you_mean(kind, _MEASURES)}"
    unknown = next((name for name in names if name not in view.structures), None)
    if unknown is not None:
        return f"no structure {unknown!r}: {did_you_mean(unknown, view.structures)}"
    for key, value in sorted(view.measured.items()):
        if key[0].startswith(_KIND_OF.get(kind, kind)) and set(key[1:]) == set(names):
            return value
    return "not measured: no candidate rests on it"


def _propose(view: PlannerView, action: Mapping[str, Any]) -> dict[str, Any]:
    """Take proposals; each that is not taken is told why."""
    by_program = {text: id_ for id_, text in view.candidates.items()}
    refused = {}
    for id_ in action["ids"]:
        if id_ not in view.candidates:
            refused[id_] = "no such candidate"
        else:
            view.proposed.append(view.candidates[id_])
    for text in action["programs"]:
        try:
            program = str(read_program(text))
        except SitusError as error:
            refused[text] = error.one_line()[:200]
            continue
        if program in by_program:
            view.proposed.append(program)
        else:
            refused[text] = "cannot be proved in this study"
    for why in refused.values():
        reason = "not a program" if why.startswith("program") else why
        view.refused[reason] = view.refused.get(reason, 0) + 1
    return {"taken": len(set(view.proposed)), "refused": refused}
