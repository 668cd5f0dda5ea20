"""Markups of 3D Slicer: one `.mrk.json` a line, box or list of points, in LPS millimetres."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from situs.base.files import file_name
from situs.bench import Bench
from situs.export.about import About
from situs.export.evidence import Scope, SeriesEvidence, evidence_of
from situs.export.lines import MeasuredLine, measured_lines
from situs.export.written import Written, write_readme
from situs.facts import number

__all__ = ["write_markups"]

_SCHEMA = (
    "https://raw.githubusercontent.com/slicer/slicer/master/Modules/Loadable/Markups/"
    "Resources/Schema/markups-schema-v1.0.3.json#"
)
_RAS_TO_LPS = np.array([-1.0, -1.0, 1.0])
_LPS_AXES = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


def write_markups(bench: Bench, scope: Scope, folder: Path, about: About) -> Written:
    """Measured lines, boxes, centres and marked points of every study,
    for 3D Slicer (`.mrk.json`, LPS)."""
    left_out: Counter[str] = Counter()
    studies: set[str] = set()
    for evidence in evidence_of(bench, scope, left_out):
        series = folder / file_name(evidence.study.study_id) / file_name(evidence.series.series)
        for name, markup in _markups(evidence):
            path = series / f"{file_name(name)}.mrk.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            document = {"@schema": _SCHEMA, "markups": [markup]}
            path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")
            studies.add(evidence.study.study_id)
    words = [
        "One folder per study and series; drag files or folders into 3D Slicer.",
        "",
        (
            "`line-*` are measured lengths (the name says which, the value is the ledger's),"
            " `box-*` the boxes of structures along the patient's axes, `centres` their centroids,"
            " `marks-*` the marked points of a question. Coordinates are LPS millimetres (x to the"
            " left, y to the back, z to the head), as each file states."
        ),
    ]
    write_readme(folder, about, words)
    return Written(
        len(studies), 0, "3D Slicer: drag the files in", dict(left_out), counted="studies"
    )


def _markups(evidence: SeriesEvidence) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file name, markup) of everything that can be drawn."""
    ledger = evidence.ledger
    if ledger is not None:
        for line in measured_lines(ledger, evidence.facts):
            name = re.sub(r"\W+", "_", line.fact.kind)
            yield f"line-{name}-{'-'.join(line.fact.subjects)}", _line(line)
    centres = []
    for fact in evidence.facts:
        if fact.kind == "box" and isinstance(fact.value, tuple):
            yield f"box-{fact.subjects[0]}", _box(fact.subjects[0], fact.value)
        elif fact.kind == "centroid" and isinstance(fact.value, tuple):
            centres.append((fact.subjects[0], fact.value))
    if centres:
        yield "centres", _points("centres", centres)
    marked: dict[str, list[tuple[str, tuple[float, ...]]]] = {}
    for mark in evidence.marks:
        marked.setdefault(mark.item_id, []).append((mark.letter, mark.at_mm))
    for item_id, points in marked.items():
        yield f"marks-{item_id}", _points(f"marks of {item_id}", points)


def _lps(ras: tuple[float, ...]) -> list[float]:
    return [float(v) for v in np.array(ras) * _RAS_TO_LPS]


def _line(line: MeasuredLine) -> dict[str, Any]:
    subjects = " – ".join(line.fact.subjects)
    length = {
        "name": "length",
        "enabled": True,
        "value": number(line.fact),
        "units": "mm",
        "printFormat": "%-#4.4g%s",
    }
    return {
        "type": "Line",
        "name": f"{line.fact.kind} {subjects}",
        "description": f"fact {line.fact.fact_id}",
        "coordinateSystem": "LPS",
        "coordinateUnits": "mm",
        "locked": True,
        "controlPoints": [
            _control_point(str(n), str(n), ends)
            for n, ends in enumerate((line.start_mm, line.end_mm), start=1)
        ],
        "measurements": [length],
    }


def _box(name: str, ras: tuple[float, ...]) -> dict[str, Any]:
    low, high = np.array(ras[:3]), np.array(ras[3:])
    centre = _lps(tuple((low + high) / 2.0))
    return {
        "type": "ROI",
        "name": f"box {name}",
        "coordinateSystem": "LPS",
        "coordinateUnits": "mm",
        "locked": True,
        "roiType": "Box",
        "center": centre,
        "orientation": _LPS_AXES,
        "size": [float(v) for v in high - low],
        "insideOut": False,
        "controlPoints": [_control_point("1", name, tuple((low + high) / 2.0))],
    }


def _points(name: str, points: list[tuple[str, tuple[float, ...]]]) -> dict[str, Any]:
    return {
        "type": "Fiducial",
        "name": name,
        "coordinateSystem": "LPS",
        "coordinateUnits": "mm",
        "locked": True,
        "controlPoints": [
            _control_point(str(n), label, at) for n, (label, at) in enumerate(points, start=1)
        ],
    }


def _control_point(number_: str, label: str, ras: tuple[float, ...]) -> dict[str, Any]:
    return {
        "id": number_,
        "label": label,
        "position": _lps(ras),
        "orientation": _LPS_AXES,
        "selected": True,
        "locked": True,
        "visibility": True,
        "positionStatus": "defined",
    }
