"""The anatomy gate: files that are wrong without anyone
noticing give no wrong question, and healthy ones pass."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from attacks import ATTACKS, Study, situs_inversus, trial, write_masks
from attacks._study import axis_toward, halved, mask_of, redrawn, renamed
from laws._studies import ledger_of, phantom_labels
from situs.anatomy import term
from situs.anatomy.plausible import VERTEBRAE, Scene, Suspicion, judge, names, unsure_names
from situs.anatomy.plausible.places import Fit
from situs.bench import open_bench
from situs.build.trust import trusted_studies
from situs.facts import Ledger
from situs.facts.masks.cores import second_core, spur_mm
from situs.facts.masks.edges import edge_contrast, edge_offset
from situs.facts.masks.scene import scene_of
from situs.items import TASKS, Item, NotAsked, Number, Question
from situs.measure import Regions
from situs.space import Affine, Grid
from situs.volumes import LabelMap, Structure

REAL = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes"
SPACING_MM = (6.0, 6.0, 6.0)
ARGS = ("--ids", "stem", "--annotation", "manual")

HANGS_ON = {
    "left_right": ("direction.left_right", "side", "right_share", "holder_side"),
    "front_back": ("direction.anterior_posterior",),
    "up_down": (
        "direction.superior_inferior",
        "level.",
        "height_in",
        "slice_span",
        "extent.superior_inferior",
    ),
    "scale": ("volume", "extent.", "main_gap", "centre_distance", "axial_diameter", "contact_area"),
    "levels": ("level.",),
}
"""Facts on which no question may rest while something is in doubt."""


GROWN = [f"{how}_{mm}" for how in ("dilated", "painted", "eroded") for mm in (5, 10)]
MOVED = [
    "shifted_20_x",
    "shifted_20_z",
    "shifted_30_x",
    "shifted_30_z",
    "shifted_50_y",
    "shifted_50_z",
]
MASK_CHANGES = [
    *itertools.product(("liver", "spleen", "kidney_left", "pancreas", "gallbladder"), GROWN),
    *itertools.product(
        ("liver", "spleen", "kidney_left", "kidney_right"), ["half_missing", *MOVED]
    ),
    *itertools.product(("liver", "kidney"), ["as_a_box"]),
    *itertools.product(("spleen", "kidney"), ["slices_empty"]),
    ("liver", "right_half_missing"),
    *itertools.product(["all"], ["dilated_5", *MOVED]),
]
MUST_DOUBT = {
    "upside_down": {"up_down"},
    "mirrored": {"left_right"},
    "prone": {"front_back"},
    "turned_over": {"left_right", "front_back"},
    "on_the_side": {"left_right", "front_back"},
    "on_the_head": {"front_back", "up_down"},
    "turned_sideways": {"left_right", "up_down"},
    "cm_for_mm": {"scale"},
    "ten_times": {"scale"},
    "twice": {"scale"},
    "slices_twice_as_far": {"scale"},
    "blank_affine": {"scale"},
    "exchanged_vertebrae": {"levels", "structure"},
    "numbered_too_low": {"levels"},
    "numbered_too_high": {"levels"},
    "swapped_kidneys": {"structure"},
    "all_sides_swapped": {"left_right"},
    "liver_named_spleen": {"structure"},
    "kidney_over_spleen": {"structure"},
    "tiny_kidney": {"structure"},
}
"""Attacks that go all the way through `build`, and what must be in doubt for each."""


def spoilt(name: str, labels: LabelMap) -> LabelMap:
    changed = ATTACKS[name](Study(labels))
    assert changed is not None
    return changed.labels


def build(situs: Any, root: Path, out: Path, *args: object) -> Any:
    ran = situs("build", "masks", root, *ARGS, "--out", out, "--json", *args)
    assert ran.code == 0, ran.err
    return ran.json


def kinds_by_item(bench: Path) -> dict[str, set[str]]:
    opened = open_bench(bench)
    kinds = {fact.fact_id: fact.kind for fact in opened.facts()}
    return {item.item_id: {kinds[id_] for id_ in item.fact_ids} for item in opened.items()}


def wrong_answers(items: list[Item], truth: Ledger) -> list[str]:
    """Questions whose answer the unharmed study contradicts."""
    result = []
    for item in items:
        try:
            posed = TASKS[item.task].pose(truth, Question(item.task, item.form, item.parameters))
        except KeyError:  # a name that only the wrong files have
            result.append(item.question)
            continue
        if isinstance(posed, NotAsked) or item.task == "marks":
            continue
        if isinstance(item.answer, Number) and isinstance(posed.answer, Number):
            low, high = posed.answer.interval or (posed.answer.value, posed.answer.value)
            if not low <= item.answer.value <= high:
                result.append(item.question)
        elif posed.answer != item.answer and item.task != "location":
            result.append(item.question)
    return result


def attack(situs: Any, tmp_path: Path, labels: LabelMap, name: str) -> None:
    doubts = MUST_DOUBT[name]
    root = write_masks(spoilt(name, labels), tmp_path / "wrong")
    ran = situs("build", "masks", root, *ARGS, "--out", tmp_path / "bench", "--json")
    if ran.code == 2:  # so much is in doubt, or cut, that nothing is left to ask
        assert "no question can be asked of 1 study: wrong looks wrong" in ran.err
        return
    result = ran.json
    doubted = {suspect["doubt"] for suspect in result["suspects"]}
    assert doubts <= doubted, f"{name}: in doubt are {sorted(doubted)}"
    assert any(
        problem["where"].startswith("wrong") and problem["fix"] for problem in result["problems"]
    )
    for doubt in doubts - {"structure"}:
        for kinds in kinds_by_item(tmp_path / "bench").values():
            assert not [kind for kind in kinds if kind.startswith(HANGS_ON[doubt])]
    items = list(open_bench(tmp_path / "bench").items())
    assert wrong_answers(items, ledger_of(labels, "manual")) == []
    assert situs("check", tmp_path / "bench").code == 0


ALWAYS = ("upside_down", "mirrored", "cm_for_mm", "exchanged_vertebrae")


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("name", ALWAYS)
def test_wrong_files_give_no_wrong_question(situs: Any, tmp_path: Path, name: str) -> None:
    attack(situs, tmp_path, phantom_labels(3, 1, SPACING_MM), name)


@pytest.mark.sampled(one_in=16)
@pytest.mark.parametrize("name", [name for name in MUST_DOUBT if name not in ALWAYS])
def test_other_wrong_files_give_no_wrong_question(situs: Any, tmp_path: Path, name: str) -> None:
    attack(situs, tmp_path, phantom_labels(3, 1, SPACING_MM), name)


@pytest.mark.sweep
@pytest.mark.parametrize("index", [0, 2])
@pytest.mark.parametrize("name", list(MUST_DOUBT))
def test_wrong_files_of_other_phantoms(situs: Any, tmp_path: Path, name: str, index: int) -> None:
    attack(situs, tmp_path, phantom_labels(3, index, SPACING_MM), name)


@pytest.fixture(scope="module")
def real_abdomen() -> LabelMap:
    if not (REAL / "totalseg_s0009").is_dir():
        pytest.skip("SITUS_REAL_DATA does not hold volumes/totalseg_s0009")
    from situs.volumes import open_labels

    return open_labels(REAL / "totalseg_s0009" / "segmentations").load()


@pytest.mark.real
@pytest.mark.sweep(one_in=20)
@pytest.mark.parametrize("name", [name for name in MUST_DOUBT if name != "tiny_kidney"])
def test_a_real_abdomen_made_wrong(
    situs: Any, tmp_path: Path, real_abdomen: LabelMap, name: str
) -> None:
    attack(situs, tmp_path, real_abdomen, name)


def test_a_mirrored_patient_who_is_rightly_named_passes(situs: Any, tmp_path: Path) -> None:
    labels = situs_inversus(Study(phantom_labels(3, 1, SPACING_MM))).labels
    result = build(situs, write_masks(labels, tmp_path / "inversus"), tmp_path / "bench")
    assert [(s["doubt"], "mirrored" in s["problem"]) for s in result["suspects"]] == [("", True)]
    assert not [reason for reason in result["not_asked"] if "doubt" in reason]


@pytest.mark.sampled
@pytest.mark.parametrize("index", range(4))
def test_healthy_phantoms_raise_no_doubt(index: int) -> None:
    assert ledger_of(phantom_labels(5, index, SPACING_MM)).suspicions == []


@pytest.mark.sweep
@pytest.mark.parametrize("index", range(40))
def test_many_healthy_phantoms_raise_no_doubt(index: int) -> None:
    assert ledger_of(phantom_labels(6, index, (4.0, 4.0, 4.0))).suspicions == []


SAME_STUDY = {
    "totalseg_s0009": (None, {"spinal_cord"}),
    "totalseg_s0003": (None, {"brain"}),
    "totalseg_testref/example_seg.nii.gz": ("totalsegmentator", set()),
    "totalseg_testref/example_seg_mr.nii.gz": ("totalsegmentator_mr", set()),
    "slicerio_ctchest/Segmentation.seg.nrrd": (None, set()),
}
"""Real studies, and the masks in them that are fragments:
a cord of 10 mm in the sacrum, a brain sliced off."""


@pytest.mark.sampled
@pytest.mark.real
@pytest.mark.parametrize("study", SAME_STUDY)
def test_real_studies_raise_no_doubt(situs: Any, tmp_path: Path, study: str) -> None:
    if not (REAL / study).exists():
        pytest.skip(f"SITUS_REAL_DATA does not hold volumes/{study}")
    names, fragments = SAME_STUDY[study]
    args = ("--names", names) if names else ()
    ran = situs("build", "masks", REAL / study, "--out", tmp_path / "bench", "--json", *args)
    if ran.code == 2:  # nearly everything is cut off in a chest of 34 slices
        assert "no question can be asked" in ran.err
        assert "looks wrong" not in ran.err
        return
    result = ran.json
    assert {suspect["doubt"] for suspect in result["suspects"]} <= {"structure"}
    assert all(
        any(name in suspect["problem"] for name in fragments) for suspect in result["suspects"]
    )


class TestTrust:
    @pytest.fixture
    def scaled(self, tmp_path: Path) -> Path:
        return write_masks(
            spoilt("cm_for_mm", phantom_labels(3, 0, SPACING_MM)), tmp_path / "small"
        )

    def test_asks_what_the_user_vouches_for_and_says_so(
        self, situs: Any, tmp_path: Path, scaled: Path
    ) -> None:
        plain = build(situs, scaled, tmp_path / "plain")
        trusted = build(situs, scaled, tmp_path / "trusted", "--trust", "small:scale")
        reason = "the scale is in doubt in this study"
        assert plain["not_asked"][reason] > 0
        assert reason not in trusted["not_asked"]
        assert [(s["doubt"], s["trusted"]) for s in trusted["suspects"]] == [("scale", True)]
        assert "the builder vouches" in (tmp_path / "trusted" / "README.md").read_text("utf-8")
        checked = situs("check", tmp_path / "trusted", "--json")
        assert checked.code == 0
        assert any("trusted" in problem["problem"] for problem in checked.json["problems"])

    @pytest.mark.parametrize(
        ("spec", "trusted"), [("small:scale", ("s1",)), ("*:scale", ("s1", "s2"))]
    )
    def test_every_study_at_once(self, spec: str, trusted: tuple[str, ...]) -> None:
        ids = {"small": "s1", "data/small": "s1", "other": "s2"}
        assert trusted_studies([spec], ids) == dict.fromkeys(trusted, ("scale",))

    @pytest.mark.parametrize(
        ("spec", "words"),
        [
            ("smal", "did you mean small"),
            ("small:scales", "did you mean scale"),
            ("small:gizmo", "available: all"),
        ],
    )
    def test_an_unknown_name_says_what_there_is(
        self, situs: Any, tmp_path: Path, scaled: Path, spec: str, words: str
    ) -> None:
        ran = situs(
            "build", "masks", scaled, "--ids", "stem", "--out", tmp_path / "bench", "--trust", spec
        )
        assert ran.code == 2
        assert words in ran.err
        assert ran.err.count("\n") == 1

    def test_the_card_names_a_suspect_study(self, situs: Any, tmp_path: Path, scaled: Path) -> None:
        build(situs, scaled, tmp_path / "bench")
        card = (tmp_path / "bench" / "README.md").read_text("utf-8")
        assert "| small | scale |" in card
        assert "Studies without a CT to check the masks against: 1 of 1." in card


def test_one_study_of_a_cohort_in_another_unit(situs: Any, tmp_path: Path) -> None:
    for index in range(3):
        labels = phantom_labels(3, index, SPACING_MM)
        write_masks(
            spoilt("cm_for_mm", labels) if index == 1 else labels,
            tmp_path / "data" / f"study{index}",
        )
    result = build(situs, tmp_path / "data", tmp_path / "bench")
    assert {suspect["study_id"] for suspect in result["suspects"]} == {"study1"}
    kinds = kinds_by_item(tmp_path / "bench")
    sized = [
        item.study_id
        for item in open_bench(tmp_path / "bench").items()
        if any(kind.startswith(HANGS_ON["scale"]) for kind in kinds[item.item_id])
    ]
    assert set(sized) == {"study0", "study2"}


KNOWN_HOLES = {
    "width_1.3_times": "patients differ in width as much",
    "depth_1.3_times": "patients differ in depth as much",
    "width_0.77_times": "patients differ in width as much",
    "depth_0.77_times": "patients differ in depth as much",
    "in_plane_0.77_times": "as slim as other patients are",
    "smaller_by_a_seventh": "as small as other adults are",
    "larger_by_a_seventh": "as tall as other adults are",
    "pancreas_called_stomach": "an empty stomach is as large",
    "stomach_joined_to_liver": "a large left lobe reaches as far",
    "kidney_joined_to_liver": "a right lobe may reach as low",
    "adrenal_joined_to_kidney": "it makes the kidney a little longer",
    **{
        f"{name}_{change}": "a plausible mask, and no image to hold it against"
        for name, change in MASK_CHANGES
    },
}
"""Attacks of which a study without an image may show nothing; docs/footguns.md tells of them."""


@pytest.mark.sampled(one_in=24)
@pytest.mark.parametrize("name", [name for name in ATTACKS if name not in KNOWN_HOLES])
def test_no_attack_gives_a_wrong_question(name: str) -> None:
    study = Study(phantom_labels(3, 0, SPACING_MM))
    changed = ATTACKS[name](study)
    if changed is None:
        pytest.skip("this phantom has nothing to spoil that way")
    assert trial(study, changed).wrong == ()


def test_pairs_of_exchanged_names_are_doubted() -> None:
    """Every pair of organs of one phantom; the names of both must be in doubt."""
    scene = scene_of(ledger_of(phantom_labels(3, 1, SPACING_MM)), None)
    organs = [name for name in scene.sightings if scene.terms[name].kind == "organ"]
    silent = []
    for a, b in itertools.combinations(organs, 2):
        exchanged = {**scene.sightings, a: scene.sightings[b], b: scene.sightings[a]}
        doubted = {
            n
            for f in judge(Scene(exchanged, scene.terms))
            if f.doubt == "structure"
            for n in f.structures
        }
        if not {a, b} <= doubted:
            silent.append((a, b))
    assert silent == []


def test_exchanged_names_of_cut_organs_bear_no_mark_by_name() -> None:
    """Cut on all sides, no organ's size tells. Where the names exchanged are no worse than the true
    ones, a mark that is said to lie in one of the two may lie in the other."""
    whole = scene_of(ledger_of(phantom_labels(3, 1, SPACING_MM)), None)
    seen = {n: msgspec.structs.replace(one, cut=True) for n, one in whole.sightings.items()}
    organs = [name for name in seen if whole.terms[name].kind == "organ"]
    assert len(set(organs) - unsure_names(Scene(seen, whole.terms), [], [])) > len(organs) / 2
    for a, b in itertools.combinations(organs, 2):
        scene = Scene({**seen, a: seen[b], b: seen[a]}, whole.terms)
        suspicions = judge(scene)
        in_doubt = {n for one in suspicions if one.doubt == "structure" for n in one.structures}
        assert {a, b} <= in_doubt | unsure_names(scene, suspicions, suspicions), (a, b)


def test_names_that_somebody_vouches_for_may_bear_marks() -> None:
    """Cut on all sides, several organs fit another's name as well."""

    def unsure(*trusted: str) -> frozenset[str]:
        ledger = ledger_of(phantom_labels(3, 1, SPACING_MM))
        ledger.trusted = frozenset(trusted)
        seen = ledger.scene.sightings.items()
        cut = {name: msgspec.structs.replace(one, cut=True) for name, one in seen}
        ledger.scene = Scene(cut, ledger.scene.terms)
        return ledger.unsure_names

    names = unsure()
    vouched_for = min(names)
    assert unsure(vouched_for) == names - {vouched_for}
    assert unsure("structure") == unsure("all") == frozenset()


def test_no_mark_is_asked_for_where_there_is_no_picture_to_draw_it_in(
    situs: Any, tmp_path: Path
) -> None:
    result = build(
        situs, write_masks(phantom_labels(3, 1, SPACING_MM), tmp_path / "a"), tmp_path / "b"
    )
    assert "marks" not in result["by_task"]
    assert any("no image" in reason for reason in result["not_asked"])


def _called(scene: Scene, mask: str, name: str, **changes: Any) -> list[Suspicion]:
    """What is suspected where a mask bears the name of a structure whose own mask is missing."""
    seen = msgspec.structs.replace(scene.sightings[mask], **changes)
    others = {n: one for n, one in scene.sightings.items() if n not in (mask, name)}
    terms = {**{n: scene.terms[n] for n in others}, name: term(name)}
    return [one for one in judge(Scene({**others, name: seen}, terms)) if name in one.structures]


def test_an_organ_under_the_name_of_an_absent_one_is_doubted() -> None:
    scene = scene_of(ledger_of(phantom_labels(3, 1, SPACING_MM)), None)
    organs = [name for name in scene.sightings if scene.terms[name].kind == "organ"]
    assert not judge(Scene(scene.sightings, scene.terms))
    pairs = itertools.permutations(organs, 2)
    assert [pair for pair in pairs if not _called(scene, *pair, mean_hu=45.0)] == []


@pytest.mark.parametrize(
    ("mask", "name"),
    [
        ("kidney_left", "spleen"),
        ("spleen", "kidney_left"),
        ("liver", "heart"),
        ("stomach", "heart"),
    ],
)
def test_a_cut_organ_under_the_name_of_an_absent_one_is_doubted(mask: str, name: str) -> None:
    scene = scene_of(ledger_of(phantom_labels(3, 1, SPACING_MM)), None)
    assert _called(scene, mask, name, cut=True, mean_hu=45.0)
    assert not _called(scene, mask, mask, cut=True, mean_hu=45.0)


def test_an_organ_that_fits_a_name_in_doubt_is_doubted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pancreas fits the place of an absent heart better than its own. Its name fits the
    stomach's mask, and the other way round, by 3 + 2 - 1 - 0.5; the spleen's not, by 3 + 1 - 4 - 2;
    the aorta's does, but of vessels any stretch may be seen."""
    seen = scene_of(ledger_of(phantom_labels(3, 1, SPACING_MM)), None)
    four = ("pancreas", "stomach", "spleen", "aorta")
    scene = Scene({n: seen.sightings[n] for n in four}, {n: seen.terms[n] for n in four})
    cost = np.full((4, 4), 50.0)
    np.fill_diagonal(cost, (3.0, 2.0, 1.0, 1.0))
    cost[0, 1:], cost[1:, 0] = (1.0, 4.0, 1.0), (0.5, 2.0, 0.5)
    nearest = np.array([[1.0, 90.0, 90.0, 90.0]])
    place_cost = np.array([3.0, 0.0, 0.0, 0.0])

    def doubted(absent_cost: np.ndarray) -> set[str]:
        fit = Fit(
            four, cost, place_cost, np.ones(4, bool), ("heart",), absent_cost, 0.5 * absent_cost
        )
        monkeypatch.setattr(names, "fit_of", lambda *_args, **_more: fit)
        found = names.misnamed(scene, (0, 1, 2), 1.0, mirrored=False)
        return {name for one in found for name in one.structures}

    monkeypatch.setattr(names, "_GAIN_WITHOUT_CT", -1.0)
    assert doubted(np.full((1, 4), 90.0)) == set()
    assert doubted(nearest) == {"pancreas", "stomach"}


@pytest.mark.parametrize(("cost", "is_doubted"), [(names._OTHER_TISSUE, False), (0.0, True)])
def test_the_density_of_a_cut_organ_tells_its_name(
    monkeypatch: pytest.MonkeyPatch, cost: float, is_doubted: bool
) -> None:
    """What is seen of a cut spleen may lie as the lower lobe of the lung would;
    its density tells them apart."""
    monkeypatch.setattr(names, "_OTHER_TISSUE", cost)
    scene = scene_of(ledger_of(phantom_labels(3, 1, SPACING_MM)), None)
    spleen = scene.sightings["spleen"]
    x, y, z = spleen.centroid_mm
    cut = msgspec.structs.replace(spleen, cut=True, centroid_mm=(x, y, z + 35.0), mean_hu=45.0)
    doubts = judge(Scene({**scene.sightings, "spleen": cut}, scene.terms))
    assert any("spleen" in one.structures for one in doubts) is is_doubted


@pytest.mark.sampled(one_in=2)
@pytest.mark.parametrize("name", ["stomach_called_colon", "labels_reversed"])
def test_wrong_names_that_only_the_place_tells(name: str) -> None:
    """A hollow organ under another's name; and names so mixed up that every axis looks reversed."""
    study = Study(phantom_labels(41, 0, SPACING_MM))
    changed = ATTACKS[name](study)
    assert changed is not None
    outcome = trial(study, changed)
    assert outcome.wrong == ()
    assert any(doubt.startswith("structure:misnamed") for doubt in outcome.doubts)


def test_two_cut_kidneys_under_one_name_are_doubted() -> None:
    """A scan that ends within the kidneys; both are called the left one."""
    labels = phantom_labels(41, 0, SPACING_MM)
    axis, _ = axis_toward(labels, 2)
    by_name = {structure.name: labels.mask(structure) for structure in labels.structures}
    both = by_name["kidney_left"] | by_name["kidney_right"]
    middle = int(np.median(np.nonzero(both)[axis]))
    window = tuple(slice(middle if k == axis else 0, None) for k in range(3))
    joined = redrawn(labels, {"kidney_left": both, "kidney_right": both & False})
    layers = tuple(np.ascontiguousarray(layer[window]) for layer in joined.layers)
    grid = Grid(layers[0].shape, labels.grid.affine)
    present = tuple(s for s in joined.structures if (layers[s.layer] == s.value).any())
    ledger = ledger_of(LabelMap(grid, layers, present), "manual")
    assert ledger.is_cut("kidney_left")
    assert any("kidney_left" in doubt.structures for doubt in ledger.doubts)


def test_a_vertebra_that_is_one_piece_with_the_sacrum_is_not_l5() -> None:
    """Nobody labelled T12, so that the first segment of
    the sacrum was left for the name of L5; no rib tells."""
    labels = phantom_labels(3, 0, SPACING_MM)
    sacrum = mask_of(labels, "sacrum")
    first = halved(labels, sacrum, 2, upper=True)
    moved = renamed(labels, lambda name: None if name.startswith("rib") else _one_higher(name))
    wrong = redrawn(moved, {"vertebrae_L5": first, "sacrum": sacrum & ~first})
    doubts = ledger_of(wrong, "manual").doubts
    assert any(one.doubt == "levels" and "sacrum" in one.structures for one in doubts)


def _one_higher(name: str) -> str:
    level = name.removeprefix("vertebrae_")
    return f"vertebrae_{VERTEBRAE[VERTEBRAE.index(level) - 1]}" if level in VERTEBRAE else name


def test_a_rib_tells_no_level_where_vertebrae_beside_it_are_missing() -> None:
    """The curve of the spine between vertebrae three levels apart is no measure of a level."""
    names = [f"vertebrae_{level}" for level in ("T10", "T11", "T12", "L1", "L2", "L3")]
    layer = np.zeros((40, 40, 60), dtype=np.uint8)
    for value, _ in enumerate(names, start=1):
        layer[18:22, 18:22, 50 - 5 * value : 54 - 5 * value] = value
    layer[12:16, 18:20, 35:38] = 7  # beside T12
    structures = [Structure(n, name, 0, n) for n, name in enumerate([*names, "rib_left_12"], 1)]
    grid = Grid(layer.shape, Affine(np.diag([6.0, 6.0, 6.0, 1.0])))

    def ribs_that_tell(*missing: str) -> set[str]:
        kept = tuple(s for s in structures if s.name not in missing)
        scene = scene_of(ledger_of(LabelMap(grid, (layer,), kept)), None)
        return {a.structure for a in scene.anchors if a.structure.startswith("rib_")}

    assert ribs_that_tell() == ribs_that_tell("vertebrae_T12") == {"rib_left_12"}
    assert ribs_that_tell("vertebrae_T12", "vertebrae_L1") == set()


@pytest.mark.parametrize(
    ("gap_voxels", "cut", "off"),
    [(1, False, 0.0), (4, False, 1.0), (4, True, None), (6, True, 1.0)],
)
def test_a_gap_above_the_sacrum_is_a_vertebra_that_nobody_numbered(
    gap_voxels: int, cut: bool, off: float | None
) -> None:
    """Vertebrae 5 voxels apart. One that the scan cuts may lack a part of itself, not a whole
    vertebra."""
    layer = np.zeros((40, 40, 60), dtype=np.uint8)
    for value in range(1, 6):
        layer[18:22, 18:22, 50 - 5 * value : 54 - 5 * value] = value
    if cut:
        layer[18:22, :22, 25:29] = 5  # to the border, behind
    layer[10:30, 18:22, 5 : 25 - gap_voxels] = 6
    names = [*(f"vertebrae_L{n}" for n in range(1, 6)), "sacrum"]
    structures = tuple(Structure(n, name, 0, n) for n, name in enumerate(names, 1))
    grid = Grid(layer.shape, Affine(np.diag([6.0, 6.0, 6.0, 1.0])))
    ledger = ledger_of(LabelMap(grid, (layer,), structures))
    assert ledger.is_cut("vertebrae_L5") is cut
    anchors = [a.off_levels for a in scene_of(ledger, None).anchors if a.structure == "sacrum"]
    assert anchors == ([] if off is None else [off])


def test_the_contrast_at_a_mask_s_edge() -> None:
    """A ball of 60 HU in fat: full contrast for its own mask,
    none for masks that end 12 mm inside or outside."""
    grid = Grid((60, 60, 60), Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    far = np.linalg.norm(np.stack(np.indices(grid.shape)) - 29.5, axis=0) * 2.0
    image = np.where(far <= 30.0, 60.0, -100.0)

    def contrast(radius_mm: float) -> float | None:
        labels = LabelMap(
            grid, ((far <= radius_mm).astype(np.uint8),), (Structure(1, "liver", 0, 1),)
        )
        return edge_contrast(Regions(labels)["liver"], labels, image, ())

    assert contrast(30.0) == pytest.approx(1.0)
    assert contrast(18.0) == pytest.approx(0.0)
    assert contrast(42.0) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("second_at_mm", "has_a_waist"), [(0.0, False), (34.0, False), (39.6, True), (60.0, True)]
)
def test_two_organs_drawn_as_one_have_a_waist(second_at_mm: float, has_a_waist: bool) -> None:
    """Two balls of 20 mm. Where they meet lies √(20² - (d/2)²) deep:
    10.5 mm at 34 and 2.8 at 39.6; parted below 6."""
    grid = Grid((70, 30, 30), Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    places = np.stack(np.indices(grid.shape), axis=-1) * 2.0
    balls = [
        np.linalg.norm(places - (30.0 + x, 29.0, 29.0), axis=-1) <= 20.0
        for x in (0.0, second_at_mm)
    ]
    labels = LabelMap(
        grid, ((balls[0] | balls[1]).astype(np.uint8),), (Structure(1, "spleen", 0, 1),)
    )
    core = second_core(Regions(labels)["spleen"])
    assert core == pytest.approx(0.5 if has_a_waist else 0.0, abs=0.02)


@pytest.mark.parametrize("cut", [False, True])
def test_a_waist_and_several_pieces_are_doubted(cut: bool) -> None:
    seen = scene_of(ledger_of(phantom_labels(3, 1, SPACING_MM)), None).sightings["spleen"]

    def doubts(**changes: float) -> list[Suspicion]:
        one = msgspec.structs.replace(seen, cut=cut, **changes)
        return judge(Scene({"spleen": one}, {"spleen": term("spleen")}))

    assert doubts() == doubts(second_core=0.09) == doubts(largest_part=0.94) == []
    assert doubts(second_core=0.11)
    assert doubts(largest_part=0.69)


@pytest.mark.parametrize(
    ("off_mm", "voxels_wide", "reach"), [(0, 0, 1.0), (60, 6, 98 / 62), (60, 4, 1.0), (28, 6, 1.0)]
)
def test_a_small_part_far_from_its_organ_is_doubted(
    off_mm: int, voxels_wide: int, reach: float
) -> None:
    """A ball of 31 voxels, 62 mm, and a cube of 1.4 % of it: both together are 49 voxels high. A
    cube of .4 % is an island; one 28 mm below the centre touches the ball."""
    grid = Grid((50, 50, 80), Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    middle = np.array([25, 25, 55])
    far = np.linalg.norm(np.stack(np.indices(grid.shape), axis=-1) - middle, axis=-1)
    layer = (far < 15.5).astype(np.uint8)
    if voxels_wide:
        low = middle - (1, 1, off_mm // 2 + voxels_wide // 2)
        layer[tuple(slice(v, v + voxels_wide) for v in low)] = 1
    labels = LabelMap(grid, (layer,), (Structure(1, "spleen", 0, 1),))
    scene = scene_of(ledger_of(labels), None)
    assert scene.sightings["spleen"].reach_of_parts == pytest.approx(reach, abs=0.01)
    doubted = any("far from the rest" in one.problem for one in judge(scene))
    assert doubted is (reach > 1.25)


@pytest.mark.parametrize("voxels", [(29, 6), (49, 1), (25, 3)])
def test_the_largest_part_is_found_whatever_its_share(voxels: tuple[int, int]) -> None:
    """29/35 times 35 is more than 29 in floating point; most shares are not."""
    layer = np.zeros((60, 3, 3), dtype=np.uint8)
    layer[: voxels[0], 1, 1] = layer[52 : 52 + voxels[1], 1, 1] = 1
    grid = Grid(layer.shape, Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    labels = LabelMap(grid, (layer,), (Structure(1, "spleen", 0, 1),))
    seen = scene_of(ledger_of(labels), None).sightings["spleen"]
    assert seen.reach_of_parts == pytest.approx((52 + voxels[1]) / voxels[0])


@pytest.mark.sampled
@pytest.mark.parametrize("spacing_mm", [0.75, 1.5, 3.0])
def test_how_far_an_organ_goes_on_beyond_its_mask(spacing_mm: float) -> None:
    """A ball of 60 HU in fat: nothing for its own mask,
    one layer for a mask that is a layer too small."""
    size = int(np.ceil(80.0 / spacing_mm))
    grid = Grid((size,) * 3, Affine(np.diag([*[spacing_mm] * 3, 1.0])))
    far = np.linalg.norm(np.stack(np.indices(grid.shape)) - (size - 1) / 2.0, axis=0) * spacing_mm
    image = np.where(far <= 30.0, 60.0, -100.0)
    layer_mm = max(spacing_mm, 1.5)

    def offset(radius_mm: float, shown: np.ndarray = image) -> float | None:
        labels = LabelMap(
            grid, ((far <= radius_mm).astype(np.uint8),), (Structure(1, "liver", 0, 1),)
        )
        return edge_offset(Regions(labels)["liver"], labels, shown, ())

    assert offset(30.0) == pytest.approx(0.0, abs=1e-9)
    # Along an axis the surface of a ball is crossed aslant: a layer is longer there.
    assert 0.9 < offset(30.0 - layer_mm) < 1.6
    # A mask that is too large holds fat, too; of one that is large enough nothing is said to be
    # missing.
    too_large = offset(30.0 + layer_mm)
    assert too_large is None or too_large < 0.0
    assert offset(30.0, np.full(grid.shape, 60.0)) is None


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("from_border", [0, 1, 2, 3])
def test_an_edge_near_the_border_is_told_as_in_a_mirror(axis: int, from_border: int) -> None:
    """What would lie beyond the image is nothing, at its low and at its high end."""
    shape = np.full(3, 26)
    shape[axis] = 20 + from_border
    grid = Grid(tuple(map(int, shape)), Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    layer = np.zeros(grid.shape, dtype=np.uint8)
    inside = [slice(4, 22)] * 3
    inside[axis] = slice(6, 20)
    layer[tuple(inside)] = 1
    # One tissue on the low side and another on the high: the sides may not be taken for each other.
    image = np.where(np.indices(grid.shape)[axis] < 10, -100.0, 250.0)
    image[layer == 1] = 60.0
    told = []
    for mirrored in (False, True):
        seen, drawn = (np.flip(one, axis).copy() if mirrored else one for one in (image, layer))
        labels = LabelMap(grid, (drawn,), (Structure(1, "liver", 0, 1),))
        region = Regions(labels)["liver"]
        told.append(
            [edge_offset(region, labels, seen, ()), edge_contrast(region, labels, seen, ())]
        )
    assert told[0] == pytest.approx(told[1])
    assert told[0] == pytest.approx([0.0, 1.0])


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sticks_out_mm", [0.0, 24.0, 36.0])
def test_a_thin_spur_is_as_long_as_it_sticks_out(axis: int, sticks_out_mm: float) -> None:
    """A ball of 24 mm with a rod 6 mm wide, in voxels of three sizes."""
    spacing = np.array([1.5, 2.0, 3.0])
    grid = Grid((64, 48, 32), Affine(np.diag([*spacing, 1.0])))
    places = np.stack(np.indices(grid.shape), axis=-1) * spacing
    middle = np.full(3, 30.0)
    mask = np.linalg.norm(places - middle, axis=-1) <= 24.0
    beside = np.delete(np.abs(places - middle), axis, axis=-1).max(axis=-1)
    along = places[..., axis] - middle[axis]
    mask |= (beside <= 3.0) & (along > 0.0) & (along <= 24.0 + sticks_out_mm)
    labels = LabelMap(grid, (mask.astype(np.uint8),), (Structure(1, "spleen", 0, 1),))
    # Balls of 1 cm leave the outermost layer of voxels, of 3 mm at the most, on either side.
    assert spur_mm(Regions(labels)["spleen"]) == pytest.approx(sticks_out_mm, abs=6.5)


def test_an_edge_on_other_masks_tells_nothing() -> None:
    grid = Grid((20, 20, 20), Affine(np.diag([2.0, 2.0, 2.0, 1.0])))
    layer = np.ones(grid.shape, dtype=np.uint8)
    layer[5:15, 5:15, 5:15] = 2
    labels = LabelMap(grid, (layer,), (Structure(1, "stomach", 0, 1), Structure(2, "liver", 0, 2)))
    assert edge_contrast(Regions(labels)["liver"], labels, np.zeros(grid.shape), ()) is None


def test_fat_and_air_under_a_mask() -> None:
    """A soft image in which the lower part of the left kidney lies on fat."""
    labels = phantom_labels(3, 1, SPACING_MM)
    ledger = ledger_of(labels)
    (drawn,) = (s for s in labels.structures if s.name == "kidney_left")
    kidney = labels.layers[drawn.layer] == drawn.value
    image = np.full(labels.grid.shape, 60.0)
    lower = np.zeros_like(kidney)
    lower[:, :, : int(np.median(np.nonzero(kidney)[2]))] = True
    image[kidney & lower] = -100.0
    seen = scene_of(ledger, image).sightings
    assert seen["kidney_left"].fat_share == pytest.approx(
        np.count_nonzero(kidney & lower) / np.count_nonzero(kidney)
    )
    assert seen["liver"].fat_share == 0.0


def test_a_study_that_gives_no_question_is_named(situs: Any, tmp_path: Path) -> None:
    """Centimetres for millimetres: no volume can be asked for."""
    root = write_masks(spoilt("cm_for_mm", phantom_labels(3, 1, SPACING_MM)), tmp_path / "small")
    args = ("--ids", "stem", "--tasks", "volume", "--out", tmp_path / "bench")
    ran = situs("build", "masks", root, *args)
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "small looks wrong: it is too small for a patient" in ran.err
    assert "--trust small" in ran.err
    assert not (tmp_path / "bench").exists()
