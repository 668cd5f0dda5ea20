"""Vertebral levels on a bent spine, in closed form, and on real vertebrae."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import numpy as np
import pytest

from situs.anatomy import term
from situs.facts import (
    LEVELS,
    Ledger,
    MaskedSeries,
    load_recipe,
)
from situs.items import TASKS, NotAsked, Posed, Question
from situs.measure import Regions, vertebral_body
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure, open_labels

RADIUS, STEP = 130.0, 22.0
"""mm: of the circle on which the bodies lie,
bent forwards, and from one body to the next along it."""
NAMES = LEVELS[LEVELS.index("T1") : LEVELS.index("T9") + 1]
MIDDLE = LEVELS.index("T5")
"""Lies at height 0, at the back of the circle."""
SPACING = 2.0
LOW = np.array([-24.0, -72.0, -146.0])
SHAPE = (25, 80, 127)


def _angle(level: float) -> float:
    return (MIDDLE - level) * STEP / RADIUS


def _centre(level: float) -> np.ndarray:
    """The circle's centre lies in front, at y = RADIUS."""
    angle = _angle(level)
    return np.array([0.0, RADIUS - RADIUS * np.cos(angle), RADIUS * np.sin(angle)])


def level_on_slice(height: float) -> float:
    """Where a plane at this height meets the circle."""
    return MIDDLE - np.arcsin(height / RADIUS) * RADIUS / STEP


def level_beside(y: float, z: float) -> float:
    """Where the line from the circle's centre through the point meets the circle:
    the nearest place on it."""
    return MIDDLE - np.arctan2(z, RADIUS - y) * RADIUS / STEP


@functools.cache
def _points() -> np.ndarray:
    return (
        np.stack(np.meshgrid(*(np.arange(n) for n in SHAPE), indexing="ij"), axis=-1) * SPACING
        + LOW
    )


def _vertebra(points: np.ndarray, level: int) -> np.ndarray:
    """A block of a body across the curve, two pedicles,
    and a spinous process that slopes down and back by 60°."""
    angle = _angle(level)
    back, up = (
        np.array([0.0, -np.cos(angle), np.sin(angle)]),
        np.array([0.0, np.sin(angle), np.cos(angle)]),
    )
    offset = points - _centre(level)
    x, b, u = offset[..., 0], offset @ back, offset @ up
    body = (np.abs(x) <= 15) & (np.abs(b) <= 12) & (np.abs(u) <= 9)
    pedicles = (np.abs(np.abs(x) - 11) <= 3) & (b > 0) & (b <= 28) & (np.abs(u - 3) <= 4)
    lamina = (np.abs(x) <= 14) & (np.abs(b - 27) <= 3) & (np.abs(u + 2) <= 8)
    process = (np.abs(x) <= 4) & (b > 27) & (b <= 46) & (np.abs(u + 2 + np.sqrt(3) * (b - 27)) <= 7)
    return body | pedicles | lamina | process


@functools.cache
def _spine_layer() -> np.ndarray:
    layer, points = np.zeros(SHAPE, np.uint8), _points()
    for number, name in enumerate(NAMES, start=1):
        layer[_vertebra(points, LEVELS.index(name)) & (layer == 0)] = number
    return layer


def kyphotic(ahead_mm: float, top_mm: float, turn: np.ndarray | None = None) -> Ledger:
    """The spine, a first rib that gives the count,
    and an aorta 8 mm wide so far in front of the bodies' centres."""
    layer, points = _spine_layer().copy(), _points()
    y = RADIUS - np.sqrt(RADIUS**2 - top_mm**2) + ahead_mm
    aorta = (
        (np.abs(points[..., 0] - 14) <= 4)
        & (np.abs(points[..., 1] - y) <= 4)
        & (points[..., 2] <= top_mm)
    )
    layer[aorta & (points[..., 2] > top_mm - 40)] = 30
    layer[1:4, 1:4, -4:-1] = 31
    structures = [Structure(n, f"vertebrae_{name}", 0, n) for n, name in enumerate(NAMES, start=1)]
    structures += [Structure(30, "aorta", 0, 30), Structure(31, "rib_left_1", 0, 31)]
    matrix = np.diag([SPACING, SPACING, SPACING, 1.0])
    matrix[:3, 3] = LOW
    if turn is not None:
        matrix = turn @ matrix
    return Ledger(
        LabelMap(Grid(SHAPE, Affine(matrix)), (layer,), tuple(structures)),
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms={s.name: term(s.name) for s in structures},
    )


def asked(ledger: Ledger, end: str = "top") -> Posed | NotAsked:
    return TASKS["level"].pose(ledger, Question("level", "choice", {"of": "aorta", "at": end}))


def test_the_body_of_a_vertebra_is_found_without_its_processes() -> None:
    """Most of these vertebrae is not body: their centroids lie well behind and below the body's."""
    ledger = kyphotic(16.0, 40.0)
    for level, centre in zip(ledger.spine.levels, ledger.spine.centres_mm):
        whole = ledger.regions[f"vertebrae_{LEVELS[int(level)]}"]
        assert np.linalg.norm(centre - _centre(level)) < 2.0
        assert np.linalg.norm(whole.centroid_mm - _centre(level)) > 6.0


@pytest.mark.parametrize("top_mm", [-42.0, 0.0, 30.0, 42.0])
@pytest.mark.parametrize("ahead_mm", [16.0, 44.0])
def test_both_readings_follow_the_circle(ahead_mm: float, top_mm: float) -> None:
    """Within a tenth of a level; half a voxel is a twentieth."""
    ledger = kyphotic(ahead_mm, top_mm)
    fact, nearest = (ledger.fact(f"{kind}.top", "aorta") for kind in ("level", "level_beside"))
    on_slice = level_on_slice(top_mm)
    beside = level_beside(RADIUS - np.sqrt(RADIUS**2 - top_mm**2) + ahead_mm, top_mm)
    assert fact.value == pytest.approx(on_slice, abs=0.1)
    assert nearest.value == pytest.approx(beside, abs=0.1)
    assert fact.interval[0] < on_slice < fact.interval[1]
    assert nearest.interval[0] < beside < nearest.interval[1]
    assert ("disputed" in fact.flags) is (round(on_slice) != round(beside))


def test_the_answer_is_the_body_on_the_slice() -> None:
    """At the height of the middle of T5 both readings are T5,
    however far in front; its process lies beside T6."""
    posed = asked(kyphotic(16.0, 0.0))
    assert isinstance(posed, Posed)
    assert posed.answer.value == "T5"


def test_where_the_readings_differ_nothing_is_asked() -> None:
    """44 mm in front of the body of T3, the nearest place on the bent spine is T2."""
    height = float(_centre(LEVELS.index("T3"))[2])
    top = 2.0 * round(height / 2.0)
    y = _centre(LEVELS.index("T3"))[1] + 44.0
    assert (round(level_on_slice(top)), round(level_beside(y, top))) == (
        LEVELS.index("T3"),
        LEVELS.index("T2"),
    )
    refusal = asked(kyphotic(44.0, top))
    assert isinstance(refusal, NotAsked)
    assert "slice" in refusal.reason


@pytest.mark.sampled
@pytest.mark.parametrize("level", ["T4", "T5", "T6"])
def test_an_answer_holds_when_the_patient_is_turned_by_ten_degrees(level: str) -> None:
    """Turned both ways about both axes, it is the same or is not asked."""
    top = SPACING * round(float(_centre(LEVELS.index(level))[2]) / SPACING)
    posed = asked(kyphotic(14.0, top))
    assert isinstance(posed, Posed)
    assert posed.answer.value == level
    for about, degrees in ((0, -10.0), (0, 10.0), (1, -10.0), (1, 10.0)):
        turned = asked(kyphotic(14.0, top, _turn(about, degrees)))
        assert isinstance(turned, NotAsked) or turned.answer == posed.answer, (about, degrees)


def test_what_a_tilt_would_change_is_not_asked() -> None:
    """60 mm in front of T5, a tilt by 10° moves the slice by 10.4 mm:
    0.47 of a step of 22 mm, and half a voxel."""
    refusal = asked(kyphotic(60.0, 0.0))
    assert isinstance(refusal, NotAsked)
    assert "tilt" in refusal.reason


def _turn(about: int, degrees: float) -> np.ndarray:
    angle = np.radians(degrees)
    turn, (a, b) = np.eye(4), ((1, 2) if about == 0 else (0, 2))
    turn[[a, a, b, b], [a, b, a, b]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
    return turn


def test_a_vertebra_that_has_no_place_in_the_row_leaves_levels_untold() -> None:
    ledger = kyphotic(16.0, 0.0)
    structures = tuple(
        Structure(s.label, s.name.replace("T9", "T13"), 0, s.value)
        for s in ledger.regions.labels.structures
    )
    labels = LabelMap(ledger.regions.grid, ledger.regions.labels.layers, structures)
    terms = {s.name: ledger.terms.get(s.name, ledger.terms["vertebrae_T8"]) for s in structures}
    renamed = Ledger(
        labels,
        MaskedSeries(
            study_id="s", series="ct", labels_hash="", annotation="exact", side_basis="affine"
        ),
        recipe=load_recipe(),
        terms=terms,
    )
    assert renamed.spine is None
    assert isinstance(asked(renamed), NotAsked)


@pytest.mark.parametrize("spacing_mm", [0.5, 1.0])
def test_fine_voxels_find_the_same_body_whichever_way_they_are_stored(spacing_mm: float) -> None:
    """Fine voxels are taken in blocks;
    a block of 30 × 24 × 18 mm with a process keeps its centre, flipped or not."""
    size = [round(mm / spacing_mm) for mm in (31, 60, 20)]
    array = np.zeros(size, np.uint8)
    a, b, c = (np.arange(n) * spacing_mm for n in size)
    body = (
        (a[:, None, None] <= 30)
        & (b[None, :, None] >= 36)
        & (b[None, :, None] < 60)
        & (c[None, None, :] < 18)
    )
    process = (
        (np.abs(a[:, None, None] - 15) <= 3) & (b[None, :, None] < 36) & (c[None, None, :] < 8)
    )
    array[body | process] = 1
    found = []
    for flip in (1, -1):
        affine = Affine(np.diag([spacing_mm] * 3 + [1.0]))
        labels = LabelMap(
            Grid(array.shape, affine),
            (np.ascontiguousarray(array[::flip, ::flip, ::flip]),),
            (Structure(1, "v", 0, 1),),
        )
        centre = vertebral_body(Regions(labels)["v"]).mean(axis=0)
        found.append(centre if flip == 1 else (np.array(size) - 1) * spacing_mm - centre)
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert found[0] == pytest.approx([15.0, 48.0, 9.0], abs=1.0)


REAL = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes" / "tptbox_spine"
BODY = (49, 50)
"""Subregion labels of the vertebral body in TPTBox (its rim, and the whole)."""


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="SITUS_REAL_DATA is not set")
@pytest.mark.parametrize(("folder", "vertebra"), [("sample_ct", 22), ("sample_mri", 6)])
def test_real_vertebrae_against_masks_of_their_bodies(folder: str, vertebra: int) -> None:
    """The one whole vertebra of each crop; the centroid of the whole lies 9 to 13 mm off."""
    vertebrae, parts = (
        open_labels(next((REAL / folder).glob(f"*seg-{kind}*.nii.gz")), {}).load()
        for kind in ("vert", "subreg")
    )
    region = next(r for r in Regions(vertebrae) if r.structure.label == vertebra)
    bodies = np.isin(parts.layers[0], [s.value for s in parts.structures if s.label in BODY])
    whole = vertebrae.layers[region.structure.layer] == region.structure.value
    index = np.argwhere(bodies & whole)
    truth = (index @ region.grid.affine.linear.T + region.grid.affine.matrix[:3, 3]).mean(axis=0)
    assert np.linalg.norm(vertebral_body(region).mean(axis=0) - truth) < 1.5
    assert np.linalg.norm(region.centroid_mm - truth) > 8.0
