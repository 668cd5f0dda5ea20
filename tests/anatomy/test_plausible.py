"""What is plausible of a patient:
the tables, and what is suspected of studies described in numbers."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from importlib.resources import files

import msgspec
import numpy as np
import pytest

from situs.anatomy import (
    Doubt,
    Naming,
    Suspect,
    load_vocabulary,
    plausible_range,
    shipped_vocabularies,
    term,
)
from situs.anatomy.plausible import Anchor, Geometry, Scene, Sighting, beside_pairs, judge
from situs.anatomy.plausible.names import rings
from situs.anatomy.plausible.places import Fit

DATA = files("situs.anatomy").joinpath("data", "expectations")
NAMES = sorted(
    {name for v in shipped_vocabularies() for name in load_vocabulary(v).labels.values()}
)

ADULT = {
    "liver": (1500, (60, 50, 60)),
    "spleen": (180, (-90, -10, 55)),
    "kidney_left": (160, (-65, -15, 0)),
    "kidney_right": (160, (65, -15, -10)),
    "stomach": (300, (-50, 70, 50)),
    "pancreas": (80, (-10, 55, 15)),
    "aorta": (120, (-10, 35, 30)),
    "urinary_bladder": (200, (0, 40, -230)),
    "sacrum": (200, (0, -25, -150)),
    **{f"vertebrae_L{n}": (60, (0, 0, 40 - 34 * n)) for n in range(1, 6)},
}
"""Volume (mL) and centre (mm, RAS+) of an adult's organs,
rounded from ICRP 89 and Gray's Anatomy."""


MIXED_UP = {
    "reversed": lambda names: names[::-1],
    "one on": lambda names: names[1:] + names[:1],
    "two on": lambda names: names[2:] + names[:2],
    "one back": lambda names: names[-1:] + names[:-1],
    **{
        f"drawn {seed}": lambda names, seed=seed: (
            np.random.default_rng(seed).permutation(names).tolist()
        )
        for seed in range(4)
    },
}
"""Names of the masks of a label map whose numbers mean something else."""


def sighting(
    name: str, ml: float, centre: tuple[float, float, float], scale: float = 1.0, **other: object
) -> Sighting:
    length = 2.0 * (ml * 1000.0) ** (1.0 / 3.0)
    across = scale * length / 2.0
    x, y, z = (scale * v for v in centre)
    right = 0.5 if abs(x) < 5 * scale else 1.0 if x > 0 else 0.0
    return Sighting(
        ml * scale**3, (x, y, z), (across, across, scale * length), right_share=right, **other
    )


def study(
    scale: float = 1.0, mirror: tuple[int, int, int] = (1, 1, 1), without: tuple[str, ...] = ()
) -> Scene:
    seen = {}
    for name, (ml, centre) in ADULT.items():
        if name not in without:
            x, y, z = (v * m for v, m in zip(centre, mirror))
            seen[name] = sighting(name, ml, (x, y, z), scale)
    return Scene(seen, {name: term(name) for name in seen})


def with_sighting(scene: Scene, **changes: Sighting) -> Scene:
    return Scene(
        {**scene.sightings, **changes}, {name: term(name) for name in (*scene.sightings, *changes)}
    )


def doubts(scene: Scene) -> set[Doubt]:
    return {found.doubt for found in judge(scene) if found.doubt is not None}


def table(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(DATA.joinpath(f"{name}.csv").read_text("utf-8"))))


class TestTables:
    @pytest.mark.parametrize("name", NAMES)
    def test_every_structure_of_a_shipped_map_has_a_range(self, name: str) -> None:
        entry = term(name)
        assert entry.kind == "lesion" or plausible_range(entry) is not None

    def test_ranges_are_in_order(self) -> None:
        for row in table("ranges"):
            low, typical, high, child = (
                float(row[c]) for c in ("low_ml", "typical_ml", "high_ml", "child_low_ml")
            )
            assert 0 < child <= low < typical < high, row["structure"]
            assert 0 < float(row["child_low_mm"]) <= float(row["low_mm"]) < float(row["high_mm"]), (
                row["structure"]
            )

    def test_every_range_names_sources_that_are_listed(self) -> None:
        listed = DATA.joinpath("sources.md").read_text("utf-8")
        for row in table("ranges"):
            assert row["sources"], row["structure"]
            for key in row["sources"].split(";"):
                assert re.search(rf"\b{key}\b", listed), key

    @pytest.mark.parametrize("name", ["liver", "spleen", "pancreas", "kidney_left"])
    def test_typical_volumes_agree_with_what_was_published(self, name: str) -> None:
        """Mean and deviation of adults stand in the table of relevance, with their sources."""
        text = files("situs.anatomy").joinpath("data", "relevance.toml").read_text("utf-8")
        measured = tomllib.loads(text)["measured"][name.removesuffix("_left")]
        mean, deviation = measured["adults_ml"]
        known = plausible_range(term(name))
        assert known is not None
        assert abs(known.typical_ml - mean) <= deviation
        published = set(known.sources.split(";")) - {"judgement"}
        assert published
        assert published <= set(measured["sources"])

    def test_every_name_of_the_order_is_known(self) -> None:
        special = {"spine", "kidneys", "adrenals", "femur", "tibia", "patella"}
        for row in table("order"):
            for name in (*row["first"].split("|"), *row["second"].split("|")):
                assert name in special or "*" in name or term(name).known, name

    def test_every_place_is_of_a_known_structure_with_a_range(self) -> None:
        for row in table("places"):
            entry = term(row["structure"])
            assert entry.known, row["structure"]
            assert plausible_range(entry) is not None, row["structure"]
            assert all(float(row[column]) > 0 for column in row if column.startswith("spread")), (
                row["structure"]
            )

    def test_places_of_pairs_mirror_each_other(self) -> None:
        places = {row["structure"]: row for row in table("places")}
        for name, row in places.items():
            if term(name).naming is Naming.POSITIONAL and term(name).kind != "region":
                partner = places[str(term(name).partner)]
                assert float(row["x"]) == pytest.approx(-float(partner["x"]), abs=5), name


class TestPatientsThatPass:
    def test_an_adult(self) -> None:
        assert judge(study()) == []

    @pytest.mark.parametrize(
        "without", [("spleen",), ("kidney_left",), ("liver", "spleen", "stomach"), tuple(ADULT)]
    )
    def test_without_organs(self, without: tuple[str, ...]) -> None:
        assert judge(study(without=without)) == []

    @pytest.mark.parametrize(
        ("name", "ml"),
        [
            ("liver", 6000),
            ("spleen", 2500),
            ("kidney_left", 1200),
            ("stomach", 2500),
            ("urinary_bladder", 1500),
        ],
    )
    def test_with_an_enlarged_organ(self, name: str, ml: float) -> None:
        assert judge(with_sighting(study(), **{name: sighting(name, ml, ADULT[name][1])})) == []

    def test_a_small_or_a_tall_one(self) -> None:
        assert judge(study(0.85)) == judge(study(1.15)) == []

    def test_a_mirrored_patient_who_is_rightly_named(self) -> None:
        mirrored = study(mirror=(-1, 1, 1))
        names = {name: term(name).mirrored_name or name for name in mirrored.sightings}
        scene = Scene(
            {names[n]: s for n, s in mirrored.sightings.items()},
            {n: term(n) for n in mirrored.sightings},
        )
        assert [(found.code, found.doubt) for found in judge(scene)] == [
            (Suspect.SITUS_INVERSUS, None)
        ]

    def test_a_child_of_one_year(self) -> None:
        """Organ masses of ICRP 89 (liver 330 g, both kidneys 70 g,
        spleen 29 g), stature 0.43 of an adult's."""
        masses = {"liver": 330, "spleen": 29, "kidney_left": 35, "kidney_right": 35, "pancreas": 20}
        seen = {}
        for name, (ml, centre) in ADULT.items():
            own = masses.get(name, ml * 0.45**3)
            seen[name] = sighting(name, own, tuple(0.45 * v for v in centre))  # type: ignore[arg-type]
        assert judge(Scene(seen, {name: term(name) for name in seen})) == []

    def test_small_regions_of_an_atlas(self) -> None:
        """One wide range holds for all of them: they tell nothing of the patient's size."""
        sizes_ml = {"hippocampus": 4.0, "putamen": 5.0, "thalamus": 7.0}
        seen = {
            f"{name}_{side}": sighting(f"{name}_{side}", ml, (x, 10.0 * k, 5.0))
            for k, (name, ml) in enumerate(sizes_ml.items())
            for side, x in (("left", -25.0), ("right", 25.0))
        }
        assert all(term(name).known for name in seen)
        assert judge(Scene(seen, {name: term(name) for name in seen})) == []

    def test_a_knee_that_shows_the_ends_of_its_bones(self) -> None:
        """0.4 of the volume of whole bones, as of phantoms whose bones end inside the scan."""
        whole_ml = {"femur": 420.0, "tibia": 330.0, "fibula": 60.0, "patella": 18.0}
        seen = {
            name: sighting(name, 0.4 * ml, (0.0, 5.0 * k, -40.0 * k))
            for k, (name, ml) in enumerate(whole_ml.items())
        }
        assert Doubt.SCALE not in doubts(Scene(seen, {name: term(name) for name in seen}))

    def test_a_fragment_among_organs_that_the_scan_cuts(self) -> None:
        """Ten millimetres of the cord are doubted, but nothing about the patient's size."""
        cut = {
            name: msgspec.structs.replace(seen, cut=True)
            for name, seen in study().sightings.items()
        }
        cord = Sighting(0.26, (0.0, 0.0, -140.0), (6.0, 6.0, 10.0))
        scene = with_sighting(study(), **cut, spinal_cord=cord)
        assert [(found.doubt, found.structures) for found in judge(scene)] == [
            (Doubt.STRUCTURE, ("spinal_cord",))
        ]
        tenth = with_sighting(
            study(0.1),
            **{n: msgspec.structs.replace(s, cut=True) for n, s in study(0.1).sightings.items()},
            spinal_cord=msgspec.structs.replace(cord, volume_ml=0.02, extent_mm=(0.6, 0.6, 3.0)),
        )
        assert Doubt.SCALE in doubts(tenth)

    @pytest.mark.parametrize(("gain", "suspected"), [(3.0, False), (5.0, True)])
    def test_a_long_ring_of_names_must_fit_better_for_each(
        self, gain: float, suspected: bool
    ) -> None:
        """Five names handed on in a ring; two of them exchanged need as much."""
        names = ("liver", "spleen", "stomach", "pancreas", "kidney_left")
        for count in (2, 5):
            cost = np.full((count, count), 99.0)
            np.fill_diagonal(cost, 10.0)
            for k in range(count):
                cost[k, (k + 1) % count] = 10.0 - gain
            none = np.zeros((0, count))
            whole = np.ones(count, dtype=bool)
            fit = Fit(names[:count], cost, np.zeros(count), whole, (), none, none)
            assert bool(list(rings(study(), fit))) is suspected


class TestWhatIsSuspected:
    @pytest.mark.parametrize(
        ("mirror", "expected"),
        [
            ((-1, 1, 1), {Doubt.LEFT_RIGHT}),
            ((1, -1, 1), {Doubt.FRONT_BACK}),
            ((1, 1, -1), {Doubt.UP_DOWN}),
            ((-1, -1, 1), {Doubt.LEFT_RIGHT, Doubt.FRONT_BACK}),
            # Along every axis: it may as well be the names that are mixed up.
            ((-1, -1, -1), set(Doubt) - {Doubt.SCALE}),
        ],
    )
    def test_reversed_axes(self, mirror: tuple[int, int, int], expected: set[Doubt]) -> None:
        assert doubts(study(mirror=mirror)) == expected

    @pytest.mark.parametrize("names", MIXED_UP, ids=list(MIXED_UP))
    def test_names_that_are_mixed_up_are_not_taken_for_a_wrong_header(self, names: str) -> None:
        """A wrong header moves all structures together; these names fit no way round."""
        scene = study()
        masks = list(scene.sightings.values())
        new = dict(zip(MIXED_UP[names](list(scene.sightings)), masks, strict=True))
        mixed = Scene(new, {name: term(name) for name in new})
        suspected = judge(mixed)
        about_all = [one for one in suspected if one.doubt is Doubt.STRUCTURE]
        assert {name for one in about_all for name in one.structures} == set(new)

    @pytest.mark.parametrize("scale", [0.001, 0.1, 2.0, 2.54, 10.0, 1000.0])
    def test_another_unit(self, scale: float) -> None:
        assert doubts(study(scale)) == {Doubt.SCALE}

    @pytest.mark.parametrize("scale", [0.55, 0.7, 1.3])
    def test_a_spacing_that_makes_an_adult_a_child_or_a_giant(self, scale: float) -> None:
        """Nothing in the masks tells a child of five years from an adult in a wrong spacing."""
        assert doubts(study(scale)) == {Doubt.SCALE}

    def test_a_few_whole_structures_in_a_wrong_spacing(self) -> None:
        """Two of 0.3 of their usual volume are doubted, one may be shrunken; so may two by half."""
        for names, ml, suspected in (
            (("kidney_left", "kidney_right"), 0.3, True),
            (("kidney_left",), 0.3, False),
            (("kidney_left", "kidney_right"), 0.5, False),
        ):
            seen = {n: sighting(n, ml * ADULT[n][0], ADULT[n][1]) for n in names}
            found = doubts(Scene(seen, {name: term(name) for name in seen}))
            assert (Doubt.SCALE in found) is suspected, (names, ml)

    @pytest.mark.parametrize("factor", [0.5, 0.6, 1.6, 2.0])
    def test_one_axis_in_another_spacing(self, factor: float) -> None:
        """From head to foot: vertebrae, kidneys and steps between organs all follow it."""
        scene = study()
        seen = {}
        for name, one in scene.sightings.items():
            (x, y, z), (a, b, c) = one.centroid_mm, one.extent_mm
            seen[name] = msgspec.structs.replace(
                one,
                volume_ml=one.volume_ml * factor,
                centroid_mm=(x, y, z * factor),
                extent_mm=(a, b, c * factor),
            )
        assert Doubt.SCALE in doubts(Scene(seen, scene.terms))

    def test_names_that_fit_better_exchanged(self) -> None:
        """Stomach and pancreas, of which neither is too large or too small for the other."""
        scene = study()
        pair = {"stomach": scene.sightings["pancreas"], "pancreas": scene.sightings["stomach"]}
        found = [one for one in judge(with_sighting(scene, **pair)) if one.code is Suspect.MISNAMED]
        assert [one.structures for one in found] == [("pancreas", "stomach")]

    @pytest.mark.parametrize("mute", [Geometry.BLANK, Geometry.UNDECLARED])
    def test_a_mute_header_is_believed_only_where_anatomy_confirms_it(self, mute: Geometry) -> None:
        scene = study()
        confirmed = Scene(scene.sightings, scene.terms, geometry=mute)
        assert doubts(confirmed) == set()
        alone = Scene({"liver": scene.sightings["liver"]}, scene.terms, geometry=mute)
        orientation = {Doubt.LEFT_RIGHT, Doubt.FRONT_BACK, Doubt.UP_DOWN}
        assert doubts(alone) == orientation | ({Doubt.SCALE} if mute is Geometry.BLANK else set())
        turned = study(mirror=(-1, -1, -1))
        # What the anatomy speaks against may be the names, whatever the header says.
        assert Doubt.STRUCTURE in doubts(Scene(turned.sightings, turned.terms, geometry=mute))

    @pytest.mark.parametrize(
        ("name", "ml"), [("kidney_left", 9000), ("kidney_right", 0.5), ("liver", 70), ("brain", 94)]
    )
    def test_an_implausible_size(self, name: str, ml: float) -> None:
        (found,) = judge(
            with_sighting(
                study(), **{name: sighting(name, ml, ADULT.get(name, (0, (0, 30, 500)))[1])}
            )
        )
        assert (found.doubt, found.structures) == (Doubt.STRUCTURE, (name,))

    def test_a_lesion_that_is_larger_than_what_is_left_of_its_organ(self) -> None:
        """As where the numbers of organ and tumour are exchanged; a large organ's may be large."""
        for liver_ml, doubted in ((20, {"liver", "liver_lesion_1"}), (900, set())):
            scene = msgspec.structs.replace(
                with_sighting(study(), liver=sighting("liver", liver_ml, ADULT["liver"][1])),
                lesions_ml={"liver_lesion_1": 1500.0, "liver_lesion_2": 3.0},
            )
            terms = {**scene.terms, **{name: term(name) for name in scene.lesions_ml}}
            found = judge(msgspec.structs.replace(scene, terms=terms))
            lesions = {n for one in found for n in one.structures if n.startswith("liver")}
            assert lesions == doubted

    def test_a_cut_organ_may_be_as_small_as_it_likes(self) -> None:
        assert (
            judge(with_sighting(study(), liver=sighting("liver", 5, ADULT["liver"][1], cut=True)))
            == []
        )

    def test_a_cut_organ_may_not_be_too_large(self) -> None:
        cut = sighting("spleen", 9000, ADULT["spleen"][1], cut=True)
        assert {
            n for found in judge(with_sighting(study(), spleen=cut)) for n in found.structures
        } >= {"spleen"}

    @pytest.mark.parametrize(("a", "b"), [("liver", "spleen"), ("urinary_bladder", "kidney_left")])
    def test_exchanged_names(self, a: str, b: str) -> None:
        seen = study().sightings
        scene = with_sighting(study(), **{a: seen[b], b: seen[a]})
        accused = {name for found in judge(scene) for name in found.structures}
        assert Doubt.STRUCTURE in doubts(scene)
        assert not doubts(scene) & {Doubt.UP_DOWN, Doubt.FRONT_BACK, Doubt.SCALE}
        assert {a, b} <= accused

    @pytest.mark.parametrize("pair", [(1, 3), (2, 3), (1, 5)])
    def test_exchanged_vertebrae(self, pair: tuple[int, int]) -> None:
        a, b = (f"vertebrae_L{n}" for n in pair)
        seen = study().sightings
        scene = with_sighting(study(), **{a: seen[b], b: seen[a]})
        assert Doubt.LEVELS in doubts(scene)

    @pytest.mark.parametrize(("part", "doubted"), [(0.5, True), (0.7, False)])
    def test_one_vertebra_that_is_numbered_as_two(self, part: float, doubted: bool) -> None:
        """Halves of 60 mL; two fractured ones of 42 mL each are two."""
        scene = study()
        two = {
            name: msgspec.structs.replace(scene.sightings[name], volume_ml=part * 60)
            for name in ("vertebrae_L3", "vertebrae_L4")
        }
        assert (Doubt.LEVELS in doubts(with_sighting(scene, **two))) is doubted

    def test_a_number_left_out(self) -> None:
        """L4 and L5 stand where L3 and L4 belong: no L3 lies between L2 and L4."""
        seen = study().sightings
        scene = with_sighting(
            study(), vertebrae_L4=seen["vertebrae_L3"], vertebrae_L5=seen["vertebrae_L4"]
        )
        row = {name: one for name, one in scene.sightings.items() if name != "vertebrae_L3"}
        assert doubts(Scene(row, scene.terms)) == {Doubt.LEVELS}

    @pytest.mark.parametrize("off", [-1.0, 1.0])
    def test_numbers_that_do_not_fit_their_anchors(self, off: float) -> None:
        scene = study()
        anchored = Scene(scene.sightings, scene.terms, anchors=(Anchor("sacrum", off),))
        assert doubts(anchored) == {Doubt.LEVELS}
        assert (
            doubts(Scene(scene.sightings, scene.terms, anchors=(Anchor("sacrum", 0.0),))) == set()
        )

    @pytest.mark.parametrize(("out_of_place", "expected"), [(1, set()), (2, {Doubt.STRUCTURE})])
    def test_slices_in_no_order(self, out_of_place: int, expected: set[Doubt]) -> None:
        """One slice between two that are alike may be the middle of something even."""
        scene = msgspec.structs.replace(study(), slices_out_of_place=out_of_place)
        assert {one.doubt for one in judge(scene)} >= expected
        assert bool(judge(scene)) == bool(expected)

    def test_masks_that_overlap(self) -> None:
        scene = study()
        (found,) = judge(
            Scene(scene.sightings, scene.terms, overlaps={("kidney_left", "spleen"): 0.5})
        )
        assert found.structures == ("kidney_left", "spleen")
        assert (
            judge(Scene(scene.sightings, scene.terms, overlaps={("kidney_left", "spleen"): 0.05}))
            == []
        )

    def test_masks_that_do_not_fit_the_image(self) -> None:
        """Bone under 75 HU and organs full of air: the masks of another patient."""
        seen = {
            name: Sighting(s.volume_ml, s.centroid_mm, s.extent_mm, mean_hu=-300.0)
            for name, s in study().sightings.items()
        }
        scene = Scene(seen, study().terms)
        (found,) = [one for one in judge(scene) if one.doubt is Doubt.STRUCTURE]
        assert set(found.structures) == set(ADULT)

    @pytest.mark.parametrize("name", ["liver", "spleen", "kidney_left", "aorta"])
    def test_a_mask_that_lies_beside_its_organ(self, name: str) -> None:
        """Shifted, it is a third fat, while the mean under it still passes for an organ's."""
        ml, centre = ADULT[name]
        (found,) = judge(
            with_sighting(
                study(), **{name: sighting(name, ml, centre, mean_hu=60.0, fat_share=0.33)}
            )
        )
        assert (found.structures, found.doubt) == ((name,), Doubt.STRUCTURE)
        rim = sighting(name, ml, centre, mean_hu=60.0, fat_share=0.1)
        assert judge(with_sighting(study(), **{name: rim})) == []

    @pytest.mark.parametrize(("offset", "suspected"), [(-0.5, False), (0.2, False), (0.8, True)])
    def test_an_organ_that_goes_on_beyond_its_mask_all_round(
        self, offset: float, suspected: bool
    ) -> None:
        seen = msgspec.structs.replace(
            study().sightings["spleen"], edge_contrast=0.5, edge_offset=offset
        )
        assert ("spleen" in doubted(with_sighting(study(), spleen=seen))) is suspected

    def test_masks_that_all_lie_beside_their_organs(self) -> None:
        """Three organs on fat: the others, and lesions,
        are shifted with them, whatever tissue they hit."""
        shifted = {
            name: sighting(name, *ADULT[name], mean_hu=20.0, fat_share=0.3)
            for name in ("liver", "spleen", "kidney_left")
        }
        scene = with_sighting(study(), **shifted)
        scene = Scene(scene.sightings, {**scene.terms, "liver_lesion": term("liver_lesion")})
        (found,) = [one for one in judge(scene) if one.doubt is Doubt.STRUCTURE]
        assert set(found.structures) == {*ADULT, "liver_lesion"}

    def test_great_vessels_that_changed_places(self) -> None:
        """One of them on the other side is a variant."""
        cava = sighting("inferior_vena_cava", 60, (-20, 38, 30))
        aorta = sighting("aorta", 120, (15, 35, 30))
        found = judge(with_sighting(study(), aorta=aorta, inferior_vena_cava=cava))
        assert {one.structures: one.doubt for one in found} == {
            ("aorta",): Doubt.STRUCTURE,
            ("inferior_vena_cava",): Doubt.STRUCTURE,
        }
        assert doubts(with_sighting(study(), inferior_vena_cava=cava)) == set()

    @pytest.mark.parametrize("axes", [(0, 1), (1, 2), (0, 2)])
    @pytest.mark.parametrize("sign", [1.0, -1.0])
    def test_a_quarter_turn(self, axes: tuple[int, int], sign: float) -> None:
        a, b = axes
        turn = np.eye(3)
        turn[a, a] = turn[b, b] = 0.0
        turn[a, b], turn[b, a] = sign, -sign
        seen = {}
        for name, (ml, centre) in ADULT.items():
            x, y, z = (float(v) for v in turn @ np.array(centre, dtype=float))
            seen[name] = sighting(name, ml, (x, y, z))
        expected = [(Doubt.LEFT_RIGHT, Doubt.FRONT_BACK, Doubt.UP_DOWN)[axis] for axis in axes]
        assert set(expected) <= doubts(Scene(seen, {name: term(name) for name in seen}))


def doubted(scene: Scene) -> set[str]:
    """Structures that are in doubt."""
    return {
        name
        for found in judge(scene)
        if found.doubt is Doubt.STRUCTURE
        for name in found.structures
    }


class TestVesselsBesideEachOther:
    def with_vessels(self, step_mm: float, mirror: int = 1) -> Scene:
        """Both cut at both ends, so that size and centre tell nothing."""
        scene = study(mirror=(mirror, 1, 1), without=("aorta",))
        for number, name in enumerate(("inferior_vena_cava", "aorta")):
            x = mirror * (11 - 22 * number)
            cut = Sighting(30.0, (x, 35.0, 0.0), (25.0, 25.0, 60.0), cut=True)
            scene = with_sighting(scene, **{name: cut})
        beside = {("inferior_vena_cava", "aorta"): step_mm}
        return msgspec.structs.replace(scene, beside_mm=beside)

    @pytest.mark.parametrize("step_mm", [44.0, 22.0, 0.0, -4.0])
    def test_a_usual_patient_passes(self, step_mm: float) -> None:
        assert doubted(self.with_vessels(step_mm)) == set()

    def test_exchanged_names_are_seen_though_both_are_cut(self) -> None:
        assert doubted(self.with_vessels(-22.0)) == {"inferior_vena_cava", "aorta"}

    def test_a_mirrored_patient_has_them_the_other_way_round(self) -> None:
        scene = self.with_vessels(-22.0, mirror=-1)
        renamed = {
            name.replace("left", "x").replace("right", "left").replace("x", "right"): seen
            for name, seen in scene.sightings.items()
        }
        scene = msgspec.structs.replace(scene, sightings=renamed)
        assert not {"inferior_vena_cava", "aorta"} & doubted(scene)

    def test_the_table_names_known_structures(self) -> None:
        assert all(term(name).known for row in table("beside") for name in row.values())

    @pytest.mark.parametrize(
        ("right", "left"),
        [("kidney_left", "spleen"), ("stomach", "spleen")],
    )
    def test_organs_of_like_size_and_height_beside_each_other(self, right: str, left: str) -> None:
        """A left kidney and a spleen have about 170 mL each,
        and both lie below the diaphragm on the left."""
        assert (right, left) in beside_pairs()
        usual = msgspec.structs.replace(study(), beside_mm={(right, left): 45.0})
        assert doubted(usual) == set()
        exchanged = msgspec.structs.replace(study(), beside_mm={(right, left): -45.0})
        assert {right, left} <= doubted(exchanged)


class TestSwollenMasks:
    def test_one_mask_that_reaches_into_its_neighbours(self) -> None:
        layers = {("liver", "kidney_right"): 5.0, ("stomach", "liver"): 4.0}
        assert doubted(msgspec.structs.replace(study(), layers_mm=layers)) == {"liver"}

    @pytest.mark.parametrize(
        "layers",
        [
            {("liver", "kidney_right"): 5.0},
            {("liver", "kidney_right"): 1.0, ("stomach", "liver"): 1.5},
            {("liver", "kidney_right"): 4.0, ("stomach", "liver"): 4.0, ("spleen", "stomach"): 4.0},
        ],
        ids=["one neighbour", "sloppy contours", "all masks overlap"],
    )
    def test_what_may_be_an_annotators_habit_passes(self, layers: dict) -> None:
        scene = msgspec.structs.replace(study(), layers_mm=layers, touching=20)
        assert doubted(scene) == set()

    def test_masks_that_are_all_too_large(self) -> None:
        layers = {
            ("liver", "kidney_right"): 4.0,
            ("stomach", "liver"): 4.0,
            ("spleen", "stomach"): 4.0,
        }
        scene = msgspec.structs.replace(study(), layers_mm=layers, touching=8)
        assert doubted(scene) == set(scene.sightings)


@pytest.mark.parametrize(
    ("roundness", "wrong"), [(0.85, False), (1.15, False), (1.4, True), (0.7, True)]
)
def test_an_aorta_that_is_not_round_tells_of_another_spacing(roundness: float, wrong: bool) -> None:
    scene = msgspec.structs.replace(study(), aorta_roundness=roundness)
    assert (Doubt.SCALE in doubts(scene)) is wrong
