"""A scan is the dearest thing a command reads: each reads the voxels of each image once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.volumes import volume as volumes

COMMANDS = {
    "check": ("check", "{bench}"),
    "report": ("report", "{run}", "--pictures", "4", "--out", "{folder}/report.html"),
    "DICOM": ("export", "{bench}", "--to", "dicom-seg", "--out", "{folder}/dicom"),
    "pictures": ("export", "{bench}", "--to", "hf", "--out", "{folder}/pictures"),
}


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """How often the voxels of each image were read; masks are not counted."""
    counted: Counter[Path] = Counter()
    read = volumes.read_voxels

    def counting(stored: Any) -> Any:
        counted[stored.path.resolve()] += 1
        return read(stored)

    monkeypatch.setattr(volumes, "read_voxels", counting)
    return counted


@pytest.fixture
def own_run(bench: Path, tmp_path: Path, situs: Callable[..., Any]) -> Path:
    """A scored run, so that a report has something to show."""
    run = tmp_path / "scored"
    assert situs("run", bench, "--model", "prior", "--out", run).code == 0
    assert situs("score", bench, run).code == 0
    return run


@pytest.mark.parametrize("command", COMMANDS)
def test_each_image_is_read_once(
    command: str,
    bench: Path,
    own_run: Path,
    tmp_path: Path,
    situs: Callable[..., Any],
    readings: Counter[Path],
) -> None:
    places = {"bench": bench, "run": own_run, "folder": tmp_path}
    readings.clear()
    ran = situs(*(word.format(**places) for word in COMMANDS[command]))
    assert ran.code == 0, ran.err
    assert readings
    assert set(readings.values()) == {1}
