"""Every kind of answer × everything that a package does with kinds of answers."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import situs
from situs.errors import SitusError
from situs.items import (
    KINDS,
    Boxes,
    ByKind,
    Choice,
    Choices,
    Compound,
    Frames,
    Grades,
    Item,
    Number,
    Option,
    Simple,
    Text,
    YesNo,
    answer_key,
    answer_problem,
    boxes_in,
    frames_in,
    has_places,
    kind_of,
    parts_of,
    plain_words,
    right_options,
    stays_right,
)
from situs.items.answer_words import answer_words
from situs.profiles.schema import Prompt
from situs.review.key import key_words
from situs.space import FrameBox

# A table is known once its module is loaded, and packages load their modules when they are needed.
SOURCE = Path(situs.__file__).parent
for path in SOURCE.rglob("*.py"):
    if "= ByKind(" in path.read_text("utf-8"):
        import_module(".".join(path.relative_to(SOURCE.parent).with_suffix("").parts))

ALL = get_args(Simple)
BOX = FrameBox(2, 1.0, 2.0, 3.0, 4.0, "tear")
EXAMPLES = {
    YesNo: YesNo(True),
    Choice: Choice("b", ("c",)),
    Choices: Choices(("a", "c")),
    Number: Number(3.0, "mL", (2.0, 4.0)),
    Boxes: Boxes((BOX,)),
    Frames: Frames((4, 5)),
    Grades: Grades({"size": 2}),
    Text: Text(("in the left lung",)),
}
TABLES = (
    "the rules",
    "reading a reply",
    "saying an answer",
    "meaning an answer",
    "scoring an answer",
)
"""Tables that must be there; a table that is taken away would otherwise be complete."""


class Heat(msgspec.Struct, frozen=True, tag="heat"):
    """A kind that nobody knows."""

    value: float


def item_of(answer) -> Item:
    options = tuple(Option(value, f"option {value}") for value in "abc")
    return Item("i", "s", "ct", "p", "task", kind_of(answer), "Which?", answer, options=options)


def test_every_kind_has_an_example_here():
    assert set(EXAMPLES) == set(ALL)


def test_every_table_is_there():
    assert set(TABLES) <= set(ByKind.tables)


@pytest.mark.parametrize("doing", sorted(ByKind.tables))
def test_every_table_has_every_kind(doing):
    assert ByKind.tables[doing].missing() == []


@pytest.mark.parametrize("doing", sorted(ByKind.tables))
def test_an_unknown_kind_is_an_error(doing):
    with pytest.raises(SitusError, match=f"{doing} of the kind 'heat'"):
        ByKind.tables[doing][Heat(1.0)]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_kind_is_asked_for_in_words(kind):
    assert kind_of(EXAMPLES[kind]) in Prompt.__struct_fields__


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_kind_can_be_answered_in_a_quiz(kind):
    script = files("situs.review").joinpath("templates", "answer.js").read_text("utf-8")
    assert f"case '{kind_of(EXAMPLES[kind])}'" in script


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_kind_has_words_for_every_reader(kind):
    item = item_of(EXAMPLES[kind])
    for words in (plain_words(item, item.answer), answer_words(item), key_words(item)):
        assert words
        assert "object at" not in words


def test_keys_count_what_is_discrete():
    keys = {kind_of(answer): answer_key(answer) for answer in EXAMPLES.values()}
    assert keys == {
        "yes_no": "yes",
        "choice": "b",
        "choices": "a+c",
        "number": None,
        "boxes": None,
        "frames": None,
        "grades": None,
        "text": None,
    }
    assert answer_key(Number(3.0, "", (3.0, 3.0))) == "3"
    assert answer_key(Number(3.0, "", (2.0, 4.0))) is None
    assert answer_key(Compound({"grades": Grades({"size": 1})})) is None


def test_places_are_found_in_every_part():
    both = Compound({"box": Boxes((BOX,)), "on": Frames((1, 2)), "grades": Grades({"size": 1})})
    assert list(parts_of(both)) == ["box", "on", "grades"]
    assert (boxes_in(both), frames_in(both), has_places(both)) == ([BOX], [1, 2], True)
    assert parts_of(YesNo(True)) == {"": YesNo(True)}
    assert not has_places(Grades({"size": 1}))


def test_problems_are_those_of_the_kind():
    assert answer_problem(Choice("x"), ["a", "b"]) == "its answer 'x' is none of its options"
    assert answer_problem(Choices(("a", "x")), ["a"]) == "its answer 'x' is none of its options"
    assert answer_problem(Choice("x"), []) == "has no options to choose from"
    assert answer_problem(Text((" ",)), []) == "its answer has no text"
    assert answer_problem(Number(float("nan"), "mL"), []) is not None
    assert answer_problem(Compound({"a": YesNo(True), "b": Text(("",))}), []) is not None
    assert all(answer_problem(answer, ["a", "b", "c"]) is None for answer in EXAMPLES.values())


def test_a_number_stays_right_within_the_new_interval():
    assert stays_right(Number(3.0, "mL"), Number(3.5, "mL", (2.9, 4.0)))
    assert not stays_right(Number(2.0, "mL"), Number(3.5, "mL", (2.9, 4.0)))
    assert not stays_right(YesNo(True), YesNo(False))
    assert right_options(Choice("b", ("c",))) == {"b", "c"}


def test_rules_are_of_the_kind():
    assert {kind_of(a) for a in EXAMPLES.values() if KINDS[a].is_place} == {"boxes", "frames"}
