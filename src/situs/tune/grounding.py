"""The boxes of a reply that also holds an answer: read as the scorer reads boxes."""

from __future__ import annotations

import functools

from situs.items import Item
from situs.profiles import AnswerSpace
from situs.run import Viewing
from situs.score import Matches, Parsed, Result, parse_boxes, same_labels
from situs.space import FrameBox
from situs.tune.targets import ANSWER_MARK, evidence_boxes

_NOTHING = "[]"

__all__ = ["box_text", "grounding_iou", "read_boxes", "spam_priced_iou", "true_boxes"]


def box_text(reply: str) -> str:
    """The reply without the line of its answer, whose numbers are no boxes."""
    mark = ANSWER_MARK.strip()
    lines = [line for line in reply.splitlines() if not line.lstrip().startswith(mark)]
    return "\n".join(lines)


def true_boxes(item: Item, viewing: Viewing) -> list[FrameBox]:
    """Where the answer lies, on the pictures shown."""
    return list(viewing.boxes(item, evidence_boxes(item)))


def read_boxes(reply: str, item: Item, viewing: Viewing) -> Result[list[FrameBox]]:
    """The boxes that a reply gives, whatever was asked."""
    labels = sorted({box.label for box in evidence_boxes(item)})
    text = box_text(reply)
    read = _parsed(text, viewing.space, tuple(viewing.sizes(item)), tuple(labels))
    if not isinstance(read, Parsed) and _NOTHING in map(str.strip, text.splitlines()):
        return Parsed([])  # after reasoning in prose an empty list stands on a line of its own
    return read


@functools.lru_cache(maxsize=16)
def _parsed(
    text: str,
    space: AnswerSpace,
    sizes: tuple[tuple[float, float], ...],
    labels: tuple[str, ...],
) -> Result[list[FrameBox]]:
    """One reply is read once for all its rewards; a grid has hundreds of boxes."""
    return parse_boxes(text, space, sizes, labels)


def grounding_iou(reply: str, item: Item, viewing: Viewing) -> float | None:
    """Σ IoU of the best pairs on the same picture / number of true boxes; 0 where no box can be
    read.

    None where there is no true box. This is `box.mean-iou@1`, over the evidence of any question.
    """
    truth = true_boxes(item, viewing)
    if not truth:
        return None
    read = read_boxes(reply, item, viewing)
    if not isinstance(read, Parsed):
        return 0.0
    true, named = same_labels(truth, read.value)
    return Matches(true, named).mean_iou()


def spam_priced_iou(truth: list[FrameBox], replied: list[FrameBox]) -> float:
    """`box.priced-iou@1`: Σ IoU of the best pairs / the larger number of said and true boxes.

    Every box beyond the true ones lowers it: more boxes are never a way to earn more. With nothing
    to be found, an empty list earns 1 and any box 0.
    """
    true, named = same_labels(truth, replied)
    return Matches(true, named).priced_iou()
