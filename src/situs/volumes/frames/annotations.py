"""Boxes that a reader drew on frames: one record, whatever file they came in."""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.anatomy import NORMAL, known_findings
from situs.base.files import canonical_json, digest
from situs.errors import Problem
from situs.space import FrameBox

__all__ = ["AnnotationSet", "FrameAnnotation", "Mark", "SourceCounts"]


class Mark(msgspec.Struct, frozen=True, order=True):
    """Something that was annotated but whose box cannot be used:
    it proves nothing present, and nothing absent."""

    frame: int
    """-1 if it could not be read."""
    label: str
    """The finding's clean name; empty if it could not be read."""


class FrameAnnotation(msgspec.Struct, frozen=True):
    """What was annotated on one volume.

    Boxes lie on the picture as it is displayed, its first row on top.
    """

    volume: str
    """The source's own name; it stays out of the hash."""
    organ: str
    boxes: tuple[FrameBox, ...]
    """Sorted; the label of each is the finding's clean name."""
    study_labels: tuple[str, ...] = ()
    """Findings that hold for the whole study, without a place."""
    reviewed: bool = False
    """Whether a list says that a reader went through the volume."""
    patient: str = ""
    frames: int = 0
    """How many frames the source says there are; 0 if it does not."""
    size: tuple[int, int] | None = None
    """Width and height, where the source states them."""
    unusable: tuple[Mark, ...] = ()
    """Rows that were left out (without extent, outside the picture, unreadable); sorted."""

    @property
    def hash(self) -> str:
        """Hash of what was annotated, independent of names, files and the order of rows."""
        content = (self.organ, self.boxes, self.study_labels, self.reviewed, self.frames, self.size)
        return digest(canonical_json((*content, self.unusable) if self.unusable else content))

    def evidence(self, study_id: str) -> str:
        """Hash of what was annotated on this very study:
        two volumes without findings are not each other's evidence."""
        return digest(self.hash, study_id)

    @property
    def read_as_normal(self) -> bool:
        """Whether a reader found nothing: no row but that it is normal, which or a list says so."""
        if self.boxes or self.unusable or set(self.study_labels) - {NORMAL}:
            return False
        return self.reviewed or NORMAL in self.study_labels


class SourceCounts(msgspec.Struct):
    """What an annotation file and its list hold, row by row, before anything is cleaned up."""

    rows: int = 0
    box_rows: int = 0
    study_rows: int = 0
    volumes: int = 0
    """In the annotation file."""
    volumes_with_boxes: int = 0
    volumes_with_study_labels_only: int = 0
    annotated_frames: int = 0
    labels: int = 0
    box_labels: int = 0
    reviewed: int = 0
    """In the list."""
    in_list_only: int = 0
    zero_size: int = 0
    outside: int = 0
    duplicate_rows: int = 0
    same_box_two_labels: int = 0
    """Boxes of one frame that nearly coincide (IoU of at least .8) under two labels."""
    two_study_labels: int = 0
    """Further labels of the whole study:
    rows that share its empty coordinates under another label."""
    repeated_places: int = 0
    """Rows with volume, slice and coordinates of another row,
    whatever their label: duplicates and the ones above."""


class AnnotationSet(msgspec.Struct):
    """Every annotated or reviewed volume of some files, and what is wrong with them."""

    annotations: list[FrameAnnotation]
    file_of: dict[str, Path]
    """Volume → the annotation file it is in, else the list."""
    list_of: dict[str, Path]
    """Volume → the list that says it was reviewed."""
    counts: dict[str, SourceCounts]
    """By annotation file."""
    problems: list[Problem]
    row_of: dict[tuple[str, FrameBox], str]
    """Volume and box → file and line."""

    def kinds(self, organ: str) -> tuple[str, ...]:
        """Every finding drawn as a box in this organ:
        those of the shipped table, then others of these files."""
        shipped = [entry.name for entry in known_findings(organ) if entry.plural] if organ else []
        drawn = {
            box.label
            for annotation in self.annotations
            if annotation.organ == organ
            for box in annotation.boxes
        }
        return (*shipped, *sorted(drawn - set(shipped)))
