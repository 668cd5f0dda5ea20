"""Law 10 for whole profiles: pixel → mm → pixel, voxel → nearest pixel → voxel, the same pictures
for every stored order, and pixels that lie where the geometry says."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from _made import ORDERS, oblique_grid, pictures, profile, reordered

from situs.profiles import Renderer, layout_of, load_profile, shipped_profiles
from situs.profiles.pixels.volume_array import volume_array
from situs.space import Affine, Grid, WorldPoints

pytestmark = pytest.mark.sampled

SHIPPED = sorted(shipped_profiles())
OWN = {
    "native": {},
    "neurological": {"view": {"display": "neurological", "size_px": 64}},
    "padded": {"view": {"width_px": 61, "height_px": 90, "fit": "pad"}},
    "stretched": {"view": {"width_px": 61, "height_px": 90}},
    "coronal": {"view": {"plane": "coronal", "size_px": 71}},
    "sagittal, last first": {"view": {"plane": "sagittal", "order": "descending"}},
    "every 5 mm": {"view": {"every_mm": 5.0}},
    "isotropic": {"resample": {"spacing_mm": 1.1}},
    "area, cropped": {
        "resample": {"spacing_mm": (2.0, 2.0, 0.0), "interpolation": "area"},
        "crop": {"shape": (9, 14, 0)},
    },
    "fixed shape": {"resample": {"shape": (20, 0, 7)}},
    "padded crop": {"crop": {"size_mm": (60.0, 10.0, 0.0)}},
    "montage of views": {
        "view": {
            "kind": "three_views",
            "size_px": 50,
            "montage": load_profile("montage").view.montage,
        }
    },
}


def own(name: str):
    return profile(**OWN[name])


@pytest.mark.parametrize("name", [*SHIPPED, *OWN])
def test_pixels_return_from_mm(name):
    made = own(name) if name in OWN else load_profile(name)
    rng = np.random.default_rng(4)
    for number, degrees in ((0, 0.0), (13, 12.0), (29, 25.0), (46, 0.0)):
        shape = (19, 23, 41)
        _, grid = reordered(
            np.zeros(shape), oblique_grid(shape, degrees, number, shear=0.2), ORDERS[number]
        )
        layout = layout_of(made, grid)
        assert layout.frames
        for frame in (layout.frames[0], layout.frames[len(layout.frames) // 2], layout.frames[-1]):
            for tile in (frame.tiles[0], frame.tiles[-1]):
                x0, y0, x1, y1 = tile.rectangle
                pixels = rng.uniform((x0, y0), (x1 - 1, y1 - 1), (6, 2))
                back = tile.from_source(frame.to_source(pixels))
                np.testing.assert_allclose(back[:, :2], pixels, atol=1e-8)
                np.testing.assert_allclose(back[:, 2], 0.0, atol=1e-8)
                assert frame.tile_at(*pixels[0]) is tile


@pytest.mark.parametrize(
    "name", ["native", "neurological", "coronal", "sagittal, last first", "every 5 mm"]
)
def test_every_shown_voxel_centre_returns_within_half_a_voxel(name):
    made = own(name)
    shape = (7, 6, 9)
    for number in range(0, 48, 7):
        _, grid = reordered(np.zeros(shape), oblique_grid(shape, 15.0, number), ORDERS[number])
        patient = grid.in_patient_order()
        layout = layout_of(made, grid)
        for frame in layout.frames:
            through = frame.plane.through.world_index
            index = np.stack(
                np.unravel_index(np.arange(np.prod(patient.shape)), patient.shape), axis=1
            ).astype(float)
            index = index[index[:, through] == frame.source_index]
            placed = frame.from_source(patient.affine.to_world(index))
            assert np.abs(placed[:, 2]).max() < 1e-8
            assert (placed[:, :2] > -0.5).all()
            assert (placed[:, :2] < (frame.width - 0.5, frame.height - 0.5)).all()
            back = patient.affine.to_index(WorldPoints(frame.to_source(np.rint(placed[:, :2]))))
            assert np.abs(back - index).max() <= 0.5 + 1e-9


def blob_volume(shape=(30, 34, 44)):
    """Air with a bright cube of 5 voxels a side; its centre."""
    array = np.full(shape, -1000, dtype=np.int16)
    centre = np.array([12, 18, 20])
    array[tuple(slice(c - 2, c + 3) for c in centre)] = 1000
    return array, centre


@pytest.mark.parametrize("name", [*SHIPPED, *OWN])
def test_light_is_where_the_geometry_says(name):
    """The cube's light on a slice, from the pixels alone,
    lies at the cube's centre within half a voxel (or pixel)."""
    made = own(name) if name in OWN else load_profile(name)
    drawn = {"marks": False, "side_letters": False, "scale_bar": False}
    made = msgspec.structs.replace(made, draw=msgspec.structs.replace(made.draw, **drawn))
    if name.startswith("3dreasonknee-o1"):
        made = msgspec.structs.replace(
            made, view=msgspec.structs.replace(made.view, index_range=None)
        )
    array, centre = blob_volume()
    base = oblique_grid(array.shape, 10.0)
    world = base.affine.to_world(centre[None].astype(float))
    for number in (0, 17, 42):
        stored, grid = reordered(array, base, ORDERS[number])
        layout, renderer = layout_of(made, grid), Renderer(made, stored, grid, "ct")
        place, _, placed = layout.locate(world[0])
        frame = layout.frames[place]
        if abs(placed[2]) > 2 * 3.1:
            assert len(layout.frames) == 1, "a stack shows the cube"
            continue
        light = renderer.picture(layout.lattice, frame).astype(float)
        light = light.sum(axis=2) if light.ndim == 3 else light
        _, tile, placed = layout.locate(world[0])
        x0, y0, x1, y1 = (int(v) for v in tile.rectangle)
        part = light[y0:y1, x0:x1] - light[y0:y1, x0:x1].min()
        part[part < 0.5 * part.max()] = 0.0
        rows, columns = np.indices(part.shape)
        at = np.array([(columns * part).sum(), (rows * part).sum()]) / part.sum() + (x0, y0)
        back = grid.affine.to_index(WorldPoints(tile.to_source(at[None])))
        there = grid.affine.to_index(WorldPoints(tile.to_source(placed[None, :2])))
        pixel = np.abs(np.linalg.inv(grid.affine.linear) @ tile.matrix[:, :2]).max()
        assert np.abs(back - there).max() <= 0.5 * max(1.0, pixel)


@pytest.mark.parametrize("name", [*SHIPPED, *OWN])
def test_no_stored_order_changes_a_picture(name):
    made = own(name) if name in OWN else load_profile(name)
    shape = (12, 14, 20)
    array = np.random.default_rng(1).integers(-1000, 1000, shape).astype(np.int16)
    base = oblique_grid(shape, 8.0)
    expected_frames, expected, _ = pictures(made, array, base, most=3)
    for number in (1, 22, 47):
        frames, shown, _ = pictures(made, *reordered(array, base, ORDERS[number]), most=3)
        assert len(shown) == len(expected)
        for a, b in zip(shown, expected):
            np.testing.assert_array_equal(a, b)
        corner = np.array([[3.0, 5.0]])
        for a, b in zip(frames, expected_frames):
            np.testing.assert_allclose(a.to_source(corner), b.to_source(corner), atol=1e-8)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_patients_right_is_on_the_left(name):
    """A body whose right half is bright,
    and whose back half is dark at the right edge of sagittal pictures."""
    made = load_profile(name)
    shape = (24, 20, 40)
    array = np.full(shape, -900, dtype=np.int16)
    array[12:, 10:] = 900  # patient order: right, front
    stored, grid = reordered(array, oblique_grid(shape, 0.0), ORDERS[33])
    frames, shown, _ = pictures(made, stored, grid, most=4)
    for frame, picture in zip(frames, shown):
        for tile in frame.tiles:
            x0, y0, x1, y1 = (int(v) for v in tile.rectangle)
            part = picture[y0:y1, x0:x1].astype(float)
            part = part.sum(axis=2) if part.ndim == 3 else part
            left, right = np.array_split(part, 2, axis=1)
            top, bottom = np.array_split(part, 2, axis=0)
            if part.max() - part.min() < 2:
                continue
            assert left.mean() > right.mean()
            if frame.plane == "axial":
                assert top.mean() > bottom.mean()


def test_the_other_display_is_the_mirror_image():
    array = np.random.default_rng(2).integers(0, 255, (8, 9, 5)).astype(np.int16)
    grid = oblique_grid(array.shape, 9.0)
    for plane in ("axial", "coronal", "sagittal"):
        one = pictures(profile(view={"plane": plane}), array, grid)
        two = pictures(profile(view={"plane": plane, "display": "neurological"}), array, grid)
        for a, b in zip(one[1], two[1]):
            np.testing.assert_array_equal(a, b if plane == "sagittal" else b[:, ::-1])
        for a, b in zip(one[0], two[0]):
            mirrored = (
                np.array([[1.0, 2.0]]) if plane == "sagittal" else np.array([[a.width - 2.0, 2.0]])
            )
            np.testing.assert_allclose(
                a.to_source(np.array([[1.0, 2.0]])), b.to_source(mirrored), atol=1e-9
            )


@pytest.mark.parametrize("axes", ["RAS", "SPL", "LPS", "AIR"])
@pytest.mark.parametrize(
    "name", ["native", "isotropic", "area, cropped", "padded crop", "fixed shape"]
)
def test_the_array_lies_where_its_affine_says(name, axes):
    made = own(name)
    made = msgspec.structs.replace(
        made, array=msgspec.structs.replace(made.array, axes=axes, intensity="stored")
    )
    array, _ = blob_volume()
    base = oblique_grid(array.shape, 10.0)
    centre = np.array([14, 17, 20])
    array[:] = 0
    array[tuple(slice(c - 2, c + 3) for c in centre)] = 1000
    for number in (0, 35):
        stored, grid = reordered(array, base, ORDERS[number])
        layout = layout_of(made, grid)
        found = volume_array(Renderer(made, stored, grid, "mr"), layout.lattice)
        affine = layout.array_affine(axes)
        assert found.shape == layout.array_shape(axes)
        assert Affine(affine).codes == axes
        light = np.indices(found.shape).reshape(3, -1) @ found.ravel() / found.sum()
        back = base.affine.to_index(WorldPoints((affine[:3, :3] @ light + affine[:3, 3])[None]))[0]
        step = max(axis.step for axis in layout.lattice.axes)
        assert np.abs(back - centre).max() < 0.5 * max(1.0, step)


def test_published_sizes():
    """What the papers state, on a CT of 512 × 512 × 200 voxels of 0.7 × 0.7 × 2 mm."""
    grid = Grid((512, 512, 200), Affine(np.diag([-0.7, -0.7, 2.0, 1.0])))
    sizes = {
        "ct-spatialvqa-m3d": (32, 256, 256),
        "ct-spatialvqa-med3dvlm": (128, 256, 256),
        "ct-spatialvqa-merlin": (224, 224, 160),
        "ct-spatialvqa-ct-chat": (240, 480, 480),
    }
    for name, size in sizes.items():
        made = load_profile(name)
        assert layout_of(made, grid).array_shape(made.array.axes) == size
    merlin = load_profile("ct-spatialvqa-merlin")
    np.testing.assert_allclose(
        np.diag(layout_of(merlin, grid).array_affine("RAS"))[:3], [1.5, 1.5, 3.0]
    )
    gemma = layout_of(load_profile("ct-spatialvqa-medgemma"), grid).frames
    assert (len(gemma), gemma[0].width, gemma[0].height) == (85, 896, 896)
    assert len(layout_of(load_profile("ct-spatialvqa-lingshu"), grid).frames) == 32
    (one,) = layout_of(load_profile("ct-spatialvqa-vila-m3"), grid).frames
    assert one.source_index == 100
    knee = layout_of(
        load_profile("3dreasonknee-o1"), Grid((160, 384, 384), Affine(np.eye(4)))
    ).frames
    assert [f.source_index for f in knee] == [int(np.rint(v)) for v in np.linspace(32, 128, 32)]
