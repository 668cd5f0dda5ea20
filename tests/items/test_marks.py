"""Drawn marks: well inside their structures, on one axial slice, at letters that say nothing."""

from __future__ import annotations

from collections import Counter

import msgspec
import numpy as np
import pytest
from _studies import ledger_of, phantom_labels

from situs.facts import Ledger, marked_structures
from situs.items import (
    TASKS,
    Choice,
    Item,
    NotAsked,
    Placement,
    Posed,
    Question,
    lettered,
    mark_label,
    marks_of,
    place,
)
from situs.items.arrangement.marks import drawn_letter
from situs.items.subjects import subjects

PATIENTS = range(5)
TASK = TASKS["marks"]


@pytest.fixture(scope="module")
def posed() -> list[tuple[Ledger, Question, Posed]]:
    found = []
    for index in PATIENTS:
        ledger = ledger_of(phantom_labels(23, index, (3.0, 3.0, 4.0)))
        ledger.study_id = f"s{index}"
        for question in TASK.questions(ledger, subjects(ledger)):
            outcome = TASK.pose(ledger, question)
            if isinstance(outcome, Posed):
                found.append((ledger, question, outcome))
    return found


def item_of(ledger: Ledger, question: Question, outcome: Posed) -> Item:
    return outcome.item(question, ledger, ledger.study_id)


def test_every_way_of_asking_occurs(posed):
    assert {question.parameters["ask"] for _, question, _ in posed} == {
        "lesion",
        "same_organ",
        "same",
        "organ",
    }


def test_marks_lie_where_the_facts_say_and_deep_enough(posed):
    """Against the voxels themselves:
    every voxel within the depth belongs to the structure, or to a lesion in it."""
    checked = 0
    for ledger, question, outcome in posed:
        fact = next(f for f in outcome.facts if f.kind.startswith("marks."))
        grid, depth = ledger.regions.grid, float(fact.derivation.parameters["depth_mm"])
        indices = np.argwhere(np.ones(grid.shape, bool)).astype(float)
        marks = {
            box.label: np.array(box.lo_mm)
            for box in marks_of(item_of(ledger, question, outcome)).values()
        }
        for inside, at in zip(marked_structures(fact), marks.values(), strict=True):
            centre = grid.affine.to_index(at[None])[0]
            assert np.allclose(centre, np.rint(centre), atol=1e-6), "a mark is a voxel's centre"
            near = indices[
                (np.abs(indices - centre) <= np.ceil(depth / np.array(grid.affine.spacing_mm))).all(
                    axis=1
                )
            ]
            ball = near[np.linalg.norm(grid.affine.to_world(near) - at, axis=1) < depth].astype(int)
            mask = ledger.regions.labels.mask(ledger.regions.structures[inside])
            assert mask[tuple(ball.T)].all(), (question, inside)
            checked += 1
        if checked > 60:
            break
    assert checked > 40


def test_marks_lie_on_one_axial_slice_apart_from_each_other(posed):
    for ledger, question, outcome in posed:
        points = np.array(
            [box.lo_mm for box in marks_of(item_of(ledger, question, outcome)).values()]
        )
        assert len(points) == (5 if question.parameters["ask"] == "same" else 4)
        axis = next(
            n
            for n, d in enumerate(ledger.regions.grid.affine.directions)
            if d.axis == "superior_inferior"
        )
        assert np.ptp(ledger.regions.grid.affine.to_index(points)[:, axis]) < 1e-6
        between = np.linalg.norm(points[:, None] - points[None], axis=-1)
        assert (
            between[np.triu_indices(len(points), 1)].min()
            >= ledger.recipe.truth.mark_apart_mm - 1e-5
        )


def test_no_coordinate_stands_in_the_words(posed):
    for _, _, outcome in posed:
        words = " ".join([outcome.text, *(option.text for option in outcome.pool)])
        assert not any(character.isdigit() for character in words)


def test_only_the_right_mark_lies_in_what_is_asked_for(posed):
    for ledger, question, outcome in posed:
        fact = next(f for f in outcome.facts if f.kind.startswith("marks."))
        right, *others = marked_structures(fact)[:4]
        assert right not in others
        if question.parameters["ask"] == "same":
            assert marked_structures(fact)[4] == right
        if question.parameters["ask"] == "same_organ":
            largest = str(ledger.fact("largest", "*").value)
            assert right == ledger.fact("organ_of", largest).value


def test_distance_to_the_partner_does_not_tell(posed):
    """Of one patient's four questions the right mark is once each the nearest,
    the second, third and fourth."""
    ranks: dict[str, list[int]] = {}
    for ledger, question, outcome in posed:
        if question.parameters["ask"] == "same":
            marks = {
                letter: np.array(b.lo_mm)
                for letter, b in marks_of(item_of(ledger, question, outcome)).items()
            }
            far = {letter: np.linalg.norm(marks[letter] - marks["X"]) for letter in "ABCD"}
            ranks.setdefault(ledger.study_id, []).append(sorted(far, key=far.get).index("A"))
    assert ranks
    assert all(sorted(found) == [0, 1, 2, 3] for found in ranks.values())


@pytest.mark.parametrize("letter", "ABCD")
def test_another_letter_moves_the_marks_and_nothing_else(posed, letter):
    for ledger, question, outcome in posed[:12]:
        item = item_of(ledger, question, outcome)
        moved = lettered(item, letter)
        assert moved.item_id == item.item_id
        assert moved.answer == Choice(letter)
        before, after = marks_of(item), marks_of(moved)
        assert after[letter].lo_mm == before["A"].lo_mm
        assert {box.lo_mm for box in after.values()} == {box.lo_mm for box in before.values()}
        assert set(after) == set(before)
        assert f"mark {letter}" in moved.steps[-1].text


def test_marks_are_controls_with_letters_dealt_by_place(posed):
    """Whichever mark is right, the marks at the same places get the same letters."""
    letters: Counter[str] = Counter()
    for ledger, question, outcome in posed:
        assert question.textbook
        item = item_of(ledger, question, outcome)
        placed = place(item, Placement("textbook", tuple("ABCD"), ""), "test")
        assert placed.answer == Choice(drawn_letter(item))
        assert set(marks_of(placed)) == set(marks_of(item))
        letters[drawn_letter(item)] += 1
        swapped = {"A": "B", "B": "A"}
        boxes = tuple(
            msgspec.structs.replace(
                box, label=mark_label(swapped.get(box.label.removeprefix("mark:"), ""))
            )
            if box.label in (mark_label("A"), mark_label("B"))
            else box
            for box in item.boxes
        )
        other = msgspec.structs.replace(item, boxes=boxes)
        # The mark that was B is now the right one: it gets the letter that its place had before.
        assert drawn_letter(other) != drawn_letter(item)
    assert set(letters) == set("ABCD")
    assert max(letters.values()) < 0.5 * letters.total()


def test_no_marks_without_room():
    """Voxels of 10 mm leave no point deep enough in small structures."""
    ledger = ledger_of(phantom_labels(23, 0, (10.0, 10.0, 10.0)))
    question = Question("marks", "choice", {"ask": "organ", "of": "adrenal_gland_left"})
    assert isinstance(TASK.pose(ledger, question), NotAsked)
