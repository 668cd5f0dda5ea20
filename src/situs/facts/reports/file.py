"""Reports in a file of the user's:
CSV, JSON or JSON Lines with id, findings and impression, or the released form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import digest, read_csv, read_text
from situs.errors import Problem, Severity, SitusError

__all__ = ["Report", "read_reports"]

_IDS = ("id", "study", "study_id", "case", "case_id", "volumename", "volume", "accession")
_FINDINGS = ("findings", "findings_en", "report", "text")
_IMPRESSIONS = ("impression", "impressions", "impressions_en", "conclusion")
_PATIENTS = ("patient", "patient_id")
_NOTHING = {"", "not given", "none", "null", "nan", "-", "n/a"}
_LARGEST = 1 << 30
_FIX = "each report needs an id, and findings or an impression"


class Report(msgspec.Struct, frozen=True):
    """One report. Offsets of quotes count characters of `text`."""

    name: str
    """As the source calls it; private."""
    findings: str
    impression: str
    patient: str = ""

    @property
    def text(self) -> str:
        """Findings, a blank line, and the impression."""
        return f"{self.findings}\n\n{self.impression}" if self.impression else self.findings

    @property
    def hash(self) -> str:
        """Of the text."""
        return digest(self.text)


def read_reports(path: Path, *, skip_bad: bool = False) -> tuple[list[Report], list[Problem]]:
    """Every report, with the rows that cannot be used; these are an error unless `skip_bad`."""
    result: list[Report] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for where, row in _rows(path):
        report = _report(row)
        if isinstance(report, str):
            problems.append(Problem(Severity.ERROR, "report", where, report, _FIX))
        elif report.name in seen:
            problems.append(
                Problem(
                    Severity.ERROR,
                    "report",
                    where,
                    "its id stands there twice",
                    "give each its own",
                )
            )
        else:
            seen.add(report.name)
            result.append(report)
    if problems and not skip_bad:
        more = f" (and {len(problems) - 1} more rows)" if len(problems) > 1 else ""
        first = problems[0]
        raise SitusError(
            f"{first.problem}{more}", where=first.where, fix=f"{first.fix}, or add --skip-bad"
        )
    if not result:
        raise SitusError("holds no report", where=path, fix=_FIX)
    return result, problems


def _report(row: dict[str, Any]) -> Report | str:
    fields = {str(key).strip().lower(): value for key, value in row.items() if key is not None}
    name, patient = _first(fields, _IDS), _first(fields, _PATIENTS)
    texts = [_first(fields, names) for names in (_FINDINGS, _IMPRESSIONS)]
    findings, impression = ("" if t.strip(" .").lower() in _NOTHING else t for t in texts)
    if not name:
        return "has no id"
    if not findings and not impression:
        return "has neither findings nor an impression"
    return Report(name, findings, impression, patient)


def _first(fields: dict[str, Any], names: tuple[str, ...]) -> str:
    value = next((fields[name] for name in names if fields.get(name) is not None), "")
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        for number, row in read_csv(path, limit_bytes=_LARGEST)[1]:
            yield f"{path.name}:{number}", row
        return
    text = read_text(path, limit_bytes=_LARGEST)
    if suffix in (".jsonl", ".ndjson"):
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield (
                    f"{path.name}:{number}",
                    _object(_decode(line, f"{path.name}:{number}"), f"{path.name}:{number}"),
                )
        return
    document = _decode(text, path.name)
    if isinstance(document, dict):
        for key, value in document.items():
            yield f"{path.name} {key!r}", {"id": key, **_object(value, f"{path.name} {key!r}")}
    elif isinstance(document, list):
        for number, value in enumerate(document, start=1):
            yield f"{path.name} row {number}", _object(value, f"{path.name} row {number}")
    else:
        raise SitusError("is neither a list nor an object of reports", where=path, fix=_FIX)


def _decode(text: str, where: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise SitusError(
            f"is not JSON ({error})", where=where, fix="write CSV, JSON or JSON Lines"
        ) from error


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SitusError("is not an object with fields", where=where, fix=_FIX)
    return value
