"""Law 5, the ledger: `situs check` recomputes every answer from the evidence; whatever layer is
changed, it is found.

Every tampering also refreshes `bench.json`'s content hash, so that the hash alone cannot be what
finds it.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import pyarrow.parquet as pq
import pytest

from bench_rows import Row, refresh, rows_of, write_rows

Tamper = Callable[[Row], None]


@pytest.fixture
def larger_copy(small: Path, tmp_path: Path) -> Path:
    """A copy of the bench of four, which holds every kind of fact and form of question."""
    return Path(shutil.copytree(small / "bench", tmp_path / "bench"))


@pytest.fixture(scope="session")
def pair(once: Callable[..., Path], build_small: Callable[[Path, int], None]) -> Path:
    """Two patients, so that each of the many checks is quick."""
    return once("ledger", lambda folder: build_small(folder, 2))


@pytest.fixture(scope="session")
def bench(pair: Path) -> Path:
    """The bench of the two. Do not change it."""
    return pair / "bench"


@pytest.fixture
def copy(bench: Path, tmp_path: Path) -> Path:
    """A copy of the bench, whose evidence stays where it is."""
    return Path(shutil.copytree(bench, tmp_path / "bench"))


@pytest.fixture
def whole_copy(pair: Path, tmp_path: Path) -> Path:
    """A copy of the bench and of its evidence."""
    shutil.copytree(pair, tmp_path / "pair")
    locations = tmp_path / "pair" / "bench" / "locations.json"
    locations.write_text(locations.read_text().replace(str(pair), str(tmp_path / "pair")))
    return tmp_path / "pair"


PLACE = {"items": "item_id", "facts": "fact_id", "studies": "study_id"}


def found(situs: Callable[..., Any], bench: Path, *args: object) -> list[Row]:
    """The errors of a check, which must then fail."""
    ran = situs("check", bench, "--json", *args)
    errors = [p for p in ran.json["problems"] if p["severity"] == "error"]
    assert ran.code == (1 if errors else 0)
    assert all(p["where"] and p["problem"] and p["fix"] for p in errors)
    assert "content" not in {p["code"] for p in errors}, (
        "the content hash must not be what finds it"
    )
    return errors


Tampers = dict[str, tuple[Callable[[Row], bool], Tamper]]


def found_at_once(
    situs: Callable[..., Any], bench: Path, table: str, tampers: Tampers
) -> dict[str, bool]:
    """Each tampering in a row of its own, one check over all: whether the row of each is named."""
    rows, places = rows_of(bench, table), {}
    free = rows.copy()
    for name, (pick, tamper) in tampers.items():
        row = next(row for row in free if pick(row))
        free.remove(row)
        before = json.dumps(row)
        tamper(row)
        assert json.dumps(row) != before, name
        places[name] = row[PLACE[table]]
    write_rows(bench, table, rows)
    named = {error["where"] for error in found(situs, bench)}
    return {name: place in named for name, place in places.items()}


def test_an_untouched_bench_is_clean_and_wholly_recomputed(situs, bench) -> None:
    ran = situs("check", bench, "--json")
    items = len(rows_of(bench, "items"))
    assert ran.code == 0
    assert ran.json == {"items": items, "recomputed": items, "given": 0, "problems": []}


def test_the_helpers_change_nothing_by_themselves(situs, copy) -> None:
    for table in ("items", "facts", "studies"):
        write_rows(copy, table, rows_of(copy, table))
    assert found(situs, copy) == []


def of(**wanted: Any) -> Callable[[Row], bool]:
    """Rows with these values; `options` is the least number of them."""

    def pick(row: Row) -> bool:
        return all(len(row[k]) >= v if k == "options" else row[k] == v for k, v in wanted.items())

    return pick


def wrong_option(row: Row) -> Row:
    return next(option for option in row["options"] if option["value"] != row["answer"]["value"])


def flip(row: Row) -> None:
    row["answer"]["value"] = not row["answer"]["value"]


def choose_another(row: Row) -> None:
    row["answer"]["value"] = wrong_option(row)["value"]


def accept_another(row: Row) -> None:
    row["answer"]["also_right"] = [wrong_option(row)["value"]]


def one_percent_more(row: Row) -> None:
    row["answer"]["value"] *= 1.01


def widen_answer(row: Row) -> None:
    row["answer"]["interval"][1] *= 1.01


def reword_option(row: Row) -> None:
    wrong_option(row)["text"] += "!"


def swap_option_texts(row: Row) -> None:
    first, second = row["options"][:2]
    first["text"], second["text"] = second["text"], first["text"]


def rename_option(row: Row) -> None:
    wrong_option(row)["value"] = "elsewhere"


def remove_wrong_option(row: Row) -> None:
    row["options"].remove(wrong_option(row))


def remove_right_option(row: Row) -> None:
    row["options"] = [
        option for option in row["options"] if option["value"] != row["answer"]["value"]
    ]


def repeat_option(row: Row) -> None:
    row["options"].append(row["options"][0])


def reword(row: Row) -> None:
    row["question"] = row["question"].replace("Which", "What").replace("Is ", "Was ") + " "


def assert_without_facts(row: Row) -> None:
    """A measured item must not pass as one that its source only asserts."""
    flip(row)
    row["fact_ids"] = []


def set_to(name: str, value: Any) -> Tamper:
    return lambda row: row.__setitem__(name, value)


def drop_last(name: str) -> Tamper:
    return lambda row: row[name].pop()


def step_text(row: Row) -> None:
    row["steps"][-2]["text"] += " Or so."


def step_number(row: Row) -> None:
    next(step for step in row["steps"] if step.get("value"))["value"]["value"] += 0.5


def move_box(row: Row) -> None:
    row["boxes"][0]["lo_mm"][0] -= 1.0


def move_mark(row: Row) -> None:
    """Within its organ, perhaps, but not where the facts say."""
    mark = next(box for box in row["boxes"] if box["label"] == "mark:B")
    mark["lo_mm"][0] += 0.5
    mark["hi_mm"][0] += 0.5


def swap_marks(row: Row) -> None:
    first, second = (box for box in row["boxes"] if box["label"] in ("mark:A", "mark:C"))
    first["label"], second["label"] = second["label"], first["label"]


def grow_box_answer(row: Row) -> None:
    row["answer"]["boxes"][0]["hi_mm"][2] += 0.5


def other_parameters(row: Row) -> None:
    row["parameters"] = dict(zip(row["parameters"], list(row["parameters"].values())[::-1]))


def measured_choice(row: Row) -> bool:
    return bool(row["form"] == "choice" and any(step.get("value") for step in row["steps"]))


YES_NO, CHOICE, NUMBER = of(form="yes_no"), of(form="choice", options=2), of(form="number")
MARKS = of(task="marks", options=4)
FOUR = of(form="choice", options=4)
HEADLINE_YES_NO, HEADLINE_CHOICE = (
    of(form=form, stratum="headline") for form in ("yes_no", "choice")
)

ITEMS: Tampers = {
    "yes/no flipped": (YES_NO, flip),
    "choice changed": (CHOICE, choose_another),
    "second right choice": (CHOICE, accept_another),
    "number off by 1 %": (NUMBER, one_percent_more),
    "interval of the number": (NUMBER, widen_answer),
    "unit of the number": (NUMBER, lambda row: row["answer"].update(unit="L")),
    "answer of another kind": (
        YES_NO,
        lambda row: row.update(answer={"type": "text", "references": ["yes"]}),
    ),
    "asserted without facts": (YES_NO, assert_without_facts),
    "option text": (CHOICE, reword_option),
    "option texts swapped": (CHOICE, swap_option_texts),
    "option value": (CHOICE, rename_option),
    "wrong option removed": (FOUR, remove_wrong_option),
    "right option removed": (FOUR, remove_right_option),
    "option twice": (CHOICE, repeat_option),
    "all options removed": (CHOICE, set_to("options", [])),
    "question text": (CHOICE, reword),
    "needs": (YES_NO, drop_last("needs")),
    "tags": (YES_NO, drop_last("tags")),
    "fact ids": (CHOICE, drop_last("fact_ids")),
    "a fact that is not there": (CHOICE, lambda row: row["fact_ids"].append("f0000000000000000")),
    "step text": (CHOICE, step_text),
    "step number": (measured_choice, step_number),
    "step removed": (YES_NO, drop_last("steps")),
    "box moved": (YES_NO, move_box),
    "box removed": (NUMBER, drop_last("boxes")),
    "split": (YES_NO, lambda row: row.update(split="val" if row["split"] != "val" else "test")),
    "patient": (YES_NO, set_to("patient_id", "p000000000000")),
    "mark moved": (MARKS, move_mark),
    "marks exchanged": (MARKS, swap_marks),
    "another mark right": (MARKS, choose_another),
    "one slice fewer": (of(form="frames"), lambda row: row["answer"]["frames"].pop()),
    "box of the answer": (of(form="boxes"), grow_box_answer),
    "parameters": (of(task="direction", form="yes_no"), other_parameters),
    "task": (YES_NO, set_to("task", "comparison")),
    "unknown task": (YES_NO, set_to("task", "divination")),
    "form": (YES_NO, set_to("form", "choice")),
    "item id": (YES_NO, set_to("item_id", "i0000000000000000")),
    "series": (YES_NO, set_to("series", "pet")),
    "difficulty": (YES_NO, lambda row: row.update(difficulty=row["difficulty"] * 1.01)),
    "level": (YES_NO, set_to("level", "slice")),
}


TWINS: Tampers = {
    "yes/no flipped": (HEADLINE_YES_NO, flip),
    "option removed": (HEADLINE_CHOICE, remove_wrong_option),
    "group": (HEADLINE_YES_NO, set_to("twin_group", "t0000000000000000")),
    "twin made of a textbook question": (
        of(stratum="textbook", form="yes_no"),
        set_to("stratum", "headline"),
    ),
    "twin put elsewhere": (HEADLINE_YES_NO, set_to("stratum", "untwinned")),
}


def test_every_changed_item_is_found(situs, larger_copy) -> None:
    found_by_name = found_at_once(situs, larger_copy, "items", ITEMS)
    assert found_by_name == dict.fromkeys(ITEMS, True)


def test_every_changed_twin_is_found(situs, cohort, tmp_path) -> None:
    """Each in a group of its own; any of the group may be named."""
    copy = Path(shutil.copytree(cohort, tmp_path / "bench"))
    rows, groups = rows_of(copy, "items"), {}
    free = rows.copy()
    for name, (pick, tamper) in TWINS.items():
        row = next(row for row in free if pick(row))
        group = row["twin_group"] or row["item_id"]
        members = [one for one in free if group in (one["twin_group"], one["item_id"])]
        groups[name] = {one["item_id"] for one in members}
        free = [one for one in free if one not in members]
        tamper(row)
    write_rows(copy, "items", rows)
    named = {error["where"] for error in found(situs, copy)}
    assert {name: bool(named & members) for name, members in groups.items()} == dict.fromkeys(
        TWINS, True
    )


def longer_derivation(row: Row) -> None:
    row["derivation"]["inputs"].append("labels:00")


FACTS: Tampers = {
    "number": (of(kind="volume"), lambda row: row.update(value=row["value"] * 1.001)),
    "count": (of(kind="voxels"), lambda row: row.update(value=row["value"] + 1)),
    "place": (of(kind="centroid"), lambda row: row["value"].__setitem__(2, row["value"][2] + 0.01)),
    "truth": (of(kind="touches_border", value=False), set_to("value", True)),
    "word": (
        of(kind="side"),
        lambda row: row.update(value="left" if row["value"] == "right" else "right"),
    ),
    "interval": (
        of(kind="volume"),
        lambda row: row["interval"].__setitem__(1, row["interval"][1] * 1.001),
    ),
    "function": (of(kind="volume"), lambda row: row["derivation"].update(function="volume@2")),
    "parameter": (
        of(kind="volume"),
        lambda row: row["derivation"]["parameters"].update(surface_mm=9.0),
    ),
    "inputs": (of(kind="box"), longer_derivation),
    "unit": (of(kind="volume"), set_to("unit", "cm³")),
    "flags": (of(kind="box"), lambda row: row["flags"].append("islands")),
    "subject": (of(kind="volume"), set_to("subjects", ["kidney_left", "kidney_right"])),
    "kind": (of(kind="volume"), set_to("kind", "voxels")),
    "series": (of(kind="volume"), set_to("series", "pet")),
    "fact id": (of(kind="volume"), set_to("fact_id", "f0000000000000000")),
}


def test_every_changed_fact_is_found(situs, larger_copy) -> None:
    assert found_at_once(situs, larger_copy, "facts", FACTS) == dict.fromkeys(FACTS, True)


def test_a_second_version_of_a_fact_is_found(situs, copy) -> None:
    rows = rows_of(copy, "facts")
    fact = next(row for row in rows if row["kind"] == "volume")
    rows.insert(rows.index(fact), fact | {"value": 1.0})
    write_rows(copy, "facts", rows)
    assert fact["fact_id"] in {error["where"] for error in found(situs, copy)}


@pytest.mark.parametrize("table", ["items", "facts", "studies"])
def test_a_removed_row_is_found(situs, copy, table) -> None:
    path = copy / f"{table}.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    refresh(copy)
    assert found(situs, copy)


def change_series(name: str, edit: Callable[[Any], Any]) -> Tamper:
    return lambda row: row["series"][0].__setitem__(name, edit(row["series"][0][name]))


STUDIES: dict[str, Tamper] = {
    "affine": change_series("affine", lambda v: [v[0] * 1.001, *v[1:]]),
    "origin": change_series("affine", lambda v: [*v[:3], v[3] + 1.0, *v[4:]]),
    "shape": change_series("shape", lambda v: [v[0] + 1, *v[1:]]),
    "orientation": change_series("side_basis", lambda v: "undeclared"),
    "annotation": change_series("annotation", lambda v: "manual"),
    "labels hash": change_series("labels_hash", lambda v: "0" * 32),
    "structure removed": change_series(
        "structures", lambda v: dict(itertools.islice(v.items(), 1, None))
    ),
    "structure renumbered": change_series("structures", lambda v: v | {"liver": 999}),
    "split": lambda row: row.update(split="val" if row["split"] != "val" else "test"),
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", STUDIES)
def test_a_changed_study_is_found(situs, copy, name) -> None:
    rows = rows_of(copy, "studies")
    STUDIES[name](rows[0])
    write_rows(copy, "studies", rows)
    assert found(situs, copy)


RECIPE = {
    "rotation_degrees": 9.0,
    "direction_margin_mm": 11.0,
    "direction_probability": 0.9999999,
    "dominance_degrees": 12.0,
    "volume_half_width": 0.001,
    "side_share": 1.01,
}


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", RECIPE)
def test_a_changed_threshold_is_found(situs, larger_copy, name) -> None:
    """Where items rest on it:
    a threshold that is only made laxer leaves every stored answer true."""
    recipe = json.loads((larger_copy / "bench.json").read_text())["recipe"]
    recipe["truth"][name] = RECIPE[name]
    refresh(larger_copy, recipe=recipe)
    assert found(situs, larger_copy)


def test_a_changed_annotation_error_is_found(situs, copy) -> None:
    recipe = json.loads((copy / "bench.json").read_text())["recipe"]
    recipe["annotation"]["exact"]["surface_mm"] = 0.5
    refresh(copy, recipe=recipe)
    assert found(situs, copy)


@pytest.mark.sampled
@pytest.mark.parametrize("key", ["counts", "by_task", "by_stratum", "by_split"])
def test_a_changed_count_is_found(situs, copy, key) -> None:
    told = json.loads((copy / "bench.json").read_text())[key]
    refresh(copy, **{key: told | {next(iter(told)): 10_000}})
    assert {"bench.json"} == {error["where"] for error in found(situs, copy)}


def test_the_content_hash_finds_a_change_without_a_meaning(situs, copy) -> None:
    path = copy / "facts.parquet"
    pq.write_table(pq.read_table(path), path, compression="none")
    ran = situs("check", copy, "--json")
    assert (ran.code, [p["code"] for p in ran.json["problems"]]) == (1, ["content"])


def evidence(whole: Path, study: int, name: str = "liver") -> Path:
    return whole / "data" / f"patient{study:03d}" / "segmentations" / f"{name}.nii.gz"


def rewrite(
    path: Path, edit: Callable[[np.ndarray], None], affine: np.ndarray | None = None
) -> None:
    image = nibabel.load(path)
    voxels = np.array(image.dataobj)
    edit(voxels)
    nibabel.save(
        nibabel.Nifti1Image(voxels, image.affine if affine is None else affine, image.header), path
    )


def test_evidence_written_anew_with_the_same_voxels_is_fine(situs, whole_copy) -> None:
    rewrite(evidence(whole_copy, 0), lambda voxels: None)
    assert found(situs, whole_copy / "bench") == []


@pytest.mark.parametrize("study", [0, 1])
def test_one_changed_voxel_is_found(situs, whole_copy, study) -> None:
    def edit(voxels: np.ndarray) -> None:
        inside = np.argwhere(voxels)[0]
        voxels[tuple(inside)] = 0

    rewrite(evidence(whole_copy, study), edit)
    errors = found(situs, whole_copy / "bench")
    assert [error["code"] for error in errors] == ["evidence"]


def test_a_shifted_mask_header_is_found(situs, whole_copy) -> None:
    for path in evidence(whole_copy, 1).parent.iterdir():
        affine = nibabel.load(path).affine.copy()
        affine[0, 3] += 5.0
        rewrite(path, lambda voxels: None, affine)
    assert [error["code"] for error in found(situs, whole_copy / "bench")] == ["evidence"]


def test_a_missing_mask_and_a_missing_folder_are_found(situs, whole_copy) -> None:
    evidence(whole_copy, 0).unlink()
    shutil.rmtree(whole_copy / "data" / "patient001")
    assert [error["code"] for error in found(situs, whole_copy / "bench")] == [
        "evidence",
        "evidence",
    ]


def test_swapped_masks_of_two_structures_are_found(situs, whole_copy) -> None:
    left, right = evidence(whole_copy, 0, "kidney_left"), evidence(whole_copy, 0, "kidney_right")
    content = left.read_bytes()
    left.write_bytes(right.read_bytes())
    right.write_bytes(content)
    assert [error["code"] for error in found(situs, whole_copy / "bench")] == ["evidence"]


def test_swapped_evidence_of_two_studies_is_found(situs, whole_copy) -> None:
    first, second, aside = (
        whole_copy / "data" / name for name in ("patient000", "patient001", "aside")
    )
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
    assert {error["code"] for error in found(situs, whole_copy / "bench")} == {"evidence"}


def test_swapped_locations_are_found(situs, copy) -> None:
    path = copy / "locations.json"
    table = json.loads(path.read_text())
    masks = [key for key, place in table.items() if place.endswith("segmentations")]
    table[masks[0]], table[masks[1]] = table[masks[1]], table[masks[0]]
    path.write_text(json.dumps(table))
    assert [error["code"] for error in found(situs, copy)] == ["evidence", "evidence"]


def test_another_patients_image_is_found(situs, whole_copy) -> None:
    """With a header that fits the patient, so that it is the content that tells."""
    one, other = (next((whole_copy / "data" / f"patient00{n}").glob("*.nii.gz")) for n in range(2))
    image = nibabel.load(one)
    voxels = np.resize(np.asarray(nibabel.load(other).dataobj), image.shape)
    nibabel.save(nibabel.Nifti1Image(voxels, image.affine, image.header), one)
    assert [error["code"] for error in found(situs, whole_copy / "bench")] == ["image"]


def test_an_image_that_is_gone_is_a_warning(situs, whole_copy) -> None:
    next((whole_copy / "data" / "patient000").glob("*.nii.gz")).unlink()
    ran = situs("check", whole_copy / "bench", "--json")
    assert (ran.code, [p["severity"] for p in ran.json["problems"]]) == (0, ["warning"])


def test_moved_evidence_is_found_again_with_data(situs, whole_copy, tmp_path) -> None:
    (whole_copy / "data").rename(tmp_path / "elsewhere")
    assert {error["code"] for error in found(situs, whole_copy / "bench")} == {"evidence"}
    assert found(situs, whole_copy / "bench", "--data", tmp_path / "elsewhere") == []


def test_without_locations_nothing_is_recomputed_and_that_is_an_error(situs, copy) -> None:
    (copy / "locations.json").unlink()
    assert {error["code"] for error in found(situs, copy)} == {"evidence"}
