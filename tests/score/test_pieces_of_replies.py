"""The pieces that replies are made of: where each number begins and ends and what it is, the singular of
words, which picture is the first, and how far apart things may stand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from situs.items import Option
from situs.profiles import AnswerSpace
from situs.score import (
    Parsed,
    parse_boxes,
    parse_choice,
    parse_frames,
    parse_grades,
    parse_number,
    parse_yes_no,
)
from situs.score.read.assertions import propositions, relations
from situs.score.read.numbers.tokens import Kind, tokens
from situs.score.read.prose.content import noun

NUMBERS = {
    "150 mL": (Kind.VALUE, [150]),
    "150 (mL)": (Kind.VALUE, [150]),
    "150 [mL]": (Kind.VALUE, [150]),
    "150-mm": (Kind.VALUE, [150]),
    "1,200 mm": (Kind.VALUE, [1200]),
    "1.5e2 mm": (Kind.VALUE, [150]),
    "three mm": (Kind.VALUE, [3]),
    "30 to 40 mm": (Kind.RANGE, [30, 40]),
    "30-40 mm": (Kind.RANGE, [30, 40]),
    "30 mm to 4 cm": (Kind.RANGE, [30, 4]),
    "3 x 2 cm": (Kind.DIMENSIONS, [3, 2]),
    "3 × 2 × 1 cm": (Kind.DIMENSIONS, [3, 2, 1]),
    "150 ± 10 mm": (Kind.VALUE, [150]),
    "7 cm and 3 mm": (Kind.VALUE, [Fraction(73, 10)]),
    "5 or 6 mm": (Kind.ALTERNATIVES, [5, 6]),
}


@pytest.mark.parametrize("written", NUMBERS)
@pytest.mark.parametrize("frame", ["It is {}.", "{}", "(it measures {})", "so {}, I think"])
def test_a_number_reaches_from_its_first_digit_to_the_end_of_its_unit(written, frame) -> None:
    text = frame.format(written)
    (token,) = tokens(text)
    assert text[token.start : token.end] == written
    assert (token.kind, list(token.parts)) == NUMBERS[written]
    assert len(token.units) == len(token.parts)


def test_numbers_of_one_text_stand_apart() -> None:
    text = "The liver has 1.5 L, the spleen 210 mL; 12 mm between them, on 3 slices."
    assert [text[one.start : one.end] for one in tokens(text)] == [
        "1.5 L",
        "210 mL",
        "12 mm",
        "3 slices",
    ]


@pytest.mark.parametrize("count", [8, 9])
def test_more_than_eight_numbers_joined_are_no_one_number(count: int) -> None:
    (token,) = tokens(" x ".join("2345678923"[:count]) + " mm")
    assert token.kind is (Kind.DIMENSIONS if count == 8 else Kind.UNCLEAR)


@pytest.mark.parametrize(
    ("word", "singular"),
    [
        ("lesions", "lesion"),
        ("kidneys", "kidney"),
        ("liver's", "liver"),
        ("hepatic", "liver"),
        ("biopsies", "biopsy"),
        ("ties", "tie"),
        ("menisci", "meniscus"),
        ("vertebrae", "vertebra"),
        ("masses", "mass"),
        ("boxes", "box"),
        ("branches", "branch"),
        ("ribs", "rib"),
        ("gas", "gas"),
        ("mass", "mass"),
        ("pelvis", "pelvis"),
        ("thymus", "thymus"),
        ("swelling", "swell"),
        ("lining", "lining"),
    ],
)
def test_the_singular_of_a_word(word: str, singular: str) -> None:
    assert noun(word) == singular


@pytest.mark.parametrize(
    "question",
    [
        "How many lesions are there?",
        "How many liver lesions are there?",
        "How many focal liver lesions are there?",
    ],
)
def test_none_of_what_is_counted_is_zero(question: str) -> None:
    for reply in ("There are no lesions.", "No lesions.", "There is no lesion."):
        assert parse_number(reply, "", question=question) == Parsed(Fraction(0))


# Which picture is the first.


@pytest.mark.parametrize(
    ("reply", "first", "count", "positions", "inferred"),
    [
        ("slices 1-5", 1, 5, range(5), False),
        ("slices 0-4", 1, 5, range(5), True),
        ("slices 0-3", 1, 5, range(4), True),
        ("slices 0-5", 1, 5, range(5), False),
        ("slices 0-4", 0, 5, range(5), False),
        ("slices 1-5", 0, 5, range(5), True),
        ("slices 1-4", 0, 5, range(1, 5), False),
        ("slices 0-5", 0, 5, range(5), False),
        ("slices 2-6", 0, 5, range(2, 5), False),
        ("slices 4-7", 1, 5, range(3, 5), False),
    ],
)
def test_the_number_of_the_first_picture(reply, first, count, positions, inferred) -> None:
    """Inferred if the pictures told can only be meant so: one before the first, or one behind the
    last and none before."""
    result = parse_frames(reply, first, count)
    assert result.value == tuple(positions)
    assert ("frame_base_inferred" in result.flags) is inferred
    beyond = first + count - 1 - inferred * (1 if first else -1)
    assert ("no_such_frame" in result.flags) is (
        int(reply[-1]) > beyond or (reply[-3] == "0" and first == 1 and not inferred)
    )


@pytest.mark.parametrize(
    ("frames", "base", "positions", "inferred"),
    [
        ((1, 4), 1, [0, 3], False),
        ((0, 3), 1, [0, 3], True),
        ((0, 4), 1, [4, 3], False),
        ((1, 4), 0, [0, 3], True),
        ((0, 3), 0, [0, 3], False),
        ((1, 3), 0, [1, 3], False),
        ((1, 5), 0, [1, 5], False),
    ],
)
def test_the_picture_of_a_box(frames, base, positions, inferred) -> None:
    """As for pictures; a picture that was not shown stays, as one behind the last."""
    reply = "\n".join(f"slice {frame}: [10, 20, 30, 40]" for frame in frames)
    result = parse_boxes(reply, AnswerSpace(frame_base=base), [(64.0, 64.0)] * 4, ["tear"])
    assert ("frame_base_inferred" in result.flags) is inferred
    assert [box.frame for box in result.value] == positions


@pytest.mark.parametrize(("frame", "base"), [(1, 0), (0, 1), (7, 1)])
def test_the_only_picture_needs_no_number(frame: int, base: int) -> None:
    reply = f"slice {frame}: [10, 20, 30, 40]"
    result = parse_boxes(reply, AnswerSpace(frame_base=base), [(64.0, 64.0)], ["tear"])
    assert ([box.frame for box in result.value], result.flags) == ([0], ())


# How far things may be apart, and how long a reply may be.


@pytest.mark.parametrize("gap", [0, 250, 320])
def test_the_latter_is_not_far_from_its_pair(gap: int) -> None:
    options = [Option("a", "the aorta"), Option("b", "the pancreas"), Option("c", "the spleen")]
    filler = " These are plain words on how scans are read." * (gap // 45)
    said = f"It is between the aorta and the pancreas.{filler} The answer is the latter."
    result = parse_choice(said, options, "Which lies nearest to the lesion?")
    assert (result == Parsed("b")) is (gap < 300)


@pytest.mark.parametrize(
    ("module", "reads", "reply", "question"),
    [
        (
            propositions,
            propositions.affirms,
            "The lesion is in the right lobe of the liver.",
            "Is the lesion in the right lobe of the liver?",
        ),
        (
            relations,
            relations.stated,
            "The spleen is larger than the left kidney.",
            "Is the spleen larger than the left kidney?",
        ),
    ],
)
def test_statements_are_read_up_to_a_length(module, reads, reply, question) -> None:
    assert reads(reply, question) is True
    assert reads(reply.ljust(module._LONGEST), question) is True
    assert reads(reply.ljust(module._LONGEST + 1), question) is None


@pytest.mark.parametrize(("depth", "read"), [(1, True), (5, True), (6, False), (20, False)])
def test_an_answer_is_looked_for_five_objects_deep(depth: int, read: bool) -> None:
    for value, answer in (("yes", True), ("no", False)):
        reply = '{"result": ' * (depth - 1) + f'{{"answer": "{value}"}}' + "}" * (depth - 1)
        assert (parse_yes_no(reply) == Parsed(answer)) is read
    lists = '{"answer": ' + "[" * (depth - 1) + '"yes"' + "]" * (depth - 1) + "}"
    assert (parse_yes_no(lists) == Parsed(True)) is read


@pytest.mark.parametrize(("depth", "read"), [(7, True), (8, True), (9, False)])
def test_grades_are_looked_for_eight_objects_deep(depth: int, read: bool) -> None:
    from situs.score import Offered

    scales = {
        name: Offered({0: "none", 1: "mild", 2: "moderate", 3: "severe"})
        for name in ("effusion", "synovitis")
    }
    inner = '{"effusion": 2, "synovitis": 1}'
    for level in range(depth - 1):
        inner = f'{{"x{level}": {inner}}}'
    result = parse_grades(inner, ["effusion", "synovitis"], scales)
    assert (result == Parsed({"effusion": 2, "synovitis": 1})) is read, result
    lists = "[" * (depth - 1), "]" * (depth - 1)
    inner = f'{{"effusion": {lists[0]}2{lists[1]}, "synovitis": 1}}'
    result = parse_grades(inner, ["effusion", "synovitis"], scales)
    assert (result == Parsed({"effusion": 2, "synovitis": 1})) is read, result


# What only looks like an answer.

LOBES = [
    Option("l", "left lower lobe"),
    Option("r", "right upper lobe"),
    Option("m", "middle lobe"),
]


@pytest.mark.parametrize(
    ("first", "second", "lobe"),
    [
        ("10 mm", "4 mm", "l"),
        ("4 mm", "10 mm", "r"),
        ("9 mm", "1 cm", "r"),
        ("2 cm", "11 mm", "l"),
        ("10 mm", "10 mm", None),
        ("10 mm", "1 cm", None),
    ],
)
def test_the_largest_of_two_lesions_lies_in_its_lobe(first, second, lobe) -> None:
    said = f"There is a {first} nodule in the left lower lobe and a {second} nodule in the right"
    result = parse_choice(
        f"{said} upper lobe.", LOBES, "In which lobe does the largest lesion lie?"
    )
    assert (result.value if isinstance(result, Parsed) else None) == lobe


@pytest.mark.parametrize("reply", ["{} is alarmist.", "{} would be absurd.", "{} is nonsensical."])
def test_an_adjective_that_nothing_explains_asserts_nothing(reply: str) -> None:
    assert not isinstance(parse_choice(reply.format("B"), LOBES, "Which lobe?"), Parsed)
    question = "How many lesions are there?"
    assert not isinstance(parse_number(reply.format("3"), "", question=question), Parsed)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1. Thyroid nodule, 16 mm. 2. Normal isthmus.", ["16 mm"]),
        ("Findings: 1. Liver, 20 mm; 2. Spleen, 30 mm; 3. Stomach.", ["20 mm", "30 mm"]),
        ("Steps: 1) Find it. 2) Measure it. It is 5 mm.", ["5 mm"]),
        ("Findings: 1. Liver, 20 mm; 3. Spleen, 30 mm.", ["1", "20 mm", "3", "30 mm"]),
    ],
)
def test_the_marks_of_a_list_that_counts_from_one_are_no_numbers(text, numbers) -> None:
    assert [text[one.start : one.end] for one in tokens(text)] == numbers


def test_a_grade_without_a_name_is_nobodys() -> None:
    from situs.score import Offered

    names = ["cartilage percentage", "effusion", "synovitis"]
    levels = {0: "none", 1: "mild", 2: "moderate", 3: "severe"}
    result = parse_grades(
        '{"note": 2, "effusion": 1}', names, {name: Offered(levels) for name in names}
    )
    assert result.value == {"effusion": 1}


@pytest.mark.parametrize("box", [(100, 80, 300, 80), (100, 80, 100, 120)])
def test_a_box_without_extent_is_a_corner_and_a_size(box) -> None:
    result = parse_boxes(str(list(box)), AnswerSpace(), [(500.0, 400.0)], ["tear"])
    (found,) = result.value
    x, y, width, height = box
    assert (found.x0, found.y0, found.x1, found.y1) == (x, y, x + width, y + height)
