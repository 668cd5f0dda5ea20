"""The side of a brain tumour, in a head stripped of its skull:
beyond the plane that halves the brain, by 5 mm."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from situs.anatomy import term
from situs.facts import (
    Ledger,
    MaskedSeries,
    ScanValues,
    load_recipe,
)
from situs.items import TASKS
from situs.items.subjects import subjects
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure, brain_of, may_show_face, modality_of

SHAPE, SPACING, CENTRE = (84, 100, 80), 2.0, (46, 50, 40)
PARTS = ("brain_tumour_enhancing", "brain_tumour_edema", "brain_tumour_necrotic_core")


def ball(centre, radii, shape=SHAPE) -> np.ndarray:
    return (
        sum(
            ((g - c) / r) ** 2 for g, c, r in zip(np.ogrid[tuple(map(slice, shape))], centre, radii)
        )
        <= 1
    )


BRAIN = ball(CENTRE, (33, 43, 32))


def ledger(
    aside: float, *, brain: np.ndarray | None = BRAIN, mirror: bool = False, order=(0, 1, 2)
) -> Ledger:
    """A tumour whose centre lies so many voxels right of the middle;
    its core 6, its edema 10 voxels in radius."""
    centre = (CENTRE[0] + aside, 50, 40)
    layer = np.zeros(SHAPE, np.uint8)
    for radius, value in ((10, 2), (6, 1), (3, 3)):
        layer[ball(centre, (radius,) * 3)] = value
    affine = Affine(np.diag([SPACING, SPACING, SPACING, 1.0]))
    if mirror:
        layer, brain = layer[::-1], brain[::-1]
    grid = Grid(
        tuple(SHAPE[a] for a in order),
        affine.reordered(order, (False,) * 3, tuple(SHAPE[a] for a in order)),
    )
    structures = tuple(Structure(n + 1, name, 0, n + 1) for n, name in enumerate(PARTS))
    return Ledger(
        LabelMap(grid, (np.asfortranarray(layer.transpose(order)),), structures),
        MaskedSeries(
            study_id="study",
            series="mr",
            labels_hash="hash",
            annotation="exact",
            side_basis="affine",
        ),
        recipe=load_recipe(),
        terms={name: term(name) for name in PARTS},
        scan=ScanValues(brain=None if brain is None else brain.transpose(order)),
    )


def test_the_parts_without_the_edema_are_the_core():
    """A ball of 6 voxels' radius; the parts keep their own masks."""
    found = ledger(16)
    assert set(found.structures) == {*PARTS, "brain_tumour_core"}
    assert found.fact("voxels", "brain_tumour_core").value == np.count_nonzero(
        ball((62, 50, 40), (6, 6, 6))
    )


def test_the_plane_runs_through_the_middle_of_the_brain():
    midline = ledger(16).midline
    assert midline.basis == "brain"
    assert midline.at(np.array([60.0, 80.0, 100.0]))[:, 0] == pytest.approx(
        CENTRE[0] * SPACING, abs=0.2
    )


@pytest.mark.parametrize(
    ("aside", "side", "flags"), [(16, "right", ()), (-16, "left", ()), (0, "both", ())]
)
def test_sides(aside, side, flags):
    fact = ledger(aside).fact("side", "brain_tumour_core")
    assert (fact.value, fact.flags) == (side, flags)


def test_a_tumour_beside_the_midline_is_not_certain():
    """It touches the middle; 5 mm further right,
    the plane would cut off h²(3r - h) / 4r³ = 11 % of it (r = 12 mm)."""
    fact = ledger(6).fact("side", "brain_tumour_core")
    assert (fact.value, fact.flags) == ("right", ("unstable",))


@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_no_order_of_axes_changes_the_share(order):
    one, two = ledger(5), ledger(5, order=order)
    first, second = (found.fact("right_share", "brain_tumour_core") for found in (one, two))
    assert second.value == pytest.approx(first.value, abs=1e-9)
    assert second.interval == pytest.approx(first.interval, abs=1e-9)


def test_the_mirror_image_swaps_the_share():
    first, second = (
        ledger(5, mirror=m).fact("right_share", "brain_tumour_core") for m in (False, True)
    )
    assert second.value == pytest.approx(1.0 - first.value, abs=1e-9)
    assert second.interval == pytest.approx(tuple(1.0 - v for v in first.interval[::-1]), abs=1e-9)


def test_no_brain_no_midline():
    """Half a brain, of which nobody can say where the middle was, and none at all."""
    assert ledger(16, brain=None).midline is None
    lopsided = BRAIN & (ball((30, 50, 40), (99, 99, 99)) & ~ball((79, 50, 40), (33, 22, 99)))
    assert ledger(16, brain=lopsided).midline is None


@pytest.mark.parametrize(
    ("values", "found"),
    [((0, 300), True), ((0, 0), False), ((5, 300), True), ((-1000, 300), False)],
)
def test_what_is_a_brain(values, found):
    """Not background in an MR, between half a litre and 2.2 litres; a CT is not stripped so."""
    image = np.where(BRAIN, values[1], values[0])
    assert (brain_of(image, SPACING**3) is not None) is found


@pytest.mark.parametrize(
    "normalised",
    [
        lambda image, brain: np.where(
            brain, (image - image[brain].mean()) / image[brain].std(), 0.0
        ),
        lambda image, brain: (image - image.mean()) / image.std(),
        lambda image, brain: image - image.mean(),
        lambda image, brain: 40.0 * (image - image.mean()),
    ],
    ids=["within the brain", "over the image", "mean taken off", "far below air"],
)
def test_a_brain_is_found_whole_whatever_was_subtracted(normalised):
    """A quarter to half of its voxels are negative then; the background may be any one value."""
    image = np.where(BRAIN, np.random.default_rng(3).normal(300.0, 80.0, SHAPE).clip(1.0), 0.0)
    values = normalised(image, BRAIN).astype(np.float32)
    assert modality_of(values) == "mr"
    assert np.array_equal(brain_of(values, SPACING**3), BRAIN)
    assert not may_show_face(values, SPACING**3)


@pytest.mark.parametrize("kind", [np.float32, np.int16])
def test_an_mr_with_noise_around_it_is_an_mr_also_without_its_mean(kind):
    """No part of it passes for a brain: an image stripped of its skull has no noise around it."""
    draw = np.random.default_rng(3)
    head = np.where(BRAIN, draw.normal(900.0, 200.0, SHAPE), np.abs(draw.normal(0.0, 12.0, SHAPE)))
    values = (head - head.mean()).round(6 if kind is np.float32 else 0).astype(kind)
    assert values.min() < -200.0
    assert modality_of(values) == "mr"
    assert brain_of(values, 1.01 * 2.2e6 / values.size) is None


def test_a_ct_of_the_inside_of_a_body_is_a_ct():
    """It holds no air: fat is its lowest value."""
    draw = np.random.default_rng(3)
    inside = np.where(BRAIN, draw.normal(45.0, 20.0, SHAPE), draw.normal(-95.0, 40.0, SHAPE))
    assert inside.min() < -200.0
    assert modality_of(inside.round().astype(np.int16)) == "ct"
    assert modality_of(inside.astype(np.float32)) == "ct"


def test_a_ct_with_one_value_of_air_is_a_ct():
    image = np.where(BRAIN, 40.0, -1024.0)
    assert modality_of(image) == "ct"
    noisy = np.random.default_rng(3).normal(-990.0, 12.0, SHAPE)
    assert modality_of(np.where(BRAIN, 40.0, noisy)) == "ct"


def test_no_textbook_knows_which_part_of_a_tumour_is_larger():
    study = ledger(16)
    asked = list(TASKS["comparison"].questions(study, subjects(study)))
    assert {question.parameters["ask"] for question in asked} >= {"larger", "rank"}
    assert not any(question.named_only or question.textbook for question in asked)
