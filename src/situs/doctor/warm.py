"""Compiling the kernels ahead, as an image of a container or a shared installation wants it."""

from __future__ import annotations

import importlib
import pkgutil
import tempfile
from pathlib import Path

__all__ = ["warm_kernels"]


def warm_kernels() -> tuple[int, int]:
    """Build and check a small phantom, which calls the kernels. How many are compiled, and how many
    there are.

    The others, of rare file encodings, compile when they are first needed.
    """
    from situs.api import build, check
    from situs.volumes.phantoms import make_patient, write_patient

    with tempfile.TemporaryDirectory(prefix="situs-warm-") as scratch:
        root = Path(scratch)
        for index in range(2):
            patient = make_patient(0, index, spacing_mm=(5.0, 5.0, 5.0), noise=False)
            write_patient(patient, root / "data" / f"patient{index}")
        build.masks(root / "data", out=root / "bench", annotation="exact", jobs=1)
        check(root / "bench")
    import situs.measure.kernels as kernels

    compiled = total = 0
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            signatures = getattr(value, "signatures", None)
            if signatures is not None and getattr(value, "__module__", "") == module.name:
                total += 1
                compiled += bool(signatures)
    return compiled, total
