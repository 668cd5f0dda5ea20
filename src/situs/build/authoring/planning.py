"""The plan: which programs are asked. With a planner, those it proposes; without one, all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from situs.agents.author import PlannerView, planner_reply, planner_role
from situs.agents.author.planner import MEASURED, PLANNER_TURNS
from situs.build.authoring.roles import Desk
from situs.build.study import StudyOutcome
from situs.facts import Fact
from situs.items.programs import program_of
from situs.judges import Asker

__all__ = ["plan_programs", "view_of"]

_CLEAR = 2.0
"""A margin over the half-width of the interval that counts as clear."""
_HISTORY = 4
"""Turns that are shown again."""


def view_of(outcome: StudyOutcome) -> PlannerView:
    """What the planner may be told of a study."""
    cut = {fact.subjects[0]: "cut" in fact.flags for fact in outcome.facts if fact.kind == "volume"}
    programs, clear = {}, {}
    for number, candidate in enumerate(outcome.candidates):
        program = program_of(candidate.item)
        if program is not None:
            id_ = f"c{number:04d}"
            programs[id_] = str(program)
            clear[id_] = (candidate.item.difficulty or 0.0) >= _CLEAR
    measured = {
        (fact.kind, *fact.subjects): _without_value(fact)
        for fact in outcome.facts
        if fact.kind.startswith(MEASURED)
    }
    return PlannerView(cut, programs, clear, measured)


def _without_value(fact: Fact) -> dict[str, Any]:
    """A fact without its value: that it is there, and how far it can be relied on."""
    return {
        "fact": fact.fact_id,
        "reliable": not {"unstable", "cut", "islands"}.intersection(fact.flags),
        "cut": "cut" in fact.flags,
    }


def plan_programs(
    desk: Desk, planner: Asker, outcomes: Iterable[StudyOutcome], funnel: Counter[str]
) -> set[str] | None:
    """The programs that the planner proposes in any study; None if it proposes nothing."""
    views = {f"s{number:05d}": view_of(outcome) for number, outcome in enumerate(outcomes)}
    views = {id_: view for id_, view in views.items() if view.candidates}
    history: dict[str, list[dict[str, Any]]] = {id_: [] for id_ in views}
    active = list(views)
    for turn in range(PLANNER_TURNS):
        subjects = {
            id_: {"turns_left": PLANNER_TURNS - turn, "so_far": history[id_][-_HISTORY:]}
            for id_ in active
        }
        entries = desk.ask("planner", planner, planner_role(), subjects, f"planner-{turn + 1}")
        coverage = _coverage(views)
        active = _next_turn(views, history, entries, coverage, funnel)
        if not active:
            break
    proposed = {text for view in views.values() for text in view.proposed}
    funnel["programs proposed"] += sum(len(set(view.proposed)) for view in views.values())
    for view in views.values():
        for why, n in view.refused.items():
            funnel[f"proposal refused: {why}"] += n
    return proposed or None


def _next_turn(
    views: dict[str, PlannerView],
    history: dict[str, list[dict[str, Any]]],
    entries: dict[str, dict[str, Any]],
    coverage: dict[str, int],
    funnel: Counter[str],
) -> list[str]:
    """Do what was asked for; the studies whose planner goes on."""
    going_on = []
    for id_, action in sorted(entries.items()):
        result = planner_reply(views[id_], action, coverage)
        turn = {"action": action, "result": result}
        if action["action"] == "stop":
            continue
        if turn in history[id_]:
            funnel["planner: no_progress"] += 1
            continue
        history[id_].append(turn)
        going_on.append(id_)
    return going_on


def _coverage(views: dict[str, PlannerView]) -> dict[str, int]:
    kinds = Counter(text.partition("(")[0] for view in views.values() for text in view.proposed)
    return dict(kinds)
