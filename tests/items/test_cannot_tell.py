"""Questions that offer "cannot be told":
right where a cut leaves the answer open, wrong where it does not."""

from __future__ import annotations

from collections import Counter

import pytest
from _blocks import block_ledger

from situs.facts import Ledger
from situs.items import TASKS, Choice, NotAsked, Outline, Posed, Question, arrange

SHAPE = (120, 60, 60)


def pose(ledger: Ledger, task: str, **parameters: str) -> Posed | NotAsked:
    return TASKS[task].pose(ledger, Question(task, "choice", parameters))


def cubes(spleen: int, liver: int, *, cut: bool) -> Ledger:
    """Cubes of these edges in mm; a cut liver begins on the first slice from the feet."""
    low = 0 if cut else 5
    return block_ledger(
        SHAPE,
        spleen=((60, 5, 5), (60 + spleen, 5 + spleen, 5 + spleen)),
        liver=((5, 5, low), (5 + liver, 5 + liver, low + liver)),
    )


LARGER = {"ask": "larger", "a": "liver", "b": "spleen", "which": "larger", "or": "cut"}
LONGER = {"a": "liver", "b": "spleen", "which": "longer", "or": "cut"}
RANK = {"ask": "rank", "of": "liver+spleen", "or": "cut"}


@pytest.mark.parametrize(("task", "asked", "first"), [
    ("comparison", LARGER, "liver"), ("extent", LONGER, "liver"),
    ("comparison", RANK, "liver>spleen"),
])  # fmt: skip
@pytest.mark.parametrize(
    ("liver", "cut", "answer"),
    [(40, False, "first"), (40, True, "first"), (15, True, "cut"), (30, True, None)],
)
def test_what_is_seen_of_a_cut_one_decides(task, asked, first, liver, cut, answer):
    """Of 30 mm against: a whole or cut larger one;
    a cut one seen as smaller; a cut one seen as equal (not asked)."""
    found = pose(cubes(30, liver, cut=cut), task, **asked)
    if answer is None:
        assert isinstance(found, NotAsked)
        return
    assert found.answer == Choice(first if answer == "first" else "cut")
    assert "cut" in {option.value for option in found.pool}
    assert any(option.text.startswith("cannot be told") for option in found.pool)


@pytest.mark.parametrize(("task", "asked"), [("comparison", LARGER), ("extent", LONGER)])
def test_without_the_option_it_is_not_asked(task, asked):
    plain = {key: value for key, value in asked.items() if key != "or"}
    assert pose(cubes(30, 15, cut=True), task, **plain) == NotAsked("structure cut off by the scan")


def test_the_text_does_not_tell_whether_one_is_cut():
    whole, cut = (
        pose(cubes(30, size, cut=c), "comparison", **LARGER)
        for size, c in ((40, False), (15, True))
    )
    assert whole.text == cut.text
    assert whole.pool == cut.pool
    assert whole.needs == cut.needs


def spine(low: int, high: int = 45, front: int = 30) -> Ledger:
    """Vertebrae of 10 mm with the sacrum below,
    and a spleen from `low` to `high` mm beside them."""
    levels = {
        f"vertebrae_{n}": ((56, 20, z), (65, 30, z + 8))
        for n, z in (("T12", 48), ("L1", 38), ("L2", 28))
    }
    rest = {f"vertebrae_{n}": ((56, 20, z), (65, 30, z + 8)) for n, z in (("L3", 18), ("L4", 8))}
    return block_ledger(
        SHAPE,
        **levels,
        **rest,
        sacrum=((56, 20, 1), (65, 30, 6)),
        spleen=((44, 20, low), (54, front, high)),
    )


@pytest.mark.parametrize(("low", "answer"), [(21, "L3"), (0, "cut")])
def test_the_level_of_an_end_beyond_the_scan(low, answer):
    found = pose(spine(low), "level", of="spleen", at="bottom", **{"or": "cut"})
    assert found.answer == Choice(answer)
    assert found.text == "At which vertebral level does the lower pole of the spleen lie?"


@pytest.mark.parametrize("beyond", [{}, {"or": "cut"}])
def test_the_end_of_a_structure_that_is_cut_at_the_other(beyond):
    """What is missing beyond the lowest slice lies below all that is seen: the upper end, 43 mm up,
    is the true one.

    The body of L1 lies from 38 to 46 mm.
    """
    found = pose(spine(0, 43), "level", of="spleen", at="top", **beyond)
    assert found.answer == Choice("L1")
    assert "ends_cut" in {fact.kind for fact in found.facts}


@pytest.mark.parametrize(("low", "high", "front"), [(0, 43, SHAPE[1]), (0, 60, 30)])
def test_an_end_is_not_asked_of_a_structure_that_is_cut_elsewhere_too(low, high, front):
    """At the front of the scan, or at both ends."""
    assert pose(spine(low, high, front), "level", of="spleen", at="top") == NotAsked(
        "structure cut off by the scan"
    )


def test_an_end_near_the_slice_that_cuts_may_be_missing_in_a_turned_patient():
    """Over 120 mm of width a tilt of 10° makes 21 mm: what is cut off may hang as low as that."""
    assert pose(spine(0, 20), "level", of="spleen", at="top") == NotAsked(
        "structure cut off by the scan"
    )


def outlines(cut: int, a: int, b: int) -> list[Outline]:
    answers = ["cut"] * cut + ["a"] * a + ["b"] * b
    return [
        Outline(
            item_id=f"i{n}",
            study_id=f"s{n}",
            patient_id=f"p{n}",
            task="comparison",
            form="choice",
            text="Which is larger?",
            key=key,
            pool=("a", "b", "cut"),
            family="f",
            primary=True,
            named_only=True,
            textbook=False,
            must_offer="cut",
        )
        for n, key in enumerate(answers)
    ]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("cut", "a", "b", "asked", "draws"),
    [
        (3, 9, 8, 3, 60),
        (3, 6, 7, 3, 60),
        # Five questions with three answers are never even, so that each draw takes all its tries.
        (4, 5, 4, 5, 12),
        pytest.param(4, 5, 4, 5, 60, marks=pytest.mark.sweep),
    ],
)
def test_it_is_offered_beside_two_others_and_drawn_like_them(cut, a, b, asked, draws):
    """Each of the three is right with the same chance.

    Of three patients with each answer, four draws would not fit in 3 / 3⁴ > 0.02; of four, five do
    not in 3 / 3⁵, six in 3 · 13 / 3⁶ > 0.02.
    """
    found = outlines(cut, a, b)
    placed = arrange(found, seed=0)
    assert len(placed) == asked
    assert {frozenset(placement.options) for placement in placed.values()} == {
        frozenset({"cut", "a", "b"})
    }
    drawn: Counter[str] = Counter()
    for seed in range(draws):
        again = arrange(found, seed=seed)
        drawn.update(entry.key for entry in found if entry.item_id in again)
    # A third each, give or take 3.3 standard errors.
    total = draws * asked
    assert all(
        abs(drawn[key] - total / 3) < 3.3 * (total * 2 / 9) ** 0.5 for key in ("cut", "a", "b")
    )


@pytest.mark.parametrize(("cut", "a", "b"), [(0, 9, 8), (3, 0, 0), (4, 4, 0)])
def test_it_is_offered_only_beside_two_answers_that_occur(cut, a, b):
    """Where the liver is larger in everyone,
    a cut liver is larger too, whatever the scan shows of it."""
    assert arrange(outlines(cut, a, b), seed=0) == {}
