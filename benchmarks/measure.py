"""Measuring label volumes: ours beside other libraries, interleaved in one run, one thread. Prints
JSON.

Usage: python benchmarks/measure.py [LABELS.nii.gz | FOLDER OF MASKS] [--repeat N] [--pairs N]

Without a file: a phantom of 512 × 512 × 400 voxels with 104 labels. Every contender runs in turn,
so that a busy machine slows all alike; numbers are the least of the repeats. A contender that is
not installed is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np

from situs.measure import (
    Regions,
    label_components,
    label_contacts,
    label_statistics,
    nearest_boundaries,
)
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure, open_labels

_REPEAT_PAIRS = 3
Contenders = dict[str, Callable[[], Any]]


def phantom() -> np.ndarray:
    """Ellipsoids of all sizes, later ones over earlier ones."""
    rng = np.random.default_rng(0)
    shape = (512, 512, 400)
    labels = np.zeros(shape, np.uint8, order="F")
    for value in range(1, 105):
        centre = [rng.uniform(0.15, 0.85) * n for n in shape]
        radius = rng.uniform(6, 60, 3) if value < 40 else rng.uniform(5, 25, 3)
        box = tuple(
            slice(max(0, int(c - r)), min(n, int(c + r) + 2))
            for c, r, n in zip(centre, radius, shape)
        )
        grid = np.ogrid[box]
        labels[box][sum(((g - c) / r) ** 2 for g, c, r in zip(grid, centre, radius)) <= 1] = value
    return labels


def save(labels: np.ndarray, path: Path) -> Path:
    """As NIfTI with 0.8 × 0.8 × 1.5 mm."""
    nib.save(nib.Nifti1Image(labels, np.diag([0.8, 0.8, 1.5, 1.0])), path)
    return path


def time_all(contenders: Contenders, repeat: int) -> dict[str, float]:
    """Least seconds of each, all in turn, after one run to warm up."""
    for function in contenders.values():
        function()
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeat):
        for name, function in contenders.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def result(contenders: Contenders, repeat: int) -> dict[str, Any]:
    """Milliseconds of each, and of the others over ours."""
    seconds = time_all(contenders, repeat)
    ratios = {
        f"{name} / situs": round(s / seconds["situs"], 2)
        for name, s in seconds.items()
        if name != "situs"
    }
    return {
        "milliseconds": {name: round(1e3 * s, 2) for name, s in seconds.items()},
        "ratios": ratios,
    }


def installed(name: str) -> bool:
    """Whether a referee can be imported."""
    return importlib.util.find_spec(name) is not None


def statistics(labels: np.ndarray) -> Contenders:
    """Counts, boxes, centroids, second moments, slice boxes."""
    found: Contenders = {"situs": lambda: label_statistics(labels), "np.max": lambda: labels.max()}
    if installed("SimpleITK"):
        import SimpleITK as sitk  # noqa: N813

        image = sitk.GetImageFromArray(labels.transpose(2, 1, 0))
        shape = sitk.LabelShapeStatisticsImageFilter()
        shape.SetNumberOfThreads(1)
        found["SimpleITK"] = lambda: shape.Execute(image)
    if installed("cc3d"):
        import cc3d

        found["cc3d"] = lambda: cc3d.statistics(labels)
    if installed("skimage"):
        from skimage.measure import regionprops_table

        found["skimage"] = lambda: regionprops_table(
            labels, properties=("label", "area", "bbox", "centroid")
        )
    return found


def components(labels: np.ndarray) -> Contenders:
    """26-connected components of all labels, with counts, boxes and centroids."""
    found: Contenders = {"situs": lambda: label_components(labels)}
    if installed("cc3d"):
        import cc3d

        found["cc3d + statistics"] = lambda: cc3d.statistics(
            cc3d.connected_components(labels, connectivity=26)
        )
    return found


def touching(labels: np.ndarray) -> Contenders:
    """Faces between all labels."""
    found: Contenders = {"situs": lambda: label_contacts(labels)}
    if installed("cc3d"):
        import cc3d

        found["cc3d"] = lambda: cc3d.contacts(labels, connectivity=6)
    return found


def distances(labels: np.ndarray, count: int) -> dict[str, Any]:
    """All exact boundary distances from the label array on;
    the kd-trees on a random part of the pairs."""
    from scipy import ndimage
    from scipy.spatial import cKDTree

    affine = Affine(np.diag([0.8, 0.8, 1.5, 1.0]))
    values = (
        np.unique(labels[labels > 0])
        if labels.dtype.itemsize > 2
        else np.flatnonzero(np.bincount(labels.ravel("K")))
    )
    structures = tuple(Structure(int(v), str(v), 0, int(v)) for v in values if v > 0)

    def ours() -> list[Any]:
        fresh = Regions(LabelMap(Grid(labels.shape, affine), (labels,), structures))
        return nearest_boundaries(among=list(fresh))

    found, seconds = ours(), float("inf")
    for _ in range(_REPEAT_PAIRS):
        start = time.perf_counter()
        ours()
        seconds = min(seconds, time.perf_counter() - start)
    trees, boxes = {}, ndimage.find_objects(labels)
    start = time.perf_counter()
    for s in structures:
        mask = np.pad(labels[boxes[s.value - 1]] == s.value, 1)
        points = np.argwhere(mask & ~ndimage.binary_erosion(mask)) + [
            b.start - 1 for b in boxes[s.value - 1]
        ]
        points = points * affine.spacing_mm
        trees[s.name] = (points, cKDTree(points), points.min(axis=0), points.max(axis=0))
    building = time.perf_counter() - start
    pairs = list(itertools.combinations([s.name for s in structures], 2))
    chosen = np.random.default_rng(0).choice(len(pairs), min(count, len(pairs)), replace=False)
    wrong, start = 0, time.perf_counter()
    for k in chosen:
        a, b = sorted((trees[name] for name in pairs[k]), key=lambda t: len(t[0]))
        wrong += abs(_pruned(a, b) - found[k].distance_mm) > 1e-9
    theirs = building + (time.perf_counter() - start) * len(pairs) / len(chosen)
    return {
        "pairs": len(pairs),
        "situs_seconds": round(seconds, 3),
        "pruned kd-tree, seconds for all, from a part": round(theirs, 1),
        "pairs checked": len(chosen),
        "pairs that differ": int(wrong),
        "ratios": {"pruned kd-tree / situs": round(theirs / seconds, 1)},
    }


def _pruned(a: tuple, b: tuple) -> float:
    """Points of `a` that could be nearest by b's box, against b's tree."""
    points = a[0]
    low = np.linalg.norm(np.maximum(0, np.maximum(b[2] - points, points - b[3])), axis=1)
    upper = b[1].query(points[low.argmin()])[0]
    return float(b[1].query(points[low <= upper])[0].min())


def load_file(path: Path) -> Contenders:
    """One label file into memory, values checked."""
    return {
        "situs": lambda: open_labels(path).load(),
        "nibabel": lambda: np.asarray(nib.load(path).dataobj),
    }


def load_masks(folder: Path) -> Contenders:
    """A folder of masks into one map."""
    files = sorted(folder.glob("*.nii.gz"))

    def plain() -> np.ndarray:
        whole = np.zeros(nib.load(files[0]).shape, np.uint8)
        for number, file in enumerate(files, start=1):
            whole[np.asarray(nib.load(file).dataobj) > 0] = number
        return whole

    return {"situs": lambda: open_labels(folder).load(), "nibabel, v[m > 0] = i": plain}


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="?", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--pairs", type=int, default=150, help="pairs on which the kd-tree is timed"
    )
    arguments = parser.parse_args()
    report: dict[str, Any] = {
        "labels": str(arguments.labels.name) if arguments.labels else "phantom 512×512×400"
    }
    with tempfile.TemporaryDirectory() as folder:
        if arguments.labels is None:
            labels = phantom()
            path = save(labels, Path(folder) / "phantom.nii.gz")
        else:
            path = arguments.labels
            labels = open_labels(path).load().layers[0]
        report["shape"], report["dtype"] = labels.shape, str(labels.dtype)
        report["count"] = len(label_statistics(labels).values)
        report["statistics"] = result(statistics(labels), arguments.repeat)
        report["components"] = result(components(labels), arguments.repeat)
        report["contacts"] = result(touching(labels), arguments.repeat)
        report["peak_mib_so_far"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report["distances"] = distances(labels, arguments.pairs)
        if path.is_dir():
            masks = path / "segmentations" if (path / "segmentations").is_dir() else path
            report["loading masks"] = result(load_masks(masks), arguments.repeat)
        else:
            report["loading"] = result(load_file(path), arguments.repeat)
    report["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
