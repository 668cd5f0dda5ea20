"""Questions from radiology reports:
written by rule from what a sentence proves, or by a model and then proved."""

from situs.items.reports.asked import REPORT_TASKS, Proves, pose_report, report_questions
from situs.items.reports.written import WRITTEN, written_item

__all__ = ["REPORT_TASKS", "WRITTEN", "Proves", "pose_report", "report_questions", "written_item"]
