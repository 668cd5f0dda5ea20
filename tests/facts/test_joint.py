"""Joints: geometry gives the grade that was built in, whatever the side, the pose and the order of axes."""

from __future__ import annotations

import random
from itertools import permutations, product

import numpy as np
import pytest

from knees import BANK, graded, knee, ledger, masks_of
from situs.errors import SitusError
from situs.facts.grades import GEOMETRY, REGION_BOX, GradeLedger
from situs.facts.joint import JointMasks, joint_frame, lesion_share, part_of
from situs.space import Affine, Grid

ORDERS = [(o, f) for o in permutations(range(3)) for f in product((False, True), repeat=3)]
SAMPLED = random.Random(5).sample(ORDERS, 4)
MEASURED = [(q.id, sub.key) for q in BANK.question for sub in BANK.sub_scores_of(q) if sub.measures]


@pytest.mark.parametrize(("index", "side"), [(0, "left"), (0, "right"), (1, None)])
def test_the_grade_from_geometry_is_the_grade_built_in(index: int, side: str | None) -> None:
    made = knee(index, side)
    own = ledger(made, masks_of(made))
    truth = own.graded.grades
    facts = {key: own.fact(GEOMETRY, *key) for key in MEASURED}
    wrong = {k: f for k, f in facts.items() if f.value is not None and f.value != truth[k[0]][k[1]]}
    assert wrong == {}
    unsure = [key for key, fact in facts.items() if fact.value is None]
    assert len(unsure) <= 0.1 * len(facts), unsure
    assert all(own.fact(GEOMETRY, *key).flags == ("near_edge",) for key in unsure)


@pytest.mark.parametrize(("order", "flips"), SAMPLED)
def test_the_order_of_axes_changes_nothing(order, flips) -> None:
    made = knee(1)
    one, other = ledger(made, masks_of(made)), ledger(made, masks_of(made, order, flips))
    for region in BANK.regions:
        a, b = one.box(region), other.box(region)
        assert (a is None) is (b is None)
        if a is not None and b is not None:
            assert np.allclose(a.box.lo_mm, b.box.lo_mm, atol=1e-3), region
            assert np.allclose(a.box.hi_mm, b.box.hi_mm, atol=1e-3), region
    for question in ("1", "3", "12", "16", "29", "44", "45", "46", "47"):
        key = BANK.sub_scores_of(BANK.get(question))[0].key
        assert other.fact(GEOMETRY, question, key).value == one.fact(GEOMETRY, question, key).value


@pytest.mark.parametrize("side", ["left", "right"])
def test_medial_and_lateral_lie_where_the_side_says(side: str) -> None:
    """World x grows to the patient's right: the lateral part of a right knee has the larger x."""
    made = knee(0, side)
    for order, flips in (SAMPLED[0], ((0, 1, 2), (False, False, False))):
        own = ledger(made, masks_of(made, order, flips))
        pairs = [(name, name.replace("medial", "lateral")) for name in BANK.regions if "medial" in name]
        for medial, lateral in pairs:
            a, b = own.box(medial), own.box(lateral)
            assert a is not None
            assert b is not None
            outward = sum(b.box.lo_mm[:1] + b.box.hi_mm[:1]) - sum(a.box.lo_mm[:1] + a.box.hi_mm[:1])
            assert outward > 0 if side == "right" else outward < 0, (medial, lateral)


def test_the_mirror_turns_a_left_knee_into_a_right_one() -> None:
    made = knee(0, "left")
    own, mirrored = ledger(made, masks_of(made)), ledger(made, masks_of(made, mirrored=True), "right")
    for region in BANK.regions:
        a, b = own.box(region), mirrored.box(region)
        if a is not None and b is not None:
            assert np.allclose((-a.box.hi_mm[0], *a.box.lo_mm[1:]), b.box.lo_mm, atol=1e-6), region
            assert np.allclose((-a.box.lo_mm[0], *a.box.hi_mm[1:]), b.box.hi_mm, atol=1e-6), region
    for key in MEASURED:
        assert own.fact(GEOMETRY, *key).value == mirrored.fact(GEOMETRY, *key).value, key


def test_a_wrong_side_is_refused_where_menisci_tell() -> None:
    made = knee(0, "left")
    with pytest.raises(SitusError, match="lies medial of the medial one"):
        joint_frame(masks_of(made).centres_mm(), "right")


def test_without_a_side_nothing_is_guessed() -> None:
    made = knee(0, "left")
    study = graded(made)
    bare = type(study)(**{name: getattr(study, name) for name in study.__struct_fields__} | {"side": ""})
    own = GradeLedger(bare, BANK, study_id="k", series="dess", masks=masks_of(made))
    with pytest.raises(SitusError, match="no side"):
        own.fact(REGION_BOX, "patella_medial")


def blocks(lesion_layers: int, spacing: float) -> JointMasks:
    """Femur and tibia as cubes of 20 mm; the lowest layers of the femur are lesion."""
    n = round(20 / spacing)
    cube = np.argwhere(np.ones((n, n, n), dtype=bool))
    lesion = cube[cube[:, 2] < lesion_layers]
    grid = Grid((n, n, 2 * n + 4), Affine(np.diag([spacing, spacing, spacing, 1.0])))
    raised = np.array([0, 0, n + 4])
    voxels = {"femur": cube + raised, "tibia": cube, "bone_marrow_lesion": lesion + raised}
    return JointMasks(grid, voxels)


@pytest.mark.parametrize(("layers", "sure"), [(2, True), (3, True), (7, False), (10, True), (13, False), (19, True)])
def test_near_the_edge_of_a_bin_geometry_is_not_asked(layers: int, sure: bool) -> None:
    """Of 20 layers n are lesion: 5 n %; half a voxel of boundary moves it by about 2.5 to 5 %."""
    masks = blocks(layers, 1.0)
    frame = joint_frame(masks.centres_mm(), "right")
    region = type(BANK.regions["knee"])("femur", "femur")
    part = part_of(region, masks, frame)
    assert part is not None
    found = lesion_share(part, masks.indices("bone_marrow_lesion"), masks)
    assert found.value == pytest.approx(5.0 * layers)
    grades = {BANK.scales["bml_size"].grade_of(value) for value in (found.value, *found.interval)}
    assert (len(grades) == 1) is sure, found
