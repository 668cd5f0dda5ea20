"""The ledger of one series: facts by kind and subject, each measured once, when first asked for."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import (
    Doubt,
    Suspicion,
    Term,
    family_term,
    lesion_family,
    organs_in_parts,
    term,
    wholes,
)
from situs.anatomy.plausible import Scene, judge, unsure_names
from situs.errors import SitusError, did_you_mean
from situs.facts.doubts import ALL, Doubted
from situs.facts.masks.cut import ALL_FACES, Cut, Face, KnownCuts, Surroundings, cut_of
from situs.facts.masks.instances import join_parts, split_lesions, together, without_islands
from situs.facts.masks.midlines import find_midline
from situs.facts.masks.pairs import split_pairs
from situs.facts.recipe import Recipe
from situs.facts.record import Fact, FactValue, Measured, fact_id
from situs.measure import Contacts, Midline, Region, Regions, Spine, contacts
from situs.measure.directions import Histogram, histograms
from situs.space import Axis
from situs.volumes import LabelMap, padding_of

if TYPE_CHECKING:
    from situs.facts.masks.marks.sites import Mark, MarkSites

__all__ = [
    "DOUBT_OF_AXIS",
    "EVERYTHING",
    "NOTHING",
    "SIZE",
    "WHOLE",
    "Kind",
    "Ledger",
    "MaskedSeries",
    "ScanValues",
    "hangs_on",
    "kind",
]


WHOLE = "+lesions"
"""Ends the name of an organ that is measured together with the lesions its mask leaves out."""

Kind = Callable[..., Fact]

NOTHING: frozenset[Doubt] = frozenset()
"""What a fact hangs on that is the same however the patient lies and however large a voxel is."""
SIZE = frozenset({Doubt.SCALE})
EVERYTHING = frozenset(Doubt) - {Doubt.STRUCTURE}
"""All that may be doubted of a study as a whole;
that a single structure is doubted is always minded."""
DOUBT_OF_AXIS = {
    Axis.LEFT_RIGHT: Doubt.LEFT_RIGHT,
    Axis.ANTERIOR_POSTERIOR: Doubt.FRONT_BACK,
    Axis.SUPERIOR_INFERIOR: Doubt.UP_DOWN,
}


class _Declared(NamedTuple):
    derive: Kind
    derivation: str
    hangs_on: frozenset[Doubt]


_KINDS: dict[str, _Declared] = {}


def kind(
    name: str, version: int = 1, *, hangs_on: Iterable[Doubt | str] = EVERYTHING
) -> Callable[[Kind], Kind]:
    """Register how facts of one kind are derived: a function of the ledger and the names of the
    subjects.

    The version goes into every derivation; raise it when a value can change. `hangs_on`: which
    doubts about a study (`left_right`, `front_back`, `up_down`, `scale`, `levels`) would make the
    fact unreliable.
    """
    doubts = frozenset(Doubt(doubt) for doubt in hangs_on)

    def register(function: Kind) -> Kind:
        known = _KINDS.get(name)
        if known is not None and _origin(known.derive) != _origin(function):
            raise SitusError(
                f"there is a fact kind {name!r} already", fix="give yours another name"
            )
        _KINDS[name] = _Declared(function, f"{name}@{version}", doubts)
        return function

    return register


def _origin(function: Kind) -> tuple[str, str]:
    """Where a function was defined: the same one may be defined anew, as in a notebook."""
    return function.__module__, function.__qualname__


def hangs_on(kind_name: str) -> frozenset[Doubt]:
    """Which doubts about a study make facts of this kind unreliable."""
    return _KINDS[kind_name].hangs_on


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaskedSeries:
    """The series whose masks are measured, and how they were made."""

    study_id: str
    series: str
    labels_hash: str
    annotation: str
    """`exact`, `manual`, `corrected` or `automatic`."""
    side_basis: str
    """`affine`, or `undeclared` when the file states no orientation."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScanValues:
    """What the image of a series tells beside its masks, on the grid of the labels."""

    image: NDArray[Any] | None = None
    """It tells where the scan ends."""
    brain: NDArray[np.bool_] | None = None
    """Voxels of the brain, of a head stripped of its skull."""
    cuts: KnownCuts | None = None
    """How structures are cut, where that is known already."""
    ct: NDArray[Any] | None = None
    """The values of a CT, which tell whether the masks lie on their tissues."""


_NO_SCAN = ScanValues()


class Ledger(Doubted):
    """Facts of one series, computed from its label map under one recipe."""

    def __init__(
        self,
        labels: LabelMap,
        masked: MaskedSeries,
        *,
        recipe: Recipe,
        terms: Mapping[str, Term],
        scan: ScanValues = _NO_SCAN,
        single_lesions: bool = True,
        trusted: Collection[str] = (),
    ) -> None:
        """`single_lesions`: a mask of several lesions, or of both organs of a pair, is split, and
        the parts of a lesion are joined; `trusted`: what the user vouches for, though it looks
        wrong (`ALL`, a doubt, or a structure)."""
        self.grid_error_mm = labels.grid_error_mm
        """How far the files' grids differ: every boundary is uncertain by so much more."""
        if single_lesions:
            labels, terms = split_lesions(*join_parts(labels, terms))
            if masked.side_basis != "undeclared":
                labels, terms = split_pairs(labels, terms, recipe.truth)
        self.regions = Regions(labels)
        self.labels_hash = masked.labels_hash
        self.study_id = masked.study_id
        self.series = masked.series
        self.recipe = recipe
        self.annotation = recipe.annotation_error(masked.annotation).moved(self.grid_error_mm)
        self.exhaustive = masked.annotation == "exact"
        """Whether every instance is known to be annotated,
        whatever the vocabulary says (phantoms)."""
        self.side_basis = masked.side_basis
        """`affine`, or `undeclared` when the file states no orientation: then sides are unknown."""
        structure_terms = {name: terms[name] for name in self.regions.structures}
        self.organs_in_parts = organs_in_parts(structure_terms)
        """Organs that are annotated in parts only, and the parts. They are no structures of the
        series, but may hold a lesion."""
        self.terms = {**structure_terms, **{organ: term(organ) for organ in self.organs_in_parts}}
        for organ in self.organs_in_parts:
            self.regions.add_later(organ, functools.partial(self._join, organ))
        self._facts: dict[tuple[str, tuple[str, ...]], Fact] = {}
        self.trusted = frozenset(trusted)
        self._ct = scan.ct
        self._image = scan.image
        self._brain = scan.brain
        cuts = scan.cuts
        self._cut: dict[str, Cut] = dict(cuts.structures) if cuts is not None else {}
        self._known_ends = cuts.ends if cuts is not None else None
        self._known_unseen = cuts.unseen_mm if cuts is not None else None
        self._left_out: dict[str, tuple[str, ...]] = {}
        self._together: set[str] = set()
        self._main: dict[str, Region] = {}
        self._histograms: dict[tuple[str, Axis], list[Histogram]] = {}

    @property
    def half_voxel_mm(self) -> NDArray[np.float64]:
        """How far sampling may move a boundary along x, y, z:
        half a voxel, and what the files' grids differ by."""
        return self.regions.grid.affine.half_voxel_mm + self.grid_error_mm

    @property
    def half_diagonal_mm(self) -> float:
        """How far sampling may move a boundary in any direction:
        to a voxel's corner, and the grids' difference."""
        return float(np.linalg.norm(self.regions.grid.affine.spacing_mm)) / 2.0 + self.grid_error_mm

    @functools.cached_property
    def midline(self) -> Midline | None:
        """Where the patient's midline runs; None if the series does not show it."""
        return find_midline(self.regions, self.terms, self._brain, self.recipe.truth.symmetry_mm)

    @functools.cached_property
    def spine(self) -> Spine | None:
        """The vertebral bodies, by which levels are told; None where there are too few of them."""
        from situs.facts.masks.kinds_spine import find_spine

        return find_spine(self)

    @functools.cached_property
    def scene(self) -> Scene:
        """The study in numbers, by which its anatomy is judged."""
        from situs.facts.masks.scene import scene_of

        return scene_of(self, self._ct, self._image)

    def _find_suspicions(self) -> list[Suspicion]:
        return judge(self.scene)

    @functools.cached_property
    def unsure_names(self) -> frozenset[str]:
        """Structures whose mask fits another name as well as its own,
        where nobody vouches for the name."""
        if ALL in self.trusted or Doubt.STRUCTURE.value in self.trusted:
            return frozenset()
        return unsure_names(self.scene, self.suspicions, self.doubts) - self.trusted

    @functools.cached_property
    def nested_pairs(self) -> dict[tuple[str, str], bool]:
        """Which pairs of structures were found to be one part of the other:
        the same are asked about for every mark."""
        return {}

    @functools.cached_property
    def same_marks(self) -> list[list[Mark]]:
        """Sets of marks of which two lie in one structure; empty if there is no room for them."""
        from situs.facts.masks.marks.pairs import same_marks

        return same_marks(self)

    @functools.cached_property
    def contacts(self) -> Contacts:
        """Which structures touch."""
        return contacts(self.regions.labels)

    @property
    def structures(self) -> list[str]:
        """Names of the structures in the series, sorted."""
        return sorted(self.regions.structures)

    def family(self, name: str) -> str | None:
        """The family of a lesion (`liver_lesion` of `liver_lesion_2`);
        None if the structure is no lesion."""
        return lesion_family(name, self.terms)

    @functools.cached_property
    def families(self) -> dict[str, list[str]]:
        """The lesions of each family, by name."""
        result: dict[str, list[str]] = {}
        for name in self.structures:
            family = self.family(name)
            if family is not None:
                result.setdefault(family, []).append(name)
        return dict(sorted(result.items()))

    def family_term(self, family: str) -> Term:
        """What a lesion family is called and part of, by the terms of its lesions."""
        return family_term(family, (self.terms[name] for name in self.families.get(family, ())))

    @functools.cached_property
    def organs(self) -> list[str]:
        """Whole organs that may hold a lesion, sorted: annotated as one, or in all their parts."""
        annotated = [name for name in self.structures if self.terms[name].kind == "organ"]
        return sorted(
            name for name in (*annotated, *self.organs_in_parts) if not self._is_part_of_organ(name)
        )

    def _join(self, organ: str) -> Region:
        return together(organ, [self.regions[part] for part in self.organs_in_parts[organ]])

    def _is_part_of_organ(self, name: str) -> bool:
        entry = self.terms[name]
        around = wholes(entry, self.terms) - {entry.canonical or name}
        return any((self.terms.get(whole) or term(whole)).kind == "organ" for whole in around)

    def parts_of(self, organ: str) -> tuple[str, ...]:
        """The structures that make up an organ: itself, or the parts it is annotated in."""
        return self.organs_in_parts.get(organ, (organ,))

    @functools.cached_property
    def surroundings(self) -> Surroundings:
        """What lies around the structures."""
        padding = padding_of(self._image) if self._image is not None else None
        return Surroundings(self.regions.labels, padding, self._image)

    def cut(self, name: str) -> Cut:
        """Whether and how the structure goes on beyond what its mask shows."""
        if name not in self._cut:
            main = self.main_region(name)
            as_one = cut_of(
                self.regions[name], main, self.surroundings, self.recipe.cut, exact=self.exhaustive
            )
            # A lesion beyond the plane in which its organ was cut hides the flat end of the two
            # together.
            of_members = (self.cut(member) for member in self._members(name))
            self._cut[name] = max((as_one, *of_members), key=list(Cut).index)
        return self._cut[name]

    def _members(self, name: str) -> tuple[str, ...]:
        """The masks that are measured together under this name;
        none for a structure of one mask."""
        if name.endswith(WHOLE):
            organ = name.removesuffix(WHOLE)
            return (organ, *self.lesions_left_out(organ))
        return self.organs_in_parts.get(name, ())

    def cut_but_for(self, name: str, *faces: Face) -> bool:
        """Whether the structure is cut elsewhere than at these faces of the array."""
        main, around = self.main_region(name), self.surroundings
        return (
            cut_of(
                self.regions[name], main, around, self.recipe.cut, exact=self.exhaustive, but=faces
            )
            is not Cut.NOT
        )

    def only_leaves_scan(self, name: str) -> bool:
        """Whether all that a mask lacks of a structure lies beyond the faces of the array."""
        parts = (name, *self._members(name))
        return not any(self.cut_but_for(part, *ALL_FACES) for part in parts)

    def known_unseen_mm(self, a: str, b: str) -> float | None:
        """How near to each other unseen parts may come,
        where the image that told is not at hand; None if it is."""
        if self._known_unseen is None:
            return None
        return self._known_unseen.get((a, b), 0.0)

    def known_cut_ends(self, name: str) -> str | None:
        """Which ends are cut, where the image that told is not at hand; None if it is."""
        return None if self._known_ends is None else self._known_ends.get(name, "top+bottom")

    def is_cut(self, name: str) -> bool:
        """Whether the structure goes on beyond what its mask shows,
        so that its size is a lower bound."""
        return self.cut(name) is not Cut.NOT

    def cut_flags(self, *names: str) -> tuple[str, ...]:
        """Flags of a fact about these structures:
        `cut` if any is, and `through` if every cut one is for sure."""
        cuts = [cut for name in names if (cut := self.cut(name)) is not Cut.NOT]
        if not cuts:
            return ()
        return ("cut", "through") if all(cut is Cut.THROUGH for cut in cuts) else ("cut",)

    def lesions_left_out(self, organ: str) -> tuple[str, ...]:
        """The organ's lesions that its mask leaves out,
        so that the mask alone is not the whole organ."""
        if organ not in self._left_out:
            needed = self.recipe.truth.inside_share
            self._left_out[organ] = tuple(
                name
                for name in self.structures
                if self.lies_in(name, organ)
                and float(self.fact("inside_share", name, organ).value or 0.0) < needed  # type: ignore[arg-type]
            )
        return self._left_out[organ]

    def lies_in(self, lesion: str, organ: str) -> bool:
        """Whether it is a lesion of this organ: the organ holds it, or its name says so and it
        touches no like organ more."""
        entry, organ_term = self.terms[lesion], self.terms[organ]
        if organ_term.kind != "organ" or (self.family(lesion) is None and entry.kind != "finding"):
            return False
        if self._is_part_of_organ(organ):
            return self.fact("organ_part_of", lesion).value == organ
        holder = self.fact("organ_of", lesion).value
        if holder is not None:
            return holder == organ
        if entry.part_of is None or entry.part_of not in (organ_term.canonical, organ_term.part_of):
            return False
        like = [
            n
            for n, e in self.terms.items()
            if e.kind == "organ" and entry.part_of in (e.canonical, e.part_of)
        ]
        facts = {name: self.fact("surface_share", lesion, name) for name in like}
        shares = {
            name: float(fact.value or 0.0)  # type: ignore[arg-type]
            for name, fact in facts.items()
        }
        return shares[organ] > 0.0 and shares[organ] == max(shares.values())

    def whole(self, organ: str) -> str:
        """The name under which an organ's size is measured:
        with the lesions that its mask leaves out, if any."""
        lesions = self.lesions_left_out(organ)
        if not lesions:
            return organ
        name = organ + WHOLE
        if name not in self._together:
            self._together.add(name)
            self.regions.add(together(name, [self.regions[part] for part in (organ, *lesions)]))
        return name

    @functools.cached_property
    def mark_sites(self) -> MarkSites:
        """Where marks may be drawn."""
        from situs.facts.masks.marks.sites import mark_sites

        return mark_sites(self)

    def main_region(self, name: str) -> Region:
        """The structure without its islands: parts under 1 % of its volume."""
        if name not in self._main:
            self._main[name] = without_islands(self.regions[name], self.recipe.truth.island_share)
        return self._main[name]

    def histograms(self, name: str, axis: Axis) -> list[Histogram]:
        """The structure's histograms along an axis and its tilts."""
        key = (name, axis)
        if key not in self._histograms:
            self._histograms[key] = histograms(
                self.regions[name], axis, self.recipe.truth.rotation_degrees
            )
        return self._histograms[key]

    def fact(self, kind_name: str, *subjects: str) -> Fact:
        """The fact of this kind about these subjects, derived from the voxels on first use."""
        key = (kind_name, subjects)
        if key not in self._facts:
            if kind_name not in _KINDS:
                raise SitusError(
                    f"unknown fact kind {kind_name!r}", fix=did_you_mean(kind_name, _KINDS)
                )
            for name in subjects:
                if name.endswith(WHOLE) and self.whole(name.removesuffix(WHOLE)) != name:
                    raise KeyError(name)
            self._facts[key] = _KINDS[kind_name].derive(self, *subjects)
        return self._facts[key]

    def known_facts(self) -> list[Fact]:
        """Every fact asked for so far."""
        return list(self._facts.values())

    def record(
        self,
        kind_name: str,
        subjects: tuple[str, ...],
        value: FactValue,
        *,
        unit: str = "",
        interval: tuple[float, ...] | None = None,
        parameters: dict[str, float | str] | None = None,
        inputs: tuple[Fact, ...] = (),
        flags: tuple[str, ...] = (),
    ) -> Fact:
        """A fact of this series with its derivation; flags of the inputs are inherited."""
        inherited = {flag for fact in inputs for flag in fact.flags}
        sources = tuple(f"fact:{fact.fact_id}" for fact in inputs) or (
            f"labels:{self.labels_hash}",
        )
        return Fact(
            fact_id=fact_id(self.study_id, self.series, kind_name, subjects),
            study_id=self.study_id,
            series=self.series,
            kind=kind_name,
            subjects=subjects,
            value=value,
            unit=unit,
            interval=None if interval is None else tuple(float(v) for v in interval),
            derivation=Measured(_KINDS[kind_name].derivation, parameters or {}, sources),
            flags=tuple(sorted(inherited | set(flags))),
        )

    def slack_mm(self) -> np.ndarray:
        """How far a centroid may move along x, y, z:
        half a voxel, or the annotation's surface error."""
        return np.maximum(self.half_voxel_mm, self.annotation.surface_mm)
