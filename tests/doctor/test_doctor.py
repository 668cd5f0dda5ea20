"""`situs doctor`: what it tries can fail, and says so; what an extra brings may be missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from situs.cli import doctor
from situs.doctor import readers, trials
from situs.doctor.checks import _tried


def test_every_check_passes_here(situs: Callable[..., Any]) -> None:
    ran = situs("doctor", "--json")
    assert ran.code == 0, ran.out
    said = {check["what"]: check["found"] for check in ran.json["checks"]}
    assert readers.READERS.keys() | trials.TRIALS.keys() <= said.keys()
    assert "not installed" not in said.values()


def test_a_reader_that_moves_voxels_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, situs: Callable[..., Any]
) -> None:
    monkeypatch.setattr(readers, "_TO_LPS", np.diag([1.0, -1.0, 1.0]))
    check = _tried("reads NRRD", readers.READERS["reads NRRD"], tmp_path)
    assert not check.ok
    assert "not at their places" in check.found


def test_a_kernel_that_measures_wrong_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(trials, "_RADIUS_MM", 19.0)
    assert _tried("kernels", trials.TRIALS["measures (compiled kernels)"], tmp_path).ok
    from situs.volumes.phantoms import Sphere

    monkeypatch.setattr(Sphere, "volume_mm3", property(lambda self: 1.0))
    assert not _tried("kernels", trials.TRIALS["measures (compiled kernels)"], tmp_path).ok


def test_what_an_extra_brings_may_be_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    what = "reads fastMRI (HDF5)"
    check = _tried(what, readers.READERS[what], tmp_path)
    assert (check.ok, check.found) == (True, "not installed")
    assert "situs[fastmri]" in check.fix
    assert doctor._state(check) == "–"
    assert doctor._state(msgspec.structs.replace(check, fix="")) == "ok"
