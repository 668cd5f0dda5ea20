"""The population: how patients vary, and that no plan breaks its promises. No voxels here."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

from situs.errors import SitusError
from situs.score import binomial_interval_999
from situs.space import Axis
from situs.volumes.phantoms import Capsule, Ellipsoid, PatientPlan, plan_patient
from situs.volumes.phantoms.acquisition import ORIENTATIONS, draw_protocol

SEED, COUNT = 20, 100
RANGES_ML = {
    "liver": (900, 2200),
    "spleen": (80, 450),
    "kidney_left": (80, 280),
    "kidney_right": (80, 280),
    "stomach": (100, 500),
    "gallbladder": (15, 70),
    "pancreas": (40, 120),
}


@pytest.fixture(scope="module")
def plans() -> list[PatientPlan]:
    return [plan_patient(SEED, index) for index in range(COUNT)]


def own_frame(plan: PatientPlan, name: str) -> np.ndarray:
    """A centroid in the patient's own frame, by undoing the pose."""
    pose = plan.truth.pose
    return np.array(pose.rotation).T @ (
        np.array(plan.truth[name].centroid_mm) - pose.translation_mm
    )


def whole(plan: PatientPlan) -> dict[str, float]:
    return {s.name: s.volume_ml for s in plan.truth.structures}


def test_same_seed_same_plan_and_patients_are_independent(plans: list[PatientPlan]) -> None:
    again = plan_patient(SEED, 7)
    assert again.truth == plans[7].truth
    assert again.grid == plans[7].grid
    assert plan_patient(SEED + 1, 7).truth != plans[7].truth
    assert plans[7].truth.patient_id == f"phantom-{SEED}-0007"


def test_volumes_stay_in_range_and_fill_it(plans: list[PatientPlan]) -> None:
    for name, (lo, hi) in RANGES_ML.items():
        volumes = np.array([plan.anatomy.organs[name].volume_ml for plan in plans])
        assert volumes.min() > lo, name
        assert volumes.max() < hi, name
        assert volumes.max() / volumes.min() > 0.75 * hi / lo, name


def test_either_kidney_is_clearly_larger_in_about_forty_percent(plans: list[PatientPlan]) -> None:
    ratio = np.array(
        [
            p.anatomy.organs["kidney_left"].volume_ml / p.anatomy.organs["kidney_right"].volume_ml
            for p in plans
        ]
    )
    fewest, most = binomial_interval_999(COUNT, 0.4)
    assert fewest <= (ratio > 1.25).sum() <= most
    assert fewest <= (ratio < 1 / 1.25).sum() <= most


def test_either_kidney_may_be_higher(plans: list[PatientPlan]) -> None:
    higher = [
        p.anatomy.organs["kidney_left"].centroid_mm[2]
        > p.anatomy.organs["kidney_right"].centroid_mm[2]
        for p in plans
    ]
    assert 0.25 < np.mean(higher) < 0.75


def test_size_order_changes_between_patients(plans: list[PatientPlan]) -> None:
    orders = [
        tuple(
            sorted(
                ("spleen", "stomach", "kidney_left"), key=lambda n: p.anatomy.organs[n].volume_ml
            )
        )
        for p in plans
    ]
    shares = [
        orders.count(order) / COUNT
        for order in itertools.permutations(("spleen", "stomach", "kidney_left"))
    ]
    assert min(shares) > 0.02


def test_situs_solitus_in_the_patients_frame(plans: list[PatientPlan]) -> None:
    for plan in plans:
        names = whole(plan)
        for name, sign in (
            ("liver", 1),
            ("kidney_right", 1),
            ("inferior_vena_cava", 1),
            ("spleen", -1),
            ("aorta", -1),
        ):
            if name in names:
                assert sign * own_frame(plan, name)[0] > 0
        spine = [plan.truth[n].centroid_mm[0] for n in names if n.startswith("vertebrae")]
        assert plan.truth["liver"].centroid_mm[0] > max(spine)
        assert plan.truth["spleen"].centroid_mm[0] < min(spine)
        assert abs(plan.truth.pose.translation_mm[0]) >= 15.0  # x = 0 is never the midline


def test_pose_stays_within_eight_degrees_about_each_axis(plans: list[PatientPlan]) -> None:
    from scipy.spatial.transform import Rotation as Turn

    angles = np.array(
        [Turn.from_matrix(plan.truth.pose.rotation).as_euler("xyz", degrees=True) for plan in plans]
    )
    assert np.abs(angles).max() <= 8.0 + 1e-9
    assert np.abs(angles).max(axis=0).min() > 6.0


def test_lesions_are_inside_their_organ_with_a_rim_and_numbered_by_size(
    plans: list[PatientPlan],
) -> None:
    counts = [len(plan.truth.lesions) for plan in plans]
    assert set(counts) == {0, 1, 2, 3}
    sphere = np.random.default_rng(0).normal(size=(3000, 3))
    sphere /= np.linalg.norm(sphere, axis=1)[:, None]
    for plan in plans:
        radii: dict[str, list[float]] = {}
        for lesion in plan.truth.lesions:
            kind, number = lesion.name.rsplit("_lesion_", 1)
            assert lesion.inside is not None
            assert lesion.inside.split("_")[0] == kind
            radius = lesion.shape.radius_mm
            assert 5.0 <= radius <= 15.0
            if lesion.inside in whole(plan):
                rim = np.array(lesion.shape.centre_mm) + sphere * (radius + 5.5)
                assert plan.truth[lesion.inside].shape.contains(rim).all()
            radii.setdefault(kind, []).append(radius)
            assert int(number) == len(radii[kind])
        assert all(sizes == sorted(sizes, reverse=True) for sizes in radii.values())


def test_lesion_holders_and_places_vary(plans: list[PatientPlan]) -> None:
    lesions = [(plan, lesion) for plan in plans for lesion in plan.truth.lesions]
    holders = {lesion.inside for _, lesion in lesions}
    assert holders == {"liver", "spleen", "kidney_left", "kidney_right"}
    in_liver = [
        own_frame(plan, lesion.name) - own_frame(plan, "liver")
        for plan, lesion in lesions
        if lesion.inside == "liver"
    ]
    shares = (np.array(in_liver) > 0).mean(axis=0)
    assert (abs(shares - 0.5) < 0.2).all()


def test_field_of_view_cuts_about_fifteen_percent_and_says_so(plans: list[PatientPlan]) -> None:
    cut = [any(s.cut for s in plan.truth.structures if s.name != "body") for plan in plans]
    assert 0.06 < np.mean(cut) < 0.25
    assert all(plan.truth["body"].cut for plan in plans)


def test_all_48_orientations_are_reached() -> None:
    seen = set()
    for index in range(600):
        protocol = draw_protocol(np.random.default_rng(index), None, oblique=True, reorder=True)
        seen.add((protocol.order, protocol.flips))
    assert seen == set(ORIENTATIONS)
    assert len(seen) == 48


def test_grids_vary_and_stay_small(plans: list[PatientPlan]) -> None:
    grids = [plan.grid for plan in plans]
    assert {
        grid.affine.directions[int(np.argmax(grid.affine.spacing_mm))].axis for grid in grids
    } == set(Axis)
    determinants = np.array([np.linalg.det(grid.affine.linear) for grid in grids])
    assert 0.3 < (determinants < 0).mean() < 0.7
    oblique = np.array([grid.affine.obliquity_degrees for grid in grids]) > 0.01
    assert 0.35 < oblique.mean() < 0.65
    assert max(grid.affine.obliquity_degrees for grid in grids) <= 20.0 + 1e-3
    assert np.median([grid.voxels for grid in grids]) < 3_500_000
    for grid in grids:
        fine, same, thick = sorted(grid.affine.spacing_mm)
        assert 1.6 - 1e-6 <= fine <= same <= 2.4 + 1e-6
        assert 2.5 - 1e-6 <= thick <= 4.0 + 1e-6


def test_aorta_and_vena_cava_are_parallel_with_their_formula(plans: list[PatientPlan]) -> None:
    for plan in plans[:50]:
        pair = next(p for p in plan.truth.pairs if {p.a, p.b} == {"aorta", "inferior_vena_cava"})
        aorta, cava = (plan.truth[name].shape for name in (pair.a, pair.b))
        assert isinstance(aorta, Capsule)
        assert isinstance(cava, Capsule)
        along = np.subtract(aorta.end_mm, aorta.start_mm) / aorta.length_mm
        assert np.cross(along, np.subtract(cava.end_mm, cava.start_mm)) == pytest.approx(
            np.zeros(3), abs=1e-9
        )
        across = np.cross(np.subtract(cava.start_mm, aorta.start_mm), along)
        expected = np.linalg.norm(across) - aorta.radius_mm - cava.radius_mm
        assert pair.surface_distance_mm == pytest.approx(expected)
        assert expected >= 2.0


def gap_mm(a: Ellipsoid, b: Ellipsoid) -> float:
    """Distance of two ellipsoids by an optimiser: nearest points of two balls mapped into them."""
    (ua, ca), (ub, cb) = a.frame(), b.frame()
    ma, mb = ua * np.array(a.semi_axes_mm), ub * np.array(b.semi_axes_mm)

    def squared(t: np.ndarray) -> float:
        return float(((ca + ma @ t[:3] - cb - mb @ t[3:]) ** 2).sum())

    balls = [
        {"type": "ineq", "fun": lambda t, s=s: 1.0 - (t[s] ** 2).sum()}
        for s in (slice(0, 3), slice(3, 6))
    ]
    return float(np.sqrt(minimize(squared, np.zeros(6), method="SLSQP", constraints=balls).fun))


def test_organs_keep_their_distance(
    plans: list[PatientPlan], little_of: Callable[..., list[PatientPlan]]
) -> None:
    for plan in little_of(plans[:3], 1):
        solid = {n: s for n, s in plan.anatomy.organs.items() if isinstance(s, Ellipsoid)}
        for a, b in itertools.combinations(solid, 2):
            assert gap_mm(solid[a], solid[b]) >= 1.99, (a, b)
        for pair in plan.truth.pairs:
            assert pair.surface_distance_mm > 0.0


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(SitusError, match="no modality 'pet'"):
        plan_patient(0, 0, modality="pet")  # type: ignore[arg-type]
    with pytest.raises(SitusError, match="spacing"):
        plan_patient(0, 0, spacing_mm=(1.0, 1.0, 0.0))
    with pytest.raises(SitusError, match="too many voxels"):
        plan_patient(0, 0, spacing_mm=(0.3, 0.3, 0.3))
    with pytest.raises(SitusError, match="negative"):
        plan_patient(-1, 0)
