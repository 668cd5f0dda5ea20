"""What an item says: every number in a step is a fact,
every id names what is asked and nothing else."""

from __future__ import annotations

import re

import pytest
from _studies import ledger_of, phantom_labels

from situs.facts import Ledger
from situs.items import (
    TASKS,
    Candidate,
    Item,
    Number,
    answer_key,
    candidates,
    declared_quotas,
    item_id,
    letter_of,
    outline,
)
from situs.items.posed import quantity, share_words

PATIENTS = range(2)


@pytest.fixture(scope="module")
def asked() -> list[tuple[Ledger, list[Candidate]]]:
    ledgers = [ledger_of(phantom_labels(23, index, (5.0, 5.0, 5.0))) for index in PATIENTS]
    return [(ledger, candidates(ledger, "p", TASKS.values(), seed=0)[0]) for ledger in ledgers]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12.4, "mL", "12 mL"),
        (9.96, "mL", "10.0 mL"),
        (3.14159, "mm", "3.1 mm"),
        (0.0, "mm", "0.0 mm"),
        (-25.4, "mm", "-25 mm"),
        (1.256, "", "1.26"),
        (0.5, "fraction", "0.50"),
        (1079.6, "mL", "1080 mL"),
    ],
)
def test_numbers_as_they_are_spoken(value, unit, text):
    """Whole from 10 up, one decimal below, two for ratios."""
    assert quantity(value, unit) == text


@pytest.mark.parametrize("value", [185.625, 30.125, 12.5, 2.25])
def test_a_tie_does_not_fall_by_the_last_bit(value):
    for unit in ("", "mm"):
        assert len({quantity(value * (1 + bit), unit) for bit in (-4e-16, 0.0, 4e-16)}) == 1


def numbers_in(text: str) -> list[str]:
    """Numbers that stand alone: not the 1 of `L1`."""
    return re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])", text)


def test_every_number_in_a_step_is_one_of_its_facts(asked):
    """Or a limit that the question itself names."""
    checked = 0
    for ledger, found in asked:
        facts = {fact.fact_id: fact for fact in ledger.known_facts()}
        for item in (candidate.item for candidate in found):
            given = numbers_in(
                " ".join(
                    [item.question, *(o.text for o in item.options), *item.parameters.values()]
                )
            )
            assert {i for step in item.steps for i in step.fact_ids} <= set(item.fact_ids), (
                item.question
            )
            for step in item.steps:
                values = [abs(v) for i in step.fact_ids for v in numeric(facts[i].value)]
                if " % of " in step.text:
                    values += [100.0 * value for value in values]
                for shown in numbers_in(step.text):
                    half_unit = 0.5 * 10.0 ** -len(shown.partition(".")[2]) * (1 + 1e-6)
                    near = any(abs(value - float(shown)) <= half_unit for value in values)
                    assert near or shown in given, (item.question, step)
                    checked += 1
    assert checked > 300


def numeric(value: object) -> list[float]:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    return [float(v) for v in value] if isinstance(value, tuple) else [float(value)]


def test_a_step_carries_the_value_of_its_fact(asked):
    for ledger, found in asked:
        facts = {fact.fact_id: fact for fact in ledger.known_facts()}
        for candidate in found:
            for step in candidate.item.steps:
                if step.value is not None:
                    values = [v for i in step.fact_ids for v in numeric(facts[i].value)]
                    assert step.value.value in values


def test_an_answer_is_one_of_the_options(asked):
    for _, found in asked:
        for candidate in found:
            item = candidate.item
            if item.form == "choice":
                assert candidate.key in {o.value for o in item.options}
                assert (
                    len({o.value for o in item.options})
                    == len({o.text for o in item.options})
                    == len(item.options)
                )
            if isinstance(item.answer, Number):
                low, high = item.answer.interval
                assert low <= item.answer.value <= high
                assert (candidate.key is not None) == (low == high), (
                    "a count is balanced like a choice"
                )
            assert item.question.endswith("?") or "." in item.question


def test_no_question_gives_the_side_of_its_answer_away(asked):
    """The names of a side question carry no side of their own."""
    for _, found in asked:
        for item in (candidate.item for candidate in found if candidate.item.task == "lesion_side"):
            assert not {"left", "right"} & set(re.findall(r"\w+", item.question))


def test_ids_do_not_depend_on_the_seed(asked):
    """Another seed may ask other questions, but the same question keeps its id, text and answer."""
    ledger, found = asked[0]
    known: dict[str, Item] = {candidate.item.item_id: candidate.item for candidate in found}
    assert len(known) == len(found)
    shared = 0
    for seed in (1, 2):
        for candidate in candidates(ledger, "p", TASKS.values(), seed=seed)[0]:
            if candidate.item.item_id in known:
                assert candidate.item == known[candidate.item.item_id]
                shared += 1
    assert shared > 20


def test_ids_come_from_study_task_form_and_parameters_alone(asked):
    for _, found in asked[:1]:
        for item in (candidate.item for candidate in found):
            backwards = dict(reversed(item.parameters.items()))
            assert item.item_id == item_id(item.study_id, item.task, item.form, backwards)
    base = ("s", "direction", "yes_no", {"a": "x", "b": "y"})
    others = [
        ("t", *base[1:]),
        ("s", "volume", *base[2:]),
        (*base[:2], "choice", base[3]),
        (*base[:3], {"a": "y", "b": "x"}),
    ]
    assert len({item_id(*key) for key in (base, *others)}) == 5


def test_quotas_limit_families(asked):
    """Of one task and form, at most the task's number of families;
    the rest is counted, not silently dropped."""
    quotas = declared_quotas(TASKS.values())
    for ledger, found in asked:
        families: dict[tuple[str, bool], set[str]] = {}
        for candidate in found:
            item = candidate.item
            quota = f"{item.task}.{item.parameters.get('ask', item.form)}"
            families.setdefault((quota, candidate.textbook), set()).add(candidate.family)
        for (quota, _), kept in families.items():
            assert len(kept) <= quotas[quota]
        few, reasons = candidates(ledger, "p", TASKS.values(), seed=0, per_study=5)
        assert len({candidate.family for candidate in few}) == 5
        assert reasons["beyond the quota per study"] > 0


def test_letters_and_keys(asked):
    item = next(c.item for _, found in asked for c in found if c.item.form == "choice")
    assert [letter_of(item, o.value) for o in item.options] == list("ABCDEFGH"[: len(item.options)])
    assert answer_key(item.answer) == item.answer.value


def test_an_outline_knows_the_pool(asked):
    for _, found in asked[:1]:
        for candidate in found:
            pool = outline(candidate).pool
            if candidate.item.form == "yes_no":
                assert set(pool) == {"yes", "no"}
            elif candidate.key is not None:
                assert candidate.key in pool


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "None"),
        (4e-7, "None"),
        (0.004, "Less than 1 %"),
        (0.12, "12 %"),
        (0.996, "More than 99 %"),
        (1.0, "All"),
    ],
)
def test_a_share_reads_as_one_says_it(share: float, words: str) -> None:
    assert share_words(share) == words
