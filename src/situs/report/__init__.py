"""The report: one self-contained HTML file in which
every answer can be looked at, down to the voxels."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports
from situs.base.verbs import make_callable

if TYPE_CHECKING:
    from situs.report.writer import ReportOptions, ReportResult, write_report
else:
    __getattr__ = lazy_exports(__name__)

__all__ = ["ReportOptions", "ReportResult", "write_report"]

make_callable(__name__)
