"""Rewards: equal to the score of the same reply,
None where they do not apply, and dear to cheaters."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from situs.bench import open_bench
from situs.items import Boxes, Item, YesNo
from situs.profiles import load_profile
from situs.run import AnswerRow, Viewing, make_baseline, parse_spec
from situs.score import score_answer
from situs.score.metrics.boxes import BOX_PRICED_IOU
from situs.space import FrameBox
from situs.tune import open_data
from situs.tune.consistency import consistency, implied_answer
from situs.tune.forms import box_form
from situs.tune.grounding import spam_priced_iou, true_boxes
from situs.tune.rewards import answer_reward, grounding_reward, total_reward

A = FrameBox(0, 0, 0, 10, 10)
HALF = FrameBox(0, 0, 0, 10, 5)
FAR = FrameBox(0, 50, 50, 60, 60)


@pytest.mark.parametrize(
    ("truth", "said", "expected"),
    [
        # IoU of A with itself is 1, with its half ½, with what lies elsewhere or on another frame
        # 0.
        ([A], [A], 1.0),
        ([A], [HALF], 0.5),
        ([A], [A, FAR], 0.5),
        ([A], [A, FAR, FAR], 1 / 3),
        ([A, FAR], [A], 0.5),
        ([A], [FrameBox(1, 0, 0, 10, 10)], 0.0),
        ([A], [], 0.0),
        ([], [], 1.0),
        ([], [A], 0.0),
    ],
)
def test_every_box_too_many_costs(
    truth: list[FrameBox], said: list[FrameBox], expected: float
) -> None:
    assert spam_priced_iou(truth, said) == pytest.approx(expected)


@pytest.fixture(scope="module")
def shown(trained_on: Path) -> Viewing:
    data = open_data(trained_on / "data")
    return Viewing(open_bench(trained_on / "bench"), data.profile)


@pytest.fixture(scope="module")
def items(trained_on: Path) -> list[Item]:
    return list(open_bench(trained_on / "bench").items(steps=False))


def test_the_reward_of_a_thousand_replies_is_their_score(
    trained_on: Path, shown: Viewing, items: list[Item]
) -> None:
    """Right, wrong, unreadable, empty and refusing replies,
    with boxes before the answer and without."""
    bench = open_bench(trained_on / "bench")
    readers = [
        make_baseline(bench, parse_spec(name), viewing=shown)
        for name in ("oracle", "random", "majority")
    ]
    boxes = ["", '[{"frame": 1, "bbox_2d": [10, 10, 200, 300], "label": "mass"}]\n', "[]\n"]
    odd = ["", "I cannot tell.", "yes and no", "{", "Frame 3", "12", "(A) or (B)"]
    rng = random.Random(4)
    compared = 0
    while compared < 1000:
        item = rng.choice(items)
        answer = rng.choice(readers).answer(item) or "" if rng.random() < 0.8 else rng.choice(odd)
        reply = rng.choice(boxes) + rng.choice(("Answer: ", "")) + answer
        row = AnswerRow(item.item_id, "answered", reply)
        scored = score_answer(item, row, None, shown=shown)
        reward = answer_reward(reply, item, shown)
        if isinstance(item.answer, Boxes) or scored.outcome.state == "unjudged":
            assert reward is None
        else:
            assert reward == float(bool(scored.outcome.right))
        compared += 1


def test_the_reward_of_boxes_is_their_score(
    trained_on: Path, shown: Viewing, items: list[Item]
) -> None:
    """Boxes that are right, moved, too many, too few, on another frame, or cannot be read."""
    form = box_form(open_data(trained_on / "data").manifest.box_form)
    asked = [item for item in items if isinstance(item.answer, Boxes) and not shown.obstacle(item)]
    odd = ("", "I cannot tell.", "{", "[]", "Frame 3", "<bbx>[1, 2, 3]</bbx>", "12 to 15")
    rng = random.Random(5)

    def moved(box: FrameBox) -> FrameBox:
        step = rng.uniform(0.0, 0.4) * (box.x1 - box.x0)
        frame = max(0, box.frame - (rng.random() < 0.1))
        return msgspec.structs.replace(box, x0=box.x0 - min(step, box.x0), frame=frame)

    scores = []
    for _ in range(400):
        item = rng.choice(asked)
        truth = true_boxes(item, shown)
        said = [moved(box) for box in truth * 2 if rng.random() < 0.6]
        reply = form.write(said, shown.space, shown.sizes(item))
        if rng.random() < 0.3:
            reply = rng.choice((*odd, f"The finding is here:\n{reply}"))
        row = AnswerRow(item.item_id, "answered", reply)
        scored = score_answer(item, row, None, shown=shown)
        score = scored.values.get(BOX_PRICED_IOU, 0.0)
        assert grounding_reward(reply, item, shown) == pytest.approx(score, abs=1e-12)
        assert answer_reward(reply, item, shown) is None
        scores.append((scored.outcome.state, score))
    assert {state for state, _ in scores} == {"answered", "unparsed", "refused"}
    assert sum(0.0 < score < 1.0 for _, score in scores) > 100


def test_a_run_and_its_rewards_agree(
    trained_on: Path, items: list[Item], situs: Callable[..., Any], tmp_path: Path
) -> None:
    """Through `situs run` and `situs score`, as a user gets the number."""
    profile = trained_on / "data" / "profile.toml"
    bench, out = trained_on / "bench", tmp_path / "run"
    assert situs("run", bench, "--model", "random", "--profile", profile, "--out", out).code == 0
    scored = situs("score", bench, out, "--json")
    from situs.run import read_journal

    shown = Viewing(open_bench(bench), load_profile(str(profile)))
    rows = read_journal(out / "answers.jsonl")
    closed = [item for item in items if isinstance(item.answer, YesNo)]
    rewards = [answer_reward(rows[item.item_id].response, item, shown) for item in closed]
    by_task = scored.json["by_task"]["detection"]
    detection = [r for r, item in zip(rewards, closed) if item.task == "detection"]
    accuracy = next(entry for entry in by_task if entry["metric"] == "accuracy")
    assert sum(filter(None, detection)) / len(detection) == pytest.approx(accuracy["value"])
    assert accuracy["n"] == len(detection)


def test_what_does_not_apply_is_none(shown: Viewing, items: list[Item]) -> None:
    caption = next(item for item in items if item.task == "captioning")
    assert answer_reward("A mass.", caption, shown) is None
    nothing = next(
        item for item in items if item.task == "detection" and item.answer == YesNo(False)
    )
    assert grounding_reward("[]\nAnswer: No", nothing, shown) == 1.0
    assert grounding_reward("No", nothing, shown) == 0.0  # nothing can be read as boxes
    assert total_reward("[]\nAnswer: No", nothing, shown) == pytest.approx(1.0)


def test_an_answer_that_contradicts_its_boxes(shown: Viewing, items: list[Item]) -> None:
    found = next(
        item
        for item in items
        if item.task == "detection" and item.answer == YesNo(True) and item.level == "slice"
    )
    box = '[{"frame": 1, "bbox_2d": [100, 100, 300, 300]}]'
    assert consistency(f"{box}\nAnswer: Yes", found, shown) == 1.0
    assert consistency(f"{box}\nAnswer: No", found, shown) == 0.0
    assert consistency("[]\nAnswer: No", found, shown) == 1.0
    assert consistency("Yes", found, shown) is None
    side = next(
        item for item in items if item.parameters.get("ask") == "side" and item.level == "slice"
    )
    width, height = shown.sizes(side)[0]
    left = FrameBox(0, 1, 1, width / 4, height / 2)
    answer = implied_answer(side, [left], shown)
    assert answer is not None
    assert answer.value == "left"  # type: ignore[union-attr]


@pytest.mark.parametrize(("reward", "exploitable"), [("v-score", True), ("situs", False)])
def test_the_audit_of_rewards(
    trained_on: Path, situs: Callable[..., Any], reward: str, exploitable: bool
) -> None:
    ran = situs(
        *("tune", "audit-reward", trained_on / "bench", "--profile", "sgmri-frames"),
        *("--reward", reward, "--limit", 8, "--json"),
    )
    assert ran.code == 0, ran.err
    assert ran.json["exploitable"] is exploitable
    cheaters = ran.json["cheaters"]
    assert set(cheaters) == {"padded", "grid", "spam", "prior", "constant", "text-classifier"}
    # Extra boxes beside right ones: a recall-only reward pays for them, ours takes them off.
    assert (cheaters["padded"] >= ran.json["honest"]) is exploitable
    blind = {name: value for name, value in cheaters.items() if name != "padded"}
    assert max(blind.values()) < ran.json["honest"] < ran.json["perfect"]
