"""The bench folder: reading and writing, ids, locations, splits, card and check."""

from situs.bench.card import hub_licence, write_card
from situs.bench.check import CheckResult, check_bench
from situs.bench.checks.anatomy import anatomy_problems, suspect_studies
from situs.bench.folder import (
    FORMAT,
    Bench,
    BenchInfo,
    SamePatient,
    SuspectStudy,
    content_hash,
    encode_info,
    open_bench,
)
from situs.bench.ids import (
    IdKind,
    IdRule,
    as_known,
    known_as,
    opaque_id,
    split_of,
    split_patients,
    visit_of,
)
from situs.bench.integrity import item_problem
from situs.bench.locations import Locations, write_locations
from situs.bench.readings import KeyReading, KeyVerdict, read_readings, settle_keys, write_readings
from situs.bench.sources.boxes import BoxEvidence, find_middle
from situs.bench.sources.grades import GradeEvidence
from situs.bench.sources.images import LoadedImage, load_image
from situs.bench.sources.masks import (
    beside_image,
    load_labels,
    load_ledger,
    restrict,
    terms_for,
)
from situs.bench.study import SeriesRecord, StudyRecord
from situs.bench.tables import TableWriter, read_table

__all__ = [
    "FORMAT",
    "Bench",
    "BenchInfo",
    "BoxEvidence",
    "CheckResult",
    "GradeEvidence",
    "IdKind",
    "IdRule",
    "KeyReading",
    "KeyVerdict",
    "LoadedImage",
    "Locations",
    "SamePatient",
    "SeriesRecord",
    "StudyRecord",
    "SuspectStudy",
    "TableWriter",
    "anatomy_problems",
    "as_known",
    "beside_image",
    "check_bench",
    "content_hash",
    "encode_info",
    "find_middle",
    "hub_licence",
    "item_problem",
    "known_as",
    "load_image",
    "load_labels",
    "load_ledger",
    "opaque_id",
    "open_bench",
    "read_readings",
    "read_table",
    "restrict",
    "settle_keys",
    "split_of",
    "split_patients",
    "suspect_studies",
    "terms_for",
    "visit_of",
    "write_card",
    "write_locations",
    "write_readings",
]
