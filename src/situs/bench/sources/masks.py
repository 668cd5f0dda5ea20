"""From a study's evidence files back to its ledger."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from situs.anatomy import Term, term
from situs.bench.folder import Bench
from situs.bench.locations import Locations
from situs.bench.study import SeriesRecord, StudyRecord
from situs.errors import SitusError
from situs.facts import Fact, Ledger, stored_cuts
from situs.space import Grid
from situs.volumes import (
    FrameStack,
    LabelMap,
    Volume,
    brain_of,
    open_labels,
    open_stack,
    open_volume,
)

__all__ = ["beside_image", "load_image", "load_labels", "load_ledger", "restrict", "terms_for"]


def restrict(labels: LabelMap, names: Collection[str]) -> LabelMap:
    """The label map with only the named structures; the voxels are shared."""
    return dataclasses.replace(
        labels, structures=tuple(s for s in labels.structures if s.name in names)
    )


def terms_for(names: Collection[str], own: Mapping[str, Term]) -> dict[str, Term]:
    """What each structure's name means, and what its parts make up: the user's own terms before the shipped ones."""
    terms = {name: term(name, own) for name in names}
    wholes = {entry.part_of or "" for entry in terms.values() if entry.kind == "lesion_part"}
    return terms | {
        whole: own[whole] for whole in sorted(wholes & own.keys()) if whole not in terms
    }


def load_labels(series: SeriesRecord, locations: Locations) -> LabelMap:
    """A series' label map from its evidence file, refused if it is not the one the bench was built from."""
    path = locations.find(series.labels_hash)
    names = {label: name for name, label in series.names.items()}
    source = open_labels(path, names, reference=_image_path(series, locations))
    labels = source.load().renamed(dict(series.renamed))
    if labels.hash != series.labels_hash:
        raise _not_the_evidence(path)
    if source.orientation_basis != series.side_basis:
        problem = f"its orientation is {source.orientation_basis}, not {series.side_basis} as the bench says"
        raise SitusError(problem, where=path, fix="restore the file, or rebuild")
    return labels


def _image_path(series: SeriesRecord, locations: Locations) -> Path | None:
    """The image on whose grid contours and sparse segmentations are drawn; other labels do without it."""
    if not series.image_hash:
        return None
    try:
        return locations.find(series.image_hash)
    except SitusError:
        return None


def load_image(series: SeriesRecord, locations: Locations) -> Volume | FrameStack:
    """A series' image, its axes in the order of the labels; refused if it is not the one the bench was built from.

    A series without an affine is a `FrameStack`: its array is (frames, height, width), first row on top.
    """
    path = locations.find(series.image_hash)
    image = open_volume(path) if series.affine else open_stack(path)
    if image.content_hash() != series.image_hash:
        raise _not_the_evidence(path)
    return (
        image.onto(series.grid)
        if isinstance(image, Volume) and isinstance(series.grid, Grid)
        else image
    )


def _not_the_evidence(path: Path) -> SitusError:
    return SitusError(
        "is not the evidence the bench was built from",
        where=path,
        fix="restore the file, or rebuild",
    )


def beside_image(
    labels: LabelMap, series: SeriesRecord, image: Volume | FrameStack | None
) -> LabelMap:
    """The labels, known no better than the image's grid agrees; without the image, as the bench says."""
    if isinstance(image, Volume):
        return labels.beside(image.grid)
    return labels.no_better_than(series.grid_error_mm)


def load_ledger(
    bench: Bench,
    study: StudyRecord,
    series: SeriesRecord,
    labels: LabelMap,
    image: Volume | None,
    facts: Iterable[Fact] = (),
) -> Ledger:
    """The ledger of one series, measured anew from its label map; the image tells where the scan ends and, of a head
    without its skull, where the middle is. If the image is not at hand, the stored `facts` tell what is cut."""
    values = image.array() if image is not None else None
    return Ledger(
        restrict(beside_image(labels, series, image), series.structures),
        labels_hash=series.labels_hash,
        study_id=study.study_id,
        series=series.series,
        recipe=bench.info.recipe,
        annotation=series.annotation,
        side_basis=series.side_basis,
        terms=terms_for(series.structures, bench.info.terms),
        image=values,
        cuts=stored_cuts(facts) if values is None and series.image_hash else None,
        brain=brain_of(values, labels.grid.affine.voxel_volume_mm3) if values is not None else None,
        ct=values if series.modality == "ct" else None,
        trusted=bench.info.trusted.get(study.study_id, ()),
    )
