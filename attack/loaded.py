"""Everything that a command loads, so that a fork of this process can begin at once."""

import contextlib
import importlib
import pkgutil
import sys
from typing import Any

import situs

_LARGE = ("situs.tune", "situs.demo", "situs.clients.hf")
"""Packages whose libraries take long to load, and which few commands need."""
_ELSEWHERE = (
    "PIL.PngImagePlugin", "PIL.JpegImagePlugin", "pyarrow.parquet", "pyarrow.compute", "h5py",
    "nibabel", "pydicom",
    "highdicom", "scipy.ndimage", "scipy.stats", "scipy.spatial", "scipy.sparse.csgraph", "httpx",
    "jinja2", "asyncio",
    "multiprocessing.pool", "concurrent.futures.process", "concurrent.futures.thread", "sqlite3",
    "cryptography",
)  # fmt: skip
"""Libraries that functions load when they are called."""


def _all() -> None:
    for module in pkgutil.walk_packages(situs.__path__, "situs.", onerror=lambda _: None):
        if not module.name.startswith(_LARGE):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(module.name)
    for name in _ELSEWHERE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


_all()


def _machine_code() -> None:
    """What numba has compiled and stored before, so that a child need not link it again."""
    from numba.core.dispatcher import Dispatcher  # type: ignore[import-untyped,unused-ignore]

    modules = [module for name, module in sys.modules.items() if name.startswith("situs.")]
    kernels = {id(value): value for module in modules for value in vars(module).values()}
    for kernel in kernels.values():
        if isinstance(kernel, Dispatcher):
            for signature, *_ in _stored(kernel):
                kernel.compile(signature)


def _stored(kernel: Any) -> list[Any]:
    cache_file = getattr(kernel._cache, "_cache_file", None)  # none where nothing is stored
    return [] if cache_file is None else list(cache_file._load_index())


_machine_code()
