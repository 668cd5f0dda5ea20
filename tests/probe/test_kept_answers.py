"""Answers that are held as columns, and effects that are counted, against what they stand for."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from situs.items import Choice, Item, Number, Option, YesNo
from situs.probe.diagnosis.own_picture import agreement, own_picture_values, right_values
from situs.probe.table import Compared, ComparedRows
from situs.run import AnswerRow
from situs.score import score_answer
from situs.score.explain import Answered, read_answers, said_by
from situs.score.explain.numbers import WindowCounts, holds, windows_of
from situs.score.records import records_of
from situs.score.scored_run import open_replies, read_run


@pytest.mark.parametrize("model", ["random", "oracle"])
def test_an_answer_held_as_columns_is_the_record_it_was(
    tiny: Path, tmp_path: Path, situs: Callable[..., Any], model: str
) -> None:
    run, bench = tmp_path / "run", tiny / "bench"
    assert situs("run", bench, "--model", model, "--out", run).code == 0
    answers = read_answers(run, bench)
    scored = read_run(open_replies(run, bench))
    items = {item.item_id: item for item in scored.replies.items()}
    records = list(records_of(scored.columns))
    assert set(answers.by_id) == set(items) == {one.outcome.item_id for one in records}
    assert {type(item.answer) for item in items.values()} >= {YesNo, Number, Choice}
    for record in records:
        kept = answers.by_id[record.outcome.item_id]
        for name in ("state", "right", "parsed", "stratum", "chance", "prediction", "credit"):
            assert getattr(kept.scored, name) == getattr(record, name), name
        whole = items[record.outcome.item_id]
        assert kept.item == msgspec.structs.replace(whole, steps=(), fact_ids=())
        assert kept.row is not None
        assert kept.row.item_id == whole.item_id
    closed = {k: said_by(one) for k, one in answers.by_id.items() if one.scored.chance is not None}
    credits_before = [one.credit for one in answers.by_id.values()]
    answers.forget_words()
    assert {k: said_by(answers.by_id[k]) for k in closed} == closed
    assert [one.credit for one in answers.by_id.values()] == credits_before
    assert all(one.row is None for one in answers.by_id.values())


def test_runs_of_one_bench_hold_its_items_once(
    tiny: Path, tmp_path: Path, situs: Callable[..., Any]
) -> None:
    bench = tiny / "bench"
    for model in ("random", "oracle"):
        assert situs("run", bench, "--model", model, "--out", tmp_path / model).code == 0
    first = read_answers(tmp_path / "random", bench)
    second = read_answers(tmp_path / "oracle", bench, beside=first)
    assert all(second.by_id[name].item is one.item for name, one in first.by_id.items())
    situs("run", bench, "--model", "random", "--limit", 9, "--out", tmp_path / "few")
    few = read_answers(tmp_path / "few", bench, beside=first)
    assert len(few.by_id) == 9
    assert all(first.by_id[name].item == one.item for name, one in few.by_id.items())


def test_what_was_compared_comes_back_as_it_was() -> None:
    draw = random.Random(1)

    def coin() -> bool:
        return draw.random() < 0.5

    rows = [
        Compared(
            item=Item(f"i{n}", "s", "ct", f"p{n}", "t", "yes_no", "?", YesNo(True)),
            outcome=draw.choice(["changed", "unchanged"]),
            original=coin(),
            changed=coin(),
            kept_old=coin(),
            same_answer=coin(),
            credits=(draw.random(), draw.random()),
            flipped=coin(),
            answered=coin(),
        )
        for n in range(300)
    ]
    packed = ComparedRows(rows)
    assert list(packed) == rows
    assert len(packed) == 300


def _asked(draw: random.Random, number: int) -> Answered:
    patient = f"p{draw.randint(0, 9)}"
    common = f"i{number}", patient, "ct", patient, "t"
    kind = draw.choice(["yes_no", "choice", "number"])
    if kind == "yes_no":
        item = Item(*common, kind, "Is it?", YesNo(draw.random() < 0.5))
        words = draw.choice(["yes", "no", "I cannot tell."])
    elif kind == "choice":
        values = draw.sample("abc", 3)
        also = (values[0],) if draw.random() < 0.2 else ()
        options = tuple(Option(value, value) for value in values)
        item = Item(*common, kind, "Which?", Choice(draw.choice(values), also), options=options)
        words = draw.choice(["A", "B", "C", "I cannot tell."])
    else:
        value = float(draw.randint(5, 30))
        known = (0.8 * value, 1.2 * value) if draw.random() < 0.8 else None
        item = Item(*common, kind, "How long?", Number(value, "mm", known))
        words = draw.choice([f"{draw.randint(5, 30)} mm", "I cannot tell."])
    row = AnswerRow(item.item_id, response=words)
    return Answered(item, row, score_answer(item, row, None))


def _right(said: Answered, of: Answered) -> float:
    """Whether the answer to one item is right for another."""
    if isinstance(of.item.answer, Number):
        low, high = of.item.answer.interval or (of.item.answer.value,) * 2
        return (
            0.0 if said.scored.prediction is None else float(low <= said.scored.prediction <= high)
        )
    reply = said_by(said)
    return of.scored.chance or 0.0 if reply is None else float(reply in right_values(of.item))


@pytest.mark.parametrize("seed", range(8))
def test_dealing_out_answers_is_its_definition_pair_by_pair(seed: int) -> None:
    draw = random.Random(seed)
    asked = [_asked(draw, number) for number in range(80)]
    values = dict(zip(*(_named(*own_picture_values(asked)))))
    alike = dict(zip(*(_named(*agreement(asked)[:2]))))
    assert len(values) > 60
    for question in ("Is it?", "Which?", "How long?"):
        group = [one for one in asked if one.item.question == question]
        pairs = [(i, j) for i in group for j in group if i.item.patient_id != j.item.patient_id]
        overall = sum(_right(j, i) for i, j in pairs) / len(pairs)
        for one in group:
            others = [j for j in group if j.item.patient_id != one.item.patient_id]
            given = sum(_right(j, one) for j in others) / len(others)
            for_another = sum(_right(one, j) for j in others) / len(others)
            loss = _right(one, one) - given - for_another + overall
            assert values[one.item.item_id] == pytest.approx(loss, abs=1e-12)
        if question == "Is it?":
            read = [one for one in group if said_by(one) is not None]
            for one in read:
                others = [j for j in read if j.item.patient_id != one.item.patient_id]
                same = sum(said_by(j) == said_by(one) for j in others) / len(others)
                assert alike[one.item.item_id] == pytest.approx(same, abs=1e-12)


def _named(items: list[Item], values: list[float]) -> tuple[list[str], list[float]]:
    return [item.item_id for item in items], values


@pytest.mark.parametrize("seed", range(6))
def test_windows_counted_in_order_are_those_that_hold(seed: int) -> None:
    draw = random.Random(seed)
    windows = []
    for _ in range(40):
        value = draw.uniform(1, 300)
        truth = Number(value, draw.choice(["mm", "mL"]), (0.95 * value, 1.05 * value))
        prior = value * draw.uniform(0.8, 1.2)
        windows += list(windows_of(truth, [0.8, 3.0], [1.9], prior).values())
    windows.append([(1.0, 1.5), (1.5 + 1e-9, 2.0)])  # nearer to each other than the tolerance
    counts = WindowCounts(windows)
    ends = [10**end for one in windows for stretch in one for end in stretch]
    for said in [*ends, *(10 ** draw.uniform(-2, 4) for _ in range(200)), 0.0, -3.0]:
        assert counts.holding(said) == sum(holds(one, said) for one in windows)
