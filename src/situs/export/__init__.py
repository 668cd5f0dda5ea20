"""A bench or a run as files that other tools load."""

from situs.base.verbs import make_callable
from situs.export.formats import FORMATS, Exported, export_bench, export_run, known_formats
from situs.export.traces import Trace, traces_of

__all__ = [
    "FORMATS",
    "Exported",
    "Trace",
    "export_bench",
    "export_run",
    "known_formats",
    "traces_of",
]

make_callable(__name__)
