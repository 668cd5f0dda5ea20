"""The planner: chooses what is asked, from what can be proved. It sees structures and programs, never a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.items.programs import read_program
from situs.judges import Role

__all__ = ["MEASURED", "PLANNER_TURNS", "PlannerView", "planner_reply", "planner_role"]

PLANNER_TURNS = 6
_MOST_IDS, _MOST_PROGRAMS, _MOST_SHOWN = 24, 8, 24
_ACTIONS = ("list_structures", "coverage", "candidates", "measure", "propose", "stop")
_KIND_OF = {"gap": "main_gap", "contact": "contact_area", "diameter": "axial_diameter"}
_MEASURES = ("volume", "extent", "box", "centre_distance", "gap", "contact", "level", "diameter")
MEASURED = tuple(_KIND_OF.get(name, name) for name in _MEASURES)
"""Kinds of facts that the planner may ask about."""

_INSTRUCTIONS = f"""\
You are an experienced radiologist who plans an exam on one scan. You do not see the scan; tools tell you what is \
annotated and what can be asked with a provable answer. Propose questions that a radiologist would ask and that need \
a look at the scan: about lesions before organs, and spread over different kinds of question.

You get a JSON array of entries with an id, the turns left and what your actions gave so far. Give one action for each:
list_structures: what is annotated, and what is cut off
coverage: how many questions of each kind are planned so far
candidates: questions that can be proved; kind narrows them to one operator (which, any, count, same, closer, …)
measure: whether {", ".join(_MEASURES)} of names is reliable; no value is given
propose: ids of candidates, or programs in the same form
stop: you are done

Reply with one JSON object: {{"entries": [{{"id": "...", "action": "...", "kind": "", "names": [], "ids": [], \
"programs": []}}]}}, with exactly one entry for every id you were given."""


def _strings(most: int, longest: int) -> dict[str, Any]:
    return {
        "type": "array",
        "maxItems": most,
        "items": {"type": "string", "maxLength": longest},
    }


def _read(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    if entry.get("action") not in _ACTIONS:
        return None
    read: dict[str, Any] = {"action": entry["action"], "kind": ""}
    if isinstance(entry.get("kind"), str):
        read["kind"] = entry["kind"][:32]
    for name, most, longest in (
        ("names", 2, 80),
        ("ids", _MOST_IDS, 24),
        ("programs", _MOST_PROGRAMS, 400),
    ):
        given = entry.get(name)
        texts = given if isinstance(given, list) else []
        read[name] = [text[:longest] for text in texts if isinstance(text, str)][:most]
    return read


def planner_role() -> Role:
    """The role."""
    fields = {
        "action": {"type": "string", "enum": list(_ACTIONS)},
        "kind": {"type": "string", "maxLength": 32},
        "names": _strings(2, 80),
        "ids": _strings(_MOST_IDS, 24),
        "programs": _strings(_MOST_PROGRAMS, 400),
    }
    return Role("planner", _INSTRUCTIONS, fields, _read)


class PlannerView(msgspec.Struct):
    """What may be told of one study: names, cut flags, programs. No value, no answer, no id of the patient."""

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
    for key, told in sorted(view.measured.items()):
        if key[0].startswith(_KIND_OF.get(kind, kind)) and set(key[1:]) == set(names):
            return told
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
