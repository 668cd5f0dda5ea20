"""Golden table of replies to questions for a number."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situs.errors import SitusError
from situs.score.read.number import UNIT_MISSING, parse_number
from situs.score.read.result import Parsed, RefusedInWords, Unparsed

REFUSED = "refused"
RANGE, DIMENSIONS, OTHER, SEVERAL = (
    "a range",
    "dimensions, not one number",
    "unit of another dimension",
    "several numbers",
)
NONE, BOUND, UNCLEAR, EITHER = (
    "no number",
    "a bound, not a number",
    "not a plain number",
    "alternatives",
)

WITH_UNIT = [
    # volumes
    ("150 mL", "mL", 150), ("150 ml", "mL", 150), ("150mL", "mL", 150), ("150 cc", "mL", 150),
    ("150 cm³", "mL", 150),
    ("150 cm3", "mL", 150),
    ("150 cm^3", "mL", 150), ("150 cm^{3}", "mL", 150), ("150 cubic centimeters", "mL", 150),
    ("0.15 L", "mL", 150),
    ("0.15 l", "mL", 150),
    ("0.15 liters", "mL", 150), ("1.5 dL", "mL", 150), ("150000 mm³", "mL", 150),
    ("150,000 mm3", "mL", 150),
    ("150 mL", "L", "0.15"),
    ("150 mL", "cm³", 150), ("150 mL", "mm³", 150_000), ("150 milliliters", "mL", 150),
    ("150 µL", "mL", "0.15"),
    ("150 mL", "cm^3", 150),
    # lengths, areas, shares
    ("12 mm", "mm", 12), ("1.2 cm", "mm", 12), ("0.012 m", "mm", 12), ("12 millimetres", "mm", 12),
    ("12 mm", "cm", "1.2"), ("a 5-mm lesion", "mm", 5),
    ("2 cm²", "mm²", 200), ("2 cm2", "mm²", 200), ("200 square millimeters", "cm²", 2),
    ("25 %", "%", 25),
    ("25%", "fraction", "0.25"),
    ("25 percent", "%", 25), ("3/4", "fraction", "0.75"), ("1/2", "%", 50),
    # ways of writing
    ("1,200 mL", "mL", 1200), ("1.200 mL", "mL", "1.2"), ("1.200,5 mL", "mL", "1200.5"),
    ("1,200.5 mL", "mL", "1200.5"),
    ("1,5 cm", "cm", "1.5"),
    ("1,25 cm", "cm", "1.25"), ("0,125 L", "mL", 125), ("1,234,567 mm³", "mm³", 1_234_567),
    ("1.2e3 mL", "mL", 1200),
    ("1.2 × 10^3 mL", "mL", 1200),
    ("1.2 x 10³ mL", "mL", 1200), ("1\u202f200 mL", "mL", 1200), ("1'200 mL", "mL", 1200),
    ("−3 mm", "mm", -3),
    ("-3 mm", "mm", -3), (".5 cm", "mm", 5),
    ("１２ mm", "mm", 12), ("twelve mm", "mm", 12), ("twenty-five mL", "mL", 25),
    ("1,200 and a bit: 1200 mL", "mL", 1200),
    # around it
    ("~150 mL", "mL", 150), ("≈ 150 mL", "mL", 150),
    ("approximately 150 mL (range 140–160)", "mL", 150),
    ("150 mL ± 10", "mL", 150),
    ("150 ± 10 mL", "mL", 150), ("150 +/- 10 mL", "mL", 150), ("150 mL (140–160 mL)", "mL", 150),
    ("The volume is 150 mL.", "mL", 150),
    ("1.5 cm (15 mm)", "mm", 15), ("150 mL or 0.15 L", "mL", 150), ("**150 mL**", "mL", 150),
    ("$150\\,\\text{mL}$", "mL", 150),
    ("3 lesions with a total of 150 mL", "mL", 150),
    ("The spleen is 12 cm long and 150 mL large", "mL", 150),
    ("On slice 45 it measures 12 mm", "mm", 12),
    ("The lesion at L1 measures 12 mm on a 3 T scan", "mm", 12),
    ("3.5 x 2 cm, so the volume is about 15 mL", "mL", 15),
    ("1. 150 mL", "mL", 150),
    ("150 mL, more than 100 mL", "mL", 150), ("5-10 mm in general, here 7 mm", "mm", 7),
    ("Spleen: 210 mL (normal: 150–200 mL)", "mL", 210),
    ("Spleen: 210 mL (normal 180 mL)", "mL", 210), ("150 (mL)", "mL", 150),
    ("150 [mL]", "mL", 150), ("2 cms", "cm", 2),
    ("41 slices × 3 mm = 123 mm = 12.3 cm", "cm", "12.3"),
    # marked
    ("Answer: 150 mL", "mL", 150), ("The answer is 150 mL, from 10 cm × 5 cm × 6 cm", "mL", 150),
    ("It is 90 mL or so. Final answer: 150 mL", "mL", 150),
    ("\\boxed{150} mL", "mL", 150), ("$\\boxed{150\\,\\text{cm}^{3}}$", "mL", 150),
    ("\\boxed{0.15 L}", "mL", 150),
    ("Final answer: \\boxed{150\\ mL}", "mL", 150),
    ('{"answer": {"value": 12, "unit": "mL"}}', "mL", 12), ('{"answer": "12 mL"}', "mL", 12),
    ("{'answer': '0.012 L'}", "mL", 12),
    ('```json\n{"answer": 12, "unit": "mL"}\n```', "mL", 12),
    ('{"value": 1.2, "unit": "cm"}', "mm", 12),
    ("<answer>150 mL</answer>", "mL", 150),
    ("V = 0.52 × 10 × 5 × 6 = 156 mL", "mL", 156),
    ("10 cm × 5 cm × 6 cm × 0.52 ≈ 156 mL", "mL", 156),
    ("Final answer: 10 × 5 × 3 × 0.52 = 78 mL", "mL", 78),
    ("First 90 mL, then 60 mL. Therefore, the total is 150 mL.", "mL", 150),
    ("30 mL here, 40 mL there.\n\n70 mL", "mL", 70),
    ("70 mL\n\nI added 30 mL and 40 mL.", "mL", 70),
    ("<think>90 mL?</think>150 mL", "mL", 150),
    ("I cannot measure it exactly. Approximately 150 mL.", "mL", 150),
    ("I cannot be exact, but about 150 mL", "mL", 150),
    # numbers of several words
    ("1 200 mL", "mL", 1200), ("one hundred and fifty mL", "mL", 150),
    ("Answer: one hundred and fifty mL", "mL", 150),
    ("a volume of one thousand and fifty mL", "mL", 1050), ("two and a half cm", "cm", "2.5"),
    ("half a centimetre", "mm", 5), ("one hundred twenty-five mL", "mL", 125),
]  # fmt: skip

WITHOUT_UNIT = [
    ("150", "mL", 150), ("1,200", "mL", 1200), ("1.200,5", "mL", "1200.5"), ("0.25", "%", "0.25"),
    ("1.2e3", "mL", 1200), ("−3", "mm", -3),
    ("about two", "cm", 2), ("Answer: 150", "mL", 150), ('{"answer": 150}', "mL", 150),
    ("150.", "mL", 150),
    ("Answer: 12. The slices are 5 mm apart.", "mm", 12),
    ("Answer: 5. The liver is about 30 mL larger", "mL", 5),
    ("\\boxed{150}", "mL", 150),
]  # fmt: skip

COUNTS = [
    ("3", 3), ("three", 3), ("Three.", 3), ("about two", 2), ("There are 3 lesions", 3),
    ("There is one lesion", 1),
    ("One", 1), ("zero", 0),
    ("on slice 45 there are 3 lesions", 3), ("on slice 45, 3 lesions are seen", 3),
    ("on slices 3, 4 and 7 there are 2 lesions", 2),
    ("Frames 3-7 show 2 lesions", 2), ("In slice 12 of 40: four lesions", 4),
    ("3 lesions, the largest 12 mm", 3),
    ("At T12 and C7 there are two", 2),
    ("3D volume with 4 lesions", 4), ("I see 2. Answer: 3", 3), ("Answer: about three lesions", 3),
    ("twenty-one", 21),
    ("twenty one", 21),
    ("one hundred", 100), ("a hundred", 100), ("\\boxed{3}", 3), ('{"answer": 3}', 3),
    ('{"count": 3}', 3),
    ("image 5/30: 2 lesions", 2), ("3.", 3),
    ("In total, 3", 3), ("Lesion 1 is left, lesion 2 is right. Total: 2", 2),
    ("two lesions (2)", 2),
    ("The answer is 3. There are 2 in the left lobe.", 3), ("The answer is 5. It could be 6.", 5),
    ("#4: 2 lesions", 2), ("a dozen", 12), ("two hundred", 200), ("half a dozen", 6),
    ("3. There are 2 in the left lobe.", 3),
]  # fmt: skip

NO_NUMBER = [
    ("between 30 and 40 mL", "mL", RANGE), ("5-10 mm", "mm", RANGE), ("30 to 40 mL", "mL", RANGE),
    ("30–40", "mL", RANGE), ("30 mL to 40 mL", "mL", RANGE),
    ("30~40 mL", "mL", RANGE), ("from 30 to 40 mL", "mL", RANGE), ("Answer: 30-40 mL", "mL", RANGE),
    ("thirty to forty mL", "mL", RANGE),
    ("The volume is 30-40 mL. Normal is 200 mL", "mL", RANGE), ("2-3", "", RANGE),
    ("two to three", "", RANGE),
    ("5 -10 mm", "mm", RANGE),
    ("3.5 x 2 cm", "cm", DIMENSIONS), ("3.5 × 2 × 1 cm", "cm", DIMENSIONS),
    ("3.5 cm by 2 cm", "cm", DIMENSIONS),
    ("35x20 mm", "mm", DIMENSIONS),
    ("12 cm", "mL", OTHER), ("12 mL", "mm", OTHER), ("12 cm²", "mL", OTHER),
    ("150 mL/min", "mL", OTHER),
    ("12 HU", "mm", OTHER), ("12 mm", "", OTHER),
    ("Answer: 12 cm", "mL", OTHER), ("12 cm long, 200", "mL", OTHER), ("60 years", "mm", OTHER),
    ("25 %", "mm", OTHER),
    ("12 mm and 14 mm", "mm", SEVERAL), ("2 left, 3 right", "", SEVERAL),
    ("two or three", "", EITHER),
    ("5 or 6 mm", "mm", EITHER),
    ("less than 5 mm", "mm", BOUND), ("<5 mm", "mm", BOUND), ("at least 3", "", BOUND),
    ("> 10 mm", "mm", BOUND),
    ("L1", "", NONE), ("T12", "", NONE), ("frames 3-7", "", NONE), ("slice 45", "", NONE),
    ("2nd", "", NONE),
    ("NaN", "mL", NONE), ("inf", "mL", NONE),
    ("infinity mL", "mL", NONE), ("several", "", NONE),
    ("One of the lesions is large", "", NONE), ("No one knows", "", NONE),
    ("1.2.3", "mL", UNCLEAR), ("2 thousand", "", UNCLEAR),
    ("1e999999", "mL", UNCLEAR),
    ("9" * 50_000, "mL", UNCLEAR), ("1e-999", "mL", UNCLEAR), ("1,2,3", "", UNCLEAR),
    ("10^2 mL", "mL", UNCLEAR), ("10**2 mL", "mL", UNCLEAR),
    ("10^-2 mL", "mL", UNCLEAR),
    ("Answer: 1. 150 mL", "mL", "a list mark or an answer"),
    ("Answer:\n1. The liver is 150 mL", "mL", "a list mark or an answer"),
    ("", "mL", "empty"), ("  ", "mL", "empty"), ("<think>150 mL", "mL", "empty"),
    ("Answer: 3. Answer: 4.", "", "contradictory answers"),
    ("3\n\n4", "", "contradictory answers"),
    ("Final answer: unclear", "mL", "the final answer is not understood"),
    ("I cannot determine the volume. Normal is 150 mL", "mL", REFUSED),
    ("I'm unable to view images.", "mL", REFUSED),
    ("Not enough information", "", REFUSED), ("Answer: cannot be determined", "mL", REFUSED),
    ("As an AI, I can't measure 3D scans", "mL", REFUSED),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "unit", "expected"), WITH_UNIT)
def test_numbers_with_their_unit(reply, unit, expected):
    assert parse_number(reply, unit) == Parsed(Fraction(expected))


@pytest.mark.parametrize(("reply", "unit", "expected"), WITHOUT_UNIT)
def test_numbers_without_a_unit_are_flagged(reply, unit, expected):
    assert parse_number(reply, unit) == Parsed(Fraction(expected), (UNIT_MISSING,))


@pytest.mark.parametrize(("reply", "expected"), COUNTS)
def test_counts(reply, expected):
    assert parse_number(reply, "") == Parsed(Fraction(expected))


@pytest.mark.parametrize(("reply", "unit", "reason"), NO_NUMBER)
def test_what_is_no_number(reply, unit, reason):
    assert parse_number(reply, unit) == (
        RefusedInWords() if reason == REFUSED else Unparsed(reason)
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [("between 30 and 40 mL", 35), ("5-10 mL", "7.5"), ("30 mL to 0.04 L", 35), ("150 mL", 150)],
)
def test_the_midpoint_of_a_range_on_request(reply, expected):
    assert parse_number(reply, "mL", ranges="midpoint") == Parsed(Fraction(expected))


def test_an_unknown_unit_is_the_callers_mistake():
    with pytest.raises(SitusError, match="no unit 'furlong'"):
        parse_number("3", "furlong")


@settings(deadline=None)
@given(st.fractions(min_value=0, max_value=10_000, max_denominator=1).map(int), st.integers(0, 999))
def test_plain_decimals_are_read_exactly(whole, thousandths):
    assert parse_number(f"The volume is {whole}.{thousandths:03d} mL.", "mL") == Parsed(
        whole + Fraction(thousandths, 1000)
    )


PIECES = st.sampled_from(
    [
        "12",
        "1,2",
        "mL",
        "cm",
        "x",
        "-",
        "–",
        "±",
        "to",
        "or",
        "/",
        "%",
        "two",
        "hundred",
        "answer:",
        "=",
        "(",
        ")",
        "slice",
        ".",
        "\n",
        "e9",
        "³",
    ]
)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(PIECES, max_size=30).map(" ".join),
        st.lists(PIECES, max_size=30).map("".join),
    ),
    st.sampled_from(["mm", "mL", "%", "fraction", "", "cm²"]),
    st.sampled_from(["reject", "midpoint"]),
)
def test_any_text_gives_a_result(text, unit, ranges):
    result = parse_number(text, unit, ranges=ranges)
    assert isinstance(result, Parsed | Unparsed | RefusedInWords)
    if isinstance(result, Parsed):
        assert isinstance(result.value, Fraction)
