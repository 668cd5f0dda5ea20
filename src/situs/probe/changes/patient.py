"""A study in memory: the image and its labels on one grid, ready to be changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from situs.anatomy import Term
from situs.bench import (
    Bench,
    Locations,
    SeriesRecord,
    StudyRecord,
    beside_image,
    load_image,
    load_labels,
    restrict,
    terms_for,
)
from situs.facts import (
    Ledger,
    MaskedSeries,
    ScanValues,
)
from situs.volumes import LabelMap, brain_of

__all__ = ["Patient", "load_patient"]


@dataclass(frozen=True, eq=False)
class Patient:
    """One series of a study as it was, or as a probe changed it. Arrays are not written to."""

    study: StudyRecord
    series: SeriesRecord
    labels: LabelMap
    image: NDArray[Any] | None
    """On the grid of the labels; None where the bench has no image."""
    terms: Mapping[str, Term]

    def ledger(self, bench: Bench) -> Ledger:
        """What can be measured of it, by the bench's own recipe."""
        image, voxel_mm3 = self.image, self.labels.grid.affine.voxel_volume_mm3
        return Ledger(
            self.labels,
            MaskedSeries(
                study_id=self.study.study_id,
                series=self.series.series,
                labels_hash=self.series.labels_hash,
                annotation=self.series.annotation,
                side_basis=self.series.side_basis,
            ),
            recipe=bench.info.recipe,
            terms=self.terms,
            scan=ScanValues(
                image=image, brain=brain_of(image, voxel_mm3) if image is not None else None
            ),
        )


def load_patient(
    bench: Bench, study: StudyRecord, series: SeriesRecord, locations: Locations
) -> Patient:
    """Read a series' evidence, refused if it is not what the bench was built from."""
    image = load_image(series, locations) if series.image_hash else None
    labels = beside_image(
        restrict(load_labels(series, locations), series.structures), series, image
    )
    values = image.values if image is not None else None
    return Patient(study, series, labels, values, terms_for(series.structures, bench.info.terms))


def spacing_mm(patient: Patient) -> NDArray[np.float64]:
    """Voxel size along the stored axes."""
    return np.array(patient.labels.grid.affine.spacing_mm)
