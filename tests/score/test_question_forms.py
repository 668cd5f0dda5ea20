"""The same asked in several ways: a statement that answers one wording answers them all."""

import pytest

from situs.items import Option
from situs.score.read import Parsed, parse_choice, parse_choices, parse_number, parse_yes_no

LESION = "largest liver lesion"
ASKED = {
    (
        f"Does the {LESION} lie within 20 mm of the gallbladder?",
        f"Is the {LESION} within 20 mm of the gallbladder?",
        "Is any liver lesion within 20 mm of the gallbladder?",
        "Are there any liver lesions within 20 mm of the gallbladder?",
    ): (
        ["The distance is roughly 12 mm.", "The gap is 1.2 cm.", "It is only 8 mm away.",
         "The shortest distance is 15 mm, which is below 20 mm."],
        ["The distance is roughly 45 mm.", "More than 20 mm separate them.",
         "It lies 4.5 cm from the gallbladder.", "The distance exceeds 20 mm."],
    ),
    (
        f"Does the {LESION} lie more than 20 mm from the gallbladder?",
        f"Is the {LESION} more than 20 mm from the gallbladder?",
    ): (
        ["The distance is roughly 45 mm.", "It lies 4.5 cm away."],
        ["It is only 8 mm away.", "They are less than 20 mm apart."],
    ),
    (
        "Does the volume of the left kidney exceed 150 mL?",
        "Is the volume of the left kidney more than 150 mL?",
        "Is the left kidney larger than 150 mL?",
    ): (
        ["The volume is estimated at 180 mL.", "The left kidney exceeds 150 mL.", "About 180 mL."],
        ["About 120 mL.", "It does not exceed 150 mL.", "The volume is below 150 mL."],
    ),
    (
        "Is the spleen longer than 120 mm from top to bottom?",
        "Does the length of the spleen exceed 120 mm?",
    ): (
        ["It measures 135 mm from top to bottom.", "The spleen exceeds 12 cm."],
        ["It measures 105 mm from top to bottom.", "The spleen is shorter than 12 cm."],
    ),
    (
        f"Is the {LESION} in contact with the gallbladder?",
        f"Does the {LESION} touch the gallbladder?",
        "Is there any liver lesion in contact with the gallbladder?",
    ): (
        ["There is direct contact with the gallbladder wall."],
        ["There is a gap of about 8 mm between them.", "A fat plane separates them.",
         "No liver lesion touches the gallbladder.", "It touches the stomach, not the gallbladder."],
    ),
    (
        "Is the right kidney longer than the left kidney, from top to bottom?",
        "Is the right kidney longer than the left kidney?",
    ): (
        ["The right kidney is the longer of the two.", "The left one is shorter.",
         "The left one is the shorter of the two kidneys."],
        ["The left one is longer.", "They have the same length.",
         "The left kidney is the longer of the two."],
    ),
    (
        "Does the right kidney reach higher than the left kidney?",
        "Is the right kidney higher than the left kidney?",
    ): (
        ["The right kidney reaches higher.", "The left kidney reaches lower."],
        ["The left kidney reaches higher than the right one.", "The right one is lower."],
    ),
    (
        "Did the reader record a joint effusion for this study as a whole?",
        "According to the reader, does this study as a whole show a joint effusion?",
        "Did the reader mark a joint effusion on this slice?",
        "Is there a joint effusion?",
    ): (
        ["There is a joint effusion.", "A joint effusion was marked by the reader."],
        ["The reader recorded no effusion.", "No effusion is seen.",
         "There is nothing annotated that would suggest a joint effusion."],
    ),
    ("Does the medial meniscus show abnormal signal?",): (
        ["The medial meniscus shows abnormal signal."],
        ["The signal is normal.", "The medial meniscus has normal signal."],
    ),
    ("Is cartilage lost in the medial femoral condyle?",): (
        ["There is cartilage loss in the medial femoral condyle."],
        ["No cartilage loss is seen.", "The cartilage is intact."],
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("question", "reply", "value"),
    [
        (question, reply, value)
        for questions, replies in ASKED.items()
        for question in questions
        for value, stated in zip((True, False), replies, strict=True)
        for reply in stated
    ],
)
def test_a_statement_answers_every_wording(question, reply, value):
    result = parse_yes_no(reply, question)
    assert isinstance(result, Parsed)
    assert result.value is value


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Is the right kidney longer than the left kidney?", "They do not have the same length."),
        ("Does the largest liver lesion touch the gallbladder?", "The gap is 0 mm."),
        ("Is the left kidney larger than 150 mL?", "The right kidney is about 180 mL."),
        ("Does the medial meniscus show abnormal signal?", "The signal is not normal."),
    ],
)
def test_what_does_not_answer_stays_unread(question, reply):
    assert not isinstance(parse_yes_no(reply, question), Parsed)


NEAREST = [Option(one, one) for one in ("gallbladder", "inferior vena cava", "stomach")]
LARGER = [
    Option("A", "the left"),
    Option("B", "the right"),
    Option("C", "they differ by less than 5 %"),
    Option("D", "cannot be told, one is cut off"),
]
HIGHER = [
    Option(*one) for one in zip("ABC", ("the left", "the right", "they are level within 5 mm"))
]
WHICH_HIGHER = "Which of the two kidneys reaches higher?"
VENTRICLES = [
    Option(one, f"the {one} ventricle")
    for one in ("third", "left lateral", "right lateral", "fourth")
]
WHICH_VENTRICLE = "Which structure does the lesion displace?"
DEFECTS = [
    Option(one, one) for one in ("the medial condyle", "the lateral condyle", "neither shows one")
]
WHICH_DEFECT = "Which femoral condyle shows the larger cartilage defect?"
SPINE = [Option(one, one) for one in ("L2", "L3", "L4", "L5")]
WHICH_NEAREST = "Which of these lies nearest to the largest liver lesion?"
WHICH_LARGER = "Which kidney is larger by volume?"


@pytest.mark.parametrize(
    ("options", "question", "reply", "chosen"),
    [
        (NEAREST, WHICH_NEAREST, "It would be A.", 0),
        (NEAREST, WHICH_NEAREST, "After weighing the options, A stands out.", 0),
        (NEAREST, WHICH_NEAREST, "Options C and A both fit.", None),
        (NEAREST, WHICH_NEAREST, "C can be excluded. A is left as the answer.", 0),
        (NEAREST, WHICH_NEAREST, "First I said B. On review, I change my answer to A.", 0),
        (NEAREST, WHICH_NEAREST, "The best-supported answer is C.", 2),
        (NEAREST, WHICH_NEAREST, "Likely A, possibly B.", 0),
        (NEAREST, WHICH_NEAREST, "A, or possibly B.", None),
        (LARGER, WHICH_LARGER, "A can be excluded. B is left as the answer.", 1),
        (LARGER, WHICH_LARGER, "I am unable to view the images, so I cannot choose A or B.", None),
        (LARGER, WHICH_LARGER, "The right kidney exceeds the left kidney in volume.", 1),
        (LARGER, WHICH_LARGER, "Left kidney ≈ 11.2 cm, right kidney ≈ 10.1 cm → left.", 0),
        (LARGER, WHICH_LARGER, "I'd say they are equal within 5 %.", 2),
        (HIGHER, WHICH_HIGHER, "They're level.", 2),
        (HIGHER, WHICH_HIGHER, "Roughly the same height.", 2),
        (HIGHER, WHICH_HIGHER, "The left is lower.", 1),
        (HIGHER, WHICH_HIGHER, "The upper pole of the right kidney is the higher one.", 1),
        (VENTRICLES, WHICH_VENTRICLE, "The lesion displaces the 4th ventricle.", 3),
        (VENTRICLES, WHICH_VENTRICLE, "The third ventricle. The fourth ventricle looks fine.", 0),
        (NEAREST, WHICH_NEAREST, "B looks fine to me.", 1),
        (NEAREST, WHICH_NEAREST, "My reasoning leads to C.", 2),
        (NEAREST, WHICH_NEAREST, "The answer I would give is C.", 2),
        (DEFECTS, WHICH_DEFECT, "Neither.", 2),
        (DEFECTS, WHICH_DEFECT, "A is smaller.", 1),
        (
            SPINE,
            "At which level does the aorta bifurcate?",
            "In front of the L4 vertebral body.",
            2,
        ),
        (SPINE, "At which level does the aorta bifurcate?", "It is below L4.", None),
    ],
)
def test_choices_in_passing_and_at_the_end(options, question, reply, chosen):
    result = parse_choice(reply, options, question)
    expected = None if chosen is None else options[chosen].value
    assert (result.value if isinstance(result, Parsed) else None) == expected


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("0.52 × 10.8 × 5.1 × 5.6 cm = 161.5 cm³, i.e. about 160 mL.", 161.5),
        ("154.8 mL, rounded to 155 mL", 154.8),
        ("154.6 mL or 170 mL", None),
    ],
)
def test_a_rounded_number_is_the_same_number(reply, value):
    result = parse_number(reply, "mL", question="What is the volume of the left kidney, in mL?")
    assert (float(result.value) if isinstance(result, Parsed) else None) == value


def test_a_measure_may_be_named_behind_it():
    question = "What is the longest axial diameter of the largest lymph node, in mm?"
    reply = "The largest node measures 18 mm (long axis) and 11 mm (short axis)."
    result = parse_number(reply, "mm", question=question)
    assert isinstance(result, Parsed)
    assert result.value == 18


def test_parts_of_a_count_are_not_the_count():
    question = "How many liver lesions are there?"
    reply = "Two large ones and a small one."
    assert not isinstance(parse_number(reply, "", question=question), Parsed)


@pytest.mark.parametrize(
    ("question", "reply", "value"),
    [
        ("Is the spleen larger than 250 mL?", "It is of normal size, hence below 250 mL.", False),
        ("Is the spleen larger than 250 mL?", "If it is of normal size, it is below 250 mL.", None),
        ("Is the spleen larger than 250 mL?", "The spleen isn't that large.", False),
        (
            "Does the left adrenal gland lie behind the stomach?",
            "A larger row number means more posterior, so the statement holds.",
            True,
        ),
        (
            "Is the gallbladder below the upper pole of the right kidney?",
            "It would have to be lower for that to be true, and it isn't.",
            False,
        ),
        (
            "Is there any liver lesion in contact with the diaphragm?",
            "One of the three lesions abuts the diaphragm.",
            True,
        ),
        (
            "Did the reader mark a Baker's cyst in this volume?",
            "There is no popliteal fluid, so a Baker's cyst would not have been marked.",
            False,
        ),
        (
            "Did the reader mark a Baker's cyst in this volume?",
            "If there were fluid, a Baker's cyst would have been marked.",
            None,
        ),
        ("Is the spleen larger than 250 mL?", "Looks like it is more than 300 mL.", True),
        ("Is the spleen larger than 250 mL?", "I'm going to go with no on this one.", False),
    ],
)
def test_what_a_sentence_ends_in_is_its_statement(question, reply, value):
    result = parse_yes_no(reply, question)
    assert (result.value if isinstance(result, Parsed) else None) is value


def test_both_of_a_pair_are_two_options():
    options = [Option(one, one) for one in ("liver", "left kidney", "right kidney")]
    question = "Which of these structures contain a lesion? Choose all that apply."
    result = parse_choices("Both kidneys.", options, question)
    assert isinstance(result, Parsed)
    assert result.value == ("left kidney", "right kidney")


def test_none_of_what_is_counted_is_nought():
    question = "How many of the lumbar vertebrae are completely visible?"
    result = parse_number("None is complete.", "", question=question)
    assert isinstance(result, Parsed)
    assert result.value == 0
    assert not isinstance(parse_number("None is fractured.", "", question=question), Parsed)


@pytest.mark.parametrize(
    "frame",
    [
        "I'm going to say {}.", "I'm going to go with {} on this one.", "My inclination is {}.",
        "My impression is {}.", "My call is {}.", "The one-word answer is {}.",
        "The honest answer is {}.", "Final determination: {}.", "To answer your question: {}.",
        "My educated guess is {}.", "Locking in {}.", "I'd classify this as {}.",
        "I can't be 100% certain, but my best judgement is {}.", "<response>{}</response>",
    ],
)  # fmt: skip
@pytest.mark.parametrize("answer", ["yes", "no"])
def test_an_announcement_is_read_whoever_gives_it(frame, answer):
    question = "Is the left kidney above the stomach?"
    result = parse_yes_no(frame.format(answer), question)
    assert isinstance(result, Parsed)
    assert result.value is (answer == "yes")


@pytest.mark.parametrize(
    "frame",
    [
        "My first impression was {}.", "My colleague's impression is {}.", "My gut said {}.",
    ],
)  # fmt: skip
def test_what_was_only_a_first_impression_is_not(frame):
    question = "Is the left kidney above the stomach?"
    assert not isinstance(parse_yes_no(frame.format("yes"), question), Parsed)
