"""Questions about boxes that readers drew on frames."""

from situs.items.findings.arrangement import arrange_findings
from situs.items.findings.asked import (
    FINDING_TASKS,
    FindingTask,
    choose_finding_tasks,
    finding_mix,
    pose_finding,
    questions_of,
)
from situs.items.findings.drafts import Draft, draft
from situs.items.findings.position import right_by_position
from situs.items.findings.trace import TRACE_FORMS, trace_text

__all__ = [
    "FINDING_TASKS",
    "TRACE_FORMS",
    "Draft",
    "FindingTask",
    "arrange_findings",
    "choose_finding_tasks",
    "draft",
    "finding_mix",
    "pose_finding",
    "questions_of",
    "right_by_position",
    "trace_text",
]
