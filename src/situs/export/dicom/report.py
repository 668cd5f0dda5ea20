"""DICOM structured reports: the numbers of the ledger after TID 1500 "Measurement Report"."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import highdicom as hd
import numpy as np
from highdicom.sr import (
    FindingSite,
    ImageRegion3D,
    Measurement,
    MeasurementProperties,
    MeasurementReport,
    MeasurementsAndQualitativeEvaluations,
    PlanarROIMeasurementsAndQualitativeEvaluations,
    ReferencedSegment,
    TrackingIdentifier,
    VolumetricROIMeasurementsAndQualitativeEvaluations,
)
from pydicom.dataset import Dataset
from pydicom.sr.codedict import codes

from situs import __version__
from situs.export.dicom.codes import SCHEME, measure_code, side_of, structure_code, unit_code
from situs.export.dicom.headers import MAKER, make_repeatable, uid_of
from situs.export.dicom.segmentation import Segment
from situs.export.evidence import Mark, SeriesEvidence
from situs.facts import Fact

__all__ = ["measured_facts", "measurement_report"]


def measured_facts(facts: Sequence[Fact]) -> dict[tuple[str, ...], list[Fact]]:
    """Structure or pair → the facts about it that are
    one number in a unit that the report can name."""
    groups: dict[tuple[str, ...], list[Fact]] = {}
    for fact in facts:
        is_number = isinstance(fact.value, int | float) and not isinstance(fact.value, bool)
        if is_number and math.isfinite(float(str(fact.value))) and unit_code(fact.unit) is not None:
            groups.setdefault(fact.subjects, []).append(fact)
    return groups


def measurement_report(
    evidence: SeriesEvidence,
    images: Sequence[Dataset],
    files: Sequence[Dataset],
    segments: dict[str, Segment],
) -> Dataset | None:
    """A report with a group for every structure, pair and marked point;
    None where there is nothing to report."""
    content = [
        *_groups(evidence, files, segments, images[0].SeriesInstanceUID),
        *_marks(evidence, images[0]),
    ]
    if not content:
        return None
    info, study, series = evidence.bench.info, evidence.study, evidence.series
    device = hd.sr.ObserverContext(
        observer_type=codes.DCM.Device,
        observer_identifying_attributes=hd.sr.DeviceObserverIdentifyingAttributes(
            uid=uid_of(info, "observer"),
            name=f"{MAKER} {__version__}",
            manufacturer_name=MAKER,
            model_name=MAKER,
        ),
    )
    report = MeasurementReport(
        observation_context=hd.sr.ObservationContext(observer_device_context=device),
        procedure_reported=codes.SCT.ImagingProcedure,
        imaging_measurements=content,
        title=codes.DCM.ImagingMeasurementReport,
    )
    document = hd.sr.Comprehensive3DSR(
        evidence=[*images, *files],
        content=report[0],
        series_instance_uid=uid_of(info, "reports", study.study_id, series.series),
        series_number=200,
        sop_instance_uid=uid_of(info, "report", study.study_id, series.series),
        instance_number=1,
        manufacturer=MAKER,
        is_complete=True,
        is_final=False,
        is_verified=False,
    )
    make_repeatable(document, info, "inside", document.SOPInstanceUID)
    return document


def _groups(
    evidence: SeriesEvidence,
    files: Sequence[Dataset],
    segments: dict[str, Segment],
    series_uid: str,
) -> Iterator[Any]:
    """A group of measurements for every structure and pair."""
    for subjects, facts in measured_facts(evidence.facts).items():
        measurements = [_measurement(evidence, fact) for fact in facts]
        tracking = TrackingIdentifier(
            uid=uid_of(evidence.bench.info, "group", evidence.name, *subjects),
            identifier=" | ".join(subjects),
        )
        segment = segments.get(subjects[0]) if len(subjects) == 1 else None
        if segment is None:
            yield MeasurementsAndQualitativeEvaluations(
                tracking_identifier=tracking,
                measurements=measurements,
                finding_sites=_sites(evidence, subjects) or None,
            )
            continue
        term = evidence.terms[subjects[0]]
        yield VolumetricROIMeasurementsAndQualitativeEvaluations(
            tracking_identifier=tracking,
            referenced_segment=_segment_reference(files[segment.file], segment.number, series_uid),
            finding_type=structure_code(term),
            finding_sites=_sites(evidence, subjects),
            measurements=measurements,
        )


def _segment_reference(file: Dataset, number: int, series_uid: str) -> ReferencedSegment:
    """One segment, and the images it was drawn on."""
    return ReferencedSegment(
        sop_class_uid=file.SOPClassUID,
        sop_instance_uid=file.SOPInstanceUID,
        segment_number=number,
        source_series=hd.sr.SourceSeriesForSegmentation(series_uid),
    )


def _sites(evidence: SeriesEvidence, subjects: Sequence[str]) -> list[FindingSite]:
    terms = [evidence.terms[name] for name in subjects if name in evidence.terms]
    return [FindingSite(structure_code(term), laterality=side_of(term)) for term in terms]


def _measurement(evidence: SeriesEvidence, fact: Fact) -> Measurement:
    """The value as the ledger has it (a binary double beside the decimal text),
    with how far it may be off."""
    value = float(fact.value)  # type: ignore[arg-type]
    uncertainty = None
    if fact.interval is not None and all(map(math.isfinite, fact.interval)):
        low, high = fact.interval
        uncertainty = MeasurementProperties(
            upper_measurement_uncertainty=float(high - value),
            lower_measurement_uncertainty=float(value - low),
        )
    return Measurement(
        name=measure_code(fact.kind),
        value=value,
        unit=unit_code(fact.unit),
        tracking_identifier=TrackingIdentifier(
            uid=uid_of(evidence.bench.info, "fact", fact.fact_id), identifier=fact.fact_id
        ),
        properties=uncertainty,
    )


def _marks(evidence: SeriesEvidence, image: Dataset) -> Iterator[Any]:
    """Marked points, in the patient's frame of reference."""
    for mark in evidence.marks:
        yield PlanarROIMeasurementsAndQualitativeEvaluations(
            tracking_identifier=TrackingIdentifier(
                uid=uid_of(evidence.bench.info, "mark", mark.item_id, mark.letter),
                identifier=f"{mark.item_id} mark {mark.letter}",
            ),
            referenced_region=ImageRegion3D(
                graphic_type=hd.sr.GraphicTypeValues3D.POINT,
                graphic_data=_lps(mark),
                frame_of_reference_uid=image.FrameOfReferenceUID,
            ),
            finding_type=hd.sr.CodedConcept("mark", SCHEME, "Marked point"),
        )


def _lps(mark: Mark) -> np.ndarray:
    x, y, z = mark.at_mm
    return np.array([[-x, -y, z]])
