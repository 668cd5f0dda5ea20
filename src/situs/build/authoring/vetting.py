"""Critics at work: sound questions with defects planted among them,
and what each critic's flags are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from situs.agents.author import CriticReport, critic_role, plant_defects, weigh_critic
from situs.agents.author.critic import standing_flags
from situs.build.authoring.prompts import Prompt
from situs.build.authoring.roles import Desk
from situs.items.programs import BUILT_IN, Wording
from situs.judges import Asker

__all__ = ["Vetting", "vet_prompts"]


class Vetting(NamedTuple):
    """What the critics that count found."""

    flags: dict[str, list[str]]
    """Prompt id → flags."""
    programs: set[str]
    """Programs of the prompts that at least one of them read."""
    reports: list[CriticReport]
    """What each critic is worth."""


def vet_prompts(
    desk: Desk,
    critics: Sequence[Asker],
    prompts: Mapping[str, Prompt],
    wordings: Mapping[str, Wording],
    funnel: Counter[str],
) -> Vetting:
    """Show the prompts to all critics, with planted defects among them.

    `wordings`: program → its wording.
    """
    sound = {id_: prompt.shown for id_, prompt in sorted(prompts.items())}
    planted = plant_defects(sound)
    read = {id_ for id_, prompt in prompts.items() if _was_read(wordings.get(prompt.program))}
    # Mixed by id, so that nothing tells the planted ones apart.
    subjects = dict(sorted((sound | planted).items()))
    flags: dict[str, list[str]] = {}
    vetted: set[str] = set()
    reports = []
    for number, critic in enumerate(critics):
        role = critic_role(number)
        name = f"critic {critic.name}"
        entries = desk.ask(name, critic, role, subjects, f"critic-{number + 1}")
        standing = {id_: standing_flags(e, subjects[id_]) for id_, e in entries.items()}
        verdicts = {
            id_: (bool(standing[id_]), len(entry["flags"]) - len(standing[id_]))
            for id_, entry in entries.items()
        }
        report = weigh_critic(critic.name, verdicts, list(planted), read)
        reports.append(report)
        funnel["flags void"] += report.void
        if not report.active:
            state = desk.states[name]
            if state.state == "done":
                state.state = "switched_off"
                state.why = (
                    f"finds {report.sensitivity:.0%} of planted defects and passes "
                    f"{report.specificity:.0%} of the others: no better than a coin"
                )
            continue
        vetted |= {prompts[id_].program for id_ in standing if id_ in prompts}
        for id_, raised in standing.items():
            if raised and id_ in prompts:
                flags.setdefault(id_, []).extend(raised)
    return Vetting(flags, vetted, reports)


def _was_read(wording: Wording | None) -> bool:
    """Whether people have read a wording; they have read Situs's own."""
    return wording is None or wording.by == BUILT_IN or bool(wording.read_by)
