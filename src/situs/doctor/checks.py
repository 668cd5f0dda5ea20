"""All checks, in the order in which one thing needs another."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from situs.doctor.machine import machine_checks
from situs.doctor.readers import READERS
from situs.doctor.record import Check
from situs.doctor.trials import TRIALS

__all__ = ["Check", "examine"]

Trial = Callable[[Path], str]
"""Tries one thing in a folder of its own; says what came out, raises if it is wrong."""


def examine() -> Iterator[Check]:
    """Every check, as it is done. Files are written to a temporary folder only."""
    yield from machine_checks()
    with tempfile.TemporaryDirectory(prefix="situs-doctor-") as scratch:
        for number, (what, trial) in enumerate({**READERS, **TRIALS}.items()):
            folder = Path(scratch) / str(number)
            folder.mkdir()
            yield _tried(what, trial, folder)


def _tried(what: str, trial: Trial, folder: Path) -> Check:
    """A trial's outcome. A package of an extra that is not installed is no fault."""
    try:
        return Check(what, True, trial(folder))
    except ModuleNotFoundError as error:
        extra = _EXTRA_OF.get(what)
        if extra is None:
            return Check(what, False, str(error), f"pip install {error.name}")
        return Check(what, True, "not installed", f"pip install 'situs[{extra}]' if you need it")
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        return Check(what, False, problem[:200], "report this as a bug, with this table")


_EXTRA_OF = {
    "reads DICOM segmentations": "dicom",
    "reads JPEG 2000": "dicom",
    "reads JPEG-LS": "dicom",
    "reads fastMRI (HDF5)": "fastmri",
}
"""Checks of what only an extra brings."""
