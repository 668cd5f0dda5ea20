"""Libraries that load others for what Situs never asks of them do without those."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from situs.base.lazy import load_lightly
load_lightly()
load_lightly()
import nibabel, numba.core.typing.cffi_utils as functions
assert nibabel.nifti1.have_dicom is False and functions.SUPPORTED is False
assert "pydicom" not in sys.modules and "cffi" not in sys.modules
import pydicom  # whoever else asks has it
assert pydicom.Dataset() is not None
print(sum(type(finder).__name__ == "_Unfound" for finder in sys.meta_path))
"""


def test_nibabel_and_numba_are_loaded_without_what_they_can_do_without() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.strip()) == (0, "1"), ran.stderr


def test_a_python_that_merely_uses_situs_loads_as_it_always_did() -> None:
    import nibabel

    assert nibabel.nifti1.have_dicom is True
    assert not [finder for finder in sys.meta_path if type(finder).__name__ == "_Unfound"]
