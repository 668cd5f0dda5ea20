"""Profiles as data: the shipped one, a user's own,
its mistakes, its hash, and what an item still needs."""

from __future__ import annotations

import re
from importlib.resources import files

import msgspec
import numpy as np
import pytest

from situs.errors import SitusError
from situs.items import Item, YesNo
from situs.profiles import layout_of, load_profile, shipped_profiles, unmet_needs
from situs.space import Affine, Grid


def text_of(name: str = "default") -> str:
    return files("situs.profiles").joinpath("data", f"{name}.toml").read_text("utf-8")


def written(tmp_path, text: str) -> str:
    path = tmp_path / "profile.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def item(*needs: str) -> Item:
    return Item("i", "s", "ct", "p", "direction", "yes_no", "Is it?", YesNo(True), needs=needs)


def test_a_copy_is_the_same_profile(tmp_path):
    shipped, own = load_profile("default"), load_profile(written(tmp_path, text_of()))
    assert own == shipped
    assert own.hash == shipped.hash


def test_the_hash_follows_every_setting(tmp_path):
    shipped = load_profile("default")
    hashes = {shipped.hash}
    for old, new in (
        ("size_px = 448", "size_px = 449"),
        ("low = -160.0", "low = -150.0"),
        ("yes or no.", "yes or no!"),
    ):
        assert old in text_of()
        hashes.add(load_profile(written(tmp_path, text_of().replace(old, new))).hash)
    assert len(hashes) == 4


def test_comments_and_layout_are_not_part_of_a_profile(tmp_path):
    own = load_profile(written(tmp_path, "# my own\n" + text_of()))
    assert own.hash == load_profile("default").hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('plane = "axial"', 'plane = "diagonal"'),
        ("slices = 32", "slices = 0"),
        ("size_px = 448", "size_px = 8"),
        ("size_px = 448", "size_px = 100000"),
        ("size_px = 448", "size_pixels = 448"),
        ("high = 240.0", "high = -240.0"),
        ("high_percentile = 99.0", "high_percentile = 199.0"),
        ("high_percentile = 99.0", ""),
        ("[view]", "[view"),
    ],
)
def test_profiles_with_mistakes(tmp_path, old, new):
    assert old in text_of()
    with pytest.raises(SitusError, match=r"profile\.toml") as caught:
        load_profile(written(tmp_path, text_of().replace(old, new)))
    assert caught.value.fix


def test_an_unknown_profile_is_guessed():
    with pytest.raises(SitusError, match="did you mean default"):
        load_profile("defualt")


def test_what_must_be_seen_is_not_a_matter_of_the_profile():
    needs = item("side_convention", "scale", "sees:liver")
    assert unmet_needs(needs, ("side_convention", "scale")) == []
    assert unmet_needs(needs, ("scale",)) == ["side_convention"]
    assert unmet_needs(item(), ()) == []


def test_the_shipped_profile_gives_what_shipped_tasks_need():
    """It states the side convention, the scale and the order of slices in its own words."""
    profile = load_profile("default")
    assert {"sides", "spacing", "order"} <= set(re.findall(r"{(\w+)}", profile.prompt.intro))
    assert {"side_convention", "scale", "slice_order", "view_convention"} <= set(profile.gives)


@pytest.mark.parametrize("name", sorted(shipped_profiles()))
def test_a_profile_survives_json(name):
    """As a run's record: nothing is lost, and the hash stays."""
    profile = load_profile(name)
    again = msgspec.json.decode(msgspec.json.encode(profile), type=type(profile))
    assert again == profile
    assert again.hash == profile.hash
    assert profile.name == name
    assert profile.about


def test_shipped_profiles_are_all_different():
    hashes = {load_profile(name).hash for name in shipped_profiles()}
    assert len(hashes) == len(shipped_profiles())


def test_whole_numbers_are_lengths_too(tmp_path):
    """`spacing_mm = 1` is 1.0 mm, also in a triple."""
    for written_as in ("1", "1.0", "[1, 1.0, 1]"):
        text = text_of().replace("[prompt]", f"[resample]\nspacing_mm = {written_as}\n[prompt]")
        own = load_profile(written(tmp_path, text))
        grid = Grid((10, 10, 10), Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
        assert [axis.known() for axis in layout_of(own, grid).lattice.axes] == [20, 20, 20]


@pytest.mark.parametrize(
    "table",
    [
        "[resample]\nspacing_mm = 0.05",
        "[crop]\nsize_mm = [1e9, 0.0, 0.0]",
        "[view.montage]\ncolumns = 64\nrows = 1",
    ],
)
def test_what_would_fill_the_memory_is_refused(tmp_path, table):
    text = text_of().replace("[prompt]", f"{table}\n[prompt]").replace("slices = 32", "slices = 64")
    own = load_profile(written(tmp_path, text))
    with pytest.raises(SitusError, match="more than"):
        layout_of(own, Grid((512, 512, 400), Affine(np.eye(4))))
