"""A bench with its description in Croissant:
JSON-LD that dataset search engines and loaders read."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import check_regular, read_text
from situs.bench import Bench
from situs.bench.tables import table_schema
from situs.export.about import About
from situs.export.evidence import Scope
from situs.export.written import Written

__all__ = ["write_croissant"]

_FILES = {
    "items.parquet": (
        "One row per question, with its typed answer, steps and the ids of the facts that prove it"
    ),
    "facts.parquet": "One row per measured statement, with value, unit, interval and derivation",
    "studies.parquet": "One row per study: opaque ids, grids and hashes of the evidence",
}
_PARQUET = "application/x-parquet"
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of the specification, version 1.0, with the words of its responsible-AI extension."""
_SCALARS = {
    "string": "sc:Text",
    "double": "sc:Float",
    "int64": "sc:Integer",
    "bool": "sc:Boolean",
}


def write_croissant(bench: Bench, scope: Scope, folder: Path, about: About) -> Written:
    """The bench's tables with a Croissant description (`croissant.json`),
    responsible-AI fields included."""
    for name in (*_FILES, "bench.json", "README.md"):
        check_regular(bench.folder / name)
        shutil.copyfile(bench.folder / name, folder / name)
    if about.banner:
        card = read_text(folder / "README.md")
        (folder / "README.md").write_text(f"{card}\n**{about.banner}**\n", "utf-8")
    document = _document(bench, folder, about)
    (folder / "croissant.json").write_bytes(
        msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    )
    scope.progress(1, 1)
    load = "mlcroissant.Dataset('croissant.json').records('items')"
    return Written(bench.info.counts["items"], 0, load)


def _document(bench: Bench, folder: Path, about: About) -> dict[str, Any]:
    info = bench.info
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.0",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": about.name,
        "alternateName": info.name,
        "description": (
            f"{info.counts['items']:,} spatial questions on {info.counts['studies']:,} CT and MRI"
            f" studies of {info.counts['patients']:,} patients, with answers that are recomputed"
            " from measured facts."
        ),
        "identifier": info.content_hash,
        "version": "1.0.0",
        "license": info.licence or "not stated",
        "isAccessibleForFree": not info.restricted,
        "keywords": ["medical imaging", "visual question answering", "spatial reasoning"],
        "citeAs": f"Situs bench {info.name}, content hash {info.content_hash}",
        "creator": {"@type": "Organization", "name": "not stated"},
        **_responsible(bench),
        "distribution": [_file_object(folder / name, words) for name, words in _FILES.items()],
        "recordSet": [_record_set(bench.folder / name, words) for name, words in _FILES.items()],
    }


def _responsible(bench: Bench) -> dict[str, Any]:
    """The responsible-AI fields, from what the bench knows of itself."""
    info = bench.info
    annotations = sorted({s.annotation for study in bench.studies() for s in study.series})
    limits = [
        "No radiologist has vetted a sample of the items unless the card says so.",
        *info.notes,
        *(f"Not asked: {why} ({n:,})" for why, n in info.not_asked.items()),
    ]
    biases = [
        "Patients, scanners and diseases are those of the source and not a sample of a population.",
        (
            "Questions in the stratum 'textbook' can be answered from anatomical knowledge, without"
            " the scan; the stratum 'headline' is balanced so that question texts alone do not tell"
            " the answer."
        ),
    ]
    release = (
        "Restricted: share the tables only with people who may hold the source data."
        if info.restricted
        else "Not restricted; the licence of the source applies."
    )
    return {
        "rai:dataCollection": (
            f"Built by Situs {info.written_by} from {info.source}, seed {info.seed}."
        ),
        "rai:dataCollectionType": ["Secondary Data Analysis"],
        "rai:dataAnnotationProtocol": (
            f"Evidence: {', '.join(filter(None, annotations)) or info.source}."
        ),
        "rai:dataAnnotationAnalysis": (
            "Every number has an interval for voxel size and annotation error; questions whose"
            " answer would not hold over it are not asked."
        ),
        "rai:dataPreprocessingProtocol": [
            "Structures are measured in millimetres from label volumes; every answer names its"
            " facts."
        ],
        "rai:dataUseCases": ["Evaluation of models that read CT and MRI", "Not for clinical use"],
        "rai:dataLimitations": limits,
        "rai:dataBiases": biases,
        "rai:personalSensitiveInformation": [
            "Derived from health data. Ids are opaque; no name, date or path is inside."
        ],
        "rai:dataSocialImpact": (
            "Scores say how well a model answers these questions, not how well it would care for"
            " patients."
        ),
        "rai:dataReleaseMaintenancePlan": f"{release} A change gives a new content hash.",
    }


def _file_object(path: Path, words: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "description": words,
        "contentUrl": path.name,
        "encodingFormat": _PARQUET,
        "contentSize": f"{path.stat().st_size} B",
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def _record_set(path: Path, words: str) -> dict[str, Any]:
    """The columns that hold texts and numbers, and lists of them;
    nested ones are only in the file."""
    import pyarrow as pa

    fields = []
    for column in table_schema(path):
        is_list = pa.types.is_list(column.type)
        kind = _SCALARS.get(str(column.type.value_type if is_list else column.type))
        if kind is None:
            continue
        field = {
            "@type": "cr:Field",
            "@id": f"{path.stem}/{column.name}",
            "name": column.name,
            "dataType": kind,
            "source": {"fileObject": {"@id": path.name}, "extract": {"column": column.name}},
        }
        fields.append(field | ({"repeated": True} if is_list else {}))
    return {
        "@type": "cr:RecordSet",
        "@id": path.stem,
        "name": path.stem,
        "description": words,
        "field": fields,
    }
