"""Small parts of the suite: names, remarks in words, rotations, profiles."""

from __future__ import annotations

import msgspec
import pytest

from situs.errors import SitusError
from situs.items import Choice, Item, Option, YesNo
from situs.probe import PROBES, choose_probes, looks_flipped
from situs.probe.bodies import PAIRED, TORSO, mirror_group
from situs.probe.profiles import WORDINGS, one_slice, reconvened, reordered, resized, worded
from situs.probe.rotations import rotated, rotations_of, yes_bias
from situs.probe.table import compared
from situs.profiles import load_profile, shipped_profiles
from situs.run import AnswerRow
from situs.score import score_answer
from situs.score.explain import Answered, Answers


def test_probes_are_chosen_by_name_and_group() -> None:
    assert choose_probes("mirror, text") == ["text", "mirror"]
    assert choose_probes("moved") == ["moved", "sham"]
    assert choose_probes("all") == list(PROBES)
    with pytest.raises(SitusError, match=r"unknown probe 'miror'.*mirror"):
        choose_probes("miror")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The image appears to be flipped left to right. (B)", True),
        ("Note: this looks mirrored, so I would say left.", True),
        ("This may be situs inversus. Answer: A", True),
        ("The slices are out of order.", True),
        ("The orientation seems inverted; yes.", True),
        ("The image is not flipped. (A)", False),
        ("The scan does not appear mirrored.", False),
        ("If the image were mirrored it would be left.", False),
        ("The left kidney is larger.", False),
        ("A", False),
        ("The inverted T sign is seen.", False),
    ],
)
def test_remarks_that_the_scan_looks_flipped(said: str, expected: bool) -> None:
    assert looks_flipped(said) is expected


@pytest.mark.parametrize(
    ("needs", "group"),
    [
        (("sees:kidney_left", "sees:kidney_right"), PAIRED),
        (("side_convention", "sees:femur_left"), PAIRED),
        (("sees:brain",), PAIRED),
        (("sees:liver", "sees:kidney_left"), TORSO),
        (("sees:largest:liver_lesion",), TORSO),
        (("scale",), TORSO),
    ],
)
def test_mirrored_questions_on_pairs_stand_apart_from_the_torso(
    needs: tuple[str, ...], group: str
) -> None:
    assert mirror_group(msgspec.structs.replace(asked(), needs=needs), {}) == group


OPTIONS = tuple(Option(value, value) for value in ("left", "right", "both"))


def asked(name: str = "i1", patient: str = "p1") -> Item:
    return Item(
        name, "s1", "ct", patient, "t", "choice", "Which?", Choice("right"), options=OPTIONS
    )


def answers(items: list[Item], say) -> Answers:
    rows = {item.item_id: AnswerRow(item.item_id, response=say(item)) for item in items}
    return Answers(
        {
            i.item_id: Answered(i, rows[i.item_id], score_answer(i, rows[i.item_id], None))
            for i in items
        },
        None,
        {},
    )


def test_all_rotations_are_asked() -> None:
    turned = list(rotated([asked()]))
    assert [item.item_id for item in turned] == ["i1~rotations.1", "i1~rotations.2"]
    orders = {tuple(o.value for o in item.options) for item in [asked(), *turned]}
    assert orders == {
        ("left", "right", "both"),
        ("right", "both", "left"),
        ("both", "left", "right"),
    }
    assert all(item.answer == Choice("right") and item.twin_of == "i1" for item in turned)


def test_a_letter_lover_is_right_once_in_each_turn() -> None:
    items = [asked(f"i{n}", f"p{n}") for n in range(12)]
    turned = list(rotated(items))
    found = rotations_of(answers(items, lambda item: "A"), answers(turned, lambda item: "A"))
    assert found.mean == pytest.approx(1 / 3)
    assert found.all_right == 0.0
    assert found.same_answer == 0.0
    assert found.letters["A"] == {"said": 1.0, "right": pytest.approx(1 / 3)}
    assert found.letter_bias == pytest.approx(2 / 3)
    knows = rotations_of(
        answers(items, lambda item: "right"), answers(turned, lambda item: "right")
    )
    assert (knows.mean, knows.all_right, knows.same_answer) == (1.0, 1.0, 1.0)
    assert knows.letter_bias == pytest.approx(0.0)


def test_a_letter_is_another_answer_where_the_options_were_turned() -> None:
    items = [asked(f"i{n}", f"p{n}") for n in range(3)]
    turned = [item for item in rotated(items) if item.item_id.endswith(".1")]

    def same(say) -> list[bool]:
        rows = compared(
            answers(items, say), answers(turned, say), None, lambda name: f"{name}~rotations.1"
        )
        return [row.same_answer for row in rows]

    assert same(lambda item: "A") == [False] * 3
    assert same(lambda item: "right") == [True] * 3
    assert same(lambda item: "hm") == [True] * 3


def test_yes_bias_is_said_minus_right() -> None:
    items = [
        Item(f"i{n}", f"s{n}", "ct", f"p{n}", "t", "yes_no", "Is it?", YesNo(n % 4 == 0))
        for n in range(40)
    ]
    found = yes_bias(answers(items, lambda item: "Yes."))
    assert found is not None
    assert (found.said, found.right, found.value) == (1.0, 0.25, pytest.approx(0.75))


@pytest.mark.parametrize("name", sorted(shipped_profiles()))
def test_variants_of_a_profile_keep_what_they_do_not_change(name: str) -> None:
    profile = load_profile(name)
    for variant in (one_slice(profile), reconvened(profile), reordered(profile), resized(profile)):
        assert variant.hash != profile.hash
        assert variant.prompt == profile.prompt
        assert variant.gives == profile.gives
    for number in range(len(WORDINGS)):
        other = worded(profile, number)
        assert other.prompt != profile.prompt
        assert msgspec.structs.replace(other, prompt=profile.prompt, name=profile.name) == profile
