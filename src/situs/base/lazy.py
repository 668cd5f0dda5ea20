"""Packages whose names are loaded when they are first used,
and libraries without those that they load for what Situs never asks of them.

A program that asks a package for one name need not load all of its modules: a build never reads a
reply, and the reader of replies alone compiles hundreds of patterns.

nibabel loads pydicom for headers that hold DICOM in an extension, which reads its dictionary and a
client for the web; Numba loads cffi for functions in C. Together they take a sixth of the time in
which the program starts. Both are optional: a library that does not find them does without.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["lazy_exports", "load_lightly"]


def lazy_exports(package: str, elsewhere: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of a package that imports its names under `if TYPE_CHECKING:` only.

    Where a name comes from is read from those imports, so that it is said once, and said to the
    type checker too. `elsewhere` says it of names that stand in a package above, which may not be
    imported even there.
    """

    def load(name: str) -> Any:
        module, original = (elsewhere or {}).get(name), name
        if module is None:
            module, original = _sources(package).get(name, (None, name))
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if module == package:  # one of its own modules
            return importlib.import_module(f"{package}.{original}")
        value = getattr(importlib.import_module(module), original)
        vars(sys.modules[package])[name] = value
        return value

    return load


@cache
def _sources(package: str) -> dict[str, tuple[str, str]]:
    """Name → (module, its name there) of every import that only the type checker sees."""
    text = Path(str(sys.modules[package].__file__)).read_text("utf-8")
    sources = {}
    for block in ast.parse(text).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom) and line.module is not None:
                    for one in line.names:
                        sources[one.asname or one.name] = (line.module, one.name)
    return sources


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
