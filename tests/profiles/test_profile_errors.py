"""A profile that cannot be used is refused in one line, when it is loaded or first used."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from situs.errors import SitusError
from situs.profiles import PatientVolume, load_profile, render
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
def test_a_profile_that_cannot_work_is_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(DEFAULT.replace(before, after))
    with pytest.raises(SitusError, match=message) as caught:
        load_profile(str(path))
    assert "\n" not in str(caught.value)


def test_a_modality_without_a_window_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(DEFAULT.replace("[window.mr]", "[window.pet]"))
    volume = PatientVolume(np.zeros((4, 4, 4), np.int16), Grid((4, 4, 4), Affine(np.eye(4))), "mr")
    with pytest.raises(SitusError, match="no window for mr"):
        render(volume, load_profile(str(path)))
