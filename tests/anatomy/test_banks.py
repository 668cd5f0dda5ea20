"""Banks of graded questions: the shipped one is whole,
a broken one is refused, another one needs no code."""

from __future__ import annotations

import json
import os
import random
import re
from importlib.resources import files
from pathlib import Path

import pytest

from banks import KELLGREN_LAWRENCE, SUSPICION
from situs.anatomy.banks import levels_in, load_bank, shipped_banks
from situs.errors import SitusError

BANK = load_bank("moaks-knee")
TEXT = files("situs.anatomy.banks").joinpath("data", "moaks-knee.toml").read_text("utf-8")
WHOLE = {"share": (0.0, 100.0), "length": (0.0, 40.0), "count": (0, 12)}


def test_the_bank_is_whole() -> None:
    assert "moaks-knee" in shipped_banks()
    assert [question.id for question in BANK.question] == [str(number) for number in range(1, 70)]
    assert sum(len(BANK.sub_scores_of(question)) for question in BANK.question) == 118
    families = [question.family for question in BANK.question]
    counts = {
        family: families.count(family)
        for family in ("bml", "cartilage", "osteophyte", "meniscus_morphology")
    }
    assert counts == {"bml": 15, "cartilage": 14, "osteophyte": 12, "meniscus_morphology": 6}


def test_every_value_has_exactly_one_grade() -> None:
    """Also the edges of bins, which the published words leave open or give twice."""
    rng = random.Random(3)
    for name, scale in BANK.scales.items():
        if not scale.quantity:
            continue
        low, high = WHOLE[scale.quantity]
        values = [low, high, *scale.edges(), *(rng.uniform(low, high) for _ in range(200))]
        for value in values if scale.quantity != "count" else range(int(low), int(high)):
            alone = [lv.grade for lv in scale.levels if _holds(lv.range, value)]
            assert alone == [scale.grade_of(value)], (name, value)


def _holds(text: str, value: float) -> bool:
    low, high = (float(part) for part in text[1:-1].split(","))
    above = value >= low if text[0] == "[" else value > low
    return above and (value <= high if text[-1] == "]" else value < high)


@pytest.mark.parametrize(
    ("scale", "value", "grade"),
    [
        ("extrusion", 1.999, 0),
        ("extrusion", 2.0, 1),
        ("extrusion", 3.0, 2),
        ("extrusion", 4.95, 2),
        ("extrusion", 5.0, 3),
        ("bml_size", 0.0, 0),
        ("bml_size", 32.9, 1),
        ("bml_size", 33.0, 2),
        ("bml_size", 66.0, 2),
        ("bml_size", 66.1, 3),
        ("cartilage_size", 10.0, 2),
        ("cartilage_size", 75.0, 2),
        ("cartilage_size", 75.1, 3),
    ],
)
def test_bins_are_those_of_the_definitions(scale: str, value: float, grade: int) -> None:
    assert BANK.scales[scale].grade_of(value) == grade


@pytest.mark.parametrize("guided", [False, True])
def test_prompts_stand_alone(guided: bool) -> None:
    seen = set()
    for question in BANK.question:
        words = BANK.words_of(question, guided=guided)
        assert not re.search(r"[{}]|  ", words), words
        assert BANK.regions[question.region].text in words or question.family == "periarticular", (
            words
        )
        for sub in BANK.sub_scores_of(question):
            scale = BANK.scales[sub.scale]
            assert f"{sub.key}: " in words
            for level in scale.levels:
                asked = level.grade not in scale.follow_up_only
                assert (f"{level.grade} = {level.text}" in words) is asked
        seen.add(words)
        kinds = [step.kind for step in BANK.chain_of(question)]
        assert (kinds[0], kinds[-1]) == ("find", "grade")
    assert len(seen) == 69, "two questions read alike"


def test_guided_questions_say_more() -> None:
    for question in BANK.question:
        assert len(BANK.words_of(question, guided=True)) > len(
            BANK.words_of(question, guided=False)
        )


def test_words_can_be_asked_for_some_sub_scores() -> None:
    words = BANK.words_of(BANK.get("1"), guided=False, keys=["number"])
    assert "number:" in words
    assert "size:" not in words


@pytest.mark.skipif("SITUS_REAL_DATA" not in os.environ, reason="needs the published questions")
def test_published_names_are_those_of_the_published_questions() -> None:
    path = Path(os.environ["SITUS_REAL_DATA"]) / "3dreasonknee" / "questions_nobbox_guided.json"
    if not path.exists():
        pytest.skip("the published questions are not here")
    published = json.loads(path.read_text())
    for question in BANK.question:
        form = published[question.id]
        assert f'"{question.published}"' in form, question
        for sub in BANK.sub_scores_of(question):
            # Some published forms hold the grade itself where others hold an object with the key
            # `grade`.
            assert f'"{sub.published}"' in form or sub.published in ("grade", "morphology"), (
                question,
                sub,
            )


BROKEN = {
    "leave a gap or overlap": ('range = "[2,3)" }', 'range = "[2,2.9)" }'),
    "no bin holds 0": ('range = "[0,2)" }', 'range = "(0,2)" }'),
    "no bin holds 100": ('range = "(75,100]" }', 'range = "(75,99]" }'),
    "no bin holds inf": ('range = "[5,inf)" }', 'range = "[5,9)" }'),
    "each once and in order": ('{ grade = 2, text = "two"', '{ grade = 1, text = "two"'),
    "a range for every grade": (
        '{ grade = 2, text = "two", range = "[2,2]" }',
        '{ grade = 2, text = "two" }',
    ),
    "unknown quantity": ('quantity = "length"', 'quantity = "weight"'),
    "cannot read the range": ('range = "[2,3)" }', 'range = "2 to 3" }'),
    "follow_up_only names a grade": ("follow_up_only = [7]", "follow_up_only = [9]"),
    "unknown axis": ("medial_lateral = [0.0, 0.5] }", "left_right = [0.0, 0.5] }"),
    "not within 0 to 1": ("medial_lateral = [0.0, 0.5] }", "medial_lateral = [0.5, 0.5] }"),
    "joint_mm is not a distance": ("joint_mm = 40.0", "joint_mm = -1.0"),
    "unknown scale": ('scale = "hoffa"', 'scale = "hofa"'),
    "occurs 2 times": ('key = "number"', 'key = "size"'),
    "its chain must go": (
        '{ kind = "find", text = "Find the {region} below',
        '{ kind = "measure", text = "Find the {region} below',
    ),
    "has no quantity": (
        'scale = "osteophyte"\n',
        'scale = "osteophyte"\nmeasures = "lesion_share"\n',
    ),
    "does not say whether dess shows it": (
        'shown_by = { dess = "no" }',
        'shown_by = { tse = "no" }',
    ),
    "a rule names": ('then_zero = ["depth"]', 'then_zero = ["dept"]'),
    "its id occurs 2 times": ('id = "2"\n', 'id = "1"\n'),
    "unknown family": ('family = "acl"', 'family = "acll"'),
    "unknown region": ('region = "acl"', 'region = "acll"'),
    "a slot that is not filled": ("Is the {region} hypertrophic?", "Is the {regoin} hypertrophic?"),
    "says 69 questions with 117": ("sub_scores = 118", "sub_scores = 117"),
    "is not used": (
        "[regions.knee]",
        '[regions.elbow]\ntext = "elbow"\nstructure = "elbow"\n[regions.knee]',
    ),
    "unknown field": ('title = "MRI', 'titel = "x"\ntitle = "MRI'),
    "missing required field": (
        'guide = "Fluid is bright; a healthy joint holds only a little."\n',
        "",
    ),
}


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_bank_is_refused(problem: str, tmp_path: Path) -> None:
    old, new = BROKEN[problem]
    assert old in TEXT
    path = tmp_path / "bank.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(SitusError) as caught:
        load_bank(str(path))
    assert problem in caught.value.one_line()
    assert "\n" not in caught.value.one_line()


def test_an_unknown_bank_is_named() -> None:
    with pytest.raises(SitusError, match="no such bank"):
        load_bank("moaks-kne")


@pytest.mark.parametrize(
    "text", [TEXT, KELLGREN_LAWRENCE, SUSPICION], ids=["moaks", "kl", "suspicion"]
)
def test_a_question_tells_its_scales(text: str, tmp_path: Path) -> None:
    (tmp_path / "bank.toml").write_text(text)
    bank = load_bank(str(tmp_path / "bank.toml"))
    for question in bank.question:
        scales = {sub.key: bank.scales[sub.scale] for sub in bank.sub_scores_of(question)}
        offered = {
            key: {
                level.grade: level.text
                for level in scale.levels
                if level.grade not in scale.follow_up_only
            }
            for key, scale in scales.items()
        }
        words = bank.words_of(question, guided=True)
        assert (
            levels_in(f"This is a left knee.\n{words}\nbox: the box around it (all).") == offered
        ), question.id


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ("{ medial_lateral = [-0.5, 0.5] }", "medial_lateral is not within 0 to 1"),
        ("{ medial_lateral = [-0.5, 0.5] }\nblock = true", "a block has a span along each of"),
    ],
)
def test_only_a_block_reaches_beyond_its_structure(span: str, said: str, tmp_path: Path) -> None:
    bank = tmp_path / "bank.toml"
    bank.write_text(SUSPICION.replace("{ inferior_superior = [0.0, 0.3333] }", span))
    with pytest.raises(SitusError, match=said):
        load_bank(str(bank))
