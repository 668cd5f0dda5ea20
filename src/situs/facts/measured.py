"""All measured facts of one label file, as `situs measure` prints them."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec

from situs.anatomy import Vocabulary, load_vocabulary
from situs.errors import SitusError, did_you_mean
from situs.facts.details import StructureDetails, details_of
from situs.facts.masks.kinds import box_slack_mm, number
from situs.facts.masks.ledger import (
    Ledger,
    MaskedSeries,
    ScanValues,
)
from situs.facts.recipe import load_recipe
from situs.measure import Region
from situs.space import AXES, Axis
from situs.volumes import StudySource, brain_of, find_study, open_labels, open_volume

__all__ = ["MeasuredFile", "MeasuredPair", "MeasuredStructure", "measure_file", "measure_study"]

Triple = tuple[float, float, float]


class MeasuredStructure(msgspec.Struct, frozen=True):
    """One structure's numbers; the contract of `situs measure --json`."""

    label: int
    name: str
    side: str | None
    """From the name, null if the name tells none."""
    voxels: int
    volume_ml: float
    volume_ml_interval: tuple[float, float]
    centroid_mm: Triple
    centroid_mm_interval: tuple[Triple, Triple]
    box_mm: tuple[Triple, Triple]
    box_index: tuple[tuple[int, int, int], tuple[int, int, int]]
    extent_mm: dict[str, float]
    extent_mm_interval: dict[str, tuple[float, float]]
    touches_border: bool
    cut: bool
    """Whether it goes on beyond what its mask shows: it touches the array's border or padding, ends
    bluntly near them, or stops at a plane beyond which the image shows the same tissue."""
    components: int
    details: StructureDetails | None = None
    """With `--details` only."""


class MeasuredPair(msgspec.Struct, frozen=True):
    """One pair's numbers; directions are of a relative to b."""

    a: str
    b: str
    centre_distance_mm: float
    centre_distance_mm_interval: tuple[float, float]
    boundary_distance_mm: float
    boundary_distance_mm_interval: tuple[float, float]
    gap_mm: float
    gap_mm_interval: tuple[float, float]
    touching: bool
    contact_mm2: float
    direction: dict[str, str | None]
    direction_probability: dict[str, float]
    """P(a random voxel of a lies right of, in front of, above a random voxel of b)."""


class MeasuredFile(msgspec.Struct, frozen=True):
    """Everything measured, and what was odd about the file."""

    structures: list[MeasuredStructure]
    pairs: list[MeasuredPair]
    warnings: tuple[str, ...]


def measure_file(
    path: Path, *, names: str | None, pairs: str | None, annotation: str, details: bool = False
) -> MeasuredFile:
    """Measure a label file, or the one study of a folder; `pairs` is None, `all`, `touching` or
    `A,B`.

    The names are those of the study's layout unless given. An image beside the labels tells where
    the scan ends.
    """
    study = find_study(path) if path.is_dir() else None
    return measure_study(
        path if study is None else study.labels,
        study,
        names=names,
        pairs=pairs,
        annotation=annotation,
        details=details,
    )


def measure_study(
    path: Path,
    study: StudySource | None,
    *,
    names: str | None,
    pairs: str | None,
    annotation: str,
    details: bool = False,
) -> MeasuredFile:
    """Measure the labels of a study; without one, a label file by itself."""
    vocabulary = _vocabulary(names, study)
    image = open_volume(study.image) if study is not None and study.image is not None else None
    source = open_labels(
        path,
        vocabulary.labels,
        ids=vocabulary.ids or load_vocabulary("totalsegmentator").ids,
        reference=image,
    )
    image = image.onto(source.grid) if image is not None else None
    values = image.array() if image is not None else None
    labels = source.load()
    labels = labels.renamed(vocabulary.rules.renamed({s.label: s.name for s in labels.structures}))
    if image is not None:
        labels = labels.beside(image.grid)
    ledger = Ledger(
        labels,
        MaskedSeries(
            study_id="",
            series="",
            labels_hash=labels.hash,
            annotation=annotation,
            side_basis=source.orientation_basis,
        ),
        recipe=load_recipe(),
        terms={s.name: vocabulary.term(s.name) for s in labels.structures},
        single_lesions=False,
        scan=ScanValues(
            image=values,
            brain=brain_of(values, labels.grid.affine.voxel_volume_mm3)
            if values is not None
            else None,
        ),
    )
    chosen = _pairs(ledger, pairs)
    structures = [_structure(ledger, s.name, details) for s in labels.structures]
    return MeasuredFile(
        structures,
        [_pair(ledger, a, b) for a, b in chosen],
        (*labels.warnings, *(image.warnings if image else ())),
    )


def _vocabulary(names: str | None, study: StudySource | None) -> Vocabulary:
    """The given name map, laid over what the layout of the study tells."""
    layout_names = Vocabulary("none", {})
    if study is not None and study.vocabulary is not None:
        layout_names = load_vocabulary(study.vocabulary)
    elif study is not None:
        layout_names = Vocabulary(study.layout, study.names or {})
    return layout_names if names is None else load_vocabulary(names).over(layout_names.labels)


def _pairs(ledger: Ledger, pairs: str | None) -> list[tuple[str, str]]:
    if pairs is None:
        return []
    if pairs == "all":
        return list(itertools.combinations(ledger.structures, 2))
    if pairs == "touching":
        return ledger.contacts.pairs
    words = [word.strip() for word in pairs.split(",")]
    if len(words) != 2 or words[0] == words[1]:
        raise SitusError(
            f"cannot read {pairs!r}",
            where="--pairs",
            fix="give all, touching, or two structures as A,B",
        )
    for word in words:
        if word not in ledger.regions:
            raise SitusError(
                f"no structure {word!r}", where="--pairs", fix=did_you_mean(word, ledger.structures)
            )
    return [(words[0], words[1])]


def _structure(ledger: Ledger, name: str, details: bool) -> MeasuredStructure:
    region = ledger.regions[name]
    volume = ledger.fact("volume", name)
    x, y, z = (float(v) for v in region.centroid_mm)
    slack_x, slack_y, slack_z = (float(v) for v in ledger.slack_mm())
    side = ledger.terms[name].side
    return MeasuredStructure(
        label=region.structure.label,
        name=name,
        side=None if side is None else side.value,
        voxels=region.voxels,
        volume_ml=number(volume),
        volume_ml_interval=_bounds(volume.interval),
        centroid_mm=(x, y, z),
        centroid_mm_interval=(
            (x - slack_x, y - slack_y, z - slack_z),
            (x + slack_x, y + slack_y, z + slack_z),
        ),
        box_mm=(region.box_mm.lo_mm, region.box_mm.hi_mm),
        box_index=(region.box_index.lo, region.box_index.hi),
        extent_mm={axis.value: region.box_mm.extent_mm[axis.world_index] for axis in AXES},
        extent_mm_interval={axis.value: _extent_interval(ledger, region, axis) for axis in AXES},
        touches_border=region.touches_border,
        cut=ledger.is_cut(name),
        components=len(region.component_voxels),
        details=details_of(ledger, name) if details else None,
    )


def _pair(ledger: Ledger, a: str, b: str) -> MeasuredPair:
    kinds = ("centre_distance", "boundary_distance", "surface_gap")
    centre, boundary, gap = (ledger.fact(kind, a, b) for kind in kinds)
    directions = {axis.value: ledger.fact(f"direction.{axis}", a, b).value for axis in AXES}
    return MeasuredPair(
        a=a,
        b=b,
        centre_distance_mm=number(centre),
        centre_distance_mm_interval=_bounds(centre.interval),
        boundary_distance_mm=number(boundary),
        boundary_distance_mm_interval=_bounds(boundary.interval),
        gap_mm=number(gap),
        gap_mm_interval=_bounds(gap.interval),
        touching=bool(ledger.fact("touching", a, b).value),
        contact_mm2=number(ledger.fact("contact_area", a, b)),
        direction={
            axis: None if value is None else str(value) for axis, value in directions.items()
        },
        direction_probability={
            axis.value: number(ledger.fact(f"precedence.{axis}", a, b)) for axis in AXES
        },
    )


def _extent_interval(ledger: Ledger, region: Region, axis: Axis) -> tuple[float, float]:
    """How long the structure may be as it lies in the scan;
    a question's interval covers the patient's pose as well."""
    length = region.box_mm.extent_mm[axis.world_index]
    inwards, outwards = (2.0 * float(slack[axis.world_index]) for slack in box_slack_mm(ledger))
    return max(0.0, length - inwards), length + outwards


def _bounds(interval: tuple[float, ...] | None) -> tuple[float, float]:
    low, high = interval or (0.0, 0.0)
    return low, high
