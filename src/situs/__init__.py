"""Situs: spatial questions on CT and MRI whose answers can be proved, and whether a model looked or
guessed.

>>> import situs
>>> bench = situs.build.phantoms(16, out="bench")
>>> run = situs.run(bench, "prior", out="runs/prior")
>>> situs.score(bench, run)
"""

import _signal  # type: ignore[import-not-found]  # of Python itself: loading it runs no code
import sys


def _is_program() -> bool:
    """Whether this is the program, not a library that another one loads."""
    if sys.argv[:1] == ["-m"]:  # `python -m situs`, `python -Bmsitus`
        names = ("situs", "situs.__main__")
        return any(
            given.startswith("-") and (given.partition("m")[2] or following) in names
            for given, following in zip(sys.orig_argv, [*sys.orig_argv[1:], ""])
        )
    script = sys.argv[0].replace("\\", "/").rpartition("/")[2] if sys.argv else ""
    return script in ("situs", "situs.exe", "situs-script.py")


if _is_program():
    # Before anything else is loaded: from here on Ctrl-C ends the program without a traceback.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    # `python -m` puts the current folder first on the path: code beside data must not run.
    if sys.argv[0] == "-m" and not sys.flags.safe_path:
        del sys.path[0]

import importlib  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

__version__ = "0.3.0.dev0"

__all__ = [
    "Bench",
    "Client",
    "Fact",
    "Item",
    "Reply",
    "Request",
    "SitusError",
    "build",
    "check",
    "compare",
    "debias",
    "export",
    "import_",
    "measure",
    "metric",
    "open_bench",
    "probe",
    "report",
    "run",
    "score",
    "show",
    "task",
]

if TYPE_CHECKING:
    from situs.api import Bench as Bench
    from situs.api import build as build
    from situs.api import check as check
    from situs.api import compare as compare
    from situs.api import debias as debias
    from situs.api import export as export
    from situs.api import import_ as import_
    from situs.api import measure as measure
    from situs.api import open_bench as open_bench
    from situs.api import probe as probe
    from situs.api import report as report
    from situs.api import run as run
    from situs.api import score as score
    from situs.api import show as show
    from situs.clients import Client as Client
    from situs.clients import Reply as Reply
    from situs.clients import Request as Request
    from situs.errors import SitusError as SitusError
    from situs.facts import Fact as Fact
    from situs.items import Item as Item
    from situs.items import task as task
    from situs.score import metric as metric

_VERBS = ("build", "export", "measure", "probe", "report", "run", "score", "show")
"""Packages and modules that answer a call, see `situs.base.verbs`."""
_RECORDS = {
    "Client": "situs.clients",
    "Fact": "situs.facts",
    "Item": "situs.items",
    "Reply": "situs.clients",
    "Request": "situs.clients",
    "SitusError": "situs.errors",
    "metric": "situs.score.metrics.registry",
    "task": "situs.items",
}


def __getattr__(name: str) -> Any:
    """Names are loaded when they are first used: `import situs` itself loads nothing."""
    if name in _VERBS:
        return importlib.import_module(f"situs.{name}")
    if name in __all__:
        return getattr(importlib.import_module(_RECORDS.get(name, "situs.api")), name)
    raise AttributeError(f"module 'situs' has no attribute {name!r}")


def __dir__() -> list[str]:
    # What a notebook offers after `situs.` is the public interface, not what this file imports.
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
