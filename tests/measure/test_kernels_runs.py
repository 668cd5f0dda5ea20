"""Statistics, slice boxes, components,
contacts and holes of whole arrays against numpy, scipy and brute force."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from _kernel_arrays import DTYPES, KINDS, SHAPES, label_array, stored_as
from scipy import ndimage

from situs.errors import SitusError
from situs.measure import Regions, label_components, label_contacts, label_statistics
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

pytestmark = pytest.mark.sampled

CASES = [(shape, kind) for shape in SHAPES for kind in KINDS]


def map_of(*layers: np.ndarray, affine: np.ndarray | None = None) -> LabelMap:
    structures = [
        Structure(int(value), f"s{layer}_{value}", layer, int(value))
        for layer, array in enumerate(layers)
        for value in np.unique(array[array > 0])
    ]
    matrix = np.diag([0.7, 1.1, 2.5, 1.0]) if affine is None else affine
    return LabelMap(Grid(layers[0].shape, Affine(matrix)), layers, tuple(structures))


def check_statistics(array: np.ndarray, stored: np.ndarray) -> None:
    found = label_statistics(stored)
    assert found.values == tuple(int(v) for v in np.unique(array) if v > 0)
    for number, value in enumerate(found.values):
        points = np.argwhere(array == value)
        assert found.voxels[number] == len(points)
        assert np.array_equal(found.lo[number], points.min(axis=0))
        assert np.array_equal(found.hi[number], points.max(axis=0) + 1)
        assert np.array_equal(found.sums[number], points.sum(axis=0))
        assert np.array_equal(found.products[number], points.T @ points)


def check_slices(array: np.ndarray, boxes: object, value: int) -> None:
    axis = boxes.axis
    others = [a for a in range(3) if a != axis]
    points = np.argwhere(array == value)
    expected = sorted(set(points[:, axis].tolist()))
    assert boxes.index.tolist() == expected
    for row, index in enumerate(expected):
        own = points[points[:, axis] == index][:, others]
        assert boxes.voxels[row] == len(own)
        assert boxes.lo[row].tolist() == own.min(axis=0).tolist()
        assert boxes.hi[row].tolist() == (own.max(axis=0) + 1).tolist()


@pytest.mark.parametrize(("shape", "kind"), CASES)
def test_statistics_of_every_memory_order(shape, kind):
    for way in range(0, 48, 5):
        array = label_array(way, shape, kind)
        check_statistics(array, stored_as(array.astype(np.uint8), way))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("way", [0, 2, 5, 21, 47])
def test_statistics_of_every_type(dtype, way):
    values = (1,) if dtype is np.bool_ else (1, 2, 117)
    array = label_array(way, (70, 9, 8), "noise", values)
    check_statistics(array, stored_as(array.astype(dtype), way))


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.int64, np.float64])
def test_large_labels(dtype):
    array = label_array(3, (80, 5, 4), "noise", (1, 70_000, 2**31 - 1))
    check_statistics(array, array.astype(dtype))


def test_either_byte_order():
    array = label_array(3, (80, 5, 4), "noise")
    check_statistics(array, array.astype(">i8"))
    check_statistics(array, array.astype(">u2"))


def test_unaligned_memory():
    array = label_array(4, (70, 5, 4), "noise")
    raw = np.zeros(array.size * 2 + 1, dtype=np.uint8)
    view = raw[1:].view(np.uint16).reshape(array.shape, order="F")
    view[...] = array
    check_statistics(array, view)


def test_no_label_at_all():
    found = label_statistics(np.zeros((70, 3, 2), dtype=np.uint8))
    assert found.values == ()
    assert label_components(np.zeros((70, 3, 2), dtype=np.uint8)).voxels.size == 0
    assert label_contacts(np.zeros((70, 3, 2), dtype=np.uint8)) == {}


@pytest.mark.parametrize(
    "array", [np.full((2, 2, 2), -1), np.full((2, 2, 2), 0.5), np.full((2, 2, 2), np.nan)]
)
def test_what_is_no_label_is_refused(array):
    with pytest.raises(SitusError):
        label_statistics(array)


@pytest.mark.parametrize(("shape", "kind"), CASES)
def test_slice_boxes_across_every_axis(shape, kind):
    array = label_array(8, shape, kind)
    for way in (0, 8, 17, 40):
        regions = Regions(map_of(stored_as(array.astype(np.uint8), way)))
        for region in regions:
            for axis in range(3):
                boxes = region.slice_boxes(axis)
                assert boxes.axis == axis
                check_slices(array, boxes, region.structure.value)


def components_by_scipy(array: np.ndarray, value: int, connectivity: int) -> list[tuple]:
    neighbours = ndimage.generate_binary_structure(3, {6: 1, 18: 2, 26: 3}[connectivity])
    labelled, count = ndimage.label(array == value, structure=neighbours)
    found = []
    for number in range(1, count + 1):
        points = np.argwhere(labelled == number)
        found.append(
            (len(points), *points.min(axis=0), *(points.max(axis=0) + 1), *points.sum(axis=0))
        )
    return sorted(found)


@pytest.mark.sampled
@pytest.mark.parametrize("connectivity", [6, 18, 26])
@pytest.mark.parametrize(("shape", "kind"), CASES)
def test_components_against_scipy(shape, kind, connectivity):
    array = label_array(connectivity, shape, kind)
    for way in (0, 11, 38):
        found = label_components(stored_as(array.astype(np.uint8), way), connectivity)
        for value in np.unique(array[array > 0]):
            own = found.label == value
            rows = zip(found.voxels[own], found.lo[own], found.hi[own], found.sums[own])
            assert sorted((int(n), *a, *b, *c) for n, a, b, c in rows) == components_by_scipy(
                array, value, connectivity
            )


def test_unknown_connectivity():
    with pytest.raises(SitusError):
        label_components(np.ones((2, 2, 2), dtype=np.uint8), 8)


def faces_by_brute_force(array: np.ndarray) -> dict[tuple[int, int], list[int]]:
    found: dict[tuple[int, int], list[int]] = {}
    for axis in range(3):
        near = np.moveaxis(array, axis, 0)[:-1].ravel()
        far = np.moveaxis(array, axis, 0)[1:].ravel()
        for a, b in zip(near.tolist(), far.tolist()):
            if a != b and a > 0 and b > 0:
                found.setdefault((min(a, b), max(a, b)), [0, 0, 0])[axis] += 1
    return found


@pytest.mark.parametrize(("shape", "kind"), CASES)
def test_contacts_against_brute_force(shape, kind):
    array = label_array(7, shape, kind)
    for way in (0, 20, 45):
        found = label_contacts(stored_as(array.astype(np.uint16), way))
        assert {pair: list(faces) for pair, faces in found.items()} == faces_by_brute_force(array)


def test_contacts_of_very_many_labels():
    rng = np.random.default_rng(5)
    array = rng.integers(0, 3000, (40, 12, 11))
    found = label_contacts(array.astype(np.uint16))
    assert {pair: list(faces) for pair, faces in found.items()} == faces_by_brute_force(array)


def holes_by_scipy(mask: np.ndarray) -> list[int]:
    labelled, _ = ndimage.label(~np.pad(mask, 1))
    sizes = np.bincount(labelled.ravel())
    outside = labelled[0, 0, 0]
    return sorted((int(n) for i, n in enumerate(sizes) if i not in (0, outside)), reverse=True)


@pytest.mark.parametrize("seed", range(30))
def test_holes_against_scipy(seed):
    rng = np.random.default_rng(seed)
    array = (rng.random((9, 8, 10)) < (0.55, 0.75, 0.93)[seed % 3]).astype(np.uint8)
    array = np.pad(array, ((2, 1), (3, 0), (4, 1)))  # a box that does not begin at the corner
    region = Regions(map_of(stored_as(array, seed)))["s0_1"]
    assert list(region.holes) == holes_by_scipy(array > 0)


def test_runs_are_never_written_beyond_their_arrays():
    """A row is begun only where all its voxels may be runs: the kernel writes to raw memory."""
    from situs.measure.kernels.runs import find_runs

    nx, ny, nz, room = 6, 5, 1, 20
    array = np.arange(1, nx * ny * nz + 1, dtype=np.uint8).reshape(nz, ny, nx)  # each voxel a run
    columns = [np.zeros(100 * nx, dtype=kind) for kind in (np.int32, np.int32, np.uint32)]
    row_start = np.zeros(ny * nz + 1, dtype=np.int64)
    sample, steps = np.zeros(1, dtype=np.uint8), (nx, nx * ny)
    row, filled = 0, 0
    rows_at_a_time = []
    while row < ny * nz:
        views = [column[filled : filled + room] for column in columns]
        before, (row, count) = row, find_runs(
            array.ctypes.data, sample, nx, ny, nz, *steps, False, row, 0, row_start, *views
        )  # fmt: skip
        assert count <= room
        rows_at_a_time.append(row - before)
        filled += count
    # 20 places hold 3 rows of 6 with one to spare, for what is written and not counted.
    assert rows_at_a_time == [3, 2]
    np.testing.assert_array_equal(columns[2][: nx * ny], array.ravel())


@pytest.mark.parametrize("seed", range(6))
def test_a_shadow_is_as_large_as_the_structure_and_holds_its_voxels(seed):
    rng = np.random.default_rng(seed)
    array = np.zeros((9, 11, 13), dtype=np.uint8, order="F")
    array[3:7, 4:9, 5:12] = rng.random((4, 5, 7)) < 0.7
    array[3, 4, 5] = array[6, 8, 11] = 1  # the corners of the box
    region = Regions(map_of(array))["s0_1"]
    box = array[3:7, 4:9, 5:12].astype(np.int64)
    for axis, shown in ((0, "zy"), (1, "zx"), (2, "yx")):
        counts, width, *named = region.shadow(axis)
        table = counts.reshape(-1, width)
        expected = box.sum(axis=axis).T
        if axis:  # one column more: where the last run ends
            expected = np.pad(expected, ((0, 0), (0, 1)))
        np.testing.assert_array_equal(table, expected)
        assert ["xyz"[one] for one in named] == list(shown)


@pytest.mark.sampled
@pytest.mark.parametrize(("shape", "kind"), CASES)
def test_boundary_and_exposed_faces(shape, kind):
    array = label_array(2, shape, kind)
    for way in (0, 14, 33):
        for region in Regions(map_of(stored_as(array.astype(np.uint8), way))):
            mask = array == region.structure.value
            inner = ndimage.binary_erosion(np.pad(mask, 1))[1:-1, 1:-1, 1:-1]
            assert np.array_equal(region.boundary_points(), np.argwhere(mask & ~inner))
            assert region.core_voxels == inner.sum()
            assert np.array_equal(region.index_points(), np.argwhere(mask))
            expected = [np.count_nonzero(np.diff(np.pad(mask, 1), axis=axis)) for axis in range(3)]
            assert list(region.exposed_faces) == expected
            for axis, side in itertools.product(range(3), range(2)):
                bit = np.zeros(3, dtype=int)
                bit[axis] = 2 * side - 1
                memory = region.runs.axes.index(axis)
                own = region._boundary[:, 3] >> (2 * memory + side) & 1
                points = region.runs.to_stored(region._boundary[:, :3]).astype(int) + bit
                outside = [
                    not mask[tuple(p)] if all(0 <= c < n for c, n in zip(p, shape)) else True
                    for p in points
                ]
                assert own.astype(bool).tolist() == outside


def test_import_is_light():
    code = (
        "import sys, situs.measure; sys.exit(any(m in sys.modules for m in ('numba', 'scipy',"
        " 'llvmlite')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_cold_compile_says_so_once_and_a_warm_one_is_silent(tmp_path):
    code = (
        "import numpy as np; from situs.measure.kernels.steps import length2 as f; f(np.ones(6),"
        " 1.0, 1.0, 1.0)"
    )
    said = []
    for _ in range(2):
        environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        said.append(done.stderr.strip())
    assert said == ["compiling kernels; they are kept", ""]


def test_processes_that_begin_together_compile_a_kernel_once(tmp_path):
    """Workers of a build start at the same moment; each would take as long as the first."""
    code = (
        "import numpy as np; from situs.measure.kernels.trees import morton;"
        "morton(np.ones(4, np.int32), np.ones(1, np.uint64))"
    )
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": ""}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    said = [process.communicate()[1].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sorted(said) == ["", "compiling kernels; they are kept"]


def test_a_table_of_pairs_is_filled_to_the_half():
    """Eight places for the pairs of each label with itself: one more than half of them is too many,
    and the caller takes a larger table."""
    from situs.measure.kernels.overlap import count_pairs_sparse
    from situs.measure.runs import find_runs

    for values, fits in ((4, True), (5, False)):
        runs = find_runs(np.arange(1, values + 1, dtype=np.uint8).reshape(values, 1, 1))
        columns = (runs.row_start, runs.x0, runs.x1, runs.label)
        keys, counts = np.full(8, -1, dtype=np.int64), np.zeros(8, dtype=np.int64)
        _, ny, nz = runs.shape
        assert count_pairs_sparse(*columns, *columns, ny, nz, 0, 0, 0, keys, counts) is fits
        if fits:
            assert sorted(keys[keys >= 0].tolist()) == [n << 32 | n for n in range(values)]
            assert counts.sum() == values
