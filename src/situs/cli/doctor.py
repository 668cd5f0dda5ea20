"""`situs doctor`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

import click

from situs import __version__
from situs.cli.output.printing import json_option, print_json, print_table

_NEEDED = (
    "numpy",
    "scipy",
    "numba",
    "nibabel",
    "pydicom",
    "isal",
    "pyarrow",
    "msgspec",
    "click",
    "rich",
    "Pillow",
    "jinja2",
)


@click.command("doctor")
@json_option
def command(as_json: bool) -> int:
    """Tell whether this installation works, and what to do if it does not. Exit code 1 if something is amiss."""
    checks = [
        ("situs", True, __version__, ""),
        _python(),
        *(_package(name) for name in _NEEDED),
        _memory(),
        _scratch(),
        _measures(),
    ]
    if as_json:
        keys = ("what", "ok", "found", "fix")
        print_json(
            {
                "ok": all(ok for _, ok, _, _ in checks),
                "checks": [dict(zip(keys, check)) for check in checks],
            }
        )
    else:
        rows = [[what, "ok" if ok else "FAIL", found, fix] for what, ok, found, fix in checks]
        print_table("situs doctor", ["what", "", "found", "what to do"], rows)
    return 0 if all(ok for _, ok, _, _ in checks) else 1


Check = tuple[str, bool, str, str]


def _python() -> Check:
    ok = sys.version_info >= (3, 11)
    return "python", ok, platform.python_version(), "" if ok else "install Python 3.11 or later"


def _package(name: str) -> Check:
    try:
        return name, True, importlib.metadata.version(name), ""
    except importlib.metadata.PackageNotFoundError:
        return name, False, "not installed", f"pip install {name}"


def _memory() -> Check:
    pages = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    gib = pages * os.sysconf("SC_PAGE_SIZE") / 2**30 if pages else 0.0
    ok = gib == 0.0 or gib >= 4
    return (
        "memory",
        ok,
        f"{gib:.0f} GiB" if gib else "unknown",
        "" if ok else "4 GiB or more for whole-body scans",
    )


def _scratch() -> Check:
    folder = Path(tempfile.gettempdir())
    free = shutil.disk_usage(folder).free / 2**30
    ok = free >= 1
    return (
        "free space for temporary files",
        ok,
        f"{free:.0f} GiB",
        "" if ok else "free some space, or set TMPDIR",
    )


def _measures() -> Check:
    """Measure a ball and compare with its formula."""
    import numpy as np

    from situs.space import Affine, Grid
    from situs.volumes.phantoms import Sphere, rasterize

    ball = Sphere(centre_mm=(0.0, 0.0, 0.0), radius_mm=20.0)
    matrix = np.diag([1.0, 1.0, 1.0, 1.0])
    matrix[:3, 3] = -24.5
    grid = Grid((50, 50, 50), Affine(matrix))
    share = float(rasterize(ball, grid).sum()) * grid.affine.voxel_volume_mm3 / ball.volume_mm3
    ok = abs(share - 1.0) < 0.01
    return "a measured ball", ok, f"{share:.4f} × its formula", "" if ok else "report this as a bug"
