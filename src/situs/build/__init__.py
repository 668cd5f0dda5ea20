"""Pipelines: from a source of evidence to a bench."""

import importlib

from situs.agents import DIMENSIONS, dimensions_of
from situs.build._adapter_check import Ability, AdapterReport, check_adapter
from situs.build._boxes import build_boxes, parse_mix
from situs.build._cohort import build_bench
from situs.build._debias import debias
from situs.build._grades import GradeSource, build_grades
from situs.build._import_3dreasonknee import import_3dreasonknee
from situs.build._import_ct_spatialvqa import import_ct_spatialvqa
from situs.build._import_items import import_items
from situs.build._import_sgmri import SgmriRow, import_sgmri, sgmri_rows
from situs.build._knees import build_knees, knee_grades
from situs.build._licences import is_open_licence
from situs.build._masks import build_masks
from situs.build._phantoms import build_phantoms
from situs.build._reports import build_reports
from situs.build._show import Shown, show
from situs.build._study import with_sources
from situs.build._writer import BenchWriter, BuildOptions, BuildResult

__all__ = [
    "DIMENSIONS",
    "Ability",
    "AdapterReport",
    "BenchWriter",
    "BuildOptions",
    "BuildResult",
    "GradeSource",
    "SgmriRow",
    "Shown",
    "build_bench",
    "build_boxes",
    "build_grades",
    "build_knees",
    "build_masks",
    "build_phantoms",
    "build_reports",
    "check_adapter",
    "debias",
    "dimensions_of",
    "import_3dreasonknee",
    "import_ct_spatialvqa",
    "import_items",
    "import_sgmri",
    "is_open_licence",
    "knee_grades",
    "parse_mix",
    "sgmri_rows",
    "show",
    "with_sources",
]


def __getattr__(name: str) -> object:
    """`situs.build.masks` and its like, which return benches: they stand in `situs.api`, above this package."""
    if name in ("boxes", "grades", "masks", "phantoms", "reports"):
        return getattr(importlib.import_module("situs.api.build"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
