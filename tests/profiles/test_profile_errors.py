"""A profile that cannot be used is refused in one line, when it is loaded or first used."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from situs.errors import SitusError
from situs.profiles import Renderer, load_profile
from situs.space import Affine, Grid

DEFAULT = files("situs.profiles").joinpath("data", "default.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("{what}", "{nosuch}", "slot"),
        ("{what}", "{", "slot"),
        ("{in_unit}", "in {0}", "slot"),
        ("slices = 32", f"slices = {'9' * 5000}", "digits"),
        ("slices = 32", "slices = 0", "at least one slice"),
        ("low = -160.0", "low = 300.0", "window"),
        ("name =", "nom =", "nom"),
    ],
)
def test_a_profile_that_cannot_work_is_refused(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(DEFAULT.replace(before, after))
    with pytest.raises(SitusError, match=message) as caught:
        load_profile(str(path))
    assert "\n" not in str(caught.value)


def test_a_modality_without_a_window_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(DEFAULT.replace("[window.mr]", "[window.pet]"))
    grid = Grid((4, 4, 4), Affine(np.eye(4)))
    with pytest.raises(SitusError, match="no window for mr"):
        Renderer(load_profile(str(path)), np.zeros((4, 4, 4), np.int16), grid, "mr")


HEAD = 'name = "mine"\n[window.any]\nlow = 0.0\nhigh = 1.0\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[view]\nslices = 3\nevery_mm = 5.0", "exclude each other"),
        ("[view]\nevery_mm = 0.0", "every_mm"),
        ("[view]\nevery_mm = nan", "every_mm"),
        ("[view]\nlimit = 0", "limit"),
        ("[view]\nindex_range = [5, 2]", "index_range"),
        ("[view]\nindex_range = [0, 2]\nfraction_range = [0.0, 1.0]", "exclude each other"),
        ("[view]\nfraction_range = [0.5, 1.5]", "fraction_range"),
        ("[view]\nfps = 0.0", "fps"),
        ("[view]\nwidth_px = 64", "height_px"),
        ("[view]\nsize_px = 64\nwidth_px = 64\nheight_px = 64", "or none"),
        ('[view]\nfit = "pad"', "width_px"),
        ("[view.montage]\ncolumns = 0\nrows = 2", "montage"),
        ('[view]\nkind = "three_views"\nslices = 5', "three views"),
        ('[view]\nwindows = "rgb"', "three windows"),
        ('[view]\norder = "sideways"', "order"),
        ("[resample]\nspacing_mm = 0.001", "0.05 mm"),
        ("[resample]\nspacing_mm = 1.0\nshape = [1, 1, 1]", "exclude each other"),
        ("[resample]\nshape = [0, 0, 5000]", "resample.shape"),
        ("[resample]\nshape = [10, 10]", "resample.shape|length"),
        ("[crop]\nshape = [-1, 0, 0]", "crop.shape"),
        ("[crop]\nsize_mm = [1.0, inf, 1.0]", "not a number"),
        ("[encoding]\nquality = 100", "quality"),
        ('[encoding]\nformat = "gif"', "format"),
        ('[array]\naxes = "RAX"', "axes"),
        ('[array]\naxes = "RLS"', "axes"),
        ('[array]\naxes = "RA"', "axes"),
        ("[array]\nscale = [1.0, 0.0]", "scale"),
        ('[array]\ndtype = "uint8"\nscale = [-1.0, 1.0]', "uint8"),
        ("[answer]\nframe_base = 2", "frame_base"),
        ('[answer]\nbox_scale = "mm"', "box_scale"),
        ('[prompt]\nboxes = "{width} {nosuch}"', "slot"),
        ('[prompt]\nintro_pixels = "{mm_per_pixel}"', "slot"),
        (
            "[window.ct]\nlow = 0.0\nhigh = 1.0\nlow_percentile = 1.0\nhigh_percentile = 2.0",
            "window of ct",
        ),
        ("[window.ct]\nlow_percentile = 1.0\nhigh_percentile = 100.1", "<= 100"),
        ("[window.ct]\nlow_percentile = -0.1\nhigh_percentile = 99.0", ">= 0"),
        ('[window.ct]\nlow = 0.0\nhigh = 1.0\nper = "slice"', "every slice"),
        ("[window.ct]\nlow = 0.0\nhigh = 1.0\nclip = [5.0, 1.0]", "clip"),
        (
            "[[window.ct]]\nlow = 0.0\nhigh = 1.0\n[[window.ct]]\nlow = 0.0\nhigh = 1.0",
            "same number",
        ),
    ],
)
def test_what_does_not_fit_together_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + text)
    with pytest.raises(SitusError, match=message) as caught:
        load_profile(str(path))
    assert "mine.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + "[view]\nlimit = 0\n[encoding]\nquality = 0")
    with pytest.raises(SitusError, match=r"limit.*quality"):
        load_profile(str(path))


INTRO = '[view]\nslices = 32\nsize_px = 100\n[prompt]\nintro = "{intro}"\n'


@pytest.mark.parametrize(
    ("given", "intro", "true"),
    [
        ("scale", "{what}", False),
        ("scale", "One pixel is {mm_per_pixel} mm.", False),
        ("scale", "{mm_per_pixel} {mm_between}", True),
        ("scale", "{spacing}", True),
        ("side_convention", "{what}{order}", False),
        ("side_convention", "{sides}", True),
        ("side_convention", "The patient's right is on the left.", True),
        ("slice_order", "{what}", False),
        ("slice_order", "From {first} to {last}.", True),
        ("frame_count", "{order}", False),
        ("frame_count", "{frames}", True),
        ("anchor", "", True),
        ("x-ray eyes", "", False),
    ],
)
def test_a_profile_gives_only_what_it_tells(
    tmp_path: Path, given: str, intro: str, true: bool
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'gives = ["{given}"]\n' + HEAD + INTRO.replace("{intro}", intro))
    if true:
        assert load_profile(str(path)).gives == (given,)
    else:
        with pytest.raises(SitusError, match=f"gives {given}"):
            load_profile(str(path))


@pytest.mark.parametrize(
    ("table", "hides"),
    [
        ("[view]\nslices = 1\nsize_px = 100", {"slice_order", "axial_slices", "anchor"}),
        ("[view]\nslices = 8\nsize_px = 100", {"anchor"}),
        ("[view]\nfraction_range = [0.2, 0.8]\nsize_px = 100", {"anchor"}),
        ("[view]\nsize_px = 100\n[crop]\nshape = [0, 0, 20]", {"anchor"}),
        ("[view]\nsize_px = 100", set()),
        ('[view]\nkind = "three_views"\nsize_px = 100', {"axial_slices"}),
        ('[view]\nplane = "sagittal"\nsize_px = 100', {"axial_slices"}),
    ],
)
def test_what_slices_hide_is_not_given(tmp_path: Path, table: str, hides: set[str]) -> None:
    everything = {
        "side_convention",
        "view_convention",
        "scale",
        "slice_order",
        "axial_slices",
        "frame_count",
        "anchor",
    }
    path = tmp_path / "mine.toml"
    path.write_text(HEAD + table)
    assert set(load_profile(str(path)).gives) == everything - hides
