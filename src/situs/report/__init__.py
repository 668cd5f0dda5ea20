"""The report: one self-contained HTML file in which every answer can be looked at, down to the voxels."""

from situs.base.verbs import make_callable
from situs.report.writer import ReportResult, write_report

__all__ = ["ReportResult", "write_report"]

make_callable(__name__)
