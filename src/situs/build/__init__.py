"""Pipelines: from a source of evidence to a bench."""

from typing import TYPE_CHECKING

from situs.base.lazy import lazy_exports

if TYPE_CHECKING:
    from situs.agents import DIMENSIONS, dimensions_of
    from situs.build.cohort import build_bench
    from situs.build.debiasing import debias
    from situs.build.imports.ct_spatialvqa import CategorySource, import_ct_spatialvqa
    from situs.build.imports.frame import (
        IMPORTERS,
        ImportedQuestion,
        ImportedStudy,
        Importer,
        ImportRun,
        bad_row,
        import_bench,
        offered_importer,
    )
    from situs.build.imports.items import import_items
    from situs.build.imports.reasonknee import import_3dreasonknee
    from situs.build.imports.sgmri import SgmriRow, import_sgmri, sgmri_rows
    from situs.build.licences import is_open_licence
    from situs.build.merging import merge_benches
    from situs.build.shards import (
        SHARD_FILE,
        ShardFinished,
        ShardInfo,
        check_shards,
        write_shard_info,
    )
    from situs.build.sources.boxes import build_boxes, parse_mix
    from situs.build.sources.grades import GradeSource, build_grades
    from situs.build.sources.knees import build_knees, knee_grades
    from situs.build.sources.masks import build_masks
    from situs.build.sources.phantoms import build_phantoms
    from situs.build.sources.reports import build_reports
    from situs.build.study import with_sources
    from situs.build.writer import BenchWriter, BuildOptions, BuildResult
else:
    # `situs.build.masks` and its like, which return benches, stand in `situs.api`, above this
    # package.
    _SOURCES = ("boxes", "grades", "masks", "phantoms", "reports")
    __getattr__ = lazy_exports(__name__, dict.fromkeys(_SOURCES, "situs.api.build"))


__all__ = [
    "DIMENSIONS",
    "IMPORTERS",
    "SHARD_FILE",
    "BenchWriter",
    "BuildOptions",
    "BuildResult",
    "CategorySource",
    "GradeSource",
    "ImportRun",
    "ImportedQuestion",
    "ImportedStudy",
    "Importer",
    "SgmriRow",
    "ShardFinished",
    "ShardInfo",
    "bad_row",
    "build_bench",
    "build_boxes",
    "build_grades",
    "build_knees",
    "build_masks",
    "build_phantoms",
    "build_reports",
    "check_shards",
    "debias",
    "dimensions_of",
    "import_3dreasonknee",
    "import_bench",
    "import_ct_spatialvqa",
    "import_items",
    "import_sgmri",
    "is_open_licence",
    "knee_grades",
    "merge_benches",
    "offered_importer",
    "parse_mix",
    "sgmri_rows",
    "with_sources",
    "write_shard_info",
]
