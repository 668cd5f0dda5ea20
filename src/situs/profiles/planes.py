"""The three planes, and how each is laid on the screen."""

from __future__ import annotations

from enum import StrEnum

from situs.space import Axis, Direction

__all__ = ["Plane"]


class Plane(StrEnum):
    """A plane of the acquired grid. Pictures follow the radiological convention."""

    AXIAL = "axial"
    CORONAL = "coronal"
    SAGITTAL = "sagittal"

    @property
    def through(self) -> Axis:
        """The axis one scrolls along."""
        return {
            "axial": Axis.SUPERIOR_INFERIOR,
            "coronal": Axis.ANTERIOR_POSTERIOR,
            "sagittal": Axis.LEFT_RIGHT,
        }[self.value]

    @property
    def left_edge(self) -> Direction:
        """What lies at the picture's left edge:
        the patient's right, or the front in a sagittal view."""
        return Direction.ANTERIOR if self is Plane.SAGITTAL else Direction.RIGHT

    @property
    def top_edge(self) -> Direction:
        """What lies at the picture's top edge: the front in an axial view, else the head."""
        return Direction.ANTERIOR if self is Plane.AXIAL else Direction.SUPERIOR
