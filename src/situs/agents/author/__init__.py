"""The roles that author questions: they choose, phrase, cite and object.

They never see or give an answer.
"""

from situs.agents.author.critic import (
    CRITIC_FLAGS,
    CriticReport,
    critic_role,
    plant_defects,
    weigh_critic,
)
from situs.agents.author.librarian import Cited, librarian_role, library_reply
from situs.agents.author.panel import panel_role, rotations
from situs.agents.author.planner import PlannerView, planner_reply, planner_role
from situs.agents.author.writer import WORDINGS_ASKED, writer_role, writer_shown

__all__ = [
    "CRITIC_FLAGS",
    "WORDINGS_ASKED",
    "Cited",
    "CriticReport",
    "PlannerView",
    "critic_role",
    "librarian_role",
    "library_reply",
    "panel_role",
    "planner_reply",
    "planner_role",
    "plant_defects",
    "rotations",
    "weigh_critic",
    "writer_role",
    "writer_shown",
]
