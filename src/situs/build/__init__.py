"""Pipelines: from a source of evidence to a bench."""

from situs.build._adapter_check import Ability, AdapterReport, check_adapter
from situs.build._cohort import build_bench
from situs.build._debias import debias
from situs.build._import_items import import_items
from situs.build._licences import is_open_licence
from situs.build._masks import build_masks
from situs.build._phantoms import build_phantoms
from situs.build._show import Shown, show
from situs.build._writer import BuildOptions, BuildResult

__all__ = [
    "Ability",
    "AdapterReport",
    "BuildOptions",
    "BuildResult",
    "Shown",
    "build_bench",
    "build_masks",
    "build_phantoms",
    "check_adapter",
    "debias",
    "import_items",
    "is_open_licence",
    "show",
]
