"""Ways in which a study's files can be wrong without anyone noticing, made on label maps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from situs.anatomy import term
from situs.anatomy.plausible import VERTEBRAE
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

Attack = Callable[[LabelMap], LabelMap]


def write_masks(labels: LabelMap, folder: Path) -> Path:
    """A folder of one mask a structure, as TotalSegmentator writes it."""
    import nibabel

    (folder / "segmentations").mkdir(parents=True)
    for structure in labels.structures:
        mask = labels.mask(structure).astype(np.uint8)
        image = nibabel.Nifti1Image(mask, labels.grid.affine.matrix)
        nibabel.save(image, folder / "segmentations" / f"{structure.name}.nii.gz")
    return folder


def _placed(matrix: np.ndarray) -> Attack:
    """The same array, its affine changed in the world: what a wrong header does."""

    def attack(labels: LabelMap) -> LabelMap:
        grid = Grid(labels.grid.shape, Affine(matrix @ labels.grid.affine.matrix))
        return LabelMap(grid, labels.layers, labels.structures)

    return attack


def _scaled(*factors: float) -> Attack:
    return _placed(np.diag([*factors, 1.0]))


def _quarter_turn(a: int, b: int) -> Attack:
    matrix = np.eye(4)
    matrix[a, a] = matrix[b, b] = 0.0
    matrix[a, b], matrix[b, a] = 1.0, -1.0
    return _placed(matrix)


def _blank(labels: LabelMap) -> LabelMap:
    return LabelMap(Grid(labels.grid.shape, Affine(np.eye(4))), labels.layers, labels.structures)


def renamed(new_name: Callable[[str], str | None]) -> Attack:
    """Every structure under another name; those without one are left out."""

    def attack(labels: LabelMap) -> LabelMap:
        structures = tuple(
            Structure(s.label, name, s.layer, s.value)
            for s in labels.structures
            if (name := new_name(s.name)) is not None
        )
        return LabelMap(labels.grid, labels.layers, structures)

    return attack


def _exchanged(a: str, b: str) -> Attack:
    return renamed(lambda name: {a: b, b: a}.get(name, name))


def _numbered_off(by: int) -> Attack:
    def new_name(name: str) -> str | None:
        level = name.removeprefix("vertebrae_")
        if level not in VERTEBRAE:
            return name
        moved = VERTEBRAE.index(level) + by
        return f"vertebrae_{VERTEBRAE[moved]}" if 0 <= moved < len(VERTEBRAE) - 1 else None

    return renamed(new_name)


def _with_mask(labels: LabelMap, name: str, mask: np.ndarray) -> LabelMap:
    """One structure drawn anew, in a layer of its own."""
    old = next(s for s in labels.structures if s.name == name)
    others = tuple(s for s in labels.structures if s.name != name)
    new = Structure(old.label, name, len(labels.layers), 1)
    return LabelMap(labels.grid, (*labels.layers, mask.astype(np.uint8)), (*others, new))


def _mask(labels: LabelMap, name: str) -> np.ndarray:
    return labels.mask(next(s for s in labels.structures if s.name == name))


def _kidney_over_spleen(labels: LabelMap) -> LabelMap:
    half = _mask(labels, "spleen").copy()
    half[:, :, : int(np.median(np.nonzero(half)[2]))] = False
    return _with_mask(labels, "kidney_left", _mask(labels, "kidney_left") | half)


def _tiny_kidney(labels: LabelMap) -> LabelMap:
    mask = _mask(labels, "kidney_left")
    inside = np.argwhere(mask)
    speck = np.zeros_like(mask)
    speck[tuple(inside[len(inside) // 2])] = True
    return _with_mask(labels, "kidney_left", speck)


def situs_inversus(labels: LabelMap) -> LabelMap:
    """A mirrored patient whose sided organs are named by the side on which they lie."""
    return renamed(lambda name: term(name).mirrored_name)(ATTACKS["mirrored"][0](labels))


ATTACKS: dict[str, tuple[Attack, set[str]]] = {
    "upside_down": (_scaled(1, 1, -1), {"up_down"}),
    "mirrored": (_scaled(-1, 1, 1), {"left_right"}),
    "prone": (_scaled(1, -1, 1), {"front_back"}),
    "turned_over": (_scaled(-1, -1, 1), {"left_right", "front_back"}),
    "on_the_side": (_quarter_turn(0, 1), {"left_right", "front_back"}),
    "on_the_head": (_quarter_turn(1, 2), {"front_back", "up_down"}),
    "turned_sideways": (_quarter_turn(0, 2), {"left_right", "up_down"}),
    "cm_for_mm": (_scaled(0.1, 0.1, 0.1), {"scale"}),
    "ten_times": (_scaled(10, 10, 10), {"scale"}),
    "twice": (_scaled(2, 2, 2), {"scale"}),
    "slices_twice_as_far": (_scaled(1, 1, 2), {"scale"}),
    "blank_affine": (_blank, {"scale"}),
    "exchanged_vertebrae": (_exchanged("vertebrae_L1", "vertebrae_L3"), {"levels", "structure"}),
    "numbered_too_low": (_numbered_off(1), {"levels"}),
    "numbered_too_high": (_numbered_off(-1), {"levels"}),
    "swapped_kidneys": (_exchanged("kidney_left", "kidney_right"), {"structure"}),
    "all_sides_swapped": (renamed(lambda name: term(name).mirrored_name), {"left_right"}),
    "liver_named_spleen": (_exchanged("liver", "spleen"), {"structure"}),
    "kidney_over_spleen": (_kidney_over_spleen, {"structure"}),
    "tiny_kidney": (_tiny_kidney, {"structure"}),
}
"""What is done to the files → what must be in doubt for it."""
