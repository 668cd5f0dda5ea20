"""DICOM segmentations: the structures of a series as segments,
one file for each layer of its label map."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import highdicom as hd
import msgspec
import numpy as np
from pydicom.dataset import Dataset

from situs import __version__
from situs.anatomy import Term
from situs.export.dicom.codes import category_of, side_of, structure_code
from situs.export.dicom.frames import SliceStack
from situs.export.dicom.headers import MAKER, make_repeatable, uid_of
from situs.export.evidence import SeriesEvidence
from situs.volumes import LabelMap

__all__ = ["Segment", "segmentations"]

_BY_HAND = {"manual": "MANUAL", "corrected": "SEMIAUTOMATIC"}
"""How masks were made → the standard's word; exact and automatic ones are made by a program."""


class Segment(msgspec.Struct, frozen=True):
    """Where a structure lies: the segmentation and its number there."""

    file: int
    number: int


def segmentations(
    evidence: SeriesEvidence, stack: SliceStack, images: Sequence[Dataset], labels: LabelMap
) -> tuple[list[Dataset], dict[str, Segment]]:
    """The files, and where each structure is.

    Structures that overlap lie in different layers, hence files.
    """
    files: list[Dataset] = []
    segments: dict[str, Segment] = {}
    info, study, series = evidence.bench.info, evidence.study, evidence.series
    for layer, voxels in enumerate(labels.layers):
        structures = [s for s in labels.structures if s.layer == layer]
        if not structures:
            continue
        # Segments are numbered from 1 without a gap, label values need not be.
        numbers = np.zeros(max(int(voxels.max()), *(s.value for s in structures)) + 1, np.uint16)
        for number, structure in enumerate(structures, start=1):
            numbers[structure.value] = number
            segments[structure.name] = Segment(len(files), number)
        uid = uid_of(info, "segmentation", study.study_id, series.series, str(layer))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values that readers accept
            segmentation = hd.seg.Segmentation(
                source_images=images,
                pixel_array=stack.arranged(numbers[voxels]),
                segmentation_type=hd.seg.SegmentationTypeValues.BINARY,
                segment_descriptions=[
                    _description(number, s.name, evidence.terms[s.name], series.annotation)
                    for number, s in enumerate(structures, start=1)
                ],
                series_instance_uid=uid_of(info, "segmentations", study.study_id, series.series),
                series_number=100,
                sop_instance_uid=uid,
                instance_number=len(files) + 1,
                manufacturer=MAKER,
                manufacturer_model_name=MAKER,
                software_versions=__version__,
                device_serial_number="none",
                content_label="STRUCTURES",
            )
        make_repeatable(segmentation, info, "inside", uid)
        files.append(segmentation)
    return files, segments


def _description(number: int, name: str, term: Term, annotation: str) -> hd.seg.SegmentDescription:
    algorithm = _BY_HAND.get(annotation, "AUTOMATIC")
    identified = hd.AlgorithmIdentificationSequence(
        name=f"masks, {annotation}",
        family=hd.sr.CodedConcept("123109", "DCM", "Manual Processing")
        if algorithm == "MANUAL"
        else hd.sr.CodedConcept("123110", "DCM", "Artificial Intelligence"),
        version="unknown",
    )
    description = hd.seg.SegmentDescription(
        segment_number=number,
        segment_label=name[:64],
        segmented_property_category=category_of(term),
        segmented_property_type=structure_code(term),
        algorithm_type=algorithm,
        algorithm_identification=None if algorithm == "MANUAL" else identified,
    )
    side = side_of(term)
    if side is not None:
        typed = description.SegmentedPropertyTypeCodeSequence[0]
        typed.SegmentedPropertyTypeModifierCodeSequence = [side]
    return description
