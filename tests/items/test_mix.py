"""The mix of the headline: shares that are aimed at,
and what happens where a cohort cannot give them."""

from __future__ import annotations

from collections import Counter

import pytest

from situs.facts import load_recipe
from situs.items import Outline, arrange
from situs.items.arrangement.mix import shares_kept

TARGET = {"lesion": 0.35, "comparison": 0.25, "marks": 0.2, "quantity": 0.2}


def test_the_recipe_aims_at_the_default_mix():
    assert load_recipe().mix == TARGET


def test_a_rich_cohort_reaches_the_target():
    kept = shares_kept(dict.fromkeys(TARGET, 1000), TARGET, 1000)
    assert kept == {"lesion": 350, "comparison": 250, "marks": 200, "quantity": 200}


def test_what_one_class_lacks_the_others_give_in_their_proportion():
    """No lesions: the rest share 1000 as 25 : 20 : 20."""
    kept = shares_kept({"lesion": 0, "comparison": 999, "marks": 999, "quantity": 999}, TARGET, 650)
    assert kept == {"lesion": 0, "comparison": 250, "marks": 200, "quantity": 200}
    kept = shares_kept({"lesion": 10, "comparison": 999, "marks": 30, "quantity": 999}, TARGET, 490)
    assert (kept["lesion"], kept["marks"]) == (10, 30)
    assert kept["comparison"] / kept["quantity"] == pytest.approx(25 / 20, rel=0.01)
    assert 488 <= sum(kept.values()) <= 490


def test_a_poor_cohort_keeps_all():
    available = {"lesion": 3, "comparison": 40, "marks": 0, "quantity": 7}
    assert shares_kept(available, TARGET, 1000) == available


def cohort(patients: int = 16, texts: int = 40) -> list[Outline]:
    """Two-option questions, each answered one way by half of the patients;
    three kinds of one class, one of another."""
    found = []
    for patient in range(patients):
        for text in range(texts):
            kind = ("a.x", "a.y", "a.z", "b.x")[text % 4]
            found.append(
                Outline(
                    item_id=f"i{patient}-{text}",
                    study_id=f"s{patient}",
                    patient_id=f"p{patient}",
                    task=kind.split(".")[0],
                    form="yes_no",
                    text=f"Question {text}?",
                    key="yes" if (patient + text) % 2 else "no",
                    pool=("yes", "no"),
                    family=f"f{text}",
                    primary=True,
                    named_only=False,
                    textbook=False,
                    kind=kind,
                    mix_class={"a": "lesion", "b": "comparison"}[kind.split(".")[0]],
                )
            )
    return found


def test_whole_texts_leave_and_no_kind_crowds_out_another():
    found = cohort()
    placed = arrange(
        found,
        5,
        {"headline": 8, "textbook": 0, "untwinned": 0},
        {"lesion": 0.75, "comparison": 0.25},
    )
    kept = [entry for entry in found if entry.item_id in placed]
    # Of 16 patients, half with each answer, nine are drawn (they fit but for 2 / 2⁹); the headline
    # may hold 8 × 16.
    assert all(count == 9 for count in Counter(entry.text for entry in kept).values())
    # Whole texts until 96 and 32 are reached; the kinds take turns.
    assert Counter(entry.mix_class for entry in kept) == {"lesion": 11 * 9, "comparison": 4 * 9}
    kinds = Counter(entry.kind for entry in kept if entry.mix_class == "lesion")
    assert sorted(kinds.values()) == [3 * 9, 4 * 9, 4 * 9]
    assert all(placement.stratum == "headline" for placement in placed.values())


def test_without_a_mix_all_twins_stay():
    placed = arrange(cohort(), 5)
    assert Counter(placement.stratum for placement in placed.values())["headline"] == 40 * 9
