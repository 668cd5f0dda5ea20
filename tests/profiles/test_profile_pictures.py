"""Windows, slices and prompts:
what a model is shown and told follows from the voxels and the profile."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from situs.items import Choice, Item, Number, Option
from situs.profiles import (
    PatientVolume,
    Plane,
    Window,
    fitting_window,
    layout_of,
    load_profile,
    options_text,
    prompt_text,
)
from situs.space import Affine, Grid

PROFILE = load_profile("default")


def volume(shape=(20, 24, 50), spacing=(2.0, 2.0, 3.0), modality="ct") -> PatientVolume:
    array = np.random.default_rng(0).integers(-1000, 1000, shape).astype(np.int16)
    return PatientVolume(array, Grid(shape, Affine(np.diag([*spacing, 1.0]))), modality)


@pytest.mark.parametrize(
    ("value", "grey"),
    [(-1000.0, 0), (-160.0, 0), (40.0, 128), (240.0, 255), (3000.0, 255), (np.nan, 0)],
)
def test_a_window_is_linear_between_black_and_white(value, grey):
    """grey = 255 (value - low) / (high - low), rounded; 40 HU lies in the middle of -160 to 240."""
    assert Window(-160.0, 240.0).apply(np.array([value]))[0] == grey


@pytest.mark.parametrize(("density", "name"), [(-800, "lung"), (40, "soft tissue"), (600, "bone")])
def test_a_reader_would_choose_this_window(density, name):
    values = np.array([-1000, 0, 1000], dtype=np.int16)
    assert fitting_window("ct", values, np.full(5, density)).name == name


def test_mr_windows_are_percentiles():
    values = np.arange(101, dtype=np.float32).reshape(1, 1, 101)
    found = fitting_window("mr", values, values)
    assert (found.low, found.high) == pytest.approx((1.0, 99.0))


@pytest.mark.parametrize("plane", list(Plane))
@pytest.mark.parametrize("slices", [1, 5, 32, 99])
def test_slices_are_evenly_spread_from_end_to_end(plane, slices):
    own = volume()
    view = msgspec.structs.replace(PROFILE.view, plane=plane, slices=slices, size_px=40)
    shown = layout_of(msgspec.structs.replace(PROFILE, view=view), own.grid).frames
    count = own.slices(plane)
    indices = [frame.source_index for frame in shown]
    assert len(indices) == min(slices, count)
    assert indices == sorted(set(indices))
    if slices > 1:
        assert (indices[0], indices[-1]) == (0, count - 1)
        steps = np.diff(indices)
        assert steps.max() - steps.min() <= 1
    else:
        assert abs(indices[0] - (count - 1) / 2) <= 0.5
    assert all(max(frame.width, frame.height) == 40 for frame in shown)


def test_a_mask_is_laid_out_as_its_slice():
    own = volume()
    for plane in Plane:
        mask = own.array > 200
        drawn = own.mask_picture(mask, plane, 7)
        picture = own.picture(plane, 7, Window(-1000.0, 1000.0))
        assert drawn.shape == picture.grey.shape
        white = Window(200.0, 200.5).apply(own.array)
        assert np.array_equal(drawn, own.mask_picture(white > 0, plane, 7))


def choice_item() -> Item:
    options = (Option("b", "the right"), Option("a", "the left"))
    return Item(
        "i", "s", "ct", "p", "lesion_side", "choice", "On which side?", Choice("a"), options=options
    )


def test_options_have_letters_in_their_order():
    assert options_text(choice_item()) == "(A) the right\n(B) the left"


def test_the_prompt_tells_scale_and_spacing():
    """50 slices 3 mm apart, 32 shown from the first to the last: 147 / 31 mm between pictures."""
    own = volume()
    layout = layout_of(PROFILE, own.grid)
    text = prompt_text(choice_item(), PROFILE, layout, "ct")
    assert f"{49 * 3.0 / 31:.1f} mm apart" in text
    assert f"One pixel is {24 * 2.0 / 448:.2f} mm" in text
    assert "from the feet to the head" in text
    assert "32 axial CT slices" in text
    assert text.endswith(PROFILE.prompt.choice)
    assert "(A) the right" in text


def test_a_number_is_asked_for_in_its_unit():
    item = Item("i", "s", "ct", "p", "volume", "number", "How large?", Number(12.3, "mL"))
    text = prompt_text(item, PROFILE, layout_of(PROFILE, volume().grid), "mr")
    assert "mL" in text
    assert "12.3" not in text
    assert "MR" in text
