"""Libraries without the libraries that they load for what Situs never asks of them.

nibabel loads pydicom for headers that hold DICOM in an extension, which reads its dictionary and a
client for the web; Numba loads cffi for functions in C. Together they take a sixth of the time in
which the program starts. Both are optional: a library that does not find them does without.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["load_lightly"]

_NOT_NEEDED_BY = {"pydicom": "nibabel.optpkg", "cffi": "numba.core.typing.cffi_utils"}
"""Module → the one module that does not find it; all others do."""


class _Unfound(MetaPathFinder):
    """Hides a module from the one that can do without it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises if the module is asked for by the one that can do without; else passes."""
        without = _NOT_NEEDED_BY.get(fullname)
        if without is not None and without == _asker():
            raise ModuleNotFoundError(f"{without} does without {fullname}", name=fullname)
        return None


def _asker() -> str:
    """The module whose import statement is being carried out."""
    frame = sys._getframe(2)
    while frame.f_back is not None and "importlib._bootstrap" in frame.f_code.co_filename:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", ""))


def load_lightly() -> None:
    """From now on.

    For the program and its workers, not for a Python that merely uses Situs: what is loaded there
    is for its owner to say.
    """
    if not any(isinstance(finder, _Unfound) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Unfound())
