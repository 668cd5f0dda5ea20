"""From a study's evidence files back to its ledger."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from situs.anatomy import Term, term
from situs.bench.checks.anatomy import anatomy_problems
from situs.bench.checks.cohort import Arrangement
from situs.bench.checks.comparison import fact_problems, item_differences
from situs.bench.folder import Bench
from situs.bench.locations import Locations
from situs.bench.sources.images import LoadedImage, not_the_evidence
from situs.bench.sources.source import Source, StudyRows
from situs.bench.study import SeriesRecord, StudyRecord
from situs.errors import SitusError
from situs.facts import (
    LITERATURE,
    Fact,
    Ledger,
    MaskedSeries,
    ScanValues,
    literature_problems,
    stored_cuts,
)
from situs.items import (
    Choice,
    Item,
    NotAsked,
    Question,
    lettered,
    marks_of,
    pose,
    task_of_masks,
)
from situs.items.programs import names_of, program_of, prove_text
from situs.volumes import (
    LabelMap,
    brain_of,
    open_labels,
)


def restrict(labels: LabelMap, names: Collection[str]) -> LabelMap:
    """The label map with only the named structures; the voxels are shared."""
    return dataclasses.replace(
        labels, structures=tuple(s for s in labels.structures if s.name in names)
    )


def terms_for(names: Collection[str], own_terms: Mapping[str, Term]) -> dict[str, Term]:
    """What each structure's name means, and what its parts make up:
    the user's own terms before the shipped ones."""
    terms = {name: term(name, own_terms) for name in names}
    wholes = {entry.part_of or "" for entry in terms.values() if entry.kind == "lesion_part"}
    return terms | {
        whole: own_terms[whole] for whole in sorted(wholes & own_terms.keys()) if whole not in terms
    }


def load_labels(series: SeriesRecord, locations: Locations) -> LabelMap:
    """A series' label map from its evidence file,
    refused if it is not the one the bench was built from."""
    path = locations.find(series.labels_hash)
    names = {label: name for name, label in series.names.items()}
    source = open_labels(path, names, reference=_image_path(series, locations))
    labels = source.load().renamed(dict(series.renamed))
    if labels.hash != series.labels_hash:
        raise not_the_evidence(path)
    if source.orientation_basis != series.side_basis:
        problem = (
            f"its orientation is {source.orientation_basis}, not {series.side_basis} as the bench"
            " says"
        )
        raise SitusError(problem, where=path, fix="restore the file, or rebuild")
    return labels


def _image_path(series: SeriesRecord, locations: Locations) -> Path | None:
    """The image on whose grid contours and sparse segmentations are drawn.

    Other labels do without it.
    """
    if not series.image_hash:
        return None
    try:
        return locations.find(series.image_hash)
    except SitusError:
        return None


def beside_image(labels: LabelMap, series: SeriesRecord, image: LoadedImage | None) -> LabelMap:
    """The labels, known no better than the image's grid agrees.

    Without the image, as the bench says.
    """
    volume = image.volume if image is not None else None
    if volume is not None:
        return labels.beside(volume.grid)
    return labels.no_better_than(series.grid_error_mm)


def load_ledger(
    bench: Bench,
    study: StudyRecord,
    series: SeriesRecord,
    labels: LabelMap,
    image: LoadedImage | None,
    facts: Iterable[Fact] = (),
) -> Ledger:
    """The ledger of one series, measured anew from its label map; the image tells where the scan
    ends and, of a head without its skull, where the middle is. If the image is not at hand, the
    stored `facts` tell what is cut."""
    values = image.values if image is not None else None
    return Ledger(
        restrict(beside_image(labels, series, image), series.structures),
        MaskedSeries(
            study_id=study.study_id,
            series=series.series,
            labels_hash=series.labels_hash,
            annotation=series.annotation,
            side_basis=series.side_basis,
        ),
        recipe=bench.info.recipe,
        terms=terms_for(series.structures, bench.info.terms),
        trusted=bench.info.trusted.get(study.study_id, ()),
        scan=ScanValues(
            image=values,
            brain=(
                brain_of(values, labels.grid.affine.voxel_volume_mm3)
                if values is not None
                else None
            ),
            cuts=stored_cuts(facts) if values is None and series.image_hash else None,
            ct=values if series.modality == "ct" else None,
        ),
    )


class MaskSource(Source):
    """Series with millimetres: every fact and answer is measured anew from the voxels."""

    builds = ("phantoms", "masks")
    alone = False

    def claims(self, study: StudyRecord) -> bool:
        """Studies with a series in millimetres."""
        return any(series.affine for series in study.series)

    def check(self, rows: StudyRows) -> None:
        """Series by series, from label maps and, where the bench has them, images."""
        for series in rows.study.series:
            if series.affine:
                self._check_series(series, rows.study, rows.of(series.series))

    def _check_series(self, series: SeriesRecord, study: StudyRecord, rows: StudyRows) -> None:
        if not series.labels_hash and not rows.items:
            self.check_image(study, series)
            return
        try:
            labels = load_labels(series, self.locations)
        except SitusError as error:
            self.unusable(study, error)
            return
        present = {s.name: s.label for s in labels.structures if s.name in series.structures}
        if present != series.structures:
            problem = "structures differ from the evidence"
            self.result.error("structures", study.study_id, problem, "rebuild the bench")
        image = self.check_image(study, series)
        ledger = load_ledger(self.bench, study, series, labels, image, rows.facts)
        self._check_grid(study, series, ledger)
        for fact in rows.facts:
            if fact.kind == LITERATURE:
                for text in literature_problems(fact):
                    self.result.error("citation", fact.fact_id, text, "author the bench again")
                continue
            for text in fact_problems(fact, ledger):
                fix = "the stored fact does not follow from the voxels; rebuild"
                self.result.error("fact", fact.fact_id, text, fix)
        stored = {fact.fact_id: fact for fact in rows.facts}
        for item in rows.items:
            self.result.recomputed += 1
            for text in _item_problems(item, study, ledger, stored, self.arrangement):
                fix = "the stored item does not follow from the facts; rebuild"
                self.result.error("item", item.item_id, text, fix)

    def _check_grid(self, study: StudyRecord, series: SeriesRecord, ledger: Ledger) -> None:
        grid = ledger.regions.grid
        if grid.shape != series.shape or tuple(grid.affine.matrix.ravel()) != series.affine:
            problem = "shape or affine differs from the evidence"
            self.result.error("grid", study.study_id, problem, "rebuild the bench")
        if ledger.grid_error_mm != series.grid_error_mm:
            problem = "the grids of its files differ by an amount other than the bench states"
            self.result.error("grid", study.study_id, problem, "rebuild the bench")
        self.result.problems.extend(anatomy_problems(study.study_id, ledger))


def _item_problems(
    item: Item,
    study: StudyRecord,
    ledger: Ledger,
    stored: dict[str, Fact],
    arrangement: Arrangement,
) -> Iterator[str]:
    if any(fact in stored and stored[fact].kind == LITERATURE for fact in item.fact_ids):
        yield "its answer rests on a publication"
    known = {f"cites:{fact.value}" for fact in stored.values() if fact.kind == LITERATURE}
    for tag in item.tags:
        if tag.startswith("cites:") and tag not in known:
            yield f"it cites {tag.removeprefix('cites:')}, of which the bench has no passage"
    task = task_of_masks(item.task)
    if task is None:
        yield f"its task {item.task!r} is unknown"
        return
    try:
        posed = pose(ledger, task, Question(item.task, item.form, item.parameters))
    except (SitusError, KeyError, ValueError) as error:
        yield f"cannot be posed to this patient ({type(error).__name__} {error})"
        return
    if isinstance(posed, NotAsked):
        yield f"would not be asked: {posed.reason}"
        return
    canonical = posed.item(
        Question(item.task, item.form, item.parameters), ledger, study.patient_id
    )
    yield from item_differences(item, as_authored(_as_lettered(canonical, item), item, ledger))
    yield from arrangement.problems_of(item, canonical)


_AUTHORED = ("wording:", "cites:", "routed:")
"""Tags that authoring adds."""


def as_authored(canonical: Item, item: Item, ledger: Ledger) -> Item:
    """The question posed anew with what authoring added:
    tags, and a wording that means the same and nothing else."""
    added = tuple(tag for tag in item.tags if tag.startswith(_AUTHORED))
    question, program = canonical.question, program_of(item)
    is_worded = any(tag.startswith("wording:") for tag in added)
    if is_worded and program is not None:
        proved = prove_text(item.question, program, names_of(ledger)) is None
        question = item.question if proved else question
    return msgspec.structs.replace(canonical, tags=(*canonical.tags, *added), question=question)


def _as_lettered(canonical: Item, item: Item) -> Item:
    """The question posed anew with its marks at the letters the item gives them,
    if it has marks."""
    letters = [option.value for option in item.options]
    if (
        not marks_of(canonical)
        or not isinstance(item.answer, Choice)
        or item.answer.value not in letters
    ):
        return canonical
    offered = tuple(option for option in canonical.options if option.value in letters)
    return lettered(msgspec.structs.replace(canonical, options=offered), item.answer.value)
