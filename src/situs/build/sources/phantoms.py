"""Synthetic patients, written beside the bench and asked about like any other."""

from __future__ import annotations

from pathlib import Path

from situs.anatomy import NameRules
from situs.bench import split_patients
from situs.build.cohort import build_bench
from situs.build.frame import Progress
from situs.build.study import StudyJob
from situs.build.writer import BuildOptions, BuildResult
from situs.errors import SitusError

__all__ = ["build_phantoms"]


def build_phantoms(
    studies: int, out: Path, options: BuildOptions, progress: Progress = lambda done, total: None
) -> BuildResult:
    """Make `studies` patients from the options' seed and build a bench of them."""
    if not 1 <= studies <= 100_000:
        raise SitusError(
            f"cannot make {studies} phantoms",
            where="--studies",
            fix="give a number from 1 to 100000",
        )

    def jobs(scratch: Path) -> list[StudyJob]:
        ids = [f"phantom-{options.seed}-{index:04d}" for index in range(studies)]
        splits = split_patients(ids, options.recipe, options.seed)
        return [
            StudyJob(
                study_id=patient_id,
                patient_id=patient_id,
                split=splits[patient_id],
                image=None,
                labels=scratch / "volumes" / patient_id / "segmentations",
                names={},
                rules=NameRules(),
                annotation="exact",
                recipe=options.recipe,
                seed=options.seed,
                tasks=options.tasks,
                per_study=options.per_study,
                phantom=(options.seed, index),
            )
            for index, patient_id in enumerate(ids)
        ]

    return build_bench(out, "phantoms", jobs, options, {}, progress)
