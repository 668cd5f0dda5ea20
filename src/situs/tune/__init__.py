"""A bench or a run as files that other tools load."""

from situs.tune._export import FORMATS, Exported, export_bench, export_run

__all__ = ["FORMATS", "Exported", "export_bench", "export_run"]
