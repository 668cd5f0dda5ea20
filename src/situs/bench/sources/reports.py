"""From report files back to the ledgers of a bench of reports."""

from __future__ import annotations

from pathlib import Path

from situs.bench.locations import Locations
from situs.bench.study import StudyRecord
from situs.errors import SitusError
from situs.facts.reports import Report, ReportLedger, read_reports

__all__ = ["ReportEvidence"]


class ReportEvidence:
    """Reads each report file once and finds a study's report in it by the hash of its text."""

    def __init__(self, locations: Locations) -> None:
        self._locations = locations
        self._files: dict[Path, dict[str, Report]] = {}

    def ledger(self, study: StudyRecord) -> ReportLedger:
        """The ledger of a study's report, refused if the file no longer holds the text the bench was built from."""
        wanted = study.evidence["report"]
        path = self._locations.find(wanted)
        if path not in self._files:
            reports, _ = read_reports(path, skip_bad=True)
            self._files[path] = {report.hash: report for report in reports}
        report = self._files[path].get(wanted)
        if report is None:
            problem = "its report in the file is not the one the bench was built from"
            raise SitusError(problem, where=study.study_id, fix="restore the file, or rebuild")
        series = study.series[0].series if study.series else ""
        return ReportLedger(report, study.study_id, series)
