"""The clinical validator: every rule has a source and
a check that refuses what breaks it, and only that."""

from __future__ import annotations

import msgspec
import pytest

from situs.bench import open_bench
from situs.build.authoring.rules import _BREAKS, Case, _rule_book, broken_rule
from situs.build.authoring.wording import program_wordings
from situs.facts import Fact, Measured
from situs.items import Choice, Number, Option, YesNo
from situs.items.programs import BUILT_IN, Wording, program_of, read_program

LIVER = "lesions(liver_lesion)"
SIDES = (Option("liver", "the liver"), Option("spleen", "the spleen"))


def test_every_rule_has_sources_words_and_a_check():
    book = _rule_book()
    assert list(_BREAKS) == [rule.id for rule in book.rule]
    assert {name for rule in book.rule for name in rule.sources} == set(book.sources)
    for rule in book.rule:
        assert rule.sources
        assert rule.problem
        assert rule.fix
    # A publication can be looked up by its journal and volume, or by its doi.
    for name, text in book.sources.items():
        assert name in ("definitions", "judgement") or "doi" in text or ";" in text


@pytest.fixture(scope="module")
def sound(composed):
    """A question of the bench, to be spoilt."""
    bench = open_bench(composed / "bench")
    facts = {fact.fact_id: fact for fact in bench.facts()}
    return next(item for item in bench.items() if item.form == "yes_no"), facts


def test_questions_of_a_bench_break_no_rule(composed):
    bench = open_bench(composed / "bench")
    facts = {fact.fact_id: fact for fact in bench.facts()}
    for item in bench.items():
        program = program_of(item)
        assert program is not None
        assert broken_rule(Case(item, program, facts)) is None, item.question


def wide(mm: float) -> dict[str, Fact]:
    derivation = Measured("axial_diameter@1", {}, ())
    fact = Fact("f1", "s", "ct", "axial_diameter", ("x",), mm, "mm", (mm, mm), derivation)
    return {"f1": fact}


CHOICE = {"form": "choice", "answer": Choice("liver"), "options": SIDES}
SPOILT: list[tuple[str, str, dict[str, object], float]] = [
    ("one-answer", "level(liver)", {**CHOICE, "answer": Choice("liver", ("spleen",))}, 0),
    (
        "distinct-options",
        "level(liver)",
        {**CHOICE, "options": (Option("liver", "the liver"), Option("spleen", "The  liver"))},
        0,
    ),
    (
        "no-catch-all",
        "level(liver)",
        {**CHOICE, "options": (*SIDES, Option("x", "none of the above"))},
        0,
    ),
    ("needs-sight", "level(liver)", {**CHOICE, "question": "Is it the liver?"}, 0),
    (
        "length-cue",
        "level(liver)",
        {
            **CHOICE,
            "options": (Option("liver", "the liver, just below the dome"), Option("b", "L1")),
        },
        0,
    ),
    ("one-question", "level(liver)", {"question": "Is it large? Is it low?"}, 0),
    ("positive-stem", "level(liver)", {"question": "Which is not above it?"}, 0),
    ("short-stem", "level(liver)", {"question": "Is " + "very " * 40 + "far?"}, 0),
    ("plain-words", "level(liver)", {"question": "Is the mask large?"}, 0),
    ("relevant", f"is_within(largest({LIVER}),brain,10)", {}, 0),
    ("usual-distance", f"is_within(largest({LIVER}),stomach,45)", {}, 0),
    ("measurable-lesion", f"diameter(largest({LIVER}))", {"fact_ids": ("f1",)}, 9.9),
    ("countable", f"count({LIVER})", {"form": "number", "answer": Number(7.0, "", (7, 7))}, 0),
    ("sided-lesion", f"side(largest({LIVER}))", {}, 0),
    (
        "known-number",
        "volume(liver)",
        {"form": "number", "answer": Number(10.0, "mL", (6.0, 14.0))},
        0,
    ),
]


@pytest.mark.parametrize(("rule", "program", "changes", "mm"), SPOILT, ids=[r for r, *_ in SPOILT])
def test_a_spoilt_question_is_refused_by_its_rule(sound, rule, program, changes, mm):
    item, _ = sound
    plain = {"question": "Is it near?", "answer": YesNo(True), "options": (), "fact_ids": ()}
    spoilt = msgspec.structs.replace(item, **{**plain, **changes})
    broken = broken_rule(Case(spoilt, read_program(program), wide(mm)))
    assert broken is not None
    assert broken.id == rule


def test_limits_are_where_the_sources_put_them(sound):
    item, _ = sound
    plain = msgspec.structs.replace(
        item, question="Is it near?", answer=YesNo(True), options=(), fact_ids=("f1",)
    )
    diameter = read_program(f"diameter(largest({LIVER}))")
    # RECIST 1.1: at least 10 mm.
    assert broken_rule(Case(plain, diameter, wide(10.0))) is None
    near = read_program(f"is_within(largest({LIVER}),stomach,30)")
    assert broken_rule(Case(plain, near, {})) is None
    kidney = read_program("side(largest(lesions(kidney_lesion)))")
    assert broken_rule(Case(plain, kidney, {})) is None


def test_a_suspected_mask_quarantines_what_rests_on_it(sound):
    item, facts = sound
    program = program_of(item)
    assert program is not None
    about = {tag.removeprefix("structure:") for tag in item.tags if tag.startswith("structure:")}
    broken = broken_rule(Case(item, program, facts, about))
    assert broken is not None
    assert broken.severity == "quarantine"
    assert broken_rule(Case(item, program, facts, {"patella"})) is None


def test_a_wording_that_calls_the_liver_a_lesion_is_not_used_for_it():
    shape = "larger({A},{B})"
    lesion = Wording(shape, "Which lesion has the greater volume, {A} or {B}?", "a model")
    programs = [
        f"larger(largest({LIVER}),second_largest({LIVER}))",
        f"larger(largest({LIVER}),spleen)",
    ]
    wordings = program_wordings(programs, {shape: [lesion]}, 0)
    assert [wordings[program].by for program in programs] == ["a model", BUILT_IN]
