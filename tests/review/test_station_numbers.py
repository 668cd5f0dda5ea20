"""The station's numbers without its database:
coefficients in closed form, protocols, plans, slices."""

from __future__ import annotations

import csv
import faulthandler
import gc
import io
import itertools
import os
import re
import resource
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import msgspec
import numpy as np
import pytest

from situs.base.collecting import collection_paused
from situs.errors import SitusError
from situs.review.station import slices
from situs.review.station.plan import (
    Place,
    PlannedUnit,
    draw_sample,
    further_blocks,
    plan_reads,
    replan,
)
from situs.review.station.protocol import load_protocol, shipped_protocols
from situs.review.station.slices import VolumeMap, store_masks, store_volume
from situs.review.station.statistics import (
    Decision,
    ReadRow,
    key_readings,
    project_statistics,
)
from situs.score import key_errors
from situs.score.stats.reliability import COEFFICIENTS, reliability_value
from situs.space import Affine, Grid

EXACT = 1e-9
NAN = np.nan


def two_raters(table: list[list[int]]) -> np.ndarray:
    """Ratings of two raters from their table of counts."""
    rows = [(a, b) for a, line in enumerate(table) for b, n in enumerate(line) for _ in range(n)]
    return np.array(rows, dtype=float)


def test_two_raters_in_closed_form() -> None:
    """20 both yes, 15 both no, 5 and 10 apart: observed .7; marginals .5 and .6, pooled .55."""
    ratings = two_raters([[20, 5], [10, 15]])
    observed, pooled = Fraction(7, 10), Fraction(55, 100)
    scott = pooled**2 + (1 - pooled) ** 2
    cohen = Fraction(1, 2) * Fraction(6, 10) + Fraction(1, 2) * Fraction(4, 10)
    gwet = 2 * pooled * (1 - pooled)
    kappa = (observed - scott) / (1 - scott)
    expected = {
        "raw": observed,
        "ac1": (observed - gwet) / (1 - gwet),
        "fleiss": kappa,
        "conger": (observed - cohen) / (1 - cohen),
        "alpha": 1 - (1 - kappa) * Fraction(99, 100),
    }
    for name, value in expected.items():
        assert reliability_value(name, ratings, [0, 1]) == pytest.approx(float(value), abs=EXACT)


def test_fleiss_own_example() -> None:
    """Fleiss (1971), as everybody prints it:
    ten subjects, fourteen raters, five categories, κ = .210."""
    table = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    ratings = np.array([[k for k, n in enumerate(row) for _ in range(n)] for row in table], float)
    shares = [Fraction(sum(row[k] for row in table), 140) for k in range(5)]
    chance = sum(share**2 for share in shares)
    observed = sum(Fraction(sum(n * (n - 1) for n in row), 14 * 13) for row in table) / 10
    kappa = (observed - chance) / (1 - chance)
    assert reliability_value("fleiss", ratings, range(5)) == pytest.approx(float(kappa), abs=EXACT)
    assert round(float(kappa), 3) == 0.210


def test_weighted_kappa_and_ac2_of_two_raters() -> None:
    """Quadratic weights on scores 0, 1, 2, worked out with fractions."""
    table = [[10, 3, 1], [2, 12, 4], [0, 5, 13]]
    n = sum(map(sum, table))
    apart = [[Fraction((a - b) ** 2, 4) for b in range(3)] for a in range(3)]
    rows = [Fraction(sum(line), n) for line in table]
    columns = [Fraction(sum(line[k] for line in table), n) for k in range(3)]
    cells = list(itertools.product(range(3), repeat=2))
    observed = sum(apart[a][b] * Fraction(table[a][b], n) for a, b in cells)
    chance = sum(apart[a][b] * rows[a] * columns[b] for a, b in cells)
    pooled = [(a + b) / 2 for a, b in zip(rows, columns)]
    weights = sum(1 - apart[a][b] for a, b in cells)
    by_chance = weights / 6 * sum(p * (1 - p) for p in pooled)
    ratings = two_raters(table)
    kappa = float(1 - observed / chance)
    ac2 = float((1 - observed - by_chance) / (1 - by_chance))
    assert reliability_value("weighted_kappa", ratings, [0, 1, 2]) == pytest.approx(
        kappa, abs=EXACT
    )
    assert reliability_value("ac2", ratings, [0, 1, 2]) == pytest.approx(ac2, abs=EXACT)


def test_krippendorff_with_missing_ratings() -> None:
    """Krippendorff (2011), four observers and twelve units:
    α = .743 for names, .815 for ranks."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
    ratings = np.array(observers).T
    categories = [1, 2, 3, 4, 5]
    assert round(reliability_value("alpha", ratings, categories) or 0, 3) == 0.743
    assert round(reliability_value("alpha_ordinal", ratings, categories) or 0, 3) == 0.815


def test_conger_of_three_raters() -> None:
    """Chance is the mean over pairs of different raters."""
    draw = np.random.default_rng(3)
    ratings = draw.integers(0, 3, (30, 3)).astype(float)
    shares = [[Fraction(int((r == k).sum()), 30) for k in range(3)] for r in ratings.T]
    pairs = list(itertools.combinations(range(3), 2))
    chance = sum(sum(shares[a][k] * shares[b][k] for k in range(3)) for a, b in pairs) / 3
    equal = sum(Fraction(int((ratings[:, a] == ratings[:, b]).sum()), 30) for a, b in pairs) / 3
    expected = float((equal - chance) / (1 - chance))
    assert reliability_value("conger", ratings, [0, 1, 2]) == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_all_equal_ratings_are_full_agreement_or_not_estimable(name: str) -> None:
    value = reliability_value(name, np.ones((5, 2)), [0, 1, 2])
    assert value == 1.0 if name in ("raw", "ac1", "ac2") else value is None


def rows_of(table: list[list[int]]) -> list[ReadRow]:
    """Scores of two readers, each unit a patient of its own."""
    rows = []
    for unit, (a, b) in enumerate(two_raters(table).astype(int).tolist()):
        for reader, score in (("R1", a), ("R2", b)):
            flags = ("key wrong",) if score == 0 else ()
            rows.append(
                ReadRow(unit, f"i{unit}", reader, f"p{unit}", "all", 1.0, "item", "t", "yes_no",
                        ("yes",), {"": "yes" if score else "no"}, score=score, flags=flags)
            )  # fmt: skip
    return rows


def test_scripted_readers_give_the_closed_form() -> None:
    """The same table through the statistics of a project:
    score, answer, key errors and the adjudicator's word."""
    rows = rows_of([[4, 2, 0], [2, 20, 3], [0, 5, 14]])
    found = project_statistics(rows, [], load_protocol("default"))
    score = found.agreement["score"]
    assert score["raw"] == pytest.approx(38 / 50, abs=EXACT)
    expected = reliability_value(
        "fleiss", two_raters([[4, 2, 0], [2, 20, 3], [0, 5, 14]]), range(3)
    )
    assert score["kappa"] == pytest.approx(expected, abs=EXACT)
    assert score["raw_ci95"][0] < 38 / 50 < score["raw_ci95"][1]
    # Key wrong: 4 by both, 4 split, 42 by none.
    assert (found.key_errors["value"], found.key_errors["n"]) == (4 / 46, 46)
    assert found.key_errors["states"]["open"] == 4
    settled = project_statistics(
        rows,
        [Decision(unit, "drop", True, "x", "J1") for unit in range(6)],
        load_protocol("default"),
    )
    assert settled.key_errors["states"]["error"] == 6
    # The card of the bench counts as the desk does: two of the four disputes were settled as wrong,
    # one as right, and one was not.
    split = [unit for unit in range(50) if len({r.says_wrong for r in rows if r.unit == unit}) == 2]
    decisions = [
        Decision(u, "fix", wrong, "x", "J1") for u, wrong in zip(split, (True, True, False))
    ]
    found = project_statistics(rows, decisions, load_protocol("default"))
    card = key_errors(key_readings(rows, decisions, 0))
    assert (card.errors, card.decided, card.unsure, card.readers) == (4 + 2, 49, 1, 2)
    assert (found.key_errors["states"]["error"], found.key_errors["n"]) == (4 + 2, 49)
    assert found.accuracy["R1"]["value"] == pytest.approx(44 / 50, abs=EXACT)


def test_protocols_decide_as_published() -> None:
    """(2, 2, 0) passes both of SpatialMed's rules, (1, 1, 1) only that of its card."""
    figure, card = load_protocol("spatialmed-figure"), load_protocol("spatialmed-card")
    assert (figure.keeps([2, 2, 0], False), card.keeps([2, 2, 0], False)) == (True, True)
    assert (figure.keeps([1, 1, 1], False), card.keeps([1, 1, 1], False)) == (False, True)
    usual = load_protocol("default")
    assert usual.keeps([2, 1], False)
    assert not usual.keeps([2, 2], True)
    audit = load_protocol("ct-spatialvqa-audit")
    assert audit.questions == ("spatial", "relevant", "correct")
    assert not audit.keeps([], False, [True, True, False])
    assert len({protocol.hash for protocol in shipped_protocols().values()}) == 4


def test_a_protocol_of_ones_own_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[mine]\nabout = "x"\nreads = 2\nstages = 2\nkeep = "mean above 1"\ncatch = 0.9\n'
    )
    with pytest.raises(SitusError, match="shares lie between"):
        load_protocol(str(path))
    with pytest.raises(SitusError, match="did you mean"):
        load_protocol("spatialmed-figur")


def many(count: int) -> list[PlannedUnit]:
    return [PlannedUnit(n, f"p{n % 40}", f"t{n % 60}" if n % 3 == 0 else "") for n in range(count)]


@pytest.mark.parametrize(("readers", "reads"), [(3, 2), (5, 2), (6, 3)])
def test_plans_are_balanced(readers: int, reads: int) -> None:
    """Loads and pairs differ little; twins share no block, and no patient follows himself."""
    protocol = msgspec.structs.replace(load_protocol("default"), reads=reads)
    codes = [f"R{n}" for n in range(readers)]
    units = many(300)
    plan = plan_reads(units, codes, protocol, 7)
    first = [place for place in plan.places if not place.repeat]
    counts = Counter(place.unit for place in first)
    everybody = sum(n == readers for n in counts.values())
    assert plan.read_by_all == everybody == 36
    assert sorted(set(counts.values())) == [reads, readers]
    assert max(plan.loads.values()) - min(plan.loads.values()) <= 2
    assert max(plan.pairs.values()) - min(plan.pairs.values()) <= 2
    assert min(plan.pairs.values()) >= 20
    known = {unit.key: unit for unit in units}
    for code in codes:
        own = [place for place in plan.places if place.reader == code]
        assert sum(place.repeat for place in own) >= 0.05 * len(own) - 2
        assert is_well_ordered(own, known)
    assert plan_reads(units, codes, protocol, 7) == plan
    assert plan_reads(units, codes, protocol, 8) != plan


def is_well_ordered(places: Sequence[Place], known: Mapping[int, PlannedUnit]) -> bool:
    """Repeats too: no patient comes twice in a row, and no block holds a question or its twin
    twice."""
    own = sorted(places, key=lambda p: (p.block, p.position))
    patients = [known[place.unit].patient for place in own]
    groups = Counter((p.block, known[p.unit].twin_group) for p in own if known[p.unit].twin_group)
    units = Counter((p.block, p.unit) for p in own)
    return (
        all(a != b for a, b in itertools.pairwise(patients))
        and max(groups.values(), default=1) == 1
        and max(units.values()) == 1
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_is_taken_over_is_as_well_ordered(seed: int) -> None:
    """Units of somebody who left come behind a list, in blocks of their own."""
    units = many(120)
    known = {unit.key: unit for unit in units}
    protocol = load_protocol("default")
    plan = plan_reads(units[:80], ["R1", "R2"], protocol, seed)
    own = [place for place in plan.places if place.reader == "R1"]
    last = max(own, key=lambda p: (p.block, p.position))
    after = last.block, last.position, known[last.unit].patient
    more = further_blocks("R1", units[80:], protocol, seed, after=after)
    assert sorted(place.unit for place in more) == sorted(unit.key for unit in units[80:])
    assert min(place.block for place in more) == last.block + 1
    assert is_well_ordered([*own, *more], known)


def test_too_few_readers_and_thin_overlap_are_told() -> None:
    protocol = load_protocol("default")
    with pytest.raises(SitusError, match="1 reader"):
        plan_reads(many(10), ["R1"], protocol, 0)
    assert (
        "share fewer than 20" in plan_reads(many(30), ["R1", "R2", "R3"], protocol, 0).warnings[0]
    )


def test_a_leaving_reader_is_replaced_by_the_least_busy() -> None:
    given = replan({1: {"A"}, 2: {"A", "B"}, 3: {"A", "B", "C"}}, ["B", "C"], {"B": 0, "C": 5}, 0)
    assert given == {1: "B", 2: "C"}


def test_the_sample_says_what_each_unit_stands_for() -> None:
    strata = {"a": [f"a{n}" for n in range(900)], "b": [f"b{n}" for n in range(100)]}
    drawn = draw_sample(strata, 100, 1)
    assert {name: len(keys) for name, (keys, _) in drawn.items()} == {"a": 90, "b": 10}
    assert sum(len(keys) * weight for keys, weight in drawn.values()) == pytest.approx(1000)


def oblique() -> Grid:
    """A turned grid with unequal steps, its axes permuted and one of them falling."""
    angle = np.deg2rad(17)
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = turn @ np.diag([-0.8, 1.5, 2.5])[:, [1, 2, 0]]
    matrix[:3, 3] = (31, -20, 12)
    return Grid((20, 14, 26), Affine(matrix))


def test_a_voxel_is_where_its_millimetres_say_on_every_plane(tmp_path: Path) -> None:
    """One bright voxel; on each plane it lies at the slice
    and pixel that follow from its mm through the affine."""
    grid = oblique()
    array = np.zeros(grid.shape, np.int16)
    array[5, 9, 20] = 1000
    mm = grid.affine.matrix @ np.array([5, 9, 20, 1.0])
    store_volume(tmp_path / "v", array, grid, "ct")
    stored = VolumeMap(tmp_path / "v")
    ordered = grid.in_patient_order()
    at = np.rint(np.linalg.inv(ordered.affine.matrix) @ mm)[:3].astype(int)
    x, y, z = stored.info.shape
    expected = {
        "axial": (at[2], y - 1 - at[1], x - 1 - at[0]),
        "coronal": (at[1], z - 1 - at[2], x - 1 - at[0]),
        "sagittal": (at[0], z - 1 - at[2], y - 1 - at[1]),
    }
    for plane, (index, row, column) in expected.items():
        count, rows, columns = {"axial": (z, y, x), "coronal": (y, z, x), "sagittal": (x, z, y)}[
            plane
        ]
        raw = zlib.decompress(stored.compressed_slice(plane, int(index)))
        picture = np.frombuffer(raw, "<i2").reshape(rows, columns)
        assert np.argwhere(picture).tolist() == [[row, column]]
        assert 0 <= index < count
        with pytest.raises(SitusError):
            stored.compressed_slice(plane, count)


def test_intensities_survive_storage(tmp_path: Path) -> None:
    """Hounsfield units to the unit; others to a part in sixty thousand."""
    values = np.linspace(-1e-3, 4e-3, 27, dtype=np.float32).reshape(3, 3, 3)
    info = store_volume(tmp_path / "v", values, Grid((3, 3, 3), Affine(np.eye(4))), "mr")
    raw = zlib.decompress(VolumeMap(tmp_path / "v").compressed_slice("axial", 1))
    read = np.frombuffer(raw, "<i2").reshape(3, 3) * info.slope + info.intercept
    assert pytest.approx(values[:, :, 1], abs=5e-3 / 60_000) == read[::-1, ::-1].T


@pytest.mark.parametrize("step", ["write_atomic", "savez_compressed"])
def test_nothing_of_a_killed_import_is_left(tmp_path: Path, step: str) -> None:
    """A volume that was half stored is a patient's: the next one to store it removes it."""
    grid = oblique()
    array = np.ones(grid.shape, np.int16)

    def store() -> None:
        store_volume(tmp_path / "v", array, grid, "ct")
        store_masks(tmp_path / "v", {"liver": array > 0}, "")

    child = os.fork()
    if child == 0:
        setattr(slices if step == "write_atomic" else np, step, lambda *_, **__: os.abort())
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.disable()
        store()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert any(".part" in path.name for path in tmp_path.rglob("*"))
    store()
    assert not [path.name for path in tmp_path.rglob("*") if path.name.startswith(".")]
    assert {path.name for path in (tmp_path / "v").iterdir()} >= {"volume.json", "mask-liver.npz"}


def test_corrected_labels_of_a_scan_are_drawn_as_corrected(tmp_path: Path) -> None:
    """A builder corrects an annotation and the bench is read again, at the same station: each
    project shows the outlines that its facts were measured on."""
    array = np.zeros((8, 8, 8), np.int16)
    store_volume(tmp_path / "v", array, Grid(array.shape, Affine(np.eye(4))), "ct")
    first, corrected = array.copy(), array.copy()
    first[2:4, 2:4, 4] = corrected[5:7, 5:7, 4] = 1
    for labels, mask in (("a" * 64, first), ("b" * 64, corrected)):
        store_masks(tmp_path / "v", {"liver": mask > 0}, labels)
    stored = VolumeMap(tmp_path / "v")
    begins = []
    for labels in ("a" * 64, "b" * 64):
        path = stored.outlines(["liver"], "axial", 4, labels)["liver"]
        begins.append([float(number) for number in re.findall(r"[\d.]+", path)[:2]])
    # A corner of the square: the picture begins at the patient's right and front, where indices end.
    assert [at in (4.0, 6.0) for at in begins[0]] == [True, True]
    assert [at in (1.0, 3.0) for at in begins[1]] == [True, True]


def test_no_comment_is_a_formula_and_a_number_stays_one() -> None:
    """Cells that spreadsheets would run (OWASP, CSV injection), and answers below zero."""
    from situs.review.station.exported import _csv

    texts = ["=1+1", "+cmd|x", "-1+1", "@sum", "\t=1", "\r=1", "-5", "+12,5", "-0.25"]
    written = list(csv.reader(io.StringIO(_csv(["note"], [[text] for text in texts]), newline="")))
    run = [[f"'{text}".replace("\r", "\n")] for text in texts[:6]]
    assert written[1:] == run + [[text] for text in texts[6:]]


def test_the_collector_of_cycles_goes_on_afterwards() -> None:
    """Also after a mistake, and where it is paused twice; whoever had it off keeps it off."""

    @collection_paused()
    def work() -> None:
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise ValueError("within")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="within"):
        work()
    assert gc.isenabled()
    gc.disable()
    try:
        with pytest.raises(ValueError, match="within"):
            work()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_plan_says_which_repeats_come_late() -> None:
    """Fewer than 100 cases before a repeat: it comes after two weeks, and the preview says so."""
    protocol = msgspec.structs.replace(load_protocol("default"), pair_units=0)
    units = [PlannedUnit(n, f"p{n}") for n in range(60)]
    short = plan_reads(units, ["R1", "R2"], protocol, 3)
    (warning,) = short.warnings
    assert warning.startswith("6 hidden repeats come 14 days after the first reading")  # 2 x 5 %
    longer = [PlannedUnit(n, f"p{n}") for n in range(400)]
    assert plan_reads(longer, ["R1", "R2"], protocol, 3).warnings == []
    at_once = msgspec.structs.replace(protocol, repeat_gap_days=0.0)
    assert plan_reads(units, ["R1", "R2"], at_once, 3).warnings == []


def test_each_form_of_answer_has_its_own_categories() -> None:
    """Whoever is asked for yes or no could not have said B: chance agreement differs by form."""
    said = [("yes_no", "yes", "yes")] * 4 + [("yes_no", "yes", "no")] * 2
    said += [("yes_no", "no", "no")] * 4
    said += [("choice", "A", "A")] * 3 + [("choice", "B", "B")] * 3 + [("choice", "A", "B")] * 4
    rows = [
        ReadRow(unit, f"i{unit}", reader, f"p{unit}", form, 1.0, "item", "t", form, (), {"": reply})
        for unit, (form, *replies) in enumerate(said)
        for reader, reply in zip(("R1", "R2"), replies)
    ]
    agreement = project_statistics(rows, [], load_protocol("default")).agreement
    assert "answer" not in agreement  # nothing pools letters with yes and no
    for form, raw in (("yes or no", Fraction(8, 10)), ("one option", Fraction(6, 10))):
        entry = agreement[f"answer ({form})"]
        assert {"raw", "ac1", "alpha", "kappa", "n"} <= set(entry)
        # Half of all ratings are of either kind, so chance is one half for every coefficient.
        assert entry["n"] == 10
        assert entry["raw"] == pytest.approx(float(raw), abs=EXACT)
        for name in ("ac1", "kappa"):
            assert entry[name] == pytest.approx(float(2 * raw - 1), abs=EXACT)
        assert entry["alpha"] == pytest.approx(
            float(1 - (2 - 2 * raw) * Fraction(19, 20)), abs=EXACT
        )
