"""From volumes with segmentation masks to a bench."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from situs.anatomy import Vocabulary, load_vocabulary, shipped_vocabularies
from situs.bench import IdRule, opaque_id, split_patients
from situs.build.cohort import build_bench
from situs.build.coverage import coverage_of, coverage_problems
from situs.build.frame import Progress
from situs.build.study import StudyJob
from situs.build.trust import trusted_studies
from situs.build.writer import BuildOptions, BuildResult
from situs.errors import SitusError
from situs.volumes import StudySource, survey

__all__ = ["build_masks"]


def build_masks(
    roots: Sequence[Path],
    out: Path,
    options: BuildOptions,
    *,
    names: str | None,
    annotation: str,
    layout: str = "auto",
    progress: Progress = lambda done, total: None,
) -> BuildResult:
    """Build a bench from every study under the roots."""
    options.recipe.annotation_error(annotation)
    name_map = load_vocabulary(names) if names is not None else None
    surveys = [survey(root, layout, keep_missing=options.skip_bad) for root in roots]
    studies = [study for surveyed in surveys for study in surveyed.studies]
    passed_over = [folder for surveyed in surveys for folder in surveyed.passed_over]
    terms = {} if name_map is None else dict(name_map.own_terms)
    named = sorted(
        ((*_ids(study, options.ids), study) for study in studies), key=lambda entry: entry[:2]
    )
    for (study_id, _, _), (other_id, _, other) in itertools.pairwise(named):
        if study_id == other_id:
            fix = "give each study a name of its own"
            raise SitusError("two studies have the same id", where=other.labels, fix=fix)

    trusted = trusted_studies(options.trust, _names(named))
    splits = split_patients(
        (patient_id for _, patient_id, _ in named), options.recipe, options.seed
    )
    jobs = []
    vocabularies: dict[object, Vocabulary] = {}
    for study_id, patient_id, source in named:
        # Most studies of a cohort are named alike: their jobs share one table of names.
        naming = source.layout, source.vocabulary, tuple((source.names or {}).items())
        if naming not in vocabularies:
            vocabularies[naming] = _vocabulary_of(source, name_map)
        vocabulary = vocabularies[naming]
        terms.update(vocabulary.own_terms)
        jobs.append(
            StudyJob(
                study_id=study_id,
                patient_id=patient_id,
                split=splits[patient_id],
                image=source.image,
                labels=source.labels,
                names=vocabulary.labels,
                rules=vocabulary.rules,
                annotation=annotation,
                recipe=options.recipe,
                seed=options.seed,
                tasks=options.tasks,
                per_study=options.per_study,
                trusted=trusted.get(study_id, ()),
            )
        )
    result = build_bench(out, "masks", lambda _: jobs, options, terms, progress)
    counts = coverage_of(studies, passed_over, result.problems, result.without_questions)
    problems = [*coverage_problems(counts, studies, passed_over, result.silent), *result.problems]
    return msgspec.structs.replace(result, coverage=counts, problems=problems)


def _names(named: Sequence[tuple[str, str, StudySource]]) -> dict[str, str]:
    """What a user may call each study:
    its id, or its name in a table, folder or file where no two share one."""
    named_studies = [
        (name, study_id)
        for study_id, _, source in named
        for name in {source.stem, source.study}
        if name
    ]
    counts = Counter(name for name, _ in named_studies)
    unique = {name: study_id for name, study_id in named_studies if counts[name] == 1}
    return unique | {study_id: study_id for study_id, _, _ in named}


def _vocabulary_of(source: StudySource, name_map: Vocabulary | None) -> Vocabulary:
    """The user's name map, laid over what the layout tells;
    names that neither knows stay out of the bench."""
    if source.vocabulary in shipped_vocabularies():
        layout_names = load_vocabulary(source.vocabulary)
    else:
        layout_names = Vocabulary(source.layout, source.names or {})
    vocabulary = layout_names if name_map is None else name_map.over(layout_names.labels)
    return vocabulary.of_known()


def _ids(source: StudySource, ids: IdRule) -> tuple[str, str]:
    """Study and patient id: a public set's own;
    else a keyed hash, or the table's or file's on request."""
    if source.study is not None:
        patient_name = source.patient or source.study
        return ids.study(source.study, of_table=True), ids.patient(patient_name, of_table=True)
    name, public = source.public_id or source.stem, source.public_id is not None
    if source.patient_key:
        return ids.study(name, public=public), opaque_id("p", source.patient_key)
    return ids.study(name, public=public), ids.patient(name, public=public)
