"""One study: from its files to facts and candidate questions. Runs in a worker process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from situs.anatomy import NameRules, canonical_name, is_head
from situs.bench import (
    SeriesRecord,
    StudyRecord,
    SuspectStudy,
    anatomy_problems,
    restrict,
    suspect_studies,
    terms_for,
)
from situs.errors import Problem, Severity, SitusError
from situs.facts import (
    Fact,
    Ledger,
    MaskedSeries,
    Measured,
    Recipe,
    ScanValues,
)
from situs.items import Candidate, candidates, choose_tasks, import_tasks
from situs.space import AXES
from situs.volumes import LabelMap, brain_of, may_show_face, modality_of, open_labels, open_volume

__all__ = ["StudyJob", "StudyOutcome", "basic_facts", "open_process", "process", "with_sources"]

_NAMES_SHOWN = 5
_EXTENTS = tuple(f"extent.{axis}" for axis in AXES)
_STRUCTURE_FACTS = (
    "voxels",
    "volume",
    "centroid",
    "box",
    "components",
    "touches_border",
    *_EXTENTS,
)


class StudyJob(msgspec.Struct, frozen=True):
    """What a worker needs to know of one study."""

    study_id: str
    patient_id: str
    split: str
    image: Path | None
    labels: Path
    names: dict[int, str]
    rules: NameRules
    """What the user's map calls structures, and what their names mean."""
    annotation: str
    recipe: Recipe
    seed: int
    tasks: str | None
    per_study: int | None
    trusted: tuple[str, ...] = ()
    """What the user vouches for, though it looks wrong: `all`, a doubt, a structure."""
    phantom: tuple[int, int] | None = None
    """(seed, index) of a synthetic patient to make and write first."""

    @property
    def where(self) -> str:
        """How messages on the terminal call it."""
        return str(self.labels)


class StudyOutcome(msgspec.Struct, frozen=True):
    """What a worker found; written to disk,
    since the candidates of a cohort do not fit in memory."""

    study: StudyRecord
    facts: list[Fact]
    basics: list[str]
    """Ids of the facts about every structure,
    which a bench keeps whether or not a question rests on them."""
    candidates: list[Candidate]
    not_asked: dict[str, int]
    problems: list[Problem]
    places: dict[str, str]
    """Hash of each piece of evidence → its path."""
    suspects: list[SuspectStudy] = []


def open_process(modules: Iterable[str] = ()) -> Callable[[StudyJob], StudyOutcome]:
    """What a worker does with its studies; `modules` hold tasks that it would not know."""
    import_tasks(modules)
    return process


def process(job: StudyJob) -> StudyOutcome:
    """Read, measure and ask."""
    if job.phantom is not None:
        from situs.volumes.phantoms import make_patient, write_patient

        write_patient(make_patient(*job.phantom), job.labels.parent)
        job = msgspec.structs.replace(job, image=next(job.labels.parent.glob("*.nii.gz")))
    image = open_volume(job.image) if job.image is not None else None
    source = open_labels(job.labels, job.names, reference=image)
    image = image.onto(source.grid) if image is not None else None
    labels = source.load()
    renamed = job.rules.renamed(_named_by_file(labels, job.names))
    labels = labels.renamed(renamed)
    if image is not None:
        labels = labels.beside(image.grid)
    names = [s.name for s in labels.structures]
    terms = terms_for(names, job.rules.own_terms)
    known = {s.name: s.label for s in labels.structures if terms[s.name].known}
    problems = [
        _warning("file", job, text)
        for text in (*labels.warnings, *(image.warnings if image else ()))
    ]
    if unknown := sorted(set(names) - set(known)):
        verb = "structure has a name" if len(unknown) == 1 else "structures have names"
        listed = ", ".join(map(repr, unknown[:_NAMES_SHOWN]))
        listed += ", …" if len(unknown) > _NAMES_SHOWN else ""
        text = f"{len(unknown)} {verb} that no vocabulary knows ({listed}); not asked about"
        problems.append(_warning("names", job, text))
    values, image_hash = image.array_and_hash() if image is not None else (None, "")
    modality = modality_of(values) if values is not None else "labels"
    is_of_head = any(is_head(name, terms) for name in known)
    if (
        values is not None
        and is_of_head
        and may_show_face(values, labels.grid.affine.voxel_volume_mm3)
    ):
        problems.append(
            _warning("face", job, "shows a head; whether its face was removed is unknown")
        )
    series = SeriesRecord(
        series=modality,
        modality=modality,
        image_hash=image_hash,
        labels_hash=labels.hash,
        shape=labels.grid.shape,
        affine=tuple(float(v) for v in labels.grid.affine.matrix.ravel()),
        side_basis=source.orientation_basis,
        annotation=job.annotation,
        structures=known,
        names=_labels_by_name(job.names, {s.label for s in labels.structures}),
        grid_error_mm=labels.grid_error_mm,
        renamed=tuple(sorted(renamed.items())),
    )
    ledger = Ledger(
        restrict(labels, known),
        MaskedSeries(
            study_id=job.study_id,
            series=series.series,
            labels_hash=labels.hash,
            annotation=job.annotation,
            side_basis=series.side_basis,
        ),
        recipe=job.recipe,
        terms=terms,
        trusted=job.trusted,
        scan=ScanValues(
            image=values,
            brain=brain_of(values, labels.grid.affine.voxel_volume_mm3)
            if values is not None
            else None,
            ct=values if modality == "ct" else None,
        ),
    )
    asked, not_asked = candidates(
        ledger,
        job.patient_id,
        choose_tasks(job.tasks),
        seed=job.seed,
        per_study=job.per_study,
        pictured=values is not None,
    )
    basics = basic_facts(ledger)
    places = {labels.hash: str(job.labels)}
    if image is not None:
        places[series.image_hash] = str(job.image)
    return StudyOutcome(
        StudyRecord(job.study_id, job.patient_id, job.split, (series,)),
        with_sources(
            ledger.known_facts(), [*basics, *(id_ for c in asked for id_ in c.item.fact_ids)]
        ),
        basics,
        asked,
        dict(sorted(not_asked.items())),
        [*problems, *anatomy_problems(job.study_id, ledger)],
        places,
        suspect_studies(job.study_id, ledger),
    )


def basic_facts(ledger: Ledger) -> list[str]:
    """Ids of the facts about every structure,
    which a bench keeps whether or not a question rests on them."""
    basics = [
        ledger.fact(kind, name).fact_id for name in ledger.structures for kind in _STRUCTURE_FACTS
    ]
    basics += [ledger.fact("largest", family).fact_id for family in ledger.families]
    if ledger.midline is not None:
        basics += [
            ledger.fact("right_share", name).fact_id
            for name in ledger.structures
            if ledger.family(name)
        ]
    return basics


def _named_by_file(labels: LabelMap, names: Mapping[int, str]) -> dict[int, str]:
    """Structures whose name comes from their file, not from a label of the map:
    those that patterns may rename."""
    return {s.label: s.name for s in labels.structures if names.get(s.label) != s.name}


def _labels_by_name(names: dict[int, str], present: set[int]) -> dict[str, int]:
    """The label of each name; of two labels with one name, the one that the file holds.

    The user's own words for what the file does not hold are not kept. Their numbers are: masks
    without a label are numbered after the largest.
    """
    return {
        name if label in present or canonical_name(name) is not None else f"label_{label}": label
        for label, name in sorted(names.items(), key=lambda entry: entry[0] in present)
    }


def _warning(code: str, job: StudyJob, text: str) -> Problem:
    return Problem(Severity.WARNING, code, job.study_id, text, "")


def with_sources(facts: Iterable[Fact], wanted: Iterable[str]) -> list[Fact]:
    """The wanted facts and those they were derived from, by id."""
    known = {fact.fact_id: fact for fact in facts}
    open_ids = list(wanted)
    result: dict[str, Fact] = {}
    while open_ids:
        fact_id = open_ids.pop()
        fact = known.get(fact_id)
        if fact is None:  # only somebody else's part can be like this
            problem = f"a question or fact rests on fact {fact_id}, which is not there"
            raise SitusError(problem, fix="a part of the build is damaged; build it again")
        if fact.fact_id not in result:
            result[fact.fact_id] = fact
            if isinstance(fact.derivation, Measured):
                inputs = fact.derivation.inputs
                open_ids += [
                    source.removeprefix("fact:") for source in inputs if source.startswith("fact:")
                ]
    return [result[fact_id] for fact_id in sorted(result)]
