"""Law 7, no leak: who sees only the options, or only the words,
stays inside chance (exact 99.9 % intervals)."""

from __future__ import annotations

import itertools
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

import msgspec
import numpy as np
import pytest

from situs.bench import Bench, open_bench
from situs.items import Choice, Item, Option, Outline, YesNo, answer_key, arrange
from situs.profiles import layout_of, load_profile, prompt_text
from situs.run import LEARNERS, AnswerRow, Spec, make_baseline
from situs.score import binomial_interval_999, score_answer

YES_NO = (Option("yes", "yes"), Option("no", "no"))


class Asked(msgspec.Struct, frozen=True):
    """What a blind solver may see of a closed question, and what is right."""

    group: tuple[str, str, str, int]
    """Task, form, stratum, number of options."""
    options: tuple[Option, ...]
    answer: str


@pytest.fixture(
    scope="module", params=["cohort", pytest.param("large_cohort", marks=pytest.mark.sweep)]
)
def bench(request: pytest.FixtureRequest) -> Bench:
    return open_bench(request.getfixturevalue(request.param))


@pytest.fixture(scope="module")
def items(bench: Bench) -> list[Item]:
    """The closed questions."""
    return [item for item in bench.items() if isinstance(item.answer, YesNo | Choice)]


@pytest.fixture(scope="module")
def asked(items: list[Item]) -> list[Asked]:
    return [
        Asked(
            (i.task, i.form, i.stratum, len(i.options) or 2),
            i.options or YES_NO,
            str(answer_key(i.answer)),
        )
        for i in items
    ]


def assert_inside_chance(right: dict[tuple, int], tried: dict[tuple, int], who: str) -> None:
    """The last entry of a group is its number of options."""
    for group, count in tried.items():
        low, high = binomial_interval_999(count, 1.0 / group[-1])
        assert low <= right[group] <= high, (
            f"{who} gets {right[group]} of {count} in {group}: outside {low}–{high}"
        )


def middle(options: Sequence[Option]) -> Option:
    """The middle one by the first number in its text, else by the alphabet."""

    def key(option: Option) -> tuple[float, str]:
        found = re.search(r"\d+(\.\d+)?", option.text)
        return (float(found.group()) if found else 0.0, option.text)

    return sorted(options, key=key)[(len(options) - 1) // 2]


SOLVERS: dict[str, Callable[[Sequence[Option]], Option]] = {
    **{f"letter {'ABCDEF'[n]}": (lambda options, n=n: options[n % len(options)]) for n in range(6)},
    "last": lambda options: options[-1],
    "longest": lambda options: max(options, key=lambda option: len(option.text)),
    "shortest": lambda options: min(options, key=lambda option: len(option.text)),
    "alphabetical first": lambda options: min(options, key=lambda option: option.text),
    "alphabetical last": lambda options: max(options, key=lambda option: option.text),
    "middle": middle,
}


def check_option_solvers(asked: Iterable[Asked]) -> None:
    """Fixed rules, and rules that count over the very questions they answer."""
    groups: dict[tuple, list[Asked]] = defaultdict(list)
    for question in asked:
        groups[question.group].append(question)
    tried = {group: len(questions) for group, questions in groups.items()}
    for name, solve in SOLVERS.items():
        right = {
            g: sum(solve(q.options).value == q.answer for q in questions)
            for g, questions in groups.items()
        }
        assert_inside_chance(right, tried, name)
    for name, sign in (
        ("the option offered most often", 1),
        ("the option offered least often", -1),
    ):
        right = {}
        for group, questions in groups.items():
            offered = Counter(option.value for q in questions for option in q.options)
            picks = (
                (max(q.options, key=lambda o: sign * offered[o.value]).value, q.answer)
                for q in questions
            )
            right[group] = sum(pick == answer for pick, answer in picks)
        assert_inside_chance(right, tried, name)


def test_options_alone_do_not_tell(asked: list[Asked]) -> None:
    assert len({question.group for question in asked}) >= 8
    check_option_solvers(asked)


def test_every_headline_text_has_twins_of_one_split(items: list[Item]) -> None:
    """Each group has one text, one set of options and one split, over different patients."""
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        assert bool(item.twin_group) == (item.stratum == "headline")
        if item.twin_group:
            groups[item.twin_group].append(item)
    assert groups
    for twins in groups.values():
        assert (
            len({(t.question, t.split, frozenset(o.value for o in t.options)) for t in twins}) == 1
        )
        assert len({t.patient_id for t in twins}) == len(twins) >= 3


@pytest.mark.parametrize("name", LEARNERS)
def test_other_patients_do_not_tell_in_the_headline(
    bench: Bench, items: list[Item], name: str
) -> None:
    """The blind baselines, which learn from all other patients' answers and anatomy."""
    baseline = make_baseline(bench, Spec(name))
    tried, right = Counter(), Counter()
    for item in items:
        if item.stratum == "headline":
            said = score_answer(item, AnswerRow(item.item_id, response=baseline.answer(item)), None)
            for group in (
                (item.task, item.form, len(item.options) or 2),
                ("all", len(item.options) or 2),
            ):
                tried[group] += 1
                right[group] += bool(said.outcome.right)
    assert_inside_chance(right, tried, name)


# --- a classifier of the whole rendered prompt, in the headline ---


@pytest.fixture(scope="module")
def prompts(bench: Bench, items: list[Item]) -> dict[str, str]:
    """Item id → the whole prompt, with what it says of this patient's scan."""
    profile = load_profile("default")
    profile = msgspec.structs.replace(
        profile, view=msgspec.structs.replace(profile.view, size_px=16)
    )
    layouts = {
        study.study_id: layout_of(profile, study.series[0].grid) for study in bench.studies()
    }
    twins = [item for item in items if item.stratum == "headline"]
    return {
        item.item_id: prompt_text(item, profile, layouts[item.study_id], "ct") for item in twins
    }


BUCKETS = 1 << 12


def features(text: str, prefix: str = "") -> np.ndarray:
    """Hashed words and word pairs."""
    words = re.findall(r"[\w()>.]+", text.lower())
    marks = [*words, *(" ".join(pair) for pair in itertools.pairwise(words))]
    counts = np.zeros(BUCKETS)
    np.add.at(counts, [zlib.crc32((prefix + mark).encode()) % BUCKETS for mark in marks], 1.0)
    return counts


class NaiveBayes:
    """Multinomial naive Bayes with Laplace smoothing."""

    def __init__(self, rows: Sequence[np.ndarray], targets: Sequence[str]) -> None:
        self.classes = sorted(set(targets))
        stacked, wanted = np.stack(rows), np.array(targets)
        sums = np.stack([stacked[wanted == name].sum(axis=0) + 1.0 for name in self.classes])
        self._weights = np.log(sums / sums.sum(axis=1, keepdims=True))
        self._prior = np.log([np.mean(wanted == name) for name in self.classes])

    def scores(self, row: np.ndarray) -> dict[str, float]:
        return dict(zip(self.classes, self._weights @ row + self._prior))


def by_letter(train: list[Item], test: list[Item], prompts: dict[str, str]) -> list[bool]:
    """Learns the letter, or yes and no, from the whole prompt."""

    def letter(item: Item) -> str:
        return str(answer_key(item.answer)) if not item.options else "ABCDEF"[_place(item)]

    model = NaiveBayes([features(prompts[i.item_id]) for i in train], [letter(i) for i in train])
    result = []
    for item in test:
        scores = model.scores(features(prompts[item.item_id]))
        allowed = list("ABCDEF"[: len(item.options)]) if item.options else ["yes", "no"]
        result.append(max(allowed, key=lambda name: scores.get(name, -np.inf)) == letter(item))
    return result


def by_value(train: list[Item], test: list[Item], prompts: dict[str, str]) -> list[bool]:
    """Learns which option texts, beside which words of the prompt, are right."""

    def rows(item: Item) -> list[np.ndarray]:
        words = prompts[item.item_id]
        return [
            features(words, option.value) + features(option.text)
            for option in item.options or YES_NO
        ]

    right = [(row, str(n == _place(i))) for i in train for n, row in enumerate(rows(i))]
    model = NaiveBayes([row for row, _ in right], [target for _, target in right])
    result = []
    for item in test:
        gains = [(s := model.scores(row))["True"] - s["False"] for row in rows(item)]
        result.append(int(np.argmax(gains)) == _place(item))
    return result


def _place(item: Item) -> int:
    return [option.value for option in item.options or YES_NO].index(str(answer_key(item.answer)))


def folds_by_text(twins: list[Item]) -> list[tuple[list[Item], list[Item]]]:
    """Whole twin groups on either side: the learner has never seen the text it is tested on."""
    half = [[i for i in twins if zlib.crc32(i.twin_group.encode()) % 2 == side] for side in (0, 1)]
    return [(half[0], half[1]), (half[1], half[0])]


def folds_within_text(twins: list[Item]) -> list[tuple[list[Item], list[Item]]]:
    """Every text on both sides, over different patients.

    One way only: where the halves differ by luck, whoever learns from either is wrong on the other,
    twice over.
    """
    halves = [
        [i for i in twins if zlib.crc32(i.patient_id.encode()) % 2 == side] for side in (0, 1)
    ]
    return [(halves[0], halves[1])]


@pytest.mark.parametrize("learner", [by_letter, by_value])
@pytest.mark.parametrize("folds", [folds_by_text, folds_within_text])
def test_the_words_do_not_tell_in_the_headline(items, prompts, folds, learner) -> None:
    twins = [item for item in items if item.stratum == "headline"]
    tried, right = Counter(), Counter()
    for train, test in folds(twins):
        for kind in sorted({(i.form, len(i.options) or 2) for i in test}):
            same = [
                [i for i in half if (i.form, len(i.options) or 2) == kind] for half in (train, test)
            ]
            if all(same):
                outcome = learner(*same, prompts)
                tried[kind] += len(outcome)
                right[kind] += sum(outcome)
    assert sum(tried.values()) >= 16
    assert_inside_chance(right, tried, learner.__name__)


def test_the_learners_can_learn(items) -> None:
    """Where the answer does stand in the prompt, both find it;
    otherwise the test above would prove nothing."""
    asked = [item for item in items if not item.options]
    told = {i.item_id: f"Is it so? hint{answer_key(i.answer)}" for i in asked}
    for learner in (by_letter, by_value):
        outcome = [
            right
            for train, test in folds_within_text(asked)
            for right in learner(train, test, told)
        ]
        assert len(outcome) > 20
        assert np.mean(outcome) > 0.95


# --- the arrangement alone, on thousands of outlines with skewed answers ---

POOLS = {
    "two": ("left", "right"),
    "three": ("small", "medium sized", "large"),
    "four": ("above", "below", "in front of it", "behind it"),
    "six": ("a>b>c", "a>c>b", "b>a>c", "b>c>a", "c>a>b", "c>b>a"),
}


def synthetic(seed: int, patients: int = 120) -> list[Outline]:
    """Questions whose answers are anything but even: in some texts one answer has nine tenths."""
    rng = np.random.default_rng(seed)
    result = []
    for number, (name, pool) in enumerate(itertools.product(POOLS, range(7))):
        values, textbook = POOLS[name], number % 7 == 6
        weights = rng.dirichlet(np.full(len(values), 0.5 if number % 2 else 3.0))
        for patient in range(patients):
            if rng.random() < 0.25:
                continue
            key = values[rng.choice(len(values), p=weights)]
            family = f"{name}{pool}"
            for guise in range(1 + number % 2):
                turned = values[::-1][values.index(key)] if guise else key
                result.append(
                    Outline(
                        item_id=f"i{seed}-{number}-{patient}-{guise}",
                        study_id=f"s{patient}",
                        patient_id=f"p{patient}",
                        task=f"task{name}",
                        form="choice",
                        text=f"{name} {pool} {guise}",
                        key=turned,
                        pool=values,
                        family=family,
                        primary=guise == 0,
                        named_only=number % 3 == 0,
                        textbook=textbook,
                    )
                )
    return result


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(3))
def test_the_arrangement_does_not_tell_however_skewed_the_answers(seed: int) -> None:
    outlines = synthetic(seed)
    by_id = {entry.item_id: entry for entry in outlines}
    placed = arrange(outlines, seed, {"textbook": 8, "untwinned": 8})
    assert len(outlines) > 3000
    assert {p.stratum for p in placed.values()} == {"headline", "textbook", "untwinned"}
    asked = []
    texts: dict[str, Counter[str]] = defaultdict(Counter)
    offered: dict[str, set[str]] = defaultdict(set)
    for item_id, placement in placed.items():
        entry = by_id[item_id]
        assert entry.key in placement.options
        assert len(set(placement.options)) == len(placement.options) >= 2
        assert set(placement.options) <= set(entry.pool)
        options = tuple(Option(value, value) for value in placement.options)
        asked.append(
            Asked(
                (entry.task, entry.form, placement.stratum, len(options)), options, str(entry.key)
            )
        )
        if placement.stratum == "headline":
            texts[placement.twin_group][str(entry.key)] += 1
            offered[placement.twin_group].update(placement.options)
    check_option_solvers(asked)
    assert len(texts) >= 10
    assert all(offered[group] >= set(counts) for group, counts in texts.items())


def test_the_solvers_find_a_leak() -> None:
    """A bench that always puts the answer first, or makes it the longest, is caught."""
    group = ("t", "choice", "headline", 4)
    options = tuple(Option(v, v * (4 - n)) for n, v in enumerate("abcd"))
    with pytest.raises(AssertionError, match="letter A"):
        check_option_solvers([Asked(group, options, "a")] * 40)
    with pytest.raises(AssertionError, match="longest"):
        check_option_solvers([Asked(group, options[n:] + options[:n], "a") for n in range(4)] * 10)
