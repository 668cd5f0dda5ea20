"""Tools that lie in one named way:
the truthful tool on changed masks, so every lie is consistent in itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import msgspec
import numpy as np

from situs.anatomy import lesion_family
from situs.bench import Bench
from situs.errors import SitusError
from situs.facts import (
    ALL,
    Ledger,
    MaskedSeries,
    number,
)
from situs.items import Answer, Item, NotAsked, Number, Question, YesNo, task_of_masks
from situs.probe import Patient, derive, mirrored
from situs.room.tools.measures import TOLD_TO
from situs.space import Affine, Grid

__all__ = ["as_told", "lied_answer", "lied_patient", "lying_ledger"]

_CM = 0.1
_NEAR = 0.05
"""A number this near to what the tool told follows it."""
_OF_TOOL = {"cm": 0.1}
"""Unit of an answer → how much of it is one of the tool's (mm, mL), where they differ."""
_BALL_MM = 25.0
"""Radius of what a constant tool measures."""


def lied_patient(
    lie: str, patient: Patient, another: Callable[[], Patient | None]
) -> Patient | None:
    """The body that the lying tool measures; None where the lie cannot be told of this patient."""
    if lie == "stale-patient":
        return another()
    return _BODIES[lie](patient)


def lying_ledger(body: Patient, bench: Bench) -> Ledger:
    """What the lying tool knows. A body that no patient has would be doubted; here nothing is."""
    return Ledger(
        body.labels,
        MaskedSeries(
            study_id=body.study.study_id,
            series=body.series.series,
            labels_hash=body.series.labels_hash,
            annotation=body.series.annotation,
            side_basis=body.series.side_basis,
        ),
        recipe=bench.info.recipe,
        terms=body.terms,
        trusted=(ALL,),
    )


def lied_answer(item: Item, lying: Ledger, truthful: Ledger) -> Answer | None:
    """The answer that follows from the lie; None where none follows, or the right one does.

    The question is posed anew to the lying tool's body. Where it would not be asked there (a value
    too near to a limit, an organ that is cut), whoever believes the tool still reads a number off
    it: then that number decides.
    """
    derived = next(iter(derive([item], lying, "lie")))
    if derived.outcome == "undefined":
        answer = _by_number(item, lying, truthful)
    else:
        answer = derived.item.answer if derived.outcome == "changed" else None
    return as_told(answer) if isinstance(answer, Number) else answer


def as_told(answer: Number) -> Number:
    """With room for how the tool puts the number in words:
    whoever repeats "0.2 mL" follows a lie of 0.235."""
    half = 0.5 * TOLD_TO * _OF_TOOL.get(answer.unit, 1.0)
    low, high = answer.interval or (answer.value, answer.value)
    interval = (min(low, answer.value - half), max(high, answer.value + half))
    return msgspec.structs.replace(answer, interval=interval)


def _by_number(item: Item, lying: Ledger, truthful: Ledger) -> Answer | None:
    """The item's own measure as the lying tool tells it:
    as the answer, or against the item's limit."""
    task = task_of_masks(item.task)
    if task is None or not isinstance(item.answer, Number | YesNo):
        return None
    try:
        posed = task.pose(truthful, Question(item.task, item.form, item.parameters))
        if isinstance(posed, NotAsked) or not posed.facts:
            return None
        fact = posed.facts[0]
        true, lying_value = number(fact), number(lying.fact(fact.kind, *fact.subjects))
    except (SitusError, KeyError, ValueError):
        return None
    if isinstance(item.answer, Number):
        scale = item.answer.value / true if true else 1.0
        value = lying_value * scale
        near = sorted((value * (1 - _NEAR), value * (1 + _NEAR)))
        lied_answer = Number(value, item.answer.unit, (near[0], near[1]))
        low, high = item.answer.interval or (item.answer.value, item.answer.value)
        return None if low <= lied_answer.value <= high else lied_answer
    limits = [s.value for s in posed.steps if s.value is not None and s.value.threshold is not None]
    if len(limits) != 1 or limits[0].threshold is None or not limits[0].value:
        return None
    limit = limits[0].threshold * true / limits[0].value
    agrees = (lying_value > limit) == (true > limit)
    return None if agrees else YesNo(not item.answer.value)


def _in_centimetres(patient: Patient) -> Patient:
    """Every length a tenth of what it is, under the same name."""
    matrix = patient.labels.grid.affine.matrix.copy()
    matrix[:3] *= _CM
    grid = Grid(patient.labels.grid.shape, Affine(matrix))
    labels = dataclasses.replace(patient.labels, grid=grid)
    return dataclasses.replace(patient, labels=labels, image=None)


def _renamed(patient: Patient) -> Patient | None:
    """Every organ under the name of another, far down the list; lesions keep theirs."""
    structures = patient.labels.structures
    organs = sorted(s.name for s in structures if lesion_family(s.name, patient.terms) is None)
    if len(organs) < 2:
        return None
    half = len(organs) // 2
    other = dict(zip(organs, organs[half:] + organs[:half], strict=True))
    renamed = tuple(msgspec.structs.replace(s, name=other.get(s.name, s.name)) for s in structures)
    labels = dataclasses.replace(patient.labels, structures=renamed)
    return dataclasses.replace(patient, labels=labels, image=None)


def _all_alike(patient: Patient) -> Patient:
    """Every structure is the same ball in the middle of the scan."""
    grid = patient.labels.grid
    middle = (np.array(grid.shape) - 1) / 2.0
    axes = np.meshgrid(*(np.arange(n) - m for n, m in zip(grid.shape, middle)), indexing="ij")
    offsets = np.stack(axes, axis=-1) @ grid.affine.linear.T
    ball = (np.linalg.norm(offsets, axis=-1) <= _BALL_MM).astype(np.uint8, order="F")
    layers = tuple(ball for _ in patient.labels.structures)
    structures = tuple(
        msgspec.structs.replace(s, layer=number, value=1)
        for number, s in enumerate(patient.labels.structures)
    )
    labels = dataclasses.replace(patient.labels, layers=layers, structures=structures, block=None)
    return dataclasses.replace(patient, labels=labels, image=None)


_BODIES: dict[str, Callable[[Patient], Patient | None]] = {
    "wrong-side": lambda patient: dataclasses.replace(mirrored(patient), image=None),
    "cm-for-mm": _in_centimetres,
    "other-organ": _renamed,
    "constant": _all_alike,
}
"""Lie → what it makes of a patient; `room.ladder.LIES` says what each is."""
