"""Every question reads as a colleague would ask it, and asks what someone wants to know."""

from __future__ import annotations

import itertools
import re
import statistics
from collections import defaultdict

import numpy as np
import pytest
from _blocks import block_ledger
from _studies import ledger_of, phantom_labels

from situs.anatomy import known_findings, lesion_family, term
from situs.anatomy.relevance import load_relevance
from situs.facts import LEVELS, Ledger
from situs.items import (
    TASKS,
    Candidate,
    Item,
    NotAsked,
    Question,
    YesNo,
    arrange,
    candidates,
    outline,
    place,
)
from situs.items.arrangement.offers import is_complete, is_ordered, offers, random_offer
from situs.items.findings.composed import ANY_FINDING
from situs.items.findings.words import WORDINGS, worded
from situs.items.subjects import subjects
from situs.space import Side

PATIENTS = 4

PLURAL = "lungs|kidneys|ribs|vessels|veins|cartilages|discs|ventricles|lesions|tumours|vertebrae|muscles|lobules"
FAULTS = {
    "a before a vowel": r"\ba [aeio]\w",
    "an before a consonant": r"\ban [^aeiouhAEIOULFMNRSX\d]",
    "two articles": r"\b(the|a|an) (the|a|an)\b",
    "a singular verb after a plural": rf"\b({PLURAL}) (is|has|does|lies|touches)\b",
    "a singular verb before a plural": rf"\b(Is|is|Does|does|Has|has) (the )?(?:\w+ )?({PLURAL})\b",
    "a word twice": r"\b(\w+) \1\b",
    "a name for machines": r"_|\bnone\b|\bnull\b|\{|\}",
    "two spaces": r"  | [?.,]",
    "the language of annotators": r"\bannotat|\bbounding box|\bmask|\blabelled\b|voxel",
    "what is not known of the scan": r"\bacquired\b",
    "what nobody asks": r"\bcentres of\b|\bfarthest\b|z_m",
}


def faults(text: str) -> list[str]:
    found = [name for name, pattern in FAULTS.items() if re.search(pattern, text)]
    if not re.fullmatch(r"[A-Z].*[?.]", text, re.DOTALL) or len(text) > 220:
        found.append("not a sentence")
    return found


@pytest.fixture(scope="module")
def cohort() -> list[tuple[Ledger, list[Candidate]]]:
    found = []
    for index in range(PATIENTS):
        ledger = ledger_of(phantom_labels(31, index, (5.0, 5.0, 6.0)))
        ledger.study_id = f"s{index}"
        found.append((ledger, candidates(ledger, f"p{index}", TASKS.values(), seed=3)[0]))
    return found


@pytest.fixture(scope="module")
def questions(cohort) -> list[tuple[Ledger, Question]]:
    """Everything that could be asked of the patients, whether or not its answer holds."""
    return [
        (ledger, q)
        for ledger, _ in cohort
        for task in TASKS.values()
        for q in task.questions(ledger, subjects(ledger))
    ]


@pytest.fixture(scope="module")
def asked(cohort) -> list[tuple[Ledger, Item]]:
    """The finished items, their options chosen."""
    every = [candidate for _, found in cohort for candidate in found]
    placed = arrange([outline(candidate) for candidate in every], 3)
    return [
        (ledger, place(candidate.item, placed[candidate.item.item_id], ""))
        for ledger, found in cohort
        for candidate in found
        if candidate.item.item_id in placed
    ]


def everything() -> Ledger:
    """One patient with every structure of which anything is measured,
    as cubes of 30 mm in rows, and lesions."""
    named = [name for name in load_relevance().measured if term(name).canonical]
    sided = [f"{name}_{side}" for name in load_relevance().measured for side in ("left", "right")]
    names = dict.fromkeys([*named, *(name for name in sided if term(name).canonical)])
    names |= dict.fromkeys(name for pair in load_relevance().compared for name in pair.of)
    names |= dict.fromkeys(["liver_tumour", "kidney_tumour", "lung_nodule", "brain_lesion"])
    size, step, columns = 14, 20, 8
    blocks = {}
    for number, name in enumerate(sorted(names)):
        row, column = divmod(number, columns)
        lo = (4 + column * step, 4 + row * step, 4 + (number * 7) % 20)
        blocks[name] = (lo, tuple(v + size + number % 4 for v in lo))
    rows = -(-len(names) // columns)
    # Nobody is built of cubes in rows; the anatomy is vouched for, since here only the words
    # matter.
    return block_ledger((8 + columns * step, 8 + rows * step, 60), 2.0, trusted=("all",), **blocks)


def test_every_question_of_phantoms_reads_well(cohort):
    texts = {c.item.question for _, found in cohort for c in found}
    assert len(texts) > 60
    assert {text: faults(text) for text in texts if faults(text)} == {}


def test_every_question_about_any_measured_structure_reads_well():
    ledger = everything()
    tasks = (
        "comparison",
        "extent",
        "volume",
        "level",
        "lesion_side",
        "lesion_pair",
        "contact",
        "count",
    )
    found, _ = candidates(ledger, "p", [TASKS[name] for name in tasks], seed=0)
    texts = {c.item.question for c in found} | {
        f"It is {o.text}." for c in found for o in c.item.options
    }
    assert len(texts) > 25
    assert {text: faults(text) for text in texts if faults(text)} == {}


def test_every_wording_of_every_finding_reads_well():
    bad = {}
    for kind, wordings in WORDINGS.items():
        for finding in (*known_findings(), ANY_FINDING):
            if "{plural}" in wordings[0] and not finding.counted:
                continue
            texts = {worded(kind, f"i{n}", 0, finding) for n in range(40)}
            assert len(texts) == len(wordings), "every wording is reached"
            bad |= {text: faults(text) for text in texts if faults(text)}
    assert bad == {}


def test_options_stand_beside_their_opposites_and_leave_no_hole(asked):
    checked = 0
    for ledger, item in asked:
        if not item.options or item.task == "marks":
            continue
        checked += 1
        values = [option.value for option in item.options]
        outcome = TASKS[item.task].pose(ledger, Question(item.task, item.form, item.parameters))
        pool = [option.value for option in outcome.pool]
        assert is_complete(values, pool), (item.question, values)
        kind = f"{item.task}.{item.parameters.get('ask', item.form)}"
        if is_ordered(kind):
            places = sorted(pool.index(value) for value in values if value != "cut")
            assert places == list(range(places[0], places[-1] + 1)), (item.question, values)
    assert checked > 15


def test_nothing_is_offered_that_the_scan_does_not_show(asked):
    seen = set()
    for ledger, item in asked:
        values = {option.value for option in item.options} - {"cut"}
        if item.task == "level":
            shown = {level for level in LEVELS if f"vertebrae_{level}" in ledger.structures}
            assert values <= shown, (item.question, values)
        elif item.task == "lesion_organ" or item.parameters.get("ask") == "nearest":
            assert values <= set(ledger.structures), (item.question, values)
            assert not any(lesion_family(value) for value in values)
        else:
            continue
        seen.add(item.task)
    assert seen == {"level", "lesion_organ", "distance"}


def test_a_pair_is_asked_about_one_way_round_only(questions):
    """Larger and not smaller, from one to the other and not back, one claim for each axis."""
    ways: dict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
    for _, question in questions:
        p = question.parameters
        if (
            question.task in ("comparison", "extent", "direction")
            and "a" in p
            and "b" in p
            and p.get("ask") != "ratio"
        ):
            axis = {"left": "x", "right": "x", "anterior": "y", "posterior": "y"}.get(
                p.get("claim", ""), "z"
            )
            about = (question.task, *sorted((p["a"], p["b"])), axis if "claim" in p else "")
            ways[about].add(
                (
                    p["a"],
                    p["b"],
                    question.form,
                    p.get("which", ""),
                    p.get("claim", ""),
                    p.get("plane", ""),
                )
            )
    assert len(ways) > 40
    assert {about: found for about, found in ways.items() if len(found) > 1} == {}


def test_a_pair_is_asked_for_its_direction_in_one_form(questions):
    forms: dict[tuple[str, str], set[str]] = defaultdict(set)
    for _, question in questions:
        if question.task == "direction":
            forms[question.parameters["a"], question.parameters["b"]].add(question.form)
    assert all(len(found) == 1 for found in forms.values())
    assert {form for found in forms.values() for form in found} == {"yes_no", "choice"}


def test_no_name_tells_left_from_right(questions):
    """The left kidney lies left of whatever lies at the midline or right of it; of the spleen,
    which lies on its side, it may be either way."""
    midline_or_right = {"pancreas", "liver", "gallbladder", "aorta", "inferior_vena_cava"}
    asked = set()
    for ledger, question in questions:
        p = question.parameters
        if question.task == "direction" and ledger.family(p["a"]) is None:
            sideways = p.get("claim") in ("left", "right") or "left_right" in p.get("plane", "")
            if sideways:
                asked.add(frozenset((p["a"], p["b"])))
    for pair in asked:
        sides = {term(name).side for name in pair}
        assert not (Side.LEFT in sides and pair & midline_or_right), pair
        assert sides != {Side.LEFT, Side.RIGHT}, pair
    assert any(Side.LEFT in {term(name).side for name in pair} for pair in asked)


def test_named_structures_are_compared_ranked_and_measured_only_as_the_table_says(questions):
    table = load_relevance()
    pairs = {frozenset(pair.of) for pair in table.compared}
    for ledger, question in questions:
        p = question.parameters
        if question.task in ("comparison", "extent") and "a" in p:
            same = ledger.terms[p["a"]].partner == p["b"]
            assert same or frozenset((p["a"], p["b"])) in pairs, p
        assert p.get("ask") not in ("centres", "farthest", "slices")
        if question.task == "volume" and not p["of"].startswith("largest:"):
            assert _entry(p["of"]).limits_ml, p
            assert "ml" not in p or float(p["ml"]) in _entry(p["of"]).limits_ml


def _entry(name: str):
    table = load_relevance().measured
    return table.get(name) or table[re.sub("_(left|right)$", "", name)]


def test_lesions_are_held_against_what_lies_around_their_organ(questions):
    """By the table of structures: what touches the liver."""
    asked = [q.parameters for _, q in questions if q.task == "distance" and "b" in q.parameters]
    others = {p["b"] for p in asked if p["a"] == "largest:liver_lesion"}
    assert others
    assert others <= {*term("liver").neighbours}


@pytest.mark.parametrize(
    ("gap", "task", "parameters", "is_asked"),
    [
        (25, "distance", {"ask": "within", "mm": "10"}, True),
        (35, "distance", {"ask": "within", "mm": "10"}, False),
        (45, "distance", {"ask": "gap"}, True),
        (55, "distance", {"ask": "gap"}, False),
        (25, "contact", {}, True),
        (40, "contact", {}, False),
    ],
)
def test_nobody_asks_about_what_is_far_away(gap, task, parameters, is_asked):
    """Within 10 mm: up to three times that; touching: up to 30 mm; a distance: up to 50 mm."""
    blocks = {
        "liver_lesion": ((5, 5, 5), (25, 25, 25)),
        "spleen": ((25 + gap, 5, 5), (45 + gap, 25, 25)),
    }
    ledger = block_ledger((200, 40, 40), **blocks)
    form = "number" if parameters.get("ask") == "gap" else "yes_no"
    found = TASKS[task].pose(
        ledger, Question(task, form, {"a": "largest:liver_lesion", "b": "spleen", **parameters})
    )
    assert (found != NotAsked("too far apart to be asked about")) == is_asked
    if is_asked and form == "yes_no":
        assert found.answer == YesNo(False)


def test_a_direction_between_far_centres_is_not_asked():
    blocks = {"brain": ((5, 5, 5), (25, 25, 25)), "urinary_bladder": ((5, 5, 225), (25, 25, 245))}
    ledger = block_ledger((40, 40, 250), **blocks)
    asked = Question(
        "direction", "yes_no", {"a": "brain", "b": "urinary_bladder", "claim": "superior"}
    )
    assert TASKS["direction"].pose(ledger, asked) == NotAsked("too far apart to be asked about")


def test_what_the_whole_organ_shows_is_not_asked_of_its_lesion():
    """The liver as a whole lies right of the stomach, and so does anything in it;
    above the stomach only its lesion."""
    blocks = {
        "liver": ((60, 5, 5), (100, 35, 55)),
        "liver_lesion": ((80, 15, 45), (90, 25, 52)),
        "stomach": ((5, 5, 5), (40, 35, 25)),
    }
    ledger = block_ledger((110, 40, 60), **blocks)

    def asked(claim: str):
        parameters = {"a": "largest:liver_lesion", "b": "stomach", "claim": claim}
        return TASKS["direction"].pose(ledger, Question("direction", "yes_no", parameters))

    assert asked("right") == NotAsked("nearly the whole organ of the lesion lies so")
    assert asked("superior").answer == YesNo(True)


def test_an_odd_lesion_is_not_asked_about_either():
    """Nine tenths of the liver lie before the vena cava: a lesion behind it is the exception."""
    blocks = {
        "liver": ((5, 5, 5), (65, 205, 35)),
        "liver_lesion": ((50, 6, 15), (60, 12, 25)),
        "inferior_vena_cava": ((70, 29, 5), (80, 31, 35)),
    }
    ledger = block_ledger((90, 210, 40), **blocks)
    parameters = {"a": "largest:liver_lesion", "b": "inferior_vena_cava", "claim": "posterior"}
    found = TASKS["direction"].pose(ledger, Question("direction", "yes_no", parameters))
    assert found == NotAsked("nearly the whole organ of the lesion lies so")


def test_limits_that_nearly_all_adults_lie_beyond_are_not_asked():
    """Kidneys of 161 ± 35 mL: as a log-normal spread,
    6 in 100 are under 110 mL and 1 in 100 over 250 mL."""
    kidney = load_relevance().measured["kidney"]
    assert kidney.adults_ml == (161, 35)
    assert kidney.limits_ml == (110, 150, 200, 250)
    assert kidney.open_limits_ml == (150, 200)
    for name, entry in load_relevance().measured.items():
        assert entry.open_limits_ml or not entry.limits_ml, name
        for limit in set(entry.limits_ml) - set(entry.open_limits_ml):
            mean, deviation = entry.adults_ml
            # At such a limit a plain normal spread says about the same.
            share = statistics.NormalDist(mean, deviation).cdf(limit)
            assert min(share, 1 - share) < 0.15, (name, limit)


def test_the_side_of_a_lesion_is_asked_only_of_paired_organs():
    ledger = everything()
    of = {q.parameters["of"] for q in TASKS["lesion_side"].questions(ledger, subjects(ledger))}
    assert of == {
        f"largest:{name}"
        for name in ("kidney_tumour", "lung_nodule", "brain_lesion", "brain_tumour_core")
    }


def test_the_table_of_relevance_is_sound():
    table = load_relevance()
    entries = [
        *table.measured.items(),
        *(("+".join(c.of), c) for c in (*table.compared, *table.ranked)),
    ]
    cited = {source for _, entry in entries for source in entry.sources} | set(table.lesion.sources)
    assert cited == set(table.sources)
    for name, entry in entries:
        assert entry.use, name
        assert entry.sources, name
    for name, entry in table.measured.items():
        assert any(term(spelt).canonical == spelt for spelt in (name, f"{name}_left")), name
        assert list(entry.limits_ml) == sorted(set(entry.limits_ml)), name
        assert all("{}" in phrase for phrase in (entry.top, entry.bottom) if phrase), name
        assert entry.left_right in (
            (),
            ("larger",),
            ("longer",),
        ), f"{name}: of both, one answer would tell the other"
        if entry.left_right:
            whole = re.sub("_left$", "", name)
            assert term(f"{whole}_left").partner == f"{whole}_right", name
    for pair in table.compared:
        assert set(pair.ask) <= {"larger", "longer", "ratio"}
        assert not {"larger", "longer"} <= set(pair.ask), "one answer would tell the other"
        assert all(term(name).ask_size for name in pair.of), pair.of


@pytest.mark.parametrize(
    ("kind", "counts", "expected"),
    [
        ("lesion_pole.choice", {"upper": 5, "lower": 5}, []),
        (
            "lesion_pole.choice",
            {"upper": 5, "lower": 5, "middle": 1},
            [("upper", "middle", "lower")],
        ),
        ("level.choice", {"upper": 3, "middle": 3}, []),
    ],
)
def test_ordered_options_are_offered_without_a_hole(kind, counts, expected):
    assert list(offers(kind, [("upper", "middle", "lower")], counts, 4)) == expected


def test_a_side_is_never_offered_without_the_other():
    pool = ("left", "right", "cut")
    assert (
        list(offers("comparison.left_right", [pool], {"right": 4, "cut": 4}, 4, must="cut")) == []
    )
    both = {"left": 1, "right": 4, "cut": 4}
    assert list(offers("comparison.left_right", [pool], both, 4, must="cut")) == [pool]


@pytest.mark.parametrize("seed", range(20))
def test_options_drawn_at_random_keep_these_rules(seed):
    rng = np.random.default_rng(seed)
    pool = [
        "left upper",
        "right upper",
        "left lower",
        "right lower",
        "right middle",
        "kidney_left",
        "kidney_right",
    ]
    draw = {value: f"{int(rng.integers(1 << 30)):x}" for value in pool}
    for answer in pool:
        shown = random_offer("report_lobe.choice", pool, answer, 4, draw)
        assert answer in shown
        assert 2 <= len(shown) <= 4
        assert is_complete(shown, pool)
    levels = list(LEVELS[10:20])
    for answer in levels:
        shown = random_offer(
            "level.choice", levels, answer, 4, dict.fromkeys(levels, draw[pool[0]])
        )
        assert answer in shown
        assert [levels.index(v) for v in shown] == list(
            itertools.islice(itertools.count(levels.index(shown[0])), 4)
        )
