"""Graded knees in the published form of 3DReasonKnee:
a split table, and answers with boxes of voxels."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from situs.anatomy.banks import Bank, load_bank
from situs.bench import Bench, StudyRecord
from situs.export.about import About
from situs.export.written import JsonLines, Written, write_readme
from situs.facts.grades import to_published
from situs.items import GRADED, Grades, Item, boxes_in, parts_of
from situs.space import Grid, WorldBox

__all__ = ["write_reasonknee"]

_COLUMNS = (
    "patient_id",
    "time",
    "study_folder",
    "series_folder",
    "knee_side",
    "image_filepath",
    "label_filepath",
)
_SIDE = re.compile(r"This is a (left|right) knee\.")


def write_reasonknee(items: Iterator[Item], bench: Bench, folder: Path, about: About) -> Written:
    """`split.csv` and `answers.jsonl`,
    in the fields that `situs import 3dreasonknee` reads; no pixels."""
    bank = load_bank("moaks-knee")
    studies = {study.study_id: study for study in bench.studies()}
    sides: dict[str, str] = {}
    left_out: Counter[str] = Counter()
    with JsonLines(folder / "answers.jsonl") as answers:
        for item in items:
            if (
                not item.task.startswith(GRADED)
                or item.parameters.get("question") not in bank.by_id
            ):
                left_out["no reader's grades of the knee bank"] += 1
                continue
            side = _SIDE.match(item.question)
            sides[item.study_id] = side[1] if side else ""
            answers.add(_record(item, studies[item.study_id], bank))
    with (folder / "split.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for study, knee_side in sides.items():
            record = studies[study]
            writer.writerow(
                (record.patient_id, record.time, study, "", knee_side, _image(study), "")
            )
    write_readme(
        folder,
        about,
        (
            (
                "`answers.jsonl` has a record for each question. `bbox` is [start_slice, end_slice,"
                " x_min, x_max, y_min,"
            ),
            (
                "y_max] in voxels of the stored array with its sagittal axis first, ends included."
                " Images are not here."
            ),
            (
                "Boxes of oblique scans are wider than their structures: they hold a box along the"
                " patient's axes."
            ),
        ),
    )
    load = "situs import 3dreasonknee split.csv answers.jsonl --images DIR --out BENCH"
    return Written(answers.count, 0, load, dict(left_out))


def _record(item: Item, study: StudyRecord, bank: Bank) -> dict[str, Any]:
    question = bank.by_id[item.parameters["question"]]
    parts = parts_of(item.answer)
    grades = next(part.grades for part in parts.values() if isinstance(part, Grades))
    boxes = boxes_in(item.answer)
    grid = next((series.grid for series in study.series if series.series == item.series), None)
    region_box = next((box for box in boxes if isinstance(box, WorldBox)), None)
    published = {sub.key: sub.published for sub in bank.sub_scores_of(question)}
    return {
        "image_filepath": _image(item.study_id),
        "question_id": question.id,
        "question": item.question,
        "bbox": (
            list(to_published(region_box, grid))
            if region_box is not None and isinstance(grid, Grid)
            else None
        ),
        "approximate": "approximate" in item.tags,
        "reasoning": [step.text for step in item.steps],
        "answer": {
            "MOAKS_scores": {
                question.published: {published[key]: grade for key, grade in grades.items()}
            }
        },
    }


def _image(study: str) -> str:
    return f"{study}.nii.gz"
