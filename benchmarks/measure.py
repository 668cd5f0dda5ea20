"""Statistics of a label volume: ours beside SimpleITK and nibabel, interleaved in one run. Prints JSON.

Usage: python benchmarks/measure.py [LABELS.nii.gz] [--repeat N]
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nibabel as nib
import numpy as np
import SimpleITK as sitk  # noqa: N813

from situs.measure import Regions
from situs.volumes import open_labels


def phantom(folder: Path) -> Path:
    """A 256 × 256 × 160 map with about 100 box- and ball-like labels."""
    rng = np.random.default_rng(0)
    labels = np.zeros((256, 256, 160), np.uint8)
    for value in range(1, 101):
        centre = [int(rng.integers(20, n - 20)) for n in labels.shape]
        half = [int(h) for h in rng.integers(4, 18, 3)]
        labels[tuple(slice(c - h, c + h) for c, h in zip(centre, half, strict=True))] = value
    path = folder / "phantom.nii.gz"
    nib.save(nib.Nifti1Image(labels, np.diag([0.8, 0.8, 2.0, 1.0])), path)
    return path


def ours(path: Path) -> None:
    """Load and measure count, box, centroid and volume of every structure."""
    regions = Regions(open_labels(path).load())
    for region in regions:
        _ = region.voxels, region.box_index, region.centroid_mm, region.volume_ml


def simpleitk(path: Path) -> None:
    """The same with SimpleITK."""
    stats = sitk.LabelShapeStatisticsImageFilter()
    stats.Execute(sitk.Cast(sitk.ReadImage(str(path)), sitk.sitkUInt16))
    for label in stats.GetLabels():
        _ = stats.GetNumberOfPixels(label), stats.GetBoundingBox(label), stats.GetCentroid(label)


def load_ours(path: Path) -> None:
    """Only load."""
    open_labels(path).load()


def load_nibabel(path: Path) -> None:
    """Only load, with nibabel."""
    np.asarray(nib.load(path).dataobj)


def main() -> None:
    """Time every contender in turn, so that a busy machine slows all alike."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="?", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    contenders: dict[str, Callable[[Path], None]] = {
        "situs": ours,
        "simpleitk": simpleitk,
        "situs_load": load_ours,
        "nibabel_load": load_nibabel,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.labels or phantom(Path(folder))
        seconds: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(arguments.repeat):
            for name, function in contenders.items():
                start = time.perf_counter()
                function(path)
                seconds[name].append(time.perf_counter() - start)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    print(
        json.dumps(
            {
                "labels": "given file" if arguments.labels else "phantom 256×256×160, 100 labels",
                "median_seconds": median,
                "ratios": {
                    "simpleitk / situs": median["simpleitk"] / median["situs"],
                    "nibabel / situs, loading": median["nibabel_load"] / median["situs_load"],
                },
                "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
