"""Everything that a command loads, so that a fork of this process can begin at once."""

import contextlib
import importlib
import inspect
import pkgutil
import sys
from typing import Any

import msgspec

import situs
from attack.readers import readers
from situs.base.plugins import offered

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


_OF_THE_MACHINE = "situs.volumes.limits"
"""How much memory there is: each call looks for itself."""
_REPLIES = (
    "yes", "No, it is not.", "(A) the left kidney", "A or B", "3.5 mm, about 2 cm", "frames 1-2",
    "<think>no</think> B", '{"answer": "A"}', "[1, 2, 3, 4] tear", "size: 2", "left and below",
    "The 12 mm nodule lies in the left upper lobe; the liver is normal.",
)  # fmt: skip


def _shipped_data() -> None:
    """Tables and patterns that the program reads from its own files once, and never changes."""
    modules = [module for name, module in sys.modules.items() if name.startswith("situs.")]
    values = {id(value): value for module in modules for value in vars(module).values()}
    for value in values.values():
        if hasattr(value, "cache_info") and value.__module__ != _OF_THE_MACHINE:
            parameters = inspect.signature(value).parameters.values()
            if all(parameter.default is not parameter.empty for parameter in parameters):
                value()
        elif isinstance(value, type) and issubclass(value, msgspec.Struct):
            with contextlib.suppress(TypeError):  # it cannot be read from JSON, and never is
                msgspec.json.Decoder(value)
    for group in ("situs.tasks", "situs.readers", "situs.clients"):
        offered(group)
    for read in readers().values():
        for reply in _REPLIES:
            read(reply)


_shipped_data()
