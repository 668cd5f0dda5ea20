"""Volumes and labels from untrusted files: what a header may claim, what voxels may hold, where
studies lie.

Opening reads headers only; `Volume.array` and `Labels.load` read voxels. Arrays are indexed [i, j,
k] in stored order with the first axis fastest; `grid.affine` maps indices to RAS+ millimetres.
Whatever is wrong with a file is a `SitusError`; no text field of a header enters a message, a
warning or a hash, except the names of segments, which are the names of structures.
"""

from situs.volumes.formats.registry import stored_array
from situs.volumes.formats.stored import Stored
from situs.volumes.frames.annotations import AnnotationSet, FrameAnnotation, Mark, SourceCounts
from situs.volumes.frames.knee_sides import KneeSide, read_sides
from situs.volumes.frames.reader import read_annotations
from situs.volumes.frames.stacks import FrameStack, find_stacks, hash_frames, open_stack
from situs.volumes.label_map import LabelMap, Structure
from situs.volumes.labels import Labels, open_labels
from situs.volumes.layouts.find import StudySource, Survey, find_studies, find_study, survey
from situs.volumes.layouts.named import find_volumes
from situs.volumes.layouts.source import LAYOUTS
from situs.volumes.modality import brain_of, may_show_face, modality_of
from situs.volumes.padding import doubled_slices, padding_of
from situs.volumes.volume import Volume, open_volume

__all__ = [
    "LAYOUTS",
    "AnnotationSet",
    "FrameAnnotation",
    "FrameStack",
    "KneeSide",
    "LabelMap",
    "Labels",
    "Mark",
    "SourceCounts",
    "Stored",
    "Structure",
    "StudySource",
    "Survey",
    "Volume",
    "brain_of",
    "doubled_slices",
    "find_stacks",
    "find_studies",
    "find_study",
    "find_volumes",
    "hash_frames",
    "may_show_face",
    "modality_of",
    "open_labels",
    "open_stack",
    "open_volume",
    "padding_of",
    "read_annotations",
    "read_sides",
    "stored_array",
    "survey",
]
