"""Law of pose and of stray voxels: a patient turned by up to 10°, a grid moved by half a voxel, and
masks with islands change no answer.

The turn is exact: the affine of the masks is turned, the voxels stay. A sampled turn is in the
sweep.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
import pytest
from _studies import ledger_of, phantom_labels

from situs.facts import Ledger
from situs.items import TASKS, Item, Number, candidates, declared_quotas
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

PATIENT = (7, 2)
"""A patient with lesions."""
SPACING = (3.0, 3.0, 3.0)
TURNS = [(axis, degrees) for axis in range(3) for degrees in (-10.0, 10.0)]
POSED = (
    "extent",
    "lesion_pole",
    "lesion_side",
    "lesion_pair",
    "level",
    "comparison",
    "contact",
    "distance",
    "compose",
)


def turned(grid: Grid, axis: int, degrees: float) -> Grid:
    """The same voxels, the patient turned about the middle of the scan."""
    i, j = (k for k in range(3) if k != axis)
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.eye(3)
    turn[i, i] = turn[j, j] = c
    turn[i, j], turn[j, i] = -s, s
    matrix = grid.affine.matrix.copy()
    middle = matrix[:3, :3] @ ((np.array(grid.shape) - 1) / 2.0) + matrix[:3, 3]
    matrix[:3, :3] = turn @ matrix[:3, :3]
    matrix[:3, 3] = turn @ (matrix[:3, 3] - middle) + middle
    return Grid(grid.shape, Affine(matrix))


def resampled(labels: LabelMap, axis: int, degrees: float) -> LabelMap:
    """The turned patient, scanned anew on the same grid."""
    from scipy import ndimage

    index = (
        np.linalg.inv(turned(labels.grid, axis, degrees).affine.matrix) @ labels.grid.affine.matrix
    )
    layers = tuple(
        ndimage.affine_transform(layer, index[:3, :3], index[:3, 3], order=0)
        for layer in labels.layers
    )
    seen = tuple(s for s in labels.structures if (layers[s.layer] == s.value).any())
    return dataclasses.replace(labels, layers=layers, structures=seen)


def asked(ledger: Ledger, tasks=POSED) -> dict[str, Item]:
    """Every question that may be asked, without quotas."""
    everything = dict.fromkeys(declared_quotas(TASKS.values()), 10**6)
    ledger.recipe = msgspec.structs.replace(ledger.recipe, per_study=everything)
    found, _ = candidates(ledger, "p", [TASKS[name] for name in tasks], seed=0)
    return {candidate.item.item_id: candidate.item for candidate in found}


def flipped(before: Mapping[str, Item], after: Mapping[str, Item]) -> list[str]:
    """Questions whose answer after is not the one before, or not within its interval."""
    wrong = []
    for item_id in before.keys() & after.keys():
        old, new = before[item_id].answer, after[item_id].answer
        if isinstance(old, Number) and isinstance(new, Number):
            low, high = old.interval
            same = low - 1e-6 <= new.value <= high + 1e-6
        else:
            same = old == new
        if not same:
            wrong.append(f"{before[item_id].question}: {old}, then {new}")
    return wrong


@pytest.mark.sampled
@pytest.mark.parametrize(("axis", "degrees"), [TURNS[0], TURNS[3]])
def test_no_answer_changes_when_the_patient_is_turned(axis: int, degrees: float) -> None:
    labels = phantom_labels(*PATIENT, SPACING, oblique=False)
    before = asked(ledger_of(labels))
    after = asked(ledger_of(dataclasses.replace(labels, grid=turned(labels.grid, axis, degrees))))
    assert len(before.keys() & after.keys()) > 20
    assert {item.task for item in before.values()} >= {"extent", "lesion_pole", "distance"}
    assert flipped(before, after) == []


HALVES = ((0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.5), (0.5, 0.5, 0.5))


@pytest.mark.parametrize(
    "index", [PATIENT[1], *(pytest.param(n, marks=pytest.mark.sweep) for n in range(8, 16))]
)
def test_no_answer_changes_when_the_scan_begins_half_a_voxel_on(
    index: int, little_of: Callable[..., Any]
) -> None:
    """The same patient on a grid that is moved by half a voxel:
    composed questions and the others."""
    before = asked(ledger_of(phantom_labels(PATIENT[0], index, SPACING, oblique=False)))
    for moved in little_of(HALVES, 1):
        labels = phantom_labels(PATIENT[0], index, SPACING, oblique=False, moved=moved)
        after = asked(ledger_of(labels))
        assert flipped(before, after) == []
        assert len(before.keys() & after.keys()) > 20
    assert any(item.task == "compose" for item in before.values())


@pytest.mark.sampled
@pytest.mark.parametrize(("axis", "degrees"), TURNS)
@pytest.mark.parametrize("index", [2, 3])
def test_a_turned_patient_is_not_doubted(index: int, axis: int, degrees: float) -> None:
    """Turned by 10°, the sacrum lies some 50 mm off what the chest tells,
    and yet where it belongs."""
    labels = phantom_labels(7, index, SPACING, oblique=False)
    assert ledger_of(labels).doubts == []
    assert (
        ledger_of(dataclasses.replace(labels, grid=turned(labels.grid, axis, degrees))).doubts == []
    )


@pytest.mark.sweep
@pytest.mark.parametrize("index", range(8))
def test_no_answer_changes_for_any_turn(index: int, little_of: Callable[..., Any]) -> None:
    labels = phantom_labels(7, index, oblique=False)
    before = asked(ledger_of(labels), [*POSED, "direction", "volume", "lesion_organ"])
    for axis, degrees in little_of(TURNS, 1):
        exact = dataclasses.replace(labels, grid=turned(labels.grid, axis, degrees))
        for changed in (exact, resampled(labels, axis, degrees)):
            after = asked(ledger_of(changed), [*POSED, "direction", "volume", "lesion_organ"])
            assert flipped(before, after) == []


def strewn(labels: LabelMap, rng: np.random.Generator, voxels: int) -> LabelMap:
    """Stray voxels of every structure anywhere in the scan, where nothing else is labelled."""
    layers = [layer.copy() for layer in labels.layers]
    for structure in labels.structures:
        layer = layers[structure.layer]
        if voxels > 0.01 * np.count_nonzero(layer == structure.value):
            continue
        free = np.argwhere(layer == 0)
        layer[tuple(free[rng.choice(len(free), voxels, replace=False)].T)] = structure.value
    return dataclasses.replace(labels, layers=tuple(layers))


@pytest.mark.parametrize(
    "voxels",
    [1, pytest.param(5, marks=pytest.mark.sweep), pytest.param(20, marks=pytest.mark.sweep)],
)
def test_stray_voxels_change_no_answer(voxels: int) -> None:
    labels = phantom_labels(*PATIENT, SPACING, oblique=False)
    before = asked(ledger_of(labels))
    after = asked(ledger_of(strewn(labels, np.random.default_rng(voxels), voxels)))
    assert flipped(before, after) == []
    assert flipped(after, before) == [], "nor when they are removed"
    assert len(before.keys() & after.keys()) > 10


def test_a_stray_voxel_does_not_lengthen_an_organ() -> None:
    """An ellipsoid 102 mm long with one voxel far below: the length stays, and is not asked for."""
    shape = (60, 60, 90)
    index = np.stack(np.meshgrid(*(np.arange(n) for n in shape), indexing="ij"))
    far = sum(((i - c) / a) ** 2 for i, c, a in zip(index, (30.0, 30.0, 55.5), (9.0, 8.0, 17.0)))
    clean = (far <= 1.0).astype(np.uint8)
    stray = clean.copy()
    stray[30, 30, 18] = 1
    grid, kidney = (
        Grid(shape, Affine(np.diag([3.0, 3.0, 3.0, 1.0]))),
        (Structure(1, "kidney_left", 0, 1),),
    )
    ledgers = [ledger_of(LabelMap(grid, (layer,), kidney)) for layer in (clean, stray)]
    lengths = [ledger.fact("extent.superior_inferior", "kidney_left") for ledger in ledgers]
    assert lengths[0].value == lengths[1].value == 34 * 3.0
    assert [("islands" in length.flags) for length in lengths] == [False, True]
    assert [bool(asked(ledger, ["extent", "location"])) for ledger in ledgers] == [True, False]


def stray_voxel(labels: LabelMap, name: str, towards: np.ndarray) -> LabelMap:
    """One voxel of a structure in the nearest free place, along a direction of voxels, that lies 8
    voxels beyond its end there, or beside its centre if the direction is level."""
    (structure,) = [s for s in labels.structures if s.name == name]
    layer = labels.layers[structure.layer].copy()
    index = np.argwhere(layer == structure.value)
    along = index @ towards
    start = index.mean(axis=0) + towards * (along.max() - along.mean() + 8.0)
    free = np.argwhere(layer == 0)
    level = free[np.abs((free - start) @ towards) < 1.0]
    place = level[np.linalg.norm(level - start, axis=1).argmin()]
    layer[tuple(place)] = structure.value
    layers = list(labels.layers)
    layers[structure.layer] = layer
    return dataclasses.replace(labels, layers=tuple(layers))


ENDS = ["extent", "level", "reach"]


def asked_of_kidney(ledger: Ledger) -> dict[str, Item]:
    """Questions about the ends of the left kidney."""
    return {
        key: item
        for key, item in asked(ledger, ENDS).items()
        if "structure:kidney_left" in item.tags
    }


def test_a_stray_voxel_beside_an_organ_leaves_its_ends_alone() -> None:
    """What lies beside a kidney, at the height of its centre, changes neither its length nor the
    level of its poles: every question about them is asked as before."""
    labels = phantom_labels(*PATIENT, SPACING, oblique=False)
    before = asked_of_kidney(ledger_of(labels))
    assert {item.task for item in before.values()} >= {"extent", "level"}
    forward = np.rint(labels.grid.affine.matrix[1, :3] / SPACING[1])
    beside = ledger_of(stray_voxel(labels, "kidney_left", forward))
    assert "islands" in beside.fact("box", "kidney_left").flags
    assert before.keys() <= asked_of_kidney(beside).keys()
    assert flipped(before, asked_of_kidney(beside)) == []


def test_only_the_end_that_a_stray_voxel_moves_is_not_asked_for() -> None:
    labels = phantom_labels(*PATIENT, SPACING, oblique=False)
    down = -np.rint(labels.grid.affine.matrix[2, :3] / SPACING[2])
    before = asked_of_kidney(ledger_of(labels))
    below = ledger_of(stray_voxel(labels, "kidney_left", down))
    assert below.fact("ends_stray", "kidney_left").value == "bottom"
    after = asked_of_kidney(below)
    assert flipped(before, after) == []
    lost = [item for key, item in before.items() if key not in after]
    assert lost
    assert not [item for item in lost if item.parameters.get("at") == "top"]
    assert not [item for item in lost if item.parameters.get("end") == "top"]
    assert not [
        item
        for item in after.values()
        if item.form == "number"
        or (item.form == "choice" and item.parameters.get("at") == "bottom")
    ]


def test_a_turned_length_lies_within_the_interval() -> None:
    labels = phantom_labels(*PATIENT, SPACING, oblique=False)
    upright = ledger_of(labels)
    for (axis, degrees), name in itertools.product(TURNS, ("liver", "kidney_left", "spleen")):
        turn = ledger_of(dataclasses.replace(labels, grid=turned(labels.grid, axis, degrees)))
        low, high = upright.fact("extent.superior_inferior", name).interval
        assert low <= turn.fact("extent.superior_inferior", name).value <= high
