"""The modality lookup table of a DICOM image:
stored values to the values that are meant (PS3.3 C.11.1)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

__all__ = ["Lookup", "read_lookup"]

_MOST_ENTRIES = 1 << 16


@dataclass(frozen=True, eq=False)
class Lookup:
    """Values by stored value, counted from `first`; below and above, the ends of the table hold."""

    first: int
    values: NDArray[np.uint16]

    def of(self, pixels: NDArray[Any]) -> NDArray[np.uint16]:
        """The values of stored pixels."""
        return self.values[np.clip(pixels.astype(np.int64) - self.first, 0, self.values.size - 1)]


def read_lookup(dataset: Dataset, path: Path, *, signed: bool) -> Lookup | None:
    """The table of an image, or None; a damaged one is an error."""
    tables = dataset.get("ModalityLUTSequence")
    if not tables:
        return None
    described, data = tables[0].get("LUTDescriptor"), tables[0].get("LUTData")
    try:
        entries, first, bits = (int(number) for number in described)
        if isinstance(data, bytes):
            wide = bits > 8 or len(data) >= 2 * (entries or _MOST_ENTRIES)
            values = np.frombuffer(data, "<u2" if wide else "u1")
        else:
            values = np.atleast_1d(np.asarray(data, dtype=np.int64))
    except (TypeError, ValueError, OverflowError):
        raise _damaged(path) from None
    entries = entries or _MOST_ENTRIES
    values = values[:entries]
    if not 0 < entries <= _MOST_ENTRIES or values.size != entries or not 0 < bits <= 16:
        raise _damaged(path)
    if values.min() < 0 or values.max() >= 1 << 16:
        raise _damaged(path)
    if signed and first >= 1 << 15:
        first -= 1 << 16
    return Lookup(first, values.astype(np.uint16))


def _damaged(path: Path) -> SitusError:
    return SitusError(
        "its lookup table for values is damaged", where=path, fix="repair or export it again"
    )
