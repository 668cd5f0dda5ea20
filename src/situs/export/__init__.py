"""A bench or a run as files that other tools load."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports
from situs.base.verbs import make_callable

if TYPE_CHECKING:
    from situs.export.evidence import Scope
    from situs.export.formats import FORMATS, Exported, export_bench, export_run, known_formats
    from situs.export.traces import Trace, traces_of
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "FORMATS",
    "Exported",
    "Scope",
    "Trace",
    "export_bench",
    "export_run",
    "known_formats",
    "traces_of",
]

make_callable(__name__)
