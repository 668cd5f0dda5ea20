"""What replies make readers calculate: units, shares, mixed numbers and scales, worked out by hand, and
the limits at which a rule ends."""

from __future__ import annotations

from fractions import Fraction

import pytest

from situs.items import Option
from situs.profiles import AnswerSpace
from situs.score import Parsed, parse_boxes, parse_choice, parse_number, parse_yes_no
from situs.score.read import likelihoods, restated
from situs.score.read.numbers.quantities import base_value, quantities


def number(reply, unit, **more):
    result = parse_number(reply, unit, **more)
    return float(result.value) if isinstance(result, Parsed) else None


@pytest.mark.parametrize(
    ("reply", "unit", "value"),
    [
        ("3.5 cm", "mm", 35),
        ("35 mm", "cm", 3.5),
        ("0.35 L", "mL", 350),
        ("4 cm²", "mm²", 400),
        ("2500 mm³", "mL", 2.5),
        ("two and a half cm", "mm", 25),
        ("2 3/4 cm", "mm", 27.5),
        ("three quarters of a centimeter", "mm", 7.5),
        ("half a litre", "mL", 500),
        ("a quarter of a litre", "mL", 250),
        ("two hundred and fifty mL", "mL", 250),
        ("one thousand two hundred mL", "mL", 1200),
        ("one hundred and five mm", "mm", 105),
        ("twenty-one mm", "mm", 21),
        ("two point three five cm", "mm", 23.5),
        ("1.2e3 mL", "mL", 1200),
        ("1.5 × 10^2 mm", "mm", 150),
        ("1.5 × 10² mm", "mm", 150),
        ("150 × 10⁻¹ mm", "mm", 15),
        ("a dozen", "", 12),
        ("half a dozen", "", 6),
        ("two dozen", "", 24),
        ("three dozen", "", 36),
        ("7 cm and 3 mm", "mm", 73),
        ("7 cm 3 mm", "cm", 7.3),
        ("3:2", "ratio", 1.5),
        ("3:4", "ratio", 0.75),
        ("30 %", "fraction", 0.3),
        ("3.5 cm (35 mm)", "mm", 35),
    ],
)
def test_one_number(reply: str, unit: str, value: float) -> None:
    assert number(reply, unit) == pytest.approx(value)


@pytest.mark.parametrize(
    "reply",
    [
        "7 cm and 10 mm",  # ten millimetres are a centimetre more, which nobody would say
        "7.5 cm and 3 mm",
        "7 mm and 3 cm",
        "30 to 40 mm",
    ],
)
def test_what_is_not_one_number(reply: str) -> None:
    assert number(reply, "mm") is None


@pytest.mark.parametrize(
    ("reply", "middle"), [("30 to 40 mm", 35), ("3 to 4.5 cm", 37.5), ("10–30 mm", 20)]
)
def test_the_middle_of_a_range(reply: str, middle: float) -> None:
    assert number(reply, "mm", ranges="midpoint") == middle


def test_quantities_are_in_base_units() -> None:
    found = quantities("It is 3.5 cm long, 2 mL large and lies 12 slices up.")
    assert [(one.value, one.dimension) for one in found] == [
        (35.0, "length"),
        (2000.0, "volume"),
        (12.0, "slices"),
    ]
    assert base_value(2.5, "cm") == (25.0, "length")
    assert base_value(3.0, "mL") == (3000.0, "volume")
    assert base_value(3.0, "%") is None


# Bounds of questions, in other units.

WITHIN = "Does the liver lesion lie within 50 mm of the gallbladder?"
LARGER = "Is the volume of the spleen larger than 150 mL?"


@pytest.mark.parametrize(
    ("question", "reply", "answer"),
    [
        (WITHIN, "It is 3.2 cm away.", True),
        (WITHIN, "It is 6.4 cm away.", False),
        (WITHIN, "It is 5 cm away.", None),
        (WITHIN, "It is more than 6 cm away.", False),
        (WITHIN, "It is less than 4 cm away.", True),
        (WITHIN, "It is at least 4 cm away.", None),
        (WITHIN, "It is less than 6 cm away.", None),
        (LARGER, "Its volume is 0.2 L.", True),
        (LARGER, "Its volume is 0.1 L.", False),
        (LARGER, "Its volume is at least 0.16 L.", True),
        (LARGER, "Its volume is at least 0.14 L.", None),
        (LARGER, "Its volume is at most 0.14 L.", False),
    ],
)
def test_measures_against_a_bound(question: str, reply: str, answer: bool | None) -> None:
    result = parse_yes_no(reply, question)
    assert (result.value if isinstance(result, Parsed) else None) is answer


# Shares.

OPTIONS = [Option("a", "the liver"), Option("b", "the spleen"), Option("c", "the stomach")]


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("A: 0.2, B: 0.7, C: 0.1", "B"),
        ("A: 20 %, B: 30 %, C: 50 %", "C"),
        ("A: 0.47, B: 0.47, C: 0", None),
        ("A: 0.6, B: 0.34", "A"),  # .94 in all: rounded
        ("A: 0.6, B: 0.33", None),
        ("A: 0.6, B: 0.46", "A"),
        ("A: 0.6, B: 0.47", None),
        ("yes: 0.3", "NO"),
        ("yes: 0.7", "YES"),
        ("no: 0.2", "YES"),
        ("yes: 0.5", None),
        ("A: 0.7", None),
    ],
)
def test_the_largest_share(reply: str, name: str | None) -> None:
    assert likelihoods.likeliest(reply) == name
    if name in {"A", "B", "C"}:
        assert parse_choice(reply, OPTIONS) == Parsed(name.lower())


# The longest replies that a rule reads.

Q = "Is the spleen larger than the left kidney?"


@pytest.mark.parametrize(
    ("module", "read"),
    [
        (likelihoods, lambda pad: likelihoods.likeliest("A: 0.2, B: 0.8".ljust(pad, "."))),
        (restated, lambda pad: restated.restates("The spleen is larger.".rjust(pad), Q)),
    ],
)
def test_a_rule_reads_up_to_its_longest_reply(module, read) -> None:
    longest = module._LONGEST
    assert read(longest) is not None
    assert read(longest + 1) is None


# Boxes.


def boxes(reply, size=(512.0, 512.0), labels=("tear",), **space):
    result = parse_boxes(reply, AnswerSpace(**space), [size], list(labels))
    if not isinstance(result, Parsed):
        return None
    return [(box.x0, box.y0, box.x1, box.y1) for box in result.value]


@pytest.mark.parametrize(
    ("reply", "size", "space", "expected"),
    [
        # Pixels, up to a twentieth beyond the picture; then thousandths.
        ("[100, 50, 525, 80]", (500, 400), {}, (100, 50, 500, 80)),
        ("[100, 50, 526, 80]", (500, 400), {}, (50, 20, 263, 32)),
        ("[100, 50, 1050, 80]", (500, 400), {}, (50, 20, 500, 32)),
        ("[100, 50, 1051, 80]", (500, 400), {}, (100, 50, 500, 80)),
        # Shares of the sides, if any number is broken.
        ("[0.2, 0.5, 0.4, 0.75]", (500, 400), {}, (100, 200, 200, 300)),
        ("[0.2, 0.5, 1.05, 0.75]", (500, 400), {}, (100, 200, 500, 300)),
        # Thousandths are asked for.
        ("[100, 50, 510, 80]", (500, 400), {"box_scale": "thousand"}, (50, 20, 255, 32)),
        ("[100, 50, 1051, 80]", (2000, 1500), {"box_scale": "thousand"}, (100, 50, 1051, 80)),
        ("[100, 50, 1050, 80]", (2000, 1500), {"box_scale": "thousand"}, (200, 75, 2000, 120)),
        ("[100, 50, 2100, 80]", (2000, 1500), {"box_scale": "thousand"}, (100, 50, 2000, 80)),
        ("[100, 50, 2101, 80]", (2000, 1500), {"box_scale": "thousand"}, (200, 75, 2000, 120)),
        # Shares are asked for.
        ("[100, 50, 525, 80]", (500, 400), {"box_scale": "unit"}, (100, 50, 500, 80)),
        ("[100, 50, 526, 80]", (500, 400), {"box_scale": "unit"}, (50, 20, 263, 32)),
        # Corner and size, where the corners would be impossible.
        ("[100, 80, 50, 40]", (500, 400), {}, (100, 80, 150, 120)),
        ("[100, 80, 100, 40]", (500, 400), {}, (100, 80, 200, 120)),
        ("[100, 80, 50, 40]", (500, 400), {"box_order": "xywh"}, (100, 80, 150, 120)),
        ("[460, 80, 50, 40]", (500, 400), {"box_order": "xywh"}, (460, 80, 500, 120)),
        ("[400, 80, 125, 40]", (500, 400), {"box_order": "xywh"}, (400, 80, 500, 120)),
        ("[400, 80, 460, 120]", (500, 400), {"box_order": "xywh"}, (400, 80, 460, 120)),
    ],
)
def test_scale_and_order_of_boxes(reply, size, space, expected) -> None:
    assert boxes(reply, tuple(map(float, size)), **space) == [pytest.approx(expected)]


def test_centre_and_size() -> None:
    found = boxes("The tear: center (50, 40), width 20, height 10.")
    assert found == [(40, 35, 60, 45)]


def test_shares_are_exact() -> None:
    assert likelihoods._fraction("12.5 %") == Fraction(1, 8)
    assert likelihoods._fraction("0.125") == Fraction(1, 8)
