"""Synthetic knees with the grades that their construction gives, as a bench of graded questions."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from situs.anatomy.banks import Bank, BankQuestion, SubScore, load_bank
from situs.base.files import canonical_json, write_atomic
from situs.base.publish import new_folder
from situs.bench import IdRule
from situs.build.frame import Progress, StudyWork, finished_studies
from situs.build.sources.grades import GradeSource, write_graded
from situs.build.spool import resume_key
from situs.build.writer import BuildOptions, BuildResult
from situs.errors import SitusError
from situs.volumes.phantoms import KNEE_MASKS, KneeTruth, make_knee, write_knee

__all__ = ["build_knees", "knee_grades", "true_value"]

_BANK = "moaks-knee"
_COLUMNS = ("study", "patient", "side", "time", "image", "labels", "question", "sub_score", "grade")


def build_knees(
    studies: int, out: Path, options: BuildOptions, progress: Progress = lambda done, total: None
) -> BuildResult:
    """Make `studies` knees, each with image,
    masks and its rows in a table of grades, and ask about them."""
    if not 1 <= studies <= 100_000:
        raise SitusError(
            f"cannot make {studies} phantoms",
            where="--studies",
            fix="give a number from 1 to 100000",
        )
    options = msgspec.structs.replace(
        options, ids=IdRule("table")
    )  # nobody is called like a phantom
    key = resume_key(
        "knees", studies, options.recipe, options.seed, options.tasks, options.per_study
    )
    with new_folder(
        out, marker="bench.json", overwrite=options.overwrite, resume_key=key
    ) as scratch:
        folder = scratch / "volumes"
        rows = [row for knee in _make(studies, scratch, options) for row in knee]
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([_COLUMNS, *rows])
        if not (
            folder / "grades.csv"
        ).exists():  # a resumed build has it, and graded studies rest on it
            write_atomic(folder / "grades.csv", text.getvalue())
            write_atomic(
                folder / "labels.json",
                canonical_json({str(v): name for name, v in KNEE_MASKS.items()}),
            )
        source = GradeSource(
            folder / "grades.csv", label_map=str(folder / "labels.json"), annotation="exact"
        )
        names = sorted({row[0] for row in rows})
        return write_graded(scratch, "phantoms", names, source, options, progress)


_Row = tuple[str, ...]


class _KneeJob(msgspec.Struct, frozen=True):
    seed: int
    index: int
    folder: Path

    @property
    def where(self) -> str:
        """How messages on the terminal call it."""
        return f"phantom {self.index}"


def _make(studies: int, scratch: Path, options: BuildOptions) -> Iterator[list[_Row]]:
    """Write the knees; the rows of each in the table of grades."""
    jobs = [_KneeJob(options.seed, index, scratch / "volumes") for index in range(studies)]
    work = StudyWork(jobs, _open_make, list[_Row], _files_of, "knees")
    return (rows for _, rows in finished_studies(work, scratch, options, []))


def _files_of(job: _KneeJob, rows: list[_Row]) -> list[Path]:
    return [job.folder / rows[0][0]]


def _open_make() -> Callable[[_KneeJob], list[_Row]]:
    return _make_one


def _make_one(job: _KneeJob) -> list[_Row]:
    knee = make_knee(job.seed, job.index)
    write_knee(knee, job.folder / knee.patient_id)
    leading_cells = (
        knee.patient_id,
        knee.patient_id,
        knee.side,
        "",
        f"{knee.patient_id}/mri.nii.gz",
    )
    grades = knee_grades(knee.truth, load_bank(_BANK))
    return [
        (*leading_cells, f"{knee.patient_id}/segmentations", question, key, str(grade))
        for question, key, grade in grades
    ]


def knee_grades(truth: KneeTruth, bank: Bank) -> Iterator[tuple[str, str, int]]:
    """Question, sub-score and grade of all that the construction decides."""
    for question in bank.question:
        for sub in bank.sub_scores_of(question):
            value = true_value(truth, question, sub, bank)
            grade = None if value is None else bank.scales[sub.scale].grade_of(value)
            if grade is not None:
                yield question.id, sub.key, grade


def true_value(truth: KneeTruth, question: BankQuestion, sub: SubScore, bank: Bank) -> float | None:
    """What the construction says of a sub-score, in the unit of its scale;
    None where it decides nothing."""
    lesions = {region.name: region for region in truth.regions}.get(question.region)
    plate = {one.name: one for one in truth.plates}.get(question.region)
    if question.family == "bml" and lesions is not None:
        # The lesions hold no cysts.
        pure = 100.0 if lesions.lesion_count else 0.0
        return {
            "size": lesions.lesion_share,
            "number": float(lesions.lesion_count),
            "bml_share": pure,
        }[sub.key]
    if question.family == "cartilage" and plate is not None:
        return {"size": plate.loss_share, "depth": plate.full_share}[sub.key]
    if sub.measures == "extrusion_mm":
        meniscus = bank.regions[question.region].structure.removesuffix("_meniscus")
        return truth.extrusion_mm[f"{meniscus}_{sub.direction}"]
    return None
