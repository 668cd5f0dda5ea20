"""From volumes with segmentation masks to a bench."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from situs.anatomy import load_vocabulary
from situs.bench import opaque_id, split_of
from situs.build._cohort import Progress, build_bench
from situs.build._study import StudyJob
from situs.build._writer import BuildOptions, BuildResult
from situs.errors import SitusError
from situs.volumes import StudySource, find_studies

__all__ = ["build_masks"]


def build_masks(
    roots: Sequence[Path],
    out: Path,
    options: BuildOptions,
    *,
    names: str | None,
    annotation: str,
    keep_stems: bool = False,
    progress: Progress = lambda done, total: None,
) -> BuildResult:
    """Build a bench from every study under the roots."""
    options.recipe.annotation_error(annotation)
    vocabulary = load_vocabulary(names)
    studies = [study for root in roots for study in find_studies(root)]
    named = sorted(((*_ids(study, keep_stems), study) for study in studies), key=lambda entry: entry[:2])
    for (study_id, _, _), (other_id, _, other) in itertools.pairwise(named):
        if study_id == other_id:
            fix = "give each study a name of its own"
            raise SitusError("two studies have the same id", where=other.labels, fix=fix)

    def jobs(_: Path) -> list[StudyJob]:
        return [
            StudyJob(
                study_id=study_id,
                patient_id=patient_id,
                split=split_of(patient_id, options.recipe.splits, options.seed),
                image=source.image,
                labels=source.labels,
                names=vocabulary.labels,
                own_terms=vocabulary.own_terms,
                annotation=annotation,
                recipe=options.recipe,
                seed=options.seed,
                tasks=options.tasks,
                per_study=options.per_study,
            )
            for study_id, patient_id, source in named
        ]

    return build_bench(out, "masks", jobs, options, vocabulary.own_terms, progress)


def _ids(source: StudySource, keep_stems: bool) -> tuple[str, str]:
    """Study and patient id: a table's or a public set's own; else a keyed hash, or the stem on request."""
    if source.study is not None:
        return source.study, source.patient or source.study
    if source.public_id is not None:
        return source.public_id, source.public_id
    if keep_stems:
        return source.stem, source.stem
    return opaque_id("s", source.stem), opaque_id("p", source.stem)
