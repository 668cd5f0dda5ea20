"""What a reply earns: the very functions that score replies, as rewards and as filters.

A part that does not apply is None, never 0: a mean over what does not apply would teach the model
to avoid such questions.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from situs.errors import SitusError, did_you_mean
from situs.items import Boxes, Item
from situs.run import AnswerRow, Viewing
from situs.score import Parsed, score_answer
from situs.score.sgmri import v_score
from situs.tune.consistency import consistency
from situs.tune.grounding import read_boxes, spam_priced_iou, true_boxes
from situs.tune.targets import evidence_boxes, is_negative

__all__ = [
    "REWARDS",
    "Reward",
    "Weights",
    "answer_reward",
    "format_reward",
    "grounding_reward",
    "reward_named",
    "total_reward",
]

Reward = Callable[[str, Item, Viewing], float | None]


class Weights(msgspec.Struct, frozen=True):
    """How much each part counts."""

    format: float = 0.1
    answer: float = 1.0
    grounding: float = 1.0
    consistency: float = 0.5


def answer_reward(reply: str, item: Item, viewing: Viewing) -> float | None:
    """1 if the scorer counts the answer as right, else 0: `situs score`'s own verdict.

    None for free text, which needs a judge, for what the pictures do not show, and for questions
    whose answer is a box, which the grounding rewards.
    """
    if isinstance(item.answer, Boxes):
        return None
    scored = score_answer(item, AnswerRow(item.item_id, "answered", reply), None, shown=viewing)
    if scored.outcome.right is None or scored.outcome.state == "unjudged":
        return None
    right = scored.outcome.right if scored.answer_right is None else scored.answer_right
    return float(right)


def grounding_reward(reply: str, item: Item, viewing: Viewing) -> float | None:
    """Overlap with a price on spam (`spam_priced_iou`); nothing read is 0.

    None where neither a box nor its absence is known. It is soft: a fixed threshold is too sparse
    for small findings.
    """
    if not evidence_boxes(item) and not is_negative(item):
        return None
    if viewing.obstacle(item):
        return None
    truth = true_boxes(item, viewing)
    if not truth and not is_negative(item):
        return None
    read = read_boxes(reply, item, viewing)
    return spam_priced_iou(truth, list(read.value)) if isinstance(read, Parsed) else 0.0


def format_reward(reply: str, item: Item, viewing: Viewing) -> float | None:
    """1 if answer and boxes can be read, half for one of them."""
    parts = []
    if evidence_boxes(item) or is_negative(item):
        parts.append(isinstance(read_boxes(reply, item, viewing), Parsed))
    if not isinstance(item.answer, Boxes):
        row = AnswerRow(item.item_id, "answered", reply)
        state = score_answer(item, row, None, shown=viewing).outcome.state
        if state != "unjudged":
            parts.append(state == "answered")
    return sum(parts) / len(parts) if parts else None


def published_v_score(reply: str, item: Item, viewing: Viewing) -> float | None:
    """SGMRI-VQA's V-Score, with its own parser: no price on boxes that are not there."""
    truth = true_boxes(item, viewing) if evidence_boxes(item) else []
    if not truth:
        return None
    base, sizes = viewing.space.frame_base, viewing.sizes(item)
    boxes = [
        {
            "frame": box.frame + base,
            "x": box.x0,
            "y": box.y0,
            "width": box.x1 - box.x0,
            "height": box.y1 - box.y0,
        }
        for box in truth
    ]
    read = read_boxes(reply, item, viewing)
    replied = [
        {"frame": box.frame + base, "bbox": [box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0]}
        for box in (read.value if isinstance(read, Parsed) else ())
    ]
    return v_score("", boxes, *sizes[0], pred_boxes=replied)


def total_reward(
    reply: str, item: Item, viewing: Viewing, weights: Weights | None = None
) -> float | None:
    """The weighted mean of the parts that apply; None if none does."""
    weights = weights or Weights()
    parts = [
        (weights.format, format_reward(reply, item, viewing)),
        (weights.answer, answer_reward(reply, item, viewing)),
        (weights.grounding, grounding_reward(reply, item, viewing)),
        (weights.consistency, consistency(reply, item, viewing)),
    ]
    applying = [(weight, value) for weight, value in parts if value is not None and weight > 0]
    total = sum(weight for weight, _ in applying)
    return sum(weight * value for weight, value in applying) / total if total else None


REWARDS: dict[str, Reward] = {
    "situs": total_reward,
    "answer": answer_reward,
    "grounding": grounding_reward,
    "consistency": consistency,
    "format": format_reward,
    "v-score": published_v_score,
}
"""Name → reward, for `audit-reward` and training."""


def reward_named(name: str) -> Reward:
    """A reward by its name."""
    if name not in REWARDS:
        raise SitusError(
            f"unknown reward {name!r}", where="--reward", fix=did_you_mean(name, REWARDS)
        )
    return REWARDS[name]
