"""Packages that are verbs, too: `situs.score(…)` scores, and `situs.score` is the package that
knows how.

Python binds a package to its parent's attribute of the same name whenever it is imported, so a
function of that name cannot be kept there. The package itself answers the call instead.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

__all__ = ["make_callable"]


class _Verb(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        return _function(self.__name__)(*args, **options)


def make_callable(package: str) -> None:
    """Let a package be called as the function of the same name in `situs.api`."""
    sys.modules[package].__class__ = _Verb


def _function(package: str) -> Any:
    # By name and late: the API stands above the packages that it uses.
    return getattr(importlib.import_module("situs.api"), package.rpartition(".")[2])
