"""Another body: the patient mirrored or turned over,
the voxels untouched and only their place changed."""

from __future__ import annotations

import dataclasses

import msgspec
import numpy as np

from situs.anatomy import term
from situs.probe.changes.patient import Patient
from situs.space import Affine, Axis, Grid, IndexPoints

__all__ = ["mirrored", "reflected"]


def reflected(patient: Patient, axis: Axis) -> Patient:
    """The patient reflected along an axis, about the middle of the scan; names stay."""
    grid = patient.labels.grid
    matrix = grid.affine.matrix.copy()
    middle = grid.affine.to_world(IndexPoints(np.array([(np.array(grid.shape) - 1) / 2])))[0]
    row = axis.world_index
    matrix[row] *= -1.0
    matrix[row, 3] += 2.0 * float(middle[row])
    turned = Grid(grid.shape, Affine(matrix))
    series = msgspec.structs.replace(patient.series, affine=tuple(float(v) for v in matrix.ravel()))
    labels = dataclasses.replace(patient.labels, grid=turned)
    return dataclasses.replace(patient, series=series, labels=labels)


def mirrored(patient: Patient) -> Patient:
    """The patient's mirror image: left and right change places and positional names with them.

    A structure whose name follows its form (a cardiac chamber, a lung lobe) has no name in a
    mirrored body: it is left out, and questions about it have no answer.
    """
    result = reflected(patient, Axis.LEFT_RIGHT)
    names = {s.name: patient.terms[s.name].mirrored_name for s in result.labels.structures}
    renamed = tuple(
        msgspec.structs.replace(structure, name=name)
        for structure in result.labels.structures
        if (name := names[structure.name]) is not None
    )
    terms = {structure.name: term(structure.name, patient.terms) for structure in renamed}
    return dataclasses.replace(
        result, labels=dataclasses.replace(result.labels, structures=renamed), terms=terms
    )
