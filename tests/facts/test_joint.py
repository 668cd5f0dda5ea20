"""Joints: geometry gives the grade that was built in,
whatever the side, the pose and the order of axes."""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from knees import BANK, SPACING, as_bench, graded, knee, ledger, masks_of
from situs.build.sources.knees import true_value
from situs.errors import SitusError
from situs.facts.grades import GEOMETRY, REGION_BOX, GradedStudy, GradeLedger, masks_for
from situs.facts.grades.joint import JointMasks, joint_frame, lesion_share, part_of, with_lesions
from situs.items import Grades, Item, NotAsked, graded_questions, pose_grades
from situs.profiles import load_profile
from situs.run import AnswerRow, Viewing, make_baseline, parse_spec
from situs.score import score_answer
from situs.space import Affine, Grid, IndexPoints
from situs.volumes import LabelMap, Structure
from situs.volumes.phantoms import make_knee

ORDERS = [(o, f) for o in permutations(range(3)) for f in product((False, True), repeat=3)]
SAMPLED = random.Random(5).sample(ORDERS, 2)
SIDES = ("left", "right")
USUAL = {"left": SAMPLED[0], "right": SAMPLED[1]}
ALL = [
    pytest.param(side, *way, marks=() if way == USUAL[side] else pytest.mark.sweep)
    for side in SIDES
    for way in ORDERS
]
MEASURED = [(q.id, sub.key) for q in BANK.question for sub in BANK.sub_scores_of(q) if sub.measures]


@pytest.mark.sampled
@pytest.mark.parametrize(("index", "side"), [(0, "left"), (0, "right"), (1, None)])
def test_the_grade_from_geometry_is_the_grade_built_in(index: int, side: str | None) -> None:
    if index == 0 and side is not None:
        own = in_order(side)[0]
    else:
        made = knee(index, side)
        own = ledger(made, masks_of(made))
    truth = own.graded.grades
    facts = {key: own.fact(GEOMETRY, *key) for key in MEASURED}
    wrong = {k: f for k, f in facts.items() if f.value is not None and f.value != truth[k[0]][k[1]]}
    assert wrong == {}
    unsure = [key for key, fact in facts.items() if fact.value is None]
    cartilage = [key for key in facts if BANK.by_id[key[0]].family == "cartilage"]
    others = len(facts) - len(cartilage)
    assert len(set(unsure) - set(cartilage)) <= 0.15 * others, unsure
    # What cartilage is lost at the edge of a plate, or on the femur's front and back, cannot be
    # told.
    assert len(set(cartilage) - set(unsure)) >= 0.3 * len(cartilage), unsure
    assert all(own.fact(GEOMETRY, *key).flags == ("near_edge",) for key in unsure)


@pytest.mark.parametrize(
    "index", [0, *(pytest.param(n, marks=pytest.mark.sweep) for n in range(1, 25))]
)
def test_any_size_gets_its_grade_or_none_near_an_edge(index: int) -> None:
    """Sizes anywhere on their scales, also at the edges of bins.

    No grade is wrong. None is given only within the measure's tolerance of an edge: twice the
    half-width of its interval, once for where the truth may lie and once for what may be asked. The
    interval of an extrusion and of lost cartilage holds the truth; shares of lesions are counted on
    rotated grids and may err by a little more.
    """
    made = make_knee(
        78, index, spacing_mm=(1.0, 0.8, 0.8) if index else SPACING, noise=False, any_size=True
    )
    own = ledger(made, masks_of(made))
    for question in BANK.question:
        for sub in BANK.sub_scores_of(question):
            truth = true_value(made.truth, question, sub, BANK)
            if not sub.measures or truth is None:
                continue
            scale, measured = BANK.scales[sub.scale], own.fact(sub.measures, question.id, sub.key)
            low, high = measured.interval
            half = max(measured.value - low, high - measured.value)
            error = 1.3 if sub.measures == "lesion_share" else 1.0
            assert abs(measured.value - truth) <= error * half + 1e-9, (question.id, sub.key)
            told = own.fact(GEOMETRY, question.id, sub.key).value
            if told is None:
                assert (
                    min(abs(truth - edge) for edge in (0.0, *scale.edges())) <= (1 + error) * half
                ), (
                    question.id,
                    sub.key,
                )
            else:
                assert told == scale.grade_of(truth), (question.id, sub.key, truth, measured)


@pytest.mark.parametrize(("side", "order", "flips"), ALL)
def test_the_order_of_axes_changes_nothing(side: str, order, flips) -> None:
    """Boxes, medial and lateral, and every grade from
    geometry are those of the knee as it was made."""
    one, other = in_order(side)[0], in_order(side, order, flips)[0]
    for region in BANK.regions:
        a, b = one.box(region), other.box(region)
        assert (a is None) is (b is None)
        if a is not None and b is not None:
            assert np.allclose(a.box.lo_mm, b.box.lo_mm, atol=1e-3), region
            assert np.allclose(a.box.hi_mm, b.box.hi_mm, atol=1e-3), region
    assert_sides(other, side)
    for key in MEASURED:
        told, truth = other.fact(GEOMETRY, *key).value, other.graded.grades[key[0]][key[1]]
        assert told in (truth, None), key
        assert told == one.fact(GEOMETRY, *key).value, key


@lru_cache(4)
def in_order(side: str, order=(0, 1, 2), flips=(False, False, False)) -> tuple[GradeLedger, Grid]:
    made = knee(0, side)
    masks = masks_of(made, order, flips)
    name = "".join(f"{axis}{'-' if flip else '+'}" for axis, flip in zip(order, flips))
    return ledger(made, masks, study=f"{side} {name}"), masks.grid


def assert_sides(own: GradeLedger, side: str) -> None:
    """World x grows to the patient's right: the lateral part of a right knee has the larger x."""
    for medial in (name for name in BANK.regions if "medial" in name):
        a, b = own.box(medial), own.box(medial.replace("medial", "lateral"))
        assert a is not None
        assert b is not None
        outward = sum(b.box.lo_mm[:1] + b.box.hi_mm[:1]) - sum(a.box.lo_mm[:1] + a.box.hi_mm[:1])
        assert outward > 0 if side == "right" else outward < 0, medial


@pytest.mark.parametrize(
    "ways",
    [
        pytest.param(list(USUAL.items()), id="sample"),
        pytest.param(list(product(SIDES, ORDERS)), id="all", marks=pytest.mark.sweep),
    ],
)
def test_the_oracle_is_right_in_any_order_of_axes(ways, tmp_path: Path) -> None:
    ledgers = {
        own.study_id: (own, grid) for side, way in ways for own, grid in [in_order(side, *way)]
    }
    bench, shown = as_bench(tmp_path / "bench", ledgers), load_profile("3dreasonknee-qwen")
    viewing, oracle = Viewing(bench, shown), make_baseline(bench, parse_spec("oracle"), shown)
    asked = 0
    for item in bench.items():
        scored = score_answer(
            item, AnswerRow(item.item_id, response=oracle.answer(item) or ""), None, shown=viewing
        )
        assert scored.outcome.right, (item.study_id, item.question, scored.outcome)
        assert scored.values["box.iou-3d@1"] > 0.98
        asked += 1
    assert asked >= len(ways) * 45


def test_the_mirror_turns_a_left_knee_into_a_right_one() -> None:
    made = knee(0, "left")
    own, mirrored = in_order("left")[0], ledger(made, masks_of(made, mirrored=True), "right")
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


def test_without_a_patella_forward_is_the_patients_front() -> None:
    centres = masks_of(knee(0, "left")).centres_mm()
    with_it, without = (
        joint_frame(named, "left")
        for named in (centres, {k: v for k, v in centres.items() if k != "patella"})
    )
    # The phantom is turned by at most 8 degrees about each axis.
    assert (with_it.axes * without.axes).sum(axis=1).min() > np.cos(np.radians(20))


def test_a_lesion_that_a_label_takes_out_of_its_bone_is_still_in_it() -> None:
    made = knee(0, "left")
    lesion = made.mask("bone_marrow_lesion")
    shape = made.grid.shape
    bones = {name: made.mask(name) for name in ("femur", "tibia", "patella")}
    holed = {name: np.argwhere(mask & ~lesion) for name, mask in bones.items()}
    for name, voxels in with_lesions(holed, np.argwhere(lesion), shape).items():
        found = np.zeros(shape, dtype=bool)
        found[tuple(voxels.T)] = True
        assert np.array_equal(found, bones[name]), name
    whole = {name: np.argwhere(mask) for name, mask in bones.items()}
    assert with_lesions(whole, np.argwhere(lesion), shape) is whole


def test_a_mask_of_a_region_is_the_region() -> None:
    """Label maps may hold subregions:
    then they are taken as they are, and a bone is their union."""
    made = knee(0, "right")
    patella = made.mask("patella")
    cut = np.argwhere(patella)
    x = (cut @ made.grid.affine.linear.T)[:, 0]
    names = ["femur", "tibia", "patella_medial", "patella_lateral"]
    layer = 1 * made.mask("femur") + 2 * made.mask("tibia")
    layer[tuple(cut.T)] = np.where(x < np.quantile(x, 0.3), 3, 4)
    structures = tuple(Structure(n, name, 0, n) for n, name in enumerate(names, start=1))
    masks = masks_for(BANK, LabelMap(made.grid, (layer.astype(np.uint8),), structures), ())
    own = ledger(made, masks)
    assert len(masks.indices("patella")) == patella.sum()
    exact, divided = own.box("patella_medial"), own.box("patella_superior_margin")
    assert exact is not None
    assert not exact.approximate
    assert divided is not None
    assert divided.approximate
    world = np.asarray(
        made.grid.affine.to_world(IndexPoints(cut[x < np.quantile(x, 0.3)].astype(float)))
    )
    assert np.allclose(exact.box.hi_mm, world.max(axis=0) + made.grid.affine.half_voxel_mm)
    assert "rule" not in own.fact(REGION_BOX, "patella_medial").derivation.parameters
    assert (
        "67–100 % from bottom to top"
        in own.fact(REGION_BOX, "patella_superior_margin").derivation.parameters["rule"]
    )


def test_without_a_side_nothing_is_guessed() -> None:
    made = knee(0, "left")
    study = graded(made)
    bare = type(study)(
        **{name: getattr(study, name) for name in study.__struct_fields__} | {"side": ""}
    )
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


@pytest.mark.parametrize(
    ("layers", "sure"), [(2, True), (3, True), (7, False), (10, True), (13, False), (19, True)]
)
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


def study_of(grades: dict[str, dict[str, int]]) -> GradedStudy:
    return GradedStudy("k", "k", "right", "", "", "", (), (), grades, {}, (), "h")


@pytest.mark.parametrize("question", ["43", "63", "65", "68", "69"])
def test_a_question_reads_the_same_whether_the_finding_has_a_mask_or_not(question: str) -> None:
    """The box is a place by the bones: a mask of the finding neither gives it nor changes it."""
    found = []
    for grade in (0, 1):
        masks = blocks(2, 1.0)
        told = (
            "joint_fluid",
            "pes_anserine_bursa",
            "popliteal_cyst",
            "ganglion_cyst",
            "loose_body",
        )
        finding = dict.fromkeys(told, np.array([[3, 3, 3]])) if grade else {}
        voxels = {name: masks.indices(name) for name in ("femur", "tibia")} | finding
        key = "grade" if question == "43" else "presence"
        own = GradeLedger(
            study_of({question: {key: grade}}),
            BANK,
            study_id="k",
            series="dess",
            masks=JointMasks(masks.grid, voxels, told),
        )
        (asked,) = graded_questions(own, ("plain",), ("reader",))
        item = pose_grades(own, asked, "k", "test")
        assert isinstance(item, Item)
        assert item.answer.parts["grades"] == Grades({key: grade})
        found.append((item.form, item.question, item.boxes, "approximate" in item.tags))
    assert found[0] == found[1]
    assert found[0][0] == "compound"
    assert found[0][3]


def test_a_block_is_placed_by_the_extent_of_its_bone() -> None:
    """The femur spans x and y from -0.5 to 19.5 and z from 23.5 to 43.5 mm;
    the scan begins at -0.5 mm."""
    own = GradeLedger(study_of({}), BANK, study_id="k", series="dess", masks=blocks(2, 1.0))
    place = own.box("popliteal_fossa")
    assert place is not None
    # 0 to 60 % from medial to lateral, -50 to 10 % from back to front (cut at the scan's end), -75
    # to 100 % upwards.
    assert place.box.lo_mm == pytest.approx((-0.5, -0.5, 23.5 - 15))
    assert place.box.hi_mm == pytest.approx((-0.5 + 12, -0.5 + 2, 43.5))
    rule = own.fact(REGION_BOX, "popliteal_fossa").derivation.parameters["rule"]
    assert rule.startswith(
        "block by the extent of the femur: within 40 mm of the joint, 0 to 60 % from medial"
    )


def test_a_structure_that_this_knee_lacks_is_not_asked_in_another_form() -> None:
    masks = blocks(2, 1.0)
    voxels = {name: masks.indices(name) for name in ("femur", "tibia")}
    grades = study_of({"60": {"complete_tear": 1}, "61": {"complete_tear": 0}})
    own = GradeLedger(
        grades, BANK, study_id="k", series="dess", masks=JointMasks(masks.grid, voxels, ["acl"])
    )
    acl, pcl = (
        pose_grades(own, asked, "k", "test")
        for asked in graded_questions(own, ("plain",), ("reader",))
    )
    assert isinstance(acl, NotAsked)
    assert "in other studies" in acl.reason
    assert isinstance(pcl, Item)
    assert pcl.form == "grades", "no label map names it: it has a box in no study"


def extruded(mm: float, spacing: tuple[float, float, float], phase: float) -> JointMasks:
    """A right knee of blocks; both menisci stand out by so much, to the front and outwards.

    Corners are enough.
    """
    step = np.array(spacing)

    def corners(lo: tuple[float, float, float], hi: tuple[float, float, float]) -> np.ndarray:
        first = np.ceil((np.array(lo) + 70 - phase * step) / step)
        last = np.ceil((np.array(hi) + 70 - phase * step) / step) - 1
        return np.array(list(product(*zip(first, last)))).astype(np.intp)

    matrix = np.diag([*spacing, 1.0])
    matrix[:3, 3] = phase * step - 70
    voxels = {
        "femur": corners((-40, -30, 4), (40, 30, 34)),
        "tibia": corners((-38, -25, -30), (38, 25, -8)),
        "medial_meniscus": corners((-38 - mm, -20, -5), (-10, 25 + mm, 0)),
        "lateral_meniscus": corners((10, -20, -5), (38 + mm, 25 + mm, 0)),
    }
    return JointMasks(Grid((400, 800, 800), Affine(matrix)), voxels)


EXTRUSIONS = ("44", "45", "46", "47")
DESS = (0.7, 0.365, 0.365)


@pytest.mark.parametrize("mm", [0.4, 1.9, 2.85, 3.1, 4.2, 5.05, 6.3])
def test_an_extrusion_is_known_to_a_voxel_along_its_axis(mm: float) -> None:
    """Wherever the lattice lies, the interval holds the truth,
    and no grade is given that is not the true one."""
    for phase in np.linspace(0.0, 0.95, 20):
        own = GradeLedger(
            study_of({}), BANK, study_id="k", series="dess", masks=extruded(mm, DESS, phase)
        )
        for question in EXTRUSIONS:
            along = DESS[1] if question in ("44", "46") else DESS[0]
            fact, grade = (
                own.fact("extrusion_mm", question, "grade"),
                own.fact(GEOMETRY, question, "grade"),
            )
            low, high = fact.interval
            # The knee's axes follow the bones' voxels, which leaves them askew by a fraction of a
            # degree.
            assert high == pytest.approx(fact.value + along, abs=0.02)
            assert low <= mm <= high
            assert grade.value in (BANK.scales["extrusion"].grade_of(mm), None)
            if mm == 2.85 and along == DESS[0]:
                assert grade.flags == ("near_edge",)


@pytest.mark.parametrize(("mm", "grade"), [(0.4, 0), (2.5, 1), (4.0, 2), (6.0, 3)])
def test_fine_voxels_give_every_grade_of_extrusion(mm: float, grade: int) -> None:
    own = GradeLedger(
        study_of({}), BANK, study_id="k", series="dess", masks=extruded(mm, (0.2, 0.2, 0.2), 0.3)
    )
    assert [own.fact(GEOMETRY, question, "grade").value for question in EXTRUSIONS] == [grade] * 4
