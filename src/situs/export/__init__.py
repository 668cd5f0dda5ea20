"""A bench or a run as files that other tools load."""

from situs.base.verbs import make_callable
from situs.export.formats import FORMATS, Exported, export_bench, export_run

__all__ = ["FORMATS", "Exported", "export_bench", "export_run"]

make_callable(__name__)
