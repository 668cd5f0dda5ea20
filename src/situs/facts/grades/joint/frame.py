"""A joint's own directions, from its bones:
lateral, anterior and superior, whatever way the limb was laid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from situs.errors import SitusError

__all__ = ["JointFrame", "Points", "joint_frame", "patient_frame"]

Points = NDArray[np.float64]
Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class JointFrame:
    """Orthonormal axes of a limb's joint in RAS+ mm."""

    axes: Points
    """Rows: towards lateral, anterior, superior."""
    side: Side
    basis: str
    """What each direction was taken from."""

    def own(self, points_mm: Points) -> Points:
        """(n, 3) mm → lateral, anterior and superior coordinates in mm."""
        coordinates: Points = points_mm @ self.axes.T
        return coordinates


def joint_frame(centres_mm: Mapping[str, Points], side: Side) -> JointFrame:
    """The frame of a knee: up from tibia to femur, forward from femur to patella, lateral by the
    side of the body.

    Without a patella, forward is the patient's front. The side is a statement of the table, never
    guessed; where both menisci are there, they must lie as the side says.
    """
    missing = [name for name in ("femur", "tibia") if name not in centres_mm]
    if missing:
        fix = "name masks femur and tibia (--label-map), or give boxes (--boxes)"
        raise SitusError(f"no {' and '.join(missing)}: the knee's directions are unknown", fix=fix)
    up = _unit(centres_mm["femur"] - centres_mm["tibia"])
    ahead = (
        centres_mm["patella"] - centres_mm["femur"]
        if "patella" in centres_mm
        else np.array([0.0, 100.0, 0.0])
    )
    forward = _unit(ahead - (ahead @ up) * up)
    right = np.cross(forward, up)
    lateral = right if side == "right" else -right
    front = "femur to patella" if "patella" in centres_mm else "patient"
    basis = f"up: tibia to femur; front: {front}; lateral: {side} knee"
    frame = JointFrame(np.stack([lateral, forward, up]), side, basis)
    _refuse_swapped(frame, centres_mm)
    return frame


def patient_frame(side: Side) -> JointFrame:
    """The patient's own axes, for structures that are no joint;
    lateral is away from the middle of the body."""
    lateral = [1.0 if side == "right" else -1.0, 0.0, 0.0]
    return JointFrame(
        np.array([lateral, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), side, "the patient's axes"
    )


def _unit(vector: Points) -> Points:
    length = float(np.linalg.norm(vector))
    if length < 1.0:
        raise SitusError(
            "the bones' centres coincide: the knee's directions are unknown",
            fix="check the label map",
        )
    unit: Points = vector / length
    return unit


def _refuse_swapped(frame: JointFrame, centres_mm: Mapping[str, Points]) -> None:
    pair = [centres_mm.get(name) for name in ("lateral_meniscus", "medial_meniscus")]
    if (
        pair[0] is not None
        and pair[1] is not None
        and float((pair[0] - pair[1]) @ frame.axes[0]) <= 0
    ):
        fix = (
            "check the side in the table, the names in the label map, and the orientation in the"
            " header"
        )
        raise SitusError(
            f"the lateral meniscus lies medial of the medial one in a {frame.side} knee", fix=fix
        )
