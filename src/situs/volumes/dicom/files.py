"""DICOM files: telling them by their bytes, and reading their headers without a sound.

pydicom is imported on first use only. Its warnings and log lines quote tag values, so both are
silenced while it works, and whatever it raises becomes a one-line `SitusError` that quotes nothing.
"""

from __future__ import annotations

import logging
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from situs.base.remote import present
from situs.errors import SitusError
from situs.volumes.formats.stored import enough_memory, open_binary, size_of
from situs.volumes.limits import MAX_GZIP_RATIO, max_bytes

if TYPE_CHECKING:
    from pydicom.dataset import Dataset, FileMetaDataset

__all__ = ["DEFLATED_FILE", "dicom_files", "is_dicom", "quiet", "read_dataset"]

DEFLATED_FILE = "1.2.840.10008.1.2.1.99"
_PREAMBLE_BYTES = 128
_GROUP_LENGTH_BYTES = 12
_PIXEL_GROUP = 0x7FE00000
_MOST_ELEMENTS = 50_000
"""A few bytes can inflate to millions of empty elements; an honest header has some hundred."""
_DIRECTORY_NAMES = ("DICOMDIR",)
_PIXELS = ("PixelData", "FloatPixelData", "DoubleFloatPixelData")


def is_dicom(path: Path) -> bool:
    """Whether the file has the DICOM mark, whatever its name."""
    with open_binary(path) as stream:
        return stream.read(_PREAMBLE_BYTES + 4)[_PREAMBLE_BYTES:] == b"DICM"


def dicom_files(folder: Path) -> list[Path]:
    """The DICOM files right in a folder, by name;
    hidden files, media directories and other kinds are passed over."""
    try:
        files = sorted(
            file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")
        )
    except OSError as error:
        raise SitusError(
            f"cannot be read ({error.strerror})", where=folder, fix="check its permissions"
        ) from error
    return [file for file in files if file.name.upper() not in _DIRECTORY_NAMES and is_dicom(file)]


@contextmanager
def quiet(path: Path, problem: str = "is damaged, or not valid DICOM") -> Iterator[None]:
    """No warning or log line of pydicom gets out; any exception becomes an error about `path`
    without detail.

    The exceptions of pydicom and its decoders on damaged input are of every kind, and quote what
    they read.
    """
    from pydicom import config

    logger = logging.getLogger("pydicom")
    was_disabled, logger.disabled = logger.disabled, True
    mode, config.settings.reading_validation_mode = (
        config.settings.reading_validation_mode,
        config.IGNORE,
    )
    try:
        with warnings.catch_warnings(), enough_memory(path):
            warnings.simplefilter("ignore")
            yield
    except SitusError:
        raise
    except Exception:
        raise SitusError(problem, where=path, fix="copy or export it again") from None
    finally:
        logger.disabled = was_disabled
        config.settings.reading_validation_mode = mode


def read_dataset(
    path: Path, keywords: tuple[str, ...], *, pixels: bool = False
) -> tuple[Dataset, int]:
    """The named elements of a file with their sequences, no others, and the (inflated) size of the
    file.

    Call it inside `quiet`.
    """
    from pydicom import dcmread
    from pydicom.datadict import tag_for_keyword
    from pydicom.filereader import read_file_meta_info

    present(path)
    size = size_of(path)
    wanted = [*keywords, *(_PIXELS if pixels else ())]
    tags = [tag for keyword in wanted if (tag := tag_for_keyword(keyword)) is not None]
    meta = read_file_meta_info(path)
    if str(meta.get("TransferSyntaxUID", "")) == DEFLATED_FILE:
        return _read_deflated(path, meta, tags, pixels)
    with path.open("rb") as stream:
        return dcmread(stream, stop_before_pixels=not pixels, specific_tags=list(tags)), size


def _read_deflated(
    path: Path, meta: FileMetaDataset, tags: list[int], pixels: bool
) -> tuple[Dataset, int]:
    """A deflated file, inflated here up to a bound: pydicom would inflate without one."""
    from pydicom import filereader, uid

    with path.open("rb") as stream:
        stream.seek(
            _PREAMBLE_BYTES + 4 + _GROUP_LENGTH_BYTES + int(meta.FileMetaInformationGroupLength)
        )
        packed = stream.read()
    bound = min(max_bytes(), MAX_GZIP_RATIO * max(1, len(packed)))
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    plain = inflater.decompress(packed, bound)
    if not inflater.eof:
        raise SitusError(
            "truncated: its compressed part is incomplete",
            where=path,
            fix="copy or export it again",
        )

    read = 0

    def at_pixels(tag: int, vr: str | None, length: int) -> bool:
        nonlocal read
        read += 1
        if read > _MOST_ELEMENTS:
            raise SitusError(
                "holds too many elements", where=path, fix="is it the right file? export it again"
            )
        return not pixels and tag >= _PIXEL_GROUP

    dataset = filereader.read_dataset(
        BytesIO(plain), False, True, stop_when=at_pixels, specific_tags=list(tags)
    )
    meta.TransferSyntaxUID = uid.ExplicitVRLittleEndian
    dataset.file_meta = meta
    dataset.set_original_encoding(False, True)
    return dataset, len(plain)
