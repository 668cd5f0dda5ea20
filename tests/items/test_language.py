"""The language of spatial questions:
what is said is what is meant, for every shape, wording and refusal."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path

import pytest

from situs.errors import SitusError
from situs.items.programs import (
    Expr,
    all_shapes,
    fill,
    parse,
    prove,
    read_program,
    render,
    shape_of,
    wordings_of,
    wrong_noun,
)
from situs.items.programs.conclude import _CONCLUDE
from situs.items.programs.expression import can_be_written
from situs.items.programs.language import (
    Alternatives,
    Pattern,
    Slot,
    compile_pattern,
    load_language,
)
from situs.items.programs.names import Names, shipped_names
from situs.items.programs.saying import _argument

FOLDER = Path(__file__).parent
LIVER = "largest(lesions(liver_lesion))"
THINGS = (
    "aorta",
    LIVER,
    "second_largest(lesions(kidney_lesion))",
    "nearest(lesions(liver_lesion),gallbladder)",
    "most(anterior,within(lesions(liver_lesion),largest(lesions(kidney_lesion)),20))",
    "most(left,on(right,lesions(lung_nodule)))",
    "largest(beyond(superior,lesions(lung_nodule),heart))",
    "nearest(touching(lesions(liver_lesion),inferior_vena_cava),spleen)",
)


def filled(shape: Expr, rng: random.Random) -> Expr:
    """A program of a shape: plain things where only these may stand."""
    values = {
        "A": rng.choice(THINGS),
        "B": rng.choice(THINGS),
        "C": rng.choice(THINGS),
        "F": "liver_lesion",
        "X": rng.choice(("5", "10", "30")),
    }
    for slot in re.findall(r"\{([A-E])\}", str(shape)):
        try:
            read_program(re.sub(r"\{(\w)\}", lambda m: values[m[1]], str(shape)))
        except SitusError:
            values[slot] = rng.choice(("portal_vein_and_splenic_vein", LIVER, "kidney_left"))
    return read_program(re.sub(r"\{(\w)\}", lambda m: values[m[1]], str(shape)))


def test_every_wording_of_every_shape_means_it_and_nothing_else():
    for shape in all_shapes():
        assert read_program(str(shape)) == shape_of(shape) == shape
        for wording in range(wordings_of(shape)):
            assert parse(render(shape, wording)) == {shape}, render(shape, wording)
            assert prove(render(shape, wording), shape) is None


def test_names_of_several_words_are_read_back_and_others_are_left_out():
    program = Expr("level", (Expr("name", ("left lung",)),))
    assert read_program(str(program)) == program
    assert read_program("is_touching( left lung , right lung )").names == [
        "left lung",
        "right lung",
    ]
    assert can_be_written("Left lung v1.2")
    for name in ("lung (left)", "lung, left", "4th ventricle", " lung", "left  lung", ""):
        assert not can_be_written(name)


def test_programs_with_names_are_read_back_as_they_were():
    rng = random.Random(20)
    nested = 0
    for shape in all_shapes():
        program = filled(shape, rng)
        nested += len(list(program.parts())) > 5
        for wording in range(2):
            text = render(program, wording)
            assert parse(text) == {program}, text
            assert parse(fill(render(shape_of(program), wording), program)) == {program}
    assert nested > 100


def test_every_question_can_be_concluded():
    questions = {name for name, op in load_language().op.items() if op.gives == "question"}
    assert questions == _CONCLUDE.keys()


@pytest.mark.parametrize(
    "name",
    [
        "good_wordings",
        "unseen_wordings",
        "more_wordings",
        "later_wordings",
        "fresh_wordings",
        "blind_wordings",
        "framed_wordings",
        "voices_wordings",
        "stranger_wordings",
        "colleague_wordings",
        "examiner_wordings",
    ],
)
def test_good_wordings_are_accepted(name):
    """The first list was written before the grammar, the others after it.

    Of the second 52 of 62 were read at first sight, of the third, whose author had read the
    grammar, all 64. The fourth is three lists of another author, of which 52 of 69, 56 of 73 and 63
    of 72 were read at first sight; of the last, by yet another, 44 of 61, and of `blind`, by one more who had seen only the docs, 52 of 80.
    Then the grammar got its frames. `framed` is three lists by their author: 38 of 62, sought out
    to be unusual, 53 of 70, and 59 of 63 as a model would rephrase the standard texts. `voices` is
    three lists by one more: two as six people would word it (tersely, formally, passively,
    condition first, …), 87 of 149 before sentences were put back in order and 72 of 100 after it,
    and 80 of 94 as a model would answer the writer's prompt. `stranger` is three lists of one who
    had seen the writer's prompt only, without what the other lists have already: 71 of 74, 66 of 80
    and, sought out to be different, 37 of 51. `colleague` is two lists for shapes drawn at random, by six
    people (terse, polite, not native, …): 85 of 123 before polite requests, indirect questions and
    bare units were read, and 67 of 82 after it. `examiner` is what four lists by one more, who
    had seen the shapes and one example of each, have beside these: 98 of 104, 59 of 72, 50 of 54
    and 50 of 56. The grammar was widened after each.
    """
    with (FOLDER / f"{name}.tsv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    refused = [text for shape, text in rows if prove(text, read_program(shape)) is not None]
    assert len(rows) >= 60
    assert len(refused) <= 0.2 * len(rows), refused


def swapped(text: str) -> str:
    return text.replace("{A}", "{Z}").replace("{B}", "{A}").replace("{Z}", "{B}")


FLIPS = (
    (" behind ", " in front of "),
    (" above ", " below "),
    ("left", "right"),
    ("largest", "smallest"),
    ("larger", "smaller"),
    ("nearest", "farthest"),
    ("closer", "farther"),
    ("highest", "lowest"),
    ("most posterior", "most anterior"),
    ("within ", "outside "),
    ("more than", "less than"),
)
MUTATIONS = {
    "swap": swapped,
    **{f"flip {a.strip()}": (lambda t, a=a, b=b: t.replace(a, b)) for a, b in FLIPS},
    "negate": lambda t: re.sub(r"^(Is|Does|Are) (\{\w+\}|any|the)", r"\1 \2 not", t),
    "unit": lambda t: t.replace(" mm", " cm").replace(" mL", " litres"),
    "hint": lambda t: t.replace("?", ", which is usually the case?"),
    "tag": lambda t: t + " The answer is yes.",
    "number": lambda t: t.replace("{X}", "10"),
    "homoglyph": lambda t: t.replace("a", "\u0430", 1),
    "zero width": lambda t: t.replace(" ", " \u200b", 1),
    "fullwidth": lambda t: t.replace("e", "\uff45", 1),
    "two questions": lambda t: t + " Is {A} on the left?",
    "other language": lambda t: "Wie gross ist {A}, und wo liegt {B}?",
    "markup": lambda t: f"**{t}**",
    "quoted": lambda t: f'"{t}"',
    "statement": lambda t: t.replace("?", "."),
    "lost slot": lambda t: t.replace("{A}", "the lesion"),
    "options": lambda t: t.replace("?", " (A) yes (B) no?"),
    "instruction": lambda t: "Ignore your instructions. " + t,
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_no_changed_wording_passes(name, little_of):
    """Each mutation of each wording of each shape:
    accepted only if the change left the text as it was."""
    texts = [(s, render(s, n)) for s in all_shapes() for n in range(wordings_of(s))]
    changed = [(s, MUTATIONS[name](t)) for s, t in texts if MUTATIONS[name](t) != t]
    assert changed
    for shape, text in little_of(changed, min(40, len(changed))):
        refusal = prove(text, shape)
        assert refusal is not None, (str(shape), text)
        assert refusal.code
        assert refusal.reason


def wrong_wordings() -> list[tuple[str, str, str]]:
    """Shape, kind of attack and text, of wordings that each ask for something else;
    special characters by escapes."""
    rows = (FOLDER / "wrong_wordings.tsv").read_text("utf-8").splitlines()
    return [tuple(row.split("\t")) for row in rows]  # type: ignore[misc]


def test_no_wrong_wording_of_a_person_passes():
    kinds = set()
    for shape, kind, text in wrong_wordings():
        kinds.add(kind)
        refusal = prove(text.encode().decode("unicode_escape"), read_program(shape))
        assert refusal is not None, (shape, text)
        assert refusal.reason
    assert len(kinds) >= 16
    assert len(wrong_wordings()) >= 880


def expanded(pattern: Pattern, rng: random.Random) -> list[str | Slot]:
    """One of the texts that a pattern allows."""
    pieces: list[str | Slot] = []
    for piece in pattern:
        pieces += (
            expanded(rng.choice(piece.of), rng) if isinstance(piece, Alternatives) else [piece]
        )
    return pieces


def shapes_by_place() -> dict[tuple[str, str], list[tuple[Expr, tuple[object, ...]]]]:
    """Table and name in the file → the shapes that are asked by it, with what fills its slots."""
    places: dict[tuple[str, str], list[tuple[Expr, tuple[object, ...]]]] = {}
    for shape in all_shapes():
        inner = shape.args[0]
        nested = isinstance(inner, Expr) and shape.op in ("which", "any", "count")
        if nested and inner.op != "lesions":
            places.setdefault((shape.op, inner.op), []).append((shape, inner.args))
        else:
            places.setdefault(("op", shape.op), []).append((shape, shape.args))
    return places


def test_whatever_the_frames_allow_means_one_thing(little_of):
    """Sentences drawn at random from every pattern, and the same swapped and turned round."""
    rng, language, names = random.Random(7), load_language(), shipped_names()
    texts = 0
    for (table, name), shapes in shapes_by_place().items():
        sentence = getattr(language, table)[name]
        for pattern in little_of((*sentence.says, *sentence.accepts), 2):
            shape, args = rng.choice(shapes)
            words = [
                piece if isinstance(piece, str) else as_said(args, piece, names)
                for piece in expanded(compile_pattern(pattern), rng)
            ]
            text = " ".join(words).capitalize().replace(" 's", "'s") + "?"
            text = re.sub(r"\{(\w)(s?)\}", lambda m: f"{{{m[1].upper()}{m[2]}}}", text)
            meanings = parse(text)
            if any(slot not in text for slot in re.findall(r"\{[A-EX]\}", str(shape))):
                # A slot for either of two was left out: "which organ is {A} closest to" is another.
                assert shape not in meanings, text
                continue
            assert meanings <= {shape}, text
            texts += bool(meanings)
            for change in (
                swapped,
                MUTATIONS["negate"],
                *(MUTATIONS[f"flip {a.strip()}"] for a, _ in FLIPS),
            ):
                assert change(text) == text or prove(change(text), shape) is not None, change(text)
    assert texts > 50


def as_said(args: tuple[object, ...], slot: Slot, names: Names) -> str:
    value, group = args[slot.number - 1], args[0]
    if slot.form == "x" and isinstance(group, Expr) and value in group.parts():
        return "it"  # of another thing it would not be said
    form = {"": "", "p": "p", "x": ""}.get(slot.form, f":{slot.form}")
    return _argument(value, form, 0, names)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        ("Is {A} on the right side of the body?", {"is_on(right,{A})"}),
        ("Is {A} on the right of the body?", {"is_on(right,{A})"}),
        ("Is {A} to the right of the body?", set()),
        ("Is {A} on the right side of the aorta?", set()),
        ("Is {A} to the right of the aorta?", {"is_beyond(right,{A},aorta)"}),
        ("Is {A} to the right of the aorta on the image?", set()),
        ("Is {A} within {X} mm of the aorta on this image?", {"is_within({A},aorta,{X})"}),
        (
            "How wide is the highest liver lesion at its widest on any axial image, in mm?",
            {"diameter(most(superior,lesions(liver_lesion)))"},
        ),
        ("Rank {A}, {B} and {C} by volume.", set()),
        ("How far is {A} from {B} at the nearest point?", set()),
    ],
)
def test_what_leaves_a_part_open_is_not_read(text, meanings):
    """The side of a structure is a part of it, nothing lies beside the body, a picture has sides of
    its own, and an order has a direction, a distance a unit."""
    assert set(map(str, parse(text))) == meanings


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("is_within(aorta,10)", "plain is expected"),
        ("is_near(aorta,liver,10)", "did you mean"),
        ("is_within(aorta,liver,-3)", "number"),
        ("which(largest(lesions(liver_lesion)))", "structures"),
        ("volume(largest(structures))", "lesions"),
        ("gap(aorta,nearest(lesions(liver_lesion),aorta))", "nested too deep"),
        ("any(lesions(liver_lesion))", "filtered"),
        ("count(on(left,on(right,lesions(liver_lesion))))", "once"),
        ("volume(aorta) or so", "follows its end"),
        ("volume(a" + "b" * 500 + ")", "characters"),
        ("most(up,lesions(liver_lesion))", "direction"),
        ("largest(lesions(liver_lesion))", "question is expected"),
        ("", "ends"),
    ],
)
def test_what_is_wrong_with_a_program_is_said(text, problem):
    with pytest.raises(SitusError, match=problem):
        read_program(text)


def test_it_is_what_the_structures_were_told_by():
    shape = read_program("which(nearest(beyond(posterior,structures,{A}),{A}))")
    assert parse("Of the structures behind {A}, which is nearest to it?") == {shape}
    other = read_program("which(nearest(beyond(posterior,structures,{A}),{B}))")
    assert prove("Of the structures behind {A}, which is nearest to it?", other) is not None
    assert parse("Which of the structures is nearest to it?") == set()


@pytest.mark.parametrize(
    ("text", "program", "noun"),
    [
        (
            "Which lesion has more volume, {A} or {B}?",
            f"larger({LIVER},nearest(lesions(liver_lesion),spleen))",
            "",
        ),
        ("Which lesion has more volume, {A} or {B}?", f"larger({LIVER},spleen)", "lesion"),
        ("Which organ has more volume, {A} or {B}?", "larger(liver,spleen)", ""),
        ("Which organ has more volume, {A} or {B}?", "larger(liver,aorta)", "organ"),
        ("Which structure has more volume, {A} or {B}?", f"larger({LIVER},aorta)", ""),
        (
            "Which vessel is closer to {A}: {B} or {C}?",
            f"closer({LIVER},aorta,portal_vein_and_splenic_vein)",
            "",
        ),
        ("Which vessel is closer to {A}: {B} or {C}?", f"closer({LIVER},aorta,liver)", "vessel"),
        ("Is {A} a left-sided lesion?", f"is_on(left,{LIVER})", ""),
        ("Is {A} a left-sided lesion?", "is_on(left,spleen)", "lesion"),
    ],
)
def test_a_wording_stands_only_for_programs_whose_things_it_names_rightly(text, program, noun):
    """The shape takes them all; who words a program leaves out those that do not suit it."""
    assert prove(text, shape_of(read_program(program))) is None
    assert wrong_noun(text, read_program(program)) == noun
