"""BIDS: images in `sub-*/[ses-*/]anat`,
segmentations in `derivatives/*`, names in `_dseg.tsv` tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from situs.anatomy import term
from situs.base.files import read_csv
from situs.errors import SitusError
from situs.volumes.formats.stored import clean_name
from situs.volumes.layouts.beside import image_of
from situs.volumes.layouts.source import StudySource
from situs.volumes.volume import kind_of, stem_of

__all__ = ["find_bids"]

_SUBJECT = re.compile(r"sub-[A-Za-z0-9]+")
_LABELS = re.compile(r"(?P<start>sub-[A-Za-z0-9]+.*)_(?P<suffix>dseg|mask|roi|msk)")
_VERSE = re.compile(r"^sub-(verse|gl)[0-9]+.*_seg-vert_msk$")
"""How VerSe names its vertebrae."""
_NOT_IMAGES = (
    "dseg",
    "mask",
    "roi",
    "msk",
    "probseg",
    "defacemask",
    "xfm",
    "bold",
    "dwi",
    "events",
)
_PREFERRED = ("T1w", "T2w", "FLAIR", "ct", "T2starw", "PDw")
"""Suffixes of images, the one to show first."""
_MOST_FOLDERS = 100_000


def find_bids(root: Path) -> list[StudySource]:
    """The labelled sessions of a BIDS dataset,
    raw with its derivatives, or of one derivative dataset."""
    # VerSe and others keep the raw images in `rawdata`, beside `derivatives`.
    if not any(_holds_subjects(folder) for folder in (root, root / "rawdata")):
        return []
    files = list(_files(root))
    labels = [file for file in files if _LABELS.fullmatch(stem_of(file))]
    images = [file for file in files if stem_of(file).rpartition("_")[2] not in _NOT_IMAGES]
    by_session: dict[str, list[Path]] = {}
    for file in labels:
        by_session.setdefault(_session(file), []).append(file)
    studies = []
    for session, segmentations in sorted(by_session.items()):
        session_images = sorted(
            (image for image in images if _session(image) == session), key=_rank
        )
        for file in _chosen(segmentations):
            names = _names(file, root)
            studies.append(
                StudySource(
                    session,
                    image_of(file, session_images),
                    file,
                    names=names,
                    layout="bids",
                    vocabulary="verse" if _VERSE.search(stem_of(file)) else None,
                    patient_key=f"{root.name}/{session.partition('_')[0]}",
                )
            )
    return studies


def _holds_subjects(folder: Path) -> bool:
    return folder.is_dir() and any(
        _SUBJECT.fullmatch(child.name) and child.is_dir() for child in folder.iterdir()
    )


def _files(root: Path) -> Iterator[Path]:
    """Volumes of subjects, in the raw dataset and in every derivative."""
    for number, (folder, names, files) in enumerate(os.walk(root)):
        if number >= _MOST_FOLDERS:
            raise SitusError(
                f"holds more than {_MOST_FOLDERS} folders", where=root, fix="give a smaller folder"
            )
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder) / name
            if _SUBJECT.match(name) and kind_of(path) is not None:
                yield path


def _session(file: Path) -> str:
    """`sub-01_ses-2`: the subject, and the session where there are several."""
    parts = stem_of(file).split("_")
    return "_".join(part for part in parts if part.startswith(("sub-", "ses-")))


def _rank(image: Path) -> tuple[int, int, str]:
    suffix = stem_of(image).rpartition("_")[2]
    preference = _PREFERRED.index(suffix) if suffix in _PREFERRED else len(_PREFERRED)
    return preference, int("_desc-brain" in image.name), str(image)


def _chosen(segmentations: list[Path]) -> list[Path]:
    """A session's label map if it has one;
    of several, one with a table of names; else its first mask."""
    maps = [file for file in segmentations if stem_of(file).endswith("_dseg")]
    lesions = [
        file for file in segmentations if _entity(file, "label") is not None and file not in maps
    ]
    choices = maps or lesions or segmentations
    return sorted(choices, key=lambda file: (not _beside(file).is_file(), str(file)))[:1]


def _beside(file: Path) -> Path:
    return file.with_name(stem_of(file) + ".tsv")


def _entity(file: Path, key: str) -> str | None:
    match = re.search(rf"_{key}-([A-Za-z0-9]+)", stem_of(file))
    return match[1] if match else None


def _names(file: Path, root: Path) -> dict[int, str] | None:
    """The names of label values: from the nearest table, or what the name of a mask says."""
    table = next((path for path in _tables(file, root) if path.is_file()), None)
    if table is not None:
        return _read_table(table)
    if stem_of(file).endswith("_dseg"):
        return None
    entities = [name for name in (_entity(file, "label"), _entity(file, "desc")) if name]
    # ATLAS writes `label-L_desc-T1lesion`: there the label is a side, and the description what was
    # drawn.
    name = next((name for name in entities if term(name).known), next(iter(entities), None))
    return {1: name} if name else None


def _tables(file: Path, root: Path) -> Iterator[Path]:
    """A table beside the file, or above it:
    it then names the entities that it applies to (inheritance)."""
    yield _beside(file)
    suffix = stem_of(file).rpartition("_")[2]
    described = _entity(file, "desc")
    folder = file.parent
    while True:
        if described is not None:
            yield folder / f"desc-{described}_{suffix}.tsv"
        yield folder / f"{suffix}.tsv"
        if folder == root or root not in folder.parents:
            return
        folder = folder.parent


def _read_table(path: Path) -> dict[int, str] | None:
    columns, rows = read_csv(path)
    if "index" not in columns or "name" not in columns:
        fix = "a BIDS label table has the columns index and name"
        raise SitusError("has no column index or no column name", where=path, fix=fix)
    names: dict[int, str] = {}
    for line, row in rows:
        index = (row.get("index") or "").strip()
        if not re.fullmatch(r"\d{1,9}(\.0+)?", index):
            raise SitusError(
                f"index {index!r} is not a whole number",
                where=f"{path}:{line}",
                fix="repair the table",
            )
        name = clean_name(row.get("name") or "")
        if name and int(float(index)):
            names[int(float(index))] = name
    return names or None
