"""What the card tells of the authoring, a sentence each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from situs.agents.author import CriticReport
from situs.base.text import counted
from situs.build.authoring.roles import RoleState
from situs.build.authoring.trivial import PanelReport
from situs.items.programs import BUILT_IN, Wording

__all__ = ["Findings", "card_notes"]

_FALLBACKS = {
    "planner": " All provable questions were taken, thinned by the arrangement.",
    "writer": " Situs's own wordings were used where none was proved.",
    "critics": " Every question waits for readers.",
    "critic": " Its flags do not count; what no other critic read waits for readers.",
    "librarian": " No question carries a citation.",
    "panel": " No template was tried without the scan.",
}


class Findings(NamedTuple):
    """What critics and panel found, and which wordings are used."""

    critics: Sequence[CriticReport]
    panel: PanelReport | None
    protocol: Mapping[str, float]
    used: set[Wording]


def card_notes(
    funnel: Mapping[str, int], states: Mapping[str, RoleState], findings: Findings
) -> list[str]:
    """The funnel, the roles and what they are worth.

    No number of asks: a resumed call writes the same card.
    """
    stages = ", ".join(f"{name} {n:,}" for name, n in sorted(funnel.items()) if n)
    notes = [f"Authored: {stages}."]
    for name, state in sorted(states.items()):
        why = f" ({state.why})" if state.why else ""
        fallback = _FALLBACKS.get(name.partition(" ")[0], "") if state.state != "done" else ""
        lost = [
            f"{counted(count, 'turn')} {words}"
            for count, words in (
                (state.invalid, "could not be read"),
                (state.cut, "were cut off"),
                (state.failed, "got no reply"),
            )
            if count
        ]
        turns = f" {' and '.join(lost)}." if lost else ""
        played = f"{name} ({state.model})" if state.model else name
        notes.append(f"Role {played}: {state.state}{why}.{fallback}{turns}")
    notes += [_of_critic(one) for one in findings.critics]
    panel, protocol = findings.panel, findings.protocol
    if panel is not None:
        notes.append(_of_panel(panel))
    if protocol:
        notes.append(
            "Filtered item by item as SpatialMed was (two of three), so that no question has twins"
            " and nothing is in the headline: a model that answers as the panel does scores"
            f" {protocol['relative_accuracy']:.0%} on what is left, where chance is"
            f" {protocol['chance']:.0%}. Use it for comparison only."
        )
    unread = sum(not one.read_by for one in findings.used if one.by != BUILT_IN)
    if unread:
        are = "is" if unread == 1 else "are"
        notes.append(
            f"{counted(unread, 'wording')} not of Situs's own {are} not reader-verified "
            "(wordings.toml)."
        )
    return notes


def _of_critic(one: CriticReport) -> str:
    if not one.seen:
        return f"Critic {one.name}: judged nothing."
    return (
        f"Critic {one.name}: finds {one.sensitivity:.0%} of planted defects, passes "
        f"{one.specificity:.0%} of the others; {_found(one)}."
    )


def _of_panel(panel: PanelReport) -> str:
    textbook = f"{panel.trivial:,} of {panel.templates:,} templates are textbook"
    if not panel.families:
        return f"Blind panel: no member answered; {textbook}, by their labels alone."
    return (
        f"Blind panel ({', '.join(panel.families)}): knows {panel.known_b:.0%} on held-out "
        f"patients, {panel.luck:.0%} by luck, {panel.corrected_b:.0%} after correction; "
        f"{textbook}. A contestant of the same family as a panel member is not independent of "
        "this filter."
    )


def _found(one: CriticReport) -> str:
    if one.true_per_1000 is None:
        return (
            "how many of its objections are right cannot be told without questions both in "
            "wordings that were read and in others"
        )
    return (
        f"{one.true_per_1000:g} true defects found beyond the rules per 1,000 questions in "
        "wordings that nobody read"
    )
