"""The filters of authoring: guessable templates are found,
the innocent stay, useless critics are switched off."""

from __future__ import annotations

import random

import pytest

from situs.agents.author import plant_defects, weigh_critic
from situs.agents.author.critic import standing_flags
from situs.build.authoring.prompts import Asked, Prompt
from situs.build.authoring.trivial import find_trivial, two_of_three

LETTERS = ("a", "b", "c", "d")


def cohort(rng: random.Random, templates: int, patients: int, guessable: int) -> dict[str, Prompt]:
    """Templates with four options;
    the first ones have the answer that everybody expects nine times of ten."""
    prompts = {}
    for number in range(templates):
        expected = LETTERS[number % 4]
        asked = []
        for patient in range(patients):
            known = number < guessable and rng.random() < 0.9
            key = expected if known else rng.choice(LETTERS)
            asked.append(Asked(f"i{number}-{patient}", f"p{patient}", key))
        options = tuple((letter, letter) for letter in LETTERS)
        prompts[f"q{number}"] = Prompt(f"q{number}", f"v{number}", "?", options, "untwinned", asked)
    return prompts


def panel(
    rng: random.Random, prompts: dict[str, Prompt], agreement: float
) -> dict[str, dict[str, str]]:
    """Three members who share a prior:
    each keeps to it in so many templates, else to an answer of its own."""
    prior = {id_: LETTERS[int(id_[1:]) % 4] for id_ in prompts}
    return {
        name: {
            id_: value if rng.random() < agreement else rng.choice(LETTERS)
            for id_, value in prior.items()
        }
        for name in ("one", "two", "three")
    }


@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_guessable_templates_are_found(seed):
    rng = random.Random(seed)
    prompts = cohort(rng, templates=60, patients=60, guessable=12)
    known = panel(rng, prompts, agreement=1.0)
    trivial, report = find_trivial(prompts, known, list(known))
    planted = {f"q{n}" for n in range(12)}
    assert trivial == planted
    assert report.trivial == 12
    # Rogan and Gladen: 12 of 60 templates are known in 9 of 10 and in 1 of 4 of the rest, the
    # others by luck alone.
    assert report.corrected_b == pytest.approx(0.2 * 0.9, abs=0.05)
    # A relative of the panel is inside chance on what is kept, on patients that decided nothing.
    assert report.kept_b == pytest.approx(0.25, abs=0.05)


NAMES = tuple("abcdefghij")


def varied_cohort(rng: random.Random, templates: int, guessable: int) -> dict[str, Prompt]:
    """Each template is asked with eight sets of options, of two to five: the expected answer, `a`
    to `j` in turn, and others."""
    prompts: dict[str, Prompt] = {}
    for number in range(templates):
        expected, count = NAMES[number % 10], 2 + number % 4
        others = [name for name in NAMES if name != expected]
        sets = [(expected, *rng.sample(others, count - 1)) for _ in range(8)]
        for patient in range(80):
            drawn = rng.randrange(8)
            known = number < guessable and rng.random() < 0.9
            key = expected if known else rng.choice(sets[drawn])
            options = tuple((name, name) for name in sorted(sets[drawn]))
            id_ = f"q{number}-{drawn}"
            empty = Prompt(id_, f"v{number}", "?", options, "untwinned", [])
            asked = Asked(f"i{number}-{patient}", f"p{patient}", key)
            prompts.setdefault(id_, empty).asked.append(asked)
    return prompts


@pytest.mark.parametrize("seed", range(3))
def test_a_template_is_known_whatever_else_stands_among_its_options(seed):
    """No set of options is asked of more than a few patients; all of them together are."""
    prompts = varied_cohort(random.Random(seed), templates=60, guessable=12)
    prior = {id_: NAMES[int(prompt.program[1:]) % 10] for id_, prompt in prompts.items()}
    trivial, report = find_trivial(prompts, dict.fromkeys(("one", "two", "three"), prior), ["one"])
    assert {prompts[id_].program for id_ in trivial} == {f"v{n}" for n in range(12)}
    assert trivial == {id_ for id_ in prompts if int(prompts[id_].program[1:]) < 12}
    assert (report.templates, report.trivial) == (60, 12)
    # A relative is inside chance on what is kept: 1 in 2, 3, 4 and 5 in equal parts.
    assert report.kept_b == pytest.approx((1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 4, abs=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_the_innocent_stay(seed):
    rng = random.Random(100 + seed)
    prompts = cohort(rng, templates=200, patients=40, guessable=0)
    trivial, _ = find_trivial(prompts, panel(rng, prompts, agreement=0.7), ["one"])
    assert len(trivial) <= 0.02 * len(prompts)
    prompts = varied_cohort(rng, templates=200, guessable=0)
    prior = {id_: NAMES[int(prompt.program[1:]) % 10] for id_, prompt in prompts.items()}
    trivial, _ = find_trivial(prompts, {"one": prior, "two": prior}, ["one"])
    assert len(trivial) <= 0.02 * len(prompts)


def test_two_of_three_pushes_a_relative_below_chance():
    """The published filter, with no trivial item at all:
    the share removed by luck alone is known in closed form."""
    rng = random.Random(5)
    prompts = cohort(rng, templates=400, patients=10, guessable=0)
    independent = panel(rng, prompts, agreement=0.0)
    removed, _ = two_of_three(prompts, independent)
    # Two or three of three right at p = 1/4: 3 · (1/16) · (3/4) + 1/64 = 10/64.
    assert len(removed) / 4000 == pytest.approx(10 / 64, abs=0.03)
    _, scores = two_of_three(prompts, panel(rng, prompts, agreement=0.9))
    assert scores["chance"] == 0.25
    assert scores["relative_accuracy"] < 0.1


SHOWN = {f"q{n}": {"question": f"Is thing {n} here?", "options": ["yes", "no"]} for n in range(200)}


def verdicts(judge) -> tuple[dict[str, tuple[bool, int]], list[str]]:
    planted = plant_defects(SHOWN)
    return {id_: (judge(id_ in planted), 0) for id_ in (*SHOWN, *planted)}, list(planted)


@pytest.mark.parametrize(
    ("name", "judge", "active"),
    [
        ("approves all", lambda bad: False, False),
        ("rejects all", lambda bad: True, False),
        ("knows", lambda bad: bad, True),
    ],
)
def test_a_critic_counts_only_if_it_finds_planted_defects(name, judge, active):
    said, planted = verdicts(judge)
    assert weigh_critic(name, said, planted).active is active


def found_per_1000(seed: int, share_bad: float) -> float | None:
    """Of 600 unread questions with so many true defects, by a critic that sees 90 % of defects and
    objects to 5 % of what is sound; 600 read ones are sound."""
    rng = random.Random(seed)
    hidden = plant_defects(SHOWN)
    said = {id_: (rng.random() < 0.9, 0) for id_ in hidden}
    for n in range(600):
        said[f"read{n}"] = (rng.random() < 0.05, 0)
        said[f"other{n}"] = (rng.random() < (0.9 if rng.random() < share_bad else 0.05), 0)
    read = {f"read{n}" for n in range(600)}
    return weigh_critic("c", said, list(hidden), read).true_per_1000


def test_true_defects_are_told_from_objections_to_what_is_sound():
    found = [found_per_1000(seed, 0.2) for seed in range(20)]
    assert sum(found) / len(found) == pytest.approx(0.2 * 0.9 * 1000, rel=0.1)
    none = [found_per_1000(seed, 0.0) for seed in range(40)]
    assert sum(value > 0 for value in none) <= 2


def test_nothing_is_said_of_true_defects_without_controls():
    said, planted = verdicts(lambda bad: bad)
    assert weigh_critic("c", said, planted).true_per_1000 is None
    assert weigh_critic("c", said, planted, set(SHOWN)).true_per_1000 is None


def test_a_coin_is_switched_off():
    on = 0
    for seed in range(40):
        rng = random.Random(seed)
        said, planted = verdicts(lambda bad, rng=rng: rng.random() < 0.5)
        on += weigh_critic("coin", said, planted).active
    assert on <= 2


def test_planted_defects_differ_from_what_they_were_made_of():
    planted = plant_defects(SHOWN)
    assert 0.1 <= len(planted) / (len(SHOWN) + len(planted)) <= 0.16
    assert not set(planted) & set(SHOWN)
    texts = {(str(one["question"]), tuple(one["options"])) for one in SHOWN.values()}
    assert not texts & {(one["question"], tuple(one["options"])) for one in planted.values()}
    assert plant_defects(SHOWN) == planted


def test_a_flag_that_quotes_nothing_is_void():
    shown = {"question": "Is the lesion near the aorta?", "options": ["yes", "no"]}
    flags = ["ambiguous", "ambiguous", "not_asked"]
    words = ["near the aorta", "near the spleen", ""]
    assert standing_flags({"flags": flags, "words": words}, shown) == ["ambiguous"]
