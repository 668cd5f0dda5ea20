"""Structure sets and segmentations in the words of a clinic,
named by a map of patterns, from the command line."""

from __future__ import annotations

import numpy as np
import pytest
from dicom_make import write_series
from test_dicom_labels import contour, write_contours, write_seg

SHAPE = (40, 64, 80)
"""Slices, rows and columns of 5 mm: a chest of 20 × 32 × 40 cm."""
ORIGIN, STEP = (-200.0, -160.0, -100.0), (0.0, 0.0, 5.0)
BALLS = {
    "Lung_R": ((-85.0, 0.0, 0.0), 75.0),
    "Lung_L": ((85.0, 0.0, 0.0), 70.0),
    "GTV-1": ((-95.0, 20.0, 20.0), 22.0),
    "Doe^John boost": ((80.0, 10.0, -10.0), 12.0),
}
"""Name → centre in LPS millimetres and radius."""
NAMES = "pattern,name,kind,part_of,exhaustive\nGTV-*,lung_tumour,lesion,lung,yes\nre:lung_r(ight)?,lung_right,,,\n"


def series(folder):
    k, j, i = np.ogrid[tuple(slice(n) for n in SHAPE)]
    values = np.full(SHAPE, 40, np.int16)
    values[:, :, :3] = -1000
    for number, (centre, radius) in enumerate(BALLS.values()):
        values[_inside(centre, radius, i, j, k)] = -700 + 200 * number
    write_series(folder, values, origin=ORIGIN, step=STEP, spacing=(5.0, 5.0))
    return folder


def _inside(centre, radius, i, j, k) -> np.ndarray:
    x, y, z = (start + 5.0 * index for start, index in zip(ORIGIN, (i, j, k)))
    return (x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2 <= radius**2


def circles(centre, radius) -> list:
    """A closed contour on each slice that the ball meets."""
    around = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    found = []
    for k in range(SHAPE[0]):
        z = ORIGIN[2] + 5.0 * k
        if abs(z - centre[2]) < radius:
            own = np.sqrt(radius**2 - (z - centre[2]) ** 2)
            found.append(
                contour(
                    np.stack(
                        [
                            centre[0] + own * np.cos(around),
                            centre[1] + own * np.sin(around),
                            0 * around + z,
                        ],
                        1,
                    )
                )
            )
    return found


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("form", ["RTSTRUCT", "SEG"])
def test_a_map_of_patterns_names_the_regions_of_a_clinic(form, situs, tmp_path, plain_content):
    folder = series(tmp_path / "data" / "patient" / "ct")
    if form == "RTSTRUCT":
        regions = {
            (n, name): circles(*ball) for n, (name, ball) in enumerate(BALLS.items(), start=1)
        }
        write_contours(tmp_path / "data" / "patient" / "rt" / "rs.dcm", regions)
    else:
        k, j, i = np.ogrid[tuple(slice(n) for n in SHAPE)]
        masks = np.stack([_inside(*ball, i, j, k) for ball in BALLS.values()], axis=-1).astype(
            np.uint8
        )
        write_seg(folder, masks, "BINARY", list(BALLS))
    (tmp_path / "names.csv").write_text(NAMES)
    given = (
        "--names",
        tmp_path / "names.csv",
        "--annotation",
        "manual",
        "--out",
        tmp_path / "bench",
        "--json",
    )
    ran = situs("build", "masks", tmp_path / "data", *given)
    assert ran.code == 0, ran.err
    assert ran.json["items"] > 0
    assert ran.json["coverage"]["with_unknown_names"] == 1
    import pyarrow.parquet as pq

    (study,) = pq.read_table(tmp_path / "bench" / "studies.parquet").to_pylist()
    names = {one["key"] for one in study["series"][0]["structures"]}
    assert names == {"Lung_L", "lung_right", "lung_tumour"}
    checked = situs("check", tmp_path / "bench", "--json").json
    assert [problem for problem in checked["problems"] if problem["severity"] == "error"] == []
    for file in (tmp_path / "bench").rglob("*"):
        assert b"Doe" not in plain_content(file)
