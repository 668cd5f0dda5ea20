"""Pipelines: from a source of evidence to a bench."""

from situs.build._cohort import BuildOptions, BuildResult, build_bench
from situs.build._licences import is_open_licence
from situs.build._masks import build_masks
from situs.build._phantoms import build_phantoms

__all__ = ["BuildOptions", "BuildResult", "build_bench", "build_masks", "build_phantoms", "is_open_licence"]
