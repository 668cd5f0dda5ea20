"""Where an NRRD lies in the patient:
from `space` and `space directions`, or from `spacings` alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError

__all__ = ["Place", "locate"]

_SPACES = {
    "left-posterior-superior": (-1, -1, 1),
    "lps": (-1, -1, 1),
    "right-anterior-superior": (1, 1, 1),
    "ras": (1, 1, 1),
    "left-anterior-superior": (-1, 1, 1),
    "las": (-1, 1, 1),
}
_NOT_ANATOMICAL = ("scanner-xyz", "3d-right-handed", "3d-left-handed")
_UNDECLARED = (-1, -1, 1)
"""With no space given, axes are read as LPS, as ITK does;
the orientation is flagged as undeclared."""


@dataclass(frozen=True)
class Place:
    """The RAS+ matrix of the three spatial axes and which axes are stored."""

    matrix: NDArray[np.float64]
    kept: frozenset[int]
    """Axes that stay: the spatial ones and the list axis."""
    list_axis: int | None
    """The one axis of several values that is not spatial."""
    basis: str
    warnings: tuple[str, ...]


def locate(fields: dict[str, str], sizes: list[int], *, where: object) -> Place:
    """Read orientation, spacing and origin; the matrix is not yet checked for singularity."""
    space = fields.get("space", "").lower()
    signs = _SPACES.get(space)
    if space and signs is None and space not in _NOT_ANATOMICAL:
        raise SitusError(
            "its space is not one of LPS, RAS, LAS",
            where=where,
            fix="save it in left-posterior-superior space",
        )
    vectors = _directions(fields, len(sizes), where)
    warnings = []
    if vectors is None:
        columns = _spacings(fields, sizes, where)
        declared = False
        warnings.append("no space directions in the header: spacing is known, orientation is not")
    else:
        columns, declared = vectors, signs is not None
        if not declared:
            warnings.append("no anatomical space in the header: orientation is not known")
    spatial = [axis for axis, column in enumerate(columns) if column is not None]
    extra = [axis for axis, column in enumerate(columns) if column is None and sizes[axis] != 1]
    if len(extra) > 1:
        raise SitusError(
            "has several axes that are not spatial", where=where, fix="extract one 3D volume first"
        )
    linear = [column for column in columns if column is not None]
    if len(linear) > 3 and all(sizes[axis] == 1 for axis in spatial[3:]):
        spatial, linear = spatial[:3], linear[:3]
    if len(linear) != 3:
        raise SitusError(
            f"has {len(linear)} spatial axes, not 3", where=where, fix="give a 3D volume"
        )
    matrix = np.eye(4)
    matrix[:3, :3] = np.array(linear).T
    origin = _vector(fields["space origin"], where) if "space origin" in fields else None
    if origin is None and declared:
        warnings.append("no space origin in the header: 0 is used")
    matrix[:3, 3] = origin or (0.0, 0.0, 0.0)
    matrix[:3] *= np.array(signs or _UNDECLARED, dtype=np.float64)[:, None]
    return Place(
        matrix=matrix,
        kept=frozenset((*spatial, *extra)),
        list_axis=extra[0] if extra else None,
        basis="affine" if declared else "undeclared",
        warnings=tuple(warnings),
    )


def _vector(text: str, where: object) -> tuple[float, float, float]:
    parts = text.strip().strip("()").split(",")
    try:
        x, y, z = (float(part) for part in parts)
    except ValueError as error:
        raise SitusError(
            "a space vector is not three numbers", where=where, fix="repair the header"
        ) from error
    return x, y, z


def _directions(
    fields: dict[str, str], dimension: int, where: object
) -> list[tuple[float, float, float] | None] | None:
    """One world step per axis, `None` where the axis is not spatial;
    `None` if the field is missing."""
    if "space directions" not in fields:
        return None
    text = (
        fields["space directions"]
        .replace(", ", ",")
        .replace(" ,", ",")
        .replace("( ", "(")
        .replace(" )", ")")
    )
    words = text.split()
    if len(words) != dimension:
        raise SitusError(
            "space directions and dimension do not agree", where=where, fix="repair the header"
        )
    return [None if word.lower() == "none" else _vector(word, where) for word in words]


def _spacings(
    fields: dict[str, str], sizes: list[int], where: object
) -> list[tuple[float, float, float] | None]:
    """Steps along the world axes from `spacings`; NaN marks an axis that is not spatial."""
    try:
        values = [float(word) for word in fields.get("spacings", "").split()]
    except ValueError:
        values = []
    if len(values) != len(sizes):
        raise SitusError(
            "has no usable space directions or spacings",
            where=where,
            fix="add the voxel spacing to the header",
        )
    columns: list[tuple[float, float, float] | None] = []
    for value in values:
        step = [0.0, 0.0, 0.0]
        axis = sum(column is not None for column in columns)
        if math.isnan(value) or axis > 2:
            columns.append(None)
            continue
        step[axis] = value
        columns.append((step[0], step[1], step[2]))
    return columns
