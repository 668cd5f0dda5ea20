"""What was seen of a study, as numbers: all that its anatomy is judged by. No voxels."""

from __future__ import annotations

from enum import StrEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from situs.anatomy.terms import Term

__all__ = ["Anchor", "Doubt", "Geometry", "Scene", "Sighting", "Suspect", "Suspicion"]


class Doubt(StrEnum):
    """What cannot be relied on; the questions that hang on it are not asked."""

    LEFT_RIGHT = "left_right"
    FRONT_BACK = "front_back"
    UP_DOWN = "up_down"
    SCALE = "scale"
    LEVELS = "levels"
    STRUCTURE = "structure"
    """One structure or a few: its name, or its mask."""


class Suspect(StrEnum):
    """What looks wrong."""

    SWAPPED_NAMES = "swapped_names"
    """Left and right are exchanged in the names, of one pair or of all; the image is right."""
    MIRRORED = "mirrored"
    """The whole volume is reflected: the organs and every sided name lie on the other side."""
    SWAPPED_OR_MIRRORED = "swapped_or_mirrored"
    """Every sided name lies on the other side,
    and nothing unpaired is there to tell which of the two it is."""
    SITUS_INVERSUS = "situs_inversus"
    """The unpaired organs lie on the other side, the sided names do not:
    a mirrored patient, rightly named."""
    WRONG_SIDE = "wrong_side"
    """One structure alone lies on the other side."""
    REVERSED = "reversed"
    """Along one axis the anatomy runs the other way: upside down, or front to back."""
    TURNED = "turned"
    """What should lie along one axis lies along another: the patient or the axes are turned."""
    NO_GEOMETRY = "no_geometry"
    """The file states no orientation or voxel size,
    and the anatomy does not confirm the assumed one."""
    WRONG_SCALE = "wrong_scale"
    """Everything is too large or too small: another unit, or a wrong spacing."""
    NUMBERING = "numbering"
    """The vertebrae are out of order, or their numbers do not fit ribs, sacrum or skull."""
    IMPLAUSIBLE_SIZE = "implausible_size"
    """One structure has a size that no patient's has."""
    MISNAMED = "misnamed"
    """Masks bear each other's names, or the name of something else."""
    MISPLACED = "misplaced"
    """One structure lies where it does not belong."""
    OVERLAP = "overlap"
    """Two structures that exclude each other share voxels, or one's mask bites into the other."""
    DISORDERED = "disordered"
    """Slices do not follow each other as those of a body do, or lie there twice."""
    WRONG_TISSUE = "wrong_tissue"
    """The image under the mask shows another tissue."""


class Suspicion(msgspec.Struct, frozen=True):
    """One thing that looks wrong, the structures that show it, and the remedy."""

    code: Suspect
    structures: tuple[str, ...]
    problem: str
    fix: str
    doubt: Doubt | None = None
    """What cannot be relied on for it; None for an oddity that is only reported."""


class Geometry(StrEnum):
    """How far a file states where its voxels lie."""

    STATED = "stated"
    BLANK = "blank"
    """The affine is the identity, as if nobody had set it."""
    UNDECLARED = "undeclared"
    """The file says that it states no orientation."""


class Sighting(msgspec.Struct, frozen=True):
    """What was measured of one structure."""

    volume_ml: float
    centroid_mm: tuple[float, float, float]
    extent_mm: tuple[float, float, float]
    """Along the patient's axes, of its main part."""
    cut: bool = False
    """It goes on beyond the scan, so that its size is a lower bound."""
    right_share: float | None = None
    """Share of it right of the midline; None if the study shows no midline."""
    largest_part: float = 1.0
    """Share of it in its largest connected part."""
    mean_hu: float | None = None
    """Mean of a CT under its mask."""
    fat_share: float | None = None
    """Share of its mask on which a CT shows fat or air."""
    edge_contrast: float | None = None
    """How far the inner side of its edge looks more like it than the outer side, on a CT or MR:
    1 fully, 0 no more."""

    edge_offset: float | None = None
    """How many layers beyond its mask it ends on a CT, about 0; see `facts.masks.edges`."""
    second_core: float = 0.0
    """Share of its depth in a second part, behind a waist; see `facts.masks.cores`."""

    spur_mm: float = 0.0
    """Length of what sticks out of it thinly; see `facts.masks.cores`."""

    in_both_flanks: float = 0.0
    """Share of it in the flank of which it holds less, of organs that fill one only."""

    reach_of_parts: float = 1.0
    """How many times as long as its largest part it is along one axis, islands left out."""

    @property
    def centre(self) -> NDArray[np.float64]:
        """The centroid as an array."""
        return np.array(self.centroid_mm)


class Anchor(msgspec.Struct, frozen=True):
    """Something whose place in the row of vertebrae is known, and how far from it it lies."""

    structure: str
    off_levels: float
    """Levels by which the numbering puts it too low (positive) or too high."""


class Scene(msgspec.Struct, frozen=True):
    """One study."""

    sightings: dict[str, Sighting]
    terms: dict[str, Term]
    lesions_ml: dict[str, float] = {}
    """Lesions, of which nothing else is expected, and their volumes."""
    lesions_in: dict[str, str] = {}
    """Lesions, and the organ that clearly holds each."""
    overlaps: dict[tuple[str, str], float] = {}
    """Pairs of masks that share voxels → the shared part of the smaller."""
    bitten: dict[tuple[str, str], float] = {}
    """Pairs of masks that touch → the part of the first's surface that is on the second."""
    flat: dict[tuple[str, str], float] = {}
    """Pairs of which the first ends in a plane on the second → the part of its largest section that
    does; see `facts.masks.flat`."""
    beside_mm: dict[tuple[str, str], float] = {}
    """Pairs of `beside.csv` that reach the same heights
    → how far the first lies right of the second there."""
    aorta_roundness: float | None = None
    """Width over depth of the aorta where it runs from head to foot;
    None if too little of it does."""
    layers_mm: dict[tuple[str, str], float] = {}
    """Pairs of masks that share more than a row of voxels → how thick the shared layer is."""
    touching: int = 0
    """Pairs of masks that touch or overlap."""
    slices_out_of_place: int = 0
    """Slices that are less like either neighbour than these are like each other."""
    slices_doubled: int = 0
    """Slices of the image that repeat their neighbour, in one place and too many to fill gaps."""
    anchors: tuple[Anchor, ...] = ()
    geometry: Geometry = Geometry.STATED

    def named(self, canonical: str) -> str | None:
        """The study's name of a shipped structure; None if the study does not show it."""
        return next(
            (name for name in self.sightings if self.terms[name].canonical == canonical), None
        )
