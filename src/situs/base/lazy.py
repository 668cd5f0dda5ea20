"""Packages whose names are loaded when they are first used.

A program that asks a package for one name need not load all of its modules: a build never reads a
reply, and the reader of replies alone compiles hundreds of patterns.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["lazy_exports"]


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
