"""Synthetic patients, written beside the bench and asked about like any other."""

from __future__ import annotations

from pathlib import Path

from situs.bench import split_of
from situs.build._cohort import BuildOptions, BuildResult, Progress, build_bench
from situs.build._study import StudyJob
from situs.errors import SitusError

__all__ = ["build_phantoms"]


def build_phantoms(
    studies: int, out: Path, options: BuildOptions, progress: Progress = lambda done, total: None
) -> BuildResult:
    """Make `studies` patients from the options' seed and build a bench of them."""
    from situs.volumes.phantoms import make_patient, write_patient

    if not 1 <= studies <= 100_000:
        raise SitusError(f"cannot make {studies} phantoms", where="--studies", fix="give a number from 1 to 100000")

    def jobs(scratch: Path) -> list[StudyJob]:
        result = []
        for index in range(studies):
            patient = make_patient(options.seed, index)
            folder = scratch / "volumes" / patient.patient_id
            write_patient(patient, folder)
            progress(index + 1, studies)
            result.append(
                StudyJob(
                    study_id=patient.patient_id,
                    patient_id=patient.patient_id,
                    split=split_of(patient.patient_id, options.recipe.splits, options.seed),
                    image=next(folder.glob("*.nii.gz")),
                    labels=folder / "segmentations",
                    names={},
                    own_terms={},
                    annotation="exact",
                    recipe=options.recipe,
                    seed=options.seed,
                    tasks=options.tasks,
                    per_study=options.per_study,
                )
            )
        return result

    return build_bench(out, "phantoms", jobs, options, {}, progress)
