"""What an evaluation may say of its arms."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest

from situs.bench import open_bench
from situs.probe.blind import FORCED
from situs.score import paired_difference
from situs.tune import open_data
from situs.tune.evaluation import evaluate
from situs.tune.evaluation.compare import (
    Difference,
    differences,
    mean_over_seeds,
    means,
    seeds_ahead,
    smaller_gain,
    statement,
)
from situs.tune.evaluation.replies import METRICS, ArmValues


def difference(b: str, metric: str, value: float, half: float = 0.1) -> Difference:
    return Difference("boxes", b, metric, value, (value - half, value + half), 0.01, 40, 20)


@pytest.mark.parametrize(
    ("metric", "value", "said"),
    [
        ("box_miou", 0.4, "Boxes improved grounding by 0.400 (95 % interval +0.300 to +0.500)"),
        ("grounding", -0.4, "Boxes worsened grounding by 0.400 (95 % interval -0.500 to -0.300)"),
        ("grounding", 0.05, "No effect of boxes on grounding is shown: +0.050"),
    ],
)
def test_the_control_is_what_arms_are_held_against(metric: str, value: float, said: str) -> None:
    """Also where no question asks for boxes; the base is far below both."""
    held = [difference("answer", metric, value), difference("answer", "accuracy", 0.0)]
    base = [difference("base", metric, 0.9), difference("base", "accuracy", 0.9)]
    text = statement([*held, *base], seeds=3)
    assert said in text
    assert "No effect of boxes on answers is shown: +0.000" in text
    assert "base model" not in text


def test_without_a_control_boxes_alone_are_credited_with_nothing() -> None:
    text = statement([difference("base", "grounding", 0.5)], seeds=1)
    assert "Training with boxes improved grounding by 0.500" in text
    assert "against the base model" in text
    assert "Nothing can be concluded about answers" in text


def arm(accuracy: list[float], boxes: list[float]) -> ArmValues:
    """Two questions a patient, with planted outcomes: one for an answer and one for a box."""
    values: dict[str, dict[str, float]] = {name: {} for name in METRICS}
    values["accuracy"] = {f"a{number}": value for number, value in enumerate(accuracy)}
    values["box_miou"] = {f"b{number}": value for number, value in enumerate(boxes)}
    items = [*values["accuracy"], *values["box_miou"]]
    return ArmValues(values, {item: item[1:] for item in items}, {}, {}, {})


def planted(count: int, more_right: int) -> dict[str, ArmValues]:
    """Boxes are found by one arm alone, which answers `more_right` questions more."""
    right = [float(number % 2) for number in range(count)]
    better = list(right)
    for number in range(0, 2 * more_right, 2):
        better[number] = 1.0
    return {
        "boxes": arm(better, [0.7] * count),
        "answer": arm(right, [0.0] * count),
        "base": arm([0.0] * count, [0.1] * count),
    }


@pytest.mark.parametrize(
    ("count", "more_right", "said"),
    [
        (40, 0, "No effect of boxes on answers is shown"),
        (40, 1, "No effect of boxes on answers is shown"),
        (40, 15, "Boxes improved answers by 0.375"),
        (6, 3, "Nothing can be concluded about answers"),
    ],
)
def test_planted_outcomes_are_claimed_only_as_far_as_they_carry(
    count: int, more_right: int, said: str
) -> None:
    arms = planted(count, more_right)
    text = statement(differences(arms), 1)
    assert said in text
    assert ("improved answers" in text) == (more_right == 15)
    grounding = "Boxes improved grounding by 0.700" if count >= 10 else "about grounding"
    assert grounding in text


def test_seeds_are_shown_one_by_one() -> None:
    good, bad = planted(12, 0), planted(12, 0)
    bad["boxes"], bad["answer"] = bad["answer"], bad["boxes"]
    seeds = {name: [good[name], good[name], bad[name]] for name in ("boxes", "answer")}
    assert seeds_ahead(seeds) == 2
    assert seeds_ahead({"boxes": seeds["boxes"]}) is None
    assert [means(one)["box_miou"] for one in seeds["boxes"]] == pytest.approx([0.7, 0.7, 0.0])
    arms = {name: mean_over_seeds(runs) for name, runs in seeds.items()}
    assert arms["boxes"].values["box_miou"]["b0"] == pytest.approx(1.4 / 3)
    text = statement(differences(arms), 3, seeds_ahead(seeds))
    assert "Grounding is above the control's in 2 of 3." in text


def test_sight_is_what_is_gained_over_the_better_blind_run() -> None:
    full, clusters = [1.0] * 12, [str(number) for number in range(12)]

    def over(right: int) -> Difference:
        blind = [float(number < right) for number in range(12)]
        gain = paired_difference(full, blind, clusters)
        plain = Difference("boxes", "blind", "accuracy", None, None, None, 12, 12)
        return msgspec.structs.replace(plain, difference=gain.value, ci95=gain.ci95)

    better, worse = over(6), over(2)
    gain = smaller_gain([worse, better])
    assert gain.difference == 0.5
    assert better.ci95 is not None
    assert worse.ci95 is not None
    assert gain.ci95 == (min(better.ci95[0], worse.ci95[0]), better.ci95[1])


def test_a_blind_run_is_told_so_or_told_nothing(
    trained_on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, profile = open_bench(trained_on / "bench"), open_data(trained_on / "data").profile
    item = next(iter(bench.items("test")))
    shown: dict[str, Any] = {}

    class Respondent:
        def __call__(self, bench: Any, presenter: Any, *_: Any, withhold: str, **__: Any) -> None:
            shown[withhold] = presenter.present(item)

        def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setattr(evaluate, "respondent_of", lambda *_, **__: Respondent())
    monkeypatch.setattr(evaluate, "score_run", lambda *_: None)
    choices = evaluate.EvalChoices()
    asker = evaluate._Asker(bench, profile, tmp_path, choices, lambda name: nullcontext(print))
    for withhold in ("", "text", "silent"):
        asker.ask("run", "model", withhold=withhold, beside=tmp_path if withhold else None)
    assert shown[""].images
    assert not shown["text"].images
    assert not shown["silent"].images
    assert shown["text"].prompt == f"{shown[''].prompt}\n{FORCED}"
    assert shown["silent"].prompt == shown[""].prompt
