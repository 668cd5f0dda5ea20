"""Questions about boxes that readers drew on frames."""

from situs.items.findings._arrange import Draft, arrange_findings, draft, place_finding
from situs.items.findings._ask import FINDING_TASKS, FindingTask, choose_finding_tasks, pose_finding, questions_of
from situs.items.findings._position import right_by_position
from situs.items.findings._trace import TRACE_FORMS, trace_text

__all__ = [
    "FINDING_TASKS",
    "TRACE_FORMS",
    "Draft",
    "FindingTask",
    "arrange_findings",
    "choose_finding_tasks",
    "draft",
    "place_finding",
    "pose_finding",
    "questions_of",
    "right_by_position",
    "trace_text",
]
