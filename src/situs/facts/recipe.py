"""The recipe: every threshold a question depends on, as data."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import msgspec

from situs.base.files import parse_toml, read_text
from situs.base.numbers import number_problems
from situs.errors import SitusError, did_you_mean
from situs.facts.recipe_boxes import BoxRules

__all__ = ["AnnotationError", "CutRules", "Recipe", "Truth", "TwinRules", "load_recipe"]


class Truth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Thresholds of truth; see DEFINITIONS in the docs."""

    rotation_degrees: float
    direction_margin_mm: float
    direction_probability: float
    dominance_degrees: float
    side_share: float
    volume_half_width: float
    level_dead_band: float
    inside_share: float
    surface_share: float
    surface_share_next: float
    island_share: float
    distance_half_width: float
    within_limits_mm: tuple[int, ...]
    volume_edges_ml: tuple[int, ...]
    length_half_width: float
    diameter_half_width: float
    diameter_smallest_mm: float
    diameter_thickest_slice_mm: float
    contact_mm2: float
    contact_faces: int
    count_most: int
    count_fewest_voxels: int
    fewest_slices: int
    box_smallest_mm: float
    mark_depth_mm: float
    mark_apart_mm: float
    mark_slices: int
    pair_part_share: float
    pair_apart_mm: float
    symmetry_mm: float = 5.0
    volume_limits_ml: tuple[int, ...] = ()
    """Of earlier recipes: volumes have their limits in the table of relevance."""
    mark_overlap_share: float = 0.05
    diameter_limits_mm: tuple[float, ...] = ()
    """Of lesions: diameters that someone decides by."""
    within_reach: float = 3.0
    contact_reach_mm: float = 30.0
    far_gap_mm: float = 100.0
    gap_most_mm: float = 100.0
    organ_share: float = 0.9
    far_centres_mm: float = 200.0


class CutRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a structure counts as cut though its mask does not touch the limit of the scan."""

    near_mm: float = 5.0
    near_voxels: int = 4
    depth_mm: float = 20.0
    blunt_margin: float = 0.15
    flat_share: float = 0.5
    flat_margin: float = 0.25
    flat_most: int = 6
    neighbour_share: float = 0.5
    same_tissue_share: float = 0.6
    flat_rise: float = 0.9
    seen_share: float = 0.3
    seen_rise: float = 0.7
    seen_ragged_rise: float = 0.8
    seen_same_share: float = 0.5
    seen_edge: float = 1.0
    small_edge: float = 0.4


class AnnotationError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far annotation of one kind may err."""

    surface_mm: float
    volume_percent: float

    def moved(self, distance_mm: float) -> AnnotationError:
        """The same error with the surface so much less certain."""
        return msgspec.structs.replace(self, surface_mm=self.surface_mm + distance_mm)


class TwinRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How questions of the headline are grouped over patients."""

    fewest: int = 3
    """A text is asked of at least so many patients of a split:
    of two, each would be told from the other too easily."""
    together: int = 4
    """About so many items with the same words and options are one group of twins."""
    bound: float = 0.02
    """How likely it may be that drawn answers ask for more patients than there are. Whoever knows
    all other answers is right at most bound / (options × (1 − bound)) oftener than chance."""
    evenness: float = 1.0
    """Answers are drawn anew until the commonest and the rarest answer of other patients are right
    no further from chance than this, in standard errors over the whole headline; twice as far over
    one task, kind of question or split. However they are counted: by text, kind or options."""


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Thresholds, annotation errors, quotas and split shares."""

    name: str
    truth: Truth
    annotation: dict[str, AnnotationError]
    strata_per_study: dict[str, int]
    mix: dict[str, float]
    """Share of each class of question in the headline that is aimed at."""
    splits: dict[str, float]
    per_study: dict[str, int] = {}
    """Task and what it asks (`volume.number`) → at most so many questions a study;
    else as the task declares."""
    split_from: int = 0
    """Patients a cohort needs to be split;
    a smaller one is a single split, or none of its texts would have enough."""
    boxes: BoxRules = BoxRules()
    twins: TwinRules = TwinRules()
    cut: CutRules = CutRules()

    def splits_of(self, patients: int) -> dict[str, float]:
        """The share of each split of a cohort of so many patients."""
        if patients >= self.split_from:
            return self.splits
        return {
            "test"
            if "test" in self.splits
            else max(self.splits, key=lambda name: self.splits[name]): 1.0
        }

    def annotation_error(self, kind: str) -> AnnotationError:
        """The error of one way of annotating."""
        if kind not in self.annotation:
            raise SitusError(
                f"unknown annotation kind {kind!r}", fix=did_you_mean(kind, self.annotation)
            )
        return self.annotation[kind]


def _empty(recipe: Recipe) -> str | None:
    """A list of limits that has nothing to offer, or no order."""
    limits = {
        "within_limits_mm": (recipe.truth.within_limits_mm, 1),
        "volume_edges_ml": (recipe.truth.volume_edges_ml, 2),
        "diameter_limits_mm": (recipe.truth.diameter_limits_mm, 0),
        "boxes.link_iou": (recipe.boxes.link_iou, 1),
        "boxes.link_gaps": (recipe.boxes.link_gaps, 1),
    }
    for name, (values, fewest) in limits.items():
        if len(values) < fewest or list(values) != sorted(set(values)):
            return f"{name} is not a list of at least {fewest} rising numbers"
    return None


def load_recipe(path: Path | None = None) -> Recipe:
    """The shipped recipe, or the user's own TOML file of the same form."""
    text = (
        files("situs.facts").joinpath("data", "recipe.toml").read_text("utf-8")
        if path is None
        else read_text(path)
    )
    try:
        recipe = msgspec.convert(parse_toml(text), Recipe)
    except (ValueError, RecursionError) as error:
        raise SitusError(
            str(error), where=path, fix="copy the shipped recipe.toml and change it"
        ) from error
    wrong = next(number_problems(recipe, thresholds=True), None) or _empty(recipe)
    if wrong is not None:
        raise SitusError(wrong, where=path, fix="copy the shipped recipe.toml and change it")
    if abs(sum(recipe.splits.values()) - 1.0) > 1e-9 or any(
        share < 0 for share in recipe.splits.values()
    ):
        raise SitusError(
            "split shares do not add up to 1", where=path, fix="e.g. train 0.6, val 0.1, test 0.3"
        )
    if not recipe.mix or any(share <= 0 for share in recipe.mix.values()):
        raise SitusError(
            "a share of the mix is not above 0", where=path, fix="leave out what is not wanted"
        )
    return recipe
