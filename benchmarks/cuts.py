"""How many planted cuts are found, and how many whole structures are called cut. Prints a table.

Usage: python benchmarks/cuts.py [--data FOLDER] [--phantoms N] [--sample SHARE] [--misses FILE]

Every whole structure of real CTs and of phantoms is cut by planes along the array's axes and askew
to them, a tenth, a quarter or half of it removed, in four ways: the labels stop inside the scan,
the labels stop a few voxels before its border, before a slab of fill, and inside the scan at a
ragged plane. A cut counts if the uncut volume or length lies outside the interval of what is left,
and what is left would be asked for; those that change nothing are left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import load_vocabulary
from situs.bench import terms_for
from situs.facts import (
    Ledger,
    MaskedSeries,
    ScanValues,
    load_recipe,
)
from situs.facts.masks.cut import Surroundings
from situs.space import Affine, Grid, IndexPoints
from situs.volumes import LabelMap, Structure, open_labels, open_volume, padding_of

SHARES = (0.1, 0.25, 0.5)
"""Share of the structure's voxels that a planted cut removes."""
OBLIQUE = 4
NEAR_VOXELS = (1, 2, 3)
NEAR_MM = 5.0
WINDOW = 24
"""Voxels about a structure that are looked at: far more than what counts as near."""
SIZES = {"volume": "volume_half_width", "extent.superior_inferior": "length_half_width"}
"""Facts that a cut changes, and how well each must be known to be asked for."""
NOT_WHOLE = {("totalseg_s0009", "spinal_cord"), ("slicerio_ctchest", "thoracic vertebral column")}
"""Fragments by their own masks: nothing is known of what was cut from them."""

_TOTALSEGMENTATOR = load_vocabulary("totalsegmentator").labels
_VERTEBRAE = [
    *(f"C{n}" for n in range(1, 8)),
    *(f"T{n}" for n in range(1, 13)),
    *(f"L{n}" for n in range(1, 6)),
]
_NUMBERED = {number: f"vertebrae_{name}" for number, name in enumerate(_VERTEBRAE, start=1)}
REAL = {
    "totalseg_s0002": ("totalseg_s0002/segmentations", "totalseg_s0002/ct.nii.gz", {}),
    "totalseg_s0003": ("totalseg_s0003/segmentations", "totalseg_s0003/ct.nii.gz", {}),
    "totalseg_s0009": ("totalseg_s0009/segmentations", "totalseg_s0009/ct.nii.gz", {}),
    "totalseg_small": (
        "totalseg_testref/example_seg.nii.gz",
        "totalseg_testref/example_ct_sm.nii.gz",
        _TOTALSEGMENTATOR,
    ),
    "totalseg_testref": (
        "totalseg_testref/example_seg_fast_force_split.nii.gz",
        "totalseg_testref/example_ct.nii.gz",
        _TOTALSEGMENTATOR,
    ),
    "slicerio_ctchest": (
        "slicerio_ctchest/Segmentation.seg.nrrd",
        "slicerio_ctchest/CTChest4.nrrd",
        {},
    ),
    "tptbox_spine": (
        "tptbox_spine/sample_ct/sub-ct_seg-vert_label-22_msk.nii.gz",
        "tptbox_spine/sample_ct/sub-ct_label-22_ct.nii.gz",
        _NUMBERED,
    ),
}


class Study(NamedTuple):
    """A label map and its image on one grid."""

    name: str
    labels: LabelMap
    image: NDArray[Any]
    padding: NDArray[np.bool_] | None = None
    """Where the whole image shows nothing."""


class Planted(NamedTuple):
    """A study in which one structure is cut."""

    way: str
    direction: str
    share: float
    study: Study


def read(root: Path, name: str) -> Study:
    """One of the real studies."""
    labels_path, image_path, names = REAL[name]
    image = open_volume(root / image_path)
    source = open_labels(root / labels_path, names, reference=image)
    image = image.onto(source.grid)
    values = image.array()
    return Study(name, source.load().beside(image.grid), values, padding_of(values))


def phantom(index: int) -> Study:
    """A synthetic patient, its masks taken as a reader's."""
    from situs.volumes.phantoms import make_patient

    patient = make_patient(11, index, modality="ct")
    structures = tuple(
        Structure(number, name, layer, value)
        for number, (name, (layer, value)) in enumerate(patient.names.items(), 1)
    )
    labels = LabelMap(patient.grid, tuple(patient.layers), structures)
    return Study(f"phantom_{index}", labels, patient.image, padding_of(patient.image))


def ledger_of(study: Study) -> Ledger:
    """The study's ledger, as if a model's masks had been corrected by a reader."""
    labels = study.labels
    ledger = Ledger(
        labels,
        MaskedSeries(
            study_id=study.name,
            series="ct",
            labels_hash="",
            annotation="corrected",
            side_basis="affine",
        ),
        recipe=load_recipe(),
        terms=terms_for([s.name for s in labels.structures], {}),
        single_lesions=False,
        scan=ScanValues(image=study.image),
    )
    # Of a window, what the whole image tells.
    ledger.surroundings = Surroundings(labels, study.padding, study.image)
    return ledger


def directions(labels: LabelMap, structure: Structure) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Both ways along each axis of the array,
    and some ways askew, drawn by the structure's name."""
    across = np.linalg.inv(labels.grid.affine.linear)
    for axis, along in enumerate(labels.grid.affine.directions):
        letter = "xyz"[along.axis.world_index]
        for sign in (1.0, -1.0):
            yield letter, sign * across[axis] / np.linalg.norm(across[axis])
    rng = np.random.default_rng(zlib.crc32(structure.name.encode()))
    for vector in rng.normal(size=(OBLIQUE, 3)):
        yield "oblique", vector / np.linalg.norm(vector)


def planted(study: Study, structure: Structure, sample: float) -> Iterator[Planted]:
    """A window about one structure with cuts of every kind through it."""
    index = np.argwhere(study.labels.mask(structure))
    lo = np.maximum(index.min(axis=0) - WINDOW, 0)
    hi = np.minimum(index.max(axis=0) + 1 + WINDOW, study.labels.grid.shape)
    window = cropped(study, lo, hi)
    index -= lo
    affine = window.labels.grid.affine
    points = np.asarray(affine.to_world(IndexPoints(index.astype(np.float64))))
    rng = np.random.default_rng(zlib.crc32(structure.name.encode()) + 1)
    for direction, normal in directions(study.labels, structure):
        along = points @ normal
        step = float(np.abs(normal @ affine.linear).max())
        for share in SHARES:
            if rng.random() >= sample:
                continue
            limit = float(np.quantile(along, 1.0 - share))
            plain = _without(window, structure, index[along > limit])
            yield Planted("inside", direction, share, plain)
            noise = rng.uniform(-step, step, len(index))
            yield Planted(
                "ragged",
                direction,
                share,
                _without(window, structure, index[along + noise > limit]),
            )
            gap = max(
                n
                for n in range(1, 1 + int(rng.choice(NEAR_VOXELS)))
                if n == 1 or n * step <= NEAR_MM
            )
            beyond = _heights(plain.labels.grid, normal) > limit + gap * step
            layers = tuple(
                np.where(beyond, 0, layer).astype(layer.dtype) for layer in plain.labels.layers
            )
            padding = beyond if plain.padding is None else beyond | plain.padding
            labels = _seen(dataclasses.replace(plain.labels, layers=layers))
            yield Planted("fill", direction, share, plain._replace(labels=labels, padding=padding))
            if direction != "oblique":
                keep = np.argwhere(_heights(plain.labels.grid, normal) <= limit + gap * step)
                yield Planted(
                    "border",
                    direction,
                    share,
                    cropped(plain, keep.min(axis=0), keep.max(axis=0) + 1),
                )


def _without(study: Study, structure: Structure, index: NDArray[np.int64]) -> Study:
    layer = study.labels.layers[structure.layer].copy(order="K")
    layer[tuple(index.T)] = 0
    layers = list(study.labels.layers)
    layers[structure.layer] = layer
    return study._replace(labels=dataclasses.replace(study.labels, layers=tuple(layers)))


def cropped(study: Study, lo: NDArray[np.int64], hi: NDArray[np.int64]) -> Study:
    """A window of the study, from one voxel to before another."""
    window = tuple(slice(int(a), int(b)) for a, b in zip(lo, hi))
    matrix = study.labels.grid.affine.matrix.copy()
    matrix[:3, 3] += matrix[:3, :3] @ lo
    shape = (int(hi[0] - lo[0]), int(hi[1] - lo[1]), int(hi[2] - lo[2]))
    layers = tuple(np.asfortranarray(layer[window]) for layer in study.labels.layers)
    labels = dataclasses.replace(study.labels, grid=Grid(shape, Affine(matrix)), layers=layers)
    padding = None if study.padding is None else study.padding[window]
    return Study(study.name, _seen(labels), study.image[window], padding)


def _seen(labels: LabelMap) -> LabelMap:
    present = [set(np.unique(layer).tolist()) for layer in labels.layers]
    return dataclasses.replace(
        labels, structures=tuple(s for s in labels.structures if s.value in present[s.layer])
    )


def _heights(grid: Grid, normal: NDArray[np.float64]) -> NDArray[np.float64]:
    steps = normal @ grid.affine.linear
    parts = np.ogrid[tuple(slice(0, n) for n in grid.shape)]
    start = float(normal @ grid.affine.matrix[:3, 3])
    heights: NDArray[np.float64] = (
        sum(part * float(step) for part, step in zip(parts, steps)) + start
    )
    return heights


def matters(whole: Ledger, cut: Ledger, name: str) -> bool:
    """Whether a size of what is left would be asked for,
    though the uncut one lies outside its interval."""
    for kind, limit in SIZES.items():
        fact = cut.fact(kind, name)
        low, high = fact.interval or (0.0, 0.0)
        known = (high - low) / 2 <= getattr(cut.recipe.truth, limit) * float(fact.value)  # type: ignore[arg-type]
        value = whole.fact(kind, name).value
        if known and not low <= float(value) <= high:  # type: ignore[arg-type]
            return True
    return False


def trial(
    study: Study, sample: float
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]], list[dict[str, Any]], list[str]]:
    """Cuts that matter and those found, by way and direction;
    the misses; whole structures that are called cut."""
    whole = ledger_of(study)
    cuts, found, misses, called_cut = Counter(), Counter(), [], []
    for structure in study.labels.structures:
        if (study.name, structure.name) in NOT_WHOLE or _ends_at_limit(whole, structure.name):
            continue
        if whole.is_cut(structure.name):
            called_cut.append(structure.name)
            continue
        for one in planted(study, structure, sample):
            if not any(s.name == structure.name for s in one.study.labels.structures):
                continue
            left = ledger_of(one.study)
            if not matters(whole, left, structure.name):
                continue
            cuts[one.way, one.direction] += 1
            if left.is_cut(structure.name):
                found[one.way, one.direction] += 1
            else:
                misses.append(
                    {"study": study.name, "structure": structure.name, "way": one.way}
                    | {"direction": one.direction, "share": one.share}
                )
    return cuts, found, misses, called_cut


def _ends_at_limit(ledger: Ledger, name: str) -> bool:
    """Whether the structure comes so near to the scan's limit that it may be cut in truth."""
    from situs.facts.masks.cut import _faces, _padded, _touches

    region, around = ledger.main_region(name), ledger.surroundings
    if ledger.regions[name].touches_border:
        return True
    if around.padding is not None and _touches(ledger.regions[name], around.padding):
        return True
    near = [*_faces(region, ledger.recipe.cut), *_padded(region, around.padding, ledger.recipe.cut)]
    return bool(near) and ledger.is_cut(name)


def main() -> None:
    """Plant cuts in every study and print what was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", default=os.environ.get("SITUS_REAL_DATA"), help="folder that holds volumes/"
    )
    parser.add_argument("--phantoms", type=int, default=2)
    parser.add_argument(
        "--sample", type=float, default=1.0, help="share of the planes that are tried"
    )
    parser.add_argument("--only", help="one study")
    parser.add_argument(
        "--misses", type=Path, help="where to write the cuts that were missed, as JSON lines"
    )
    options = parser.parse_args()
    root = Path(options.data or "/nonexistent") / "volumes"
    studies = [
        lambda name=name: read(root, name)
        for name in REAL
        if root.is_dir() and options.only in (None, name)
    ]
    studies += [lambda index=index: phantom(index) for index in range(options.phantoms)]
    cuts, found, misses, called_cut = Counter(), Counter(), [], []
    for load in studies:
        study = load()
        counts = trial(study, options.sample)
        cuts, found = cuts + counts[0], found + counts[1]
        misses += counts[2]
        called_cut += [f"{study.name}:{name}" for name in counts[3]]
        print(f"{study.name}: {counts[1].total()} of {counts[0].total()} found", flush=True)
    for key in sorted(cuts):
        print(
            f"{key[0]:8} {key[1]:8} {found[key]:5} of {cuts[key]:5} {found[key] / cuts[key]:7.1%}"
        )
    print(
        f"all               {found.total():5} of {cuts.total():5}"
        f" {found.total() / max(1, cuts.total()):7.1%}"
    )
    print(f"called cut though whole: {len(called_cut)} {called_cut}")
    if options.misses:
        options.misses.write_text("".join(json.dumps(miss) + "\n" for miss in misses), "utf-8")


if __name__ == "__main__":
    main()
