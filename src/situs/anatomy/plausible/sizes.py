"""Whether structures have a size that a patient's can have, one by one and together."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from situs.anatomy.part_whole import are_akin
from situs.anatomy.plausible.numbering import pitch_ratio
from situs.anatomy.plausible.places import axis_scales
from situs.anatomy.plausible.ranges import Range, plausible_range, size_rules
from situs.anatomy.plausible.scene import Doubt, Geometry, Scene, Sighting, Suspect, Suspicion

__all__ = ["patient_size", "scale", "sizes"]

_CONSTANT_KINDS = ("organ", "bone", "vertebra", "muscle", "region")
_VARYING = ("stomach", "gallbladder", "urinary_bladder", "lung", "body")
"""Structures that fill and empty, or whose whole is rarely seen:
their size says little of the patient's."""
_LONG_BONES = ("femur", "tibia", "fibula", "humerus")
"""A scan of a joint shows their ends, which may look whole."""
_LARGEST = 1.2
_SMALLEST = 0.2
"""Length of the patient beside a typical adult's, over all organs:
no giant is larger, no newborn smaller."""
_CLOSEST = 0.15
"""The same for the steps between structures, where the scan cuts all of them."""
_CHILD = 0.75
_OF_AN_ADULT = (0.8, 1.2)
"""Length of an adult beside a typical one's, from all that tells. A patient outside may be a child,
or an adult in another spacing; from about five years on nothing in the masks tells the two
apart."""
_CHILDS_PROPORTIONS = 0.82
"""Steps of the spine beside the organs' size:
of a child of one year 0.75, of five 0.9, of ten 0.98 (ICRP 89)."""
_OF_AN_ADULT_BY_TWO = 0.7
"""The same where only two structures tell: both may be shrunken."""
_A_FEW = 2
_FEW_WHOLE = 3
_CONFIRMED = (0.85, 1.2)
_PITCH = (0.22, 1.35)
_PITCH_BESIDE_ORGANS = (0.66, 1.5)
"""Vertebrae of a newborn are small beside its organs, never as much as by halved slices."""
_KIDNEY_SHAPE = (1.0, 3.2)
"""Length from top to bottom over the mean width that single kidneys may have; usually about 1.8."""
_USUAL_KIDNEY_SHAPE = 1.8
_SPREAD_OF_KIDNEY_SHAPE = 0.13
_USUAL_PITCH_BESIDE_ORGANS = 1.05
_SPREAD_OF_PITCH = 0.12
_SPREAD_OF_STEPS = 0.13
_SPREAD_OF_WIDTH = 0.16
_SPREAD_OF_ROUNDNESS = 0.085
"""How much patients differ in these ratios (natural logarithm); by judgement, see `sources.md`."""
_STRETCHED = 2.7
"""Spreads of the clues together from which on one axis has another spacing:
about 1 sound patient in 150."""
_STRETCHED_BY_ONE = 3.3
"""The same where a single clue tells."""
_FIX = (
    "check the voxel size in the header (cm for mm, slice thickness for spacing), or the file it"
    " came from"
)


class _Rated(msgspec.Struct, frozen=True):
    name: str
    seen: Sighting
    range: Range

    @property
    def too_large(self) -> bool:
        return (
            self.seen.volume_ml > self.range.high_ml
            or max(self.seen.extent_mm) > self.range.high_mm
        )

    @property
    def too_small_as_seen(self) -> bool:
        """Whether what is seen of it is less than a newborn has,
        though more may lie beyond the scan."""
        seen, known = self.seen, self.range
        return seen.volume_ml < known.child_low_ml or max(seen.extent_mm) < known.child_low_mm

    def too_small(self, *, child: bool) -> bool:
        if self.seen.cut:
            return False
        low_ml = self.range.child_low_ml if child else self.range.low_ml
        low_mm = self.range.child_low_mm if child else self.range.low_mm
        return self.seen.volume_ml < low_ml or max(self.seen.extent_mm) < low_mm


def _rated(scene: Scene) -> list[_Rated]:
    ranged = (
        (name, seen, plausible_range(scene.terms[name])) for name, seen in scene.sightings.items()
    )
    return [_Rated(name, seen, known) for name, seen, known in ranged if known is not None]


def _body_scale(scene: Scene) -> tuple[float | None, int]:
    """Length of the patient beside a typical adult's,
    from what is whole and of constant size; and from how many."""
    ratios = [
        (one.seen.volume_ml / one.range.typical_ml) ** (1.0 / 3.0)
        for one in _rated(scene)
        if not one.seen.cut
        and scene.terms[one.name].kind in _CONSTANT_KINDS
        and not one.name.startswith(_VARYING)
    ]
    return (float(np.median(ratios)) if ratios else None), len(ratios)


def patient_size(scene: Scene) -> float:
    """Length of the patient beside an adult's, for places to be compared;
    1 where too little is whole."""
    steps = [ratio for ratio in axis_scales(scene) if ratio is not None]
    # Along one axis alone a fragment far from its place would tell the size of the whole patient.
    if len(steps) > 1:
        return max(float(np.median(steps)), 1e-6)
    size, count = _body_scale(scene)
    return size if size is not None and count >= _FEW_WHOLE else 1.0


def scale(scene: Scene) -> Suspicion | None:
    """Why millimetres cannot be relied on, if so."""
    text = _too_large_or_small(scene) or _unlike_an_adult(scene) or _proportions(scene)
    text = text or _kidney_shape(scene) or _stretched(scene) or _unconfirmed(scene)
    return Suspicion(Suspect.WRONG_SCALE, (), text, _FIX, Doubt.SCALE) if text else None


def _too_large_or_small(scene: Scene) -> str:
    rated = _rated(scene)
    size, count = _body_scale(scene)
    pitch = pitch_ratio(scene)
    large = [one for one in rated if one.too_large]
    small = [one for one in rated if one.too_small(child=True)]
    uncut = [one for one in rated if not one.seen.cut]
    if 2 * len(large) > max(len(uncut), 1) or (
        size is not None and count >= _FEW_WHOLE and size > _LARGEST
    ):
        return _example(large or uncut, "large", size)
    # A cut structure that is large enough, as far as it is seen, speaks for the scale as well.
    large_enough = [one for one in rated if one.seen.cut and not one.too_small_as_seen]
    if 2 * len(small) > len(uncut) + len(large_enough) or (
        size is not None and count >= _FEW_WHOLE and size < _SMALLEST
    ):
        return _example(small or uncut, "small", size)
    steps = [ratio for ratio in axis_scales(scene, cut=True) if ratio is not None]
    if len(steps) > 1 and max(steps) < _CLOSEST:
        return f"its structures lie {max(steps):.2g} times as far apart as an adult's"
    if pitch is not None and not _PITCH[0] <= pitch <= _PITCH[1]:
        return f"its vertebrae lie {pitch:.2g} times as far apart as an adult's"
    return ""


def _example(examples: list[_Rated], word: str, size: float | None) -> str:
    one = examples[0]
    of_all = f"; its organs are {size:.2g} times as long as an adult's" if size is not None else ""
    return f"it is too {word} for a patient: {one.name} has {one.seen.volume_ml:.3g} mL{of_all}"


def _unlike_an_adult(scene: Scene) -> str:
    """Whether organs, spine and the steps between structures,
    together, are too small or too large for an adult."""
    size, count = _body_scale(_telling(scene))
    pitch = pitch_ratio(scene)
    steps = [ratio for ratio in axis_scales(scene) if ratio is not None]
    clues = [float(np.exp(np.mean(np.log(steps))))] if steps else []
    clues += [pitch] if pitch is not None else []
    # A single organ may be shrunken or swollen; beside the spine it tells, too.
    clues += [size] if size is not None and (count >= _A_FEW or clues) else []
    if not clues or (len(clues) == 1 and count < _A_FEW):
        return ""
    length = float(np.exp(np.mean(np.log(clues))))
    alone = len(clues) == 1 and count < _FEW_WHOLE
    if length > _OF_AN_ADULT[1]:
        return f"its organs and bones are {length:.2g} times as long as an adult's"
    least = _OF_AN_ADULT_BY_TWO if alone else _OF_AN_ADULT[0]
    if length >= least or _has_a_childs_proportions(scene, pitch):
        return ""
    return f"it is as small as a child ({length:.2g} of an adult), or an adult in a wrong spacing"


def _telling(scene: Scene) -> Scene:
    """The study without regions of an atlas,
    of which one range holds for many, and bones that few scans show whole."""
    constant = _of_kinds(scene, tuple(kind for kind in _CONSTANT_KINDS if kind != "region"))
    seen = {
        name: one
        for name, one in constant.sightings.items()
        if not scene.terms[name].canonical.startswith(_LONG_BONES)
    }
    return msgspec.structs.replace(constant, sightings=seen)


def _has_a_childs_proportions(scene: Scene, pitch: float | None) -> bool:
    """Whether the spine is as short beside the organs as in the first years of life."""
    organs, known = _body_scale(_of_kinds(scene, ("organ",)))
    if organs is None or pitch is None or known < _FEW_WHOLE:
        return False
    return pitch / organs < _CHILDS_PROPORTIONS


def _proportions(scene: Scene) -> str:
    """Whether spine and organs go together: not if one axis has another spacing."""
    size, count = _body_scale(scene)
    pitch = pitch_ratio(scene)
    if size is None or pitch is None or count < _FEW_WHOLE:
        return ""
    beside = pitch / size
    if not _PITCH_BESIDE_ORGANS[0] <= beside <= _PITCH_BESIDE_ORGANS[1]:
        return (
            f"its vertebrae lie {beside:.2g} times as far apart as its organs' size tells: is one"
            " spacing wrong?"
        )
    return ""


def _kidney_shapes(scene: Scene) -> list[float]:
    """Length from top to bottom over the mean width of every whole kidney."""
    names = [scene.named(f"kidney_{side}") for side in ("left", "right")]
    seen = [
        scene.sightings[name].extent_mm for name in names if name and not scene.sightings[name].cut
    ]
    return [2.0 * high / (across + deep) for across, deep, high in seen]


def _kidney_shape(scene: Scene) -> str:
    """Kidneys are longer than wide;
    where none is, or all are too slender, the slices have another spacing."""
    shapes = _kidney_shapes(scene)
    if not shapes or any(_KIDNEY_SHAPE[0] <= shape <= _KIDNEY_SHAPE[1] for shape in shapes):
        return ""
    return f"its kidneys are {shapes[0]:.2g} times as long as wide: is one spacing wrong?"


def _stretched(scene: Scene) -> str:
    """Height beside width and depth, and width beside depth,
    from all that tells; each clue is weak alone."""
    size, count = _body_scale(scene)
    pitch = pitch_ratio(scene)
    wide, deep, high = axis_scales(scene)
    shapes = _kidney_shapes(scene)
    clues = []
    if shapes:
        clues.append(np.log(np.median(shapes) / _USUAL_KIDNEY_SHAPE) / _SPREAD_OF_KIDNEY_SHAPE)
    if size is not None and pitch is not None and count >= _FEW_WHOLE:
        clues.append(np.log(pitch / size / _USUAL_PITCH_BESIDE_ORGANS) / _SPREAD_OF_PITCH)
    if wide and deep and high:
        clues.append(np.log(high / np.sqrt(wide * deep)) / _SPREAD_OF_STEPS)
    spreads = float(np.sum(clues) / np.sqrt(len(clues))) if clues else 0.0
    if abs(spreads) > (_STRETCHED if len(clues) > 1 else _STRETCHED_BY_ONE):
        return (
            f"it looks {'stretched' if spreads > 0 else 'flattened'} from head to foot: is one"
            " spacing wrong?"
        )
    return _widened(scene, wide / deep if wide and deep else None)


def _widened(scene: Scene, steps: float | None) -> str:
    """Width beside depth: how far apart structures lie, and whether the aorta is round."""
    clues = []
    if steps is not None:
        clues.append(np.log(steps) / _SPREAD_OF_WIDTH)
    if scene.aorta_roundness is not None:
        clues.append(np.log(scene.aorta_roundness) / _SPREAD_OF_ROUNDNESS)
    spreads = float(np.sum(clues) / np.sqrt(len(clues))) if clues else 0.0
    if abs(spreads) <= (_STRETCHED if len(clues) > 1 else _STRETCHED_BY_ONE):
        return ""
    word = "wide" if spreads > 0 else "narrow"
    return f"it is too {word} for its depth: is one spacing wrong?"


def _of_kinds(scene: Scene, kinds: tuple[str, ...]) -> Scene:
    sightings = {
        name: seen for name, seen in scene.sightings.items() if scene.terms[name].kind in kinds
    }
    return msgspec.structs.replace(scene, sightings=sightings)


def _unconfirmed(scene: Scene) -> str:
    """A blank geometry is believed only where whole structures have the size of an adult's."""
    if scene.geometry is not Geometry.BLANK:
        return ""
    size, count = _body_scale(scene)
    if size is not None and count >= _FEW_WHOLE and _CONFIRMED[0] <= size <= _CONFIRMED[1]:
        return ""
    return (
        "its affine is the identity, as if it had never been set, and no anatomy confirms 1 mm"
        " voxels"
    )


def sizes(scene: Scene) -> Iterator[Suspicion]:
    """Structures outside their range, and pairs whose sizes do not go together."""
    size, count = _body_scale(scene)
    # A single small organ is no child's: it may be a fragment, or in a wrong spacing.
    child = size is not None and size < _CHILD and count >= _FEW_WHOLE
    for one in _rated(scene):
        if one.too_large:
            yield _implausible(one, "large", "a wrong label, or a mask that covers its neighbours")
        elif one.too_small(child=child):
            yield _implausible(
                one, "small", "a fragment, a cut that does not reach the border, or a wrong label"
            )
            yield from _outgrown(scene, one)
    for rule in size_rules():
        larger, smaller = scene.named(rule.larger), scene.named(rule.smaller)
        if larger is None or smaller is None or scene.sightings[larger].cut:
            continue
        a, b = scene.sightings[larger].volume_ml, scene.sightings[smaller].volume_ml
        if a < rule.least_ratio * b:
            text = (
                f"{larger} ({a:.3g} mL) is too small beside {smaller} ({b:.3g} mL): are their names"
                " exchanged?"
            )
            fix = "check the names of both masks"
            yield Suspicion(Suspect.IMPLAUSIBLE_SIZE, (larger, smaller), text, fix, Doubt.STRUCTURE)


def _outgrown(scene: Scene, organ: _Rated) -> Iterator[Suspicion]:
    """Lesions larger than what is left of their organ: each may bear the other's name."""
    larger = [
        (ml, name)
        for name, ml in scene.lesions_ml.items()
        if ml > organ.seen.volume_ml
        and are_akin(scene.terms[name], scene.terms[organ.name], scene.terms)
    ]
    if larger:
        ml, name = max(larger)
        text = (
            f"{name} ({ml:.3g} mL) is larger than {organ.name} ({organ.seen.volume_ml:.3g} mL): are"
            " their names exchanged?"
        )
        names = (organ.name, *sorted(lesion for _, lesion in larger))
        fix = "check the names of both masks"
        yield Suspicion(Suspect.IMPLAUSIBLE_SIZE, names, text, fix, Doubt.STRUCTURE)


def _implausible(one: _Rated, word: str, cause: str) -> Suspicion:
    known = one.range
    seen = f"{one.seen.volume_ml:.3g} mL, {max(one.seen.extent_mm):.0f} mm long"
    usual = f"{known.low_ml:g} to {known.high_ml:g} mL, {known.low_mm:g} to {known.high_mm:g} mm"
    text = f"{one.name} is implausibly {word} ({seen}; plausible: {usual})"
    return Suspicion(
        Suspect.IMPLAUSIBLE_SIZE, (one.name,), text, f"check its mask: {cause}", Doubt.STRUCTURE
    )
