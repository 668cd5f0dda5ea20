"""From evidence files back to the ledgers of a bench, source by source."""

from situs.bench.sources.boxes import BoxSource
from situs.bench.sources.grades import GradeSource
from situs.bench.sources.masks import MaskSource
from situs.bench.sources.reports import ReportSource
from situs.bench.sources.source import (
    Checking,
    CheckResult,
    Source,
    StudyRows,
    check_belonging,
    check_rows,
)

__all__ = [
    "SOURCES",
    "CheckResult",
    "Checking",
    "Source",
    "StudyRows",
    "check_belonging",
    "check_rows",
]

SOURCES: tuple[type[Source], ...] = (ReportSource, GradeSource, MaskSource, BoxSource)
"""Every source; those that a study is held against alone come first."""
