"""The A-, AR- and V-Score as SGMRI-VQA's released code computes them, so that published numbers can
be compared.

They follow that code also where it errs: "There is an abnormality" says no, the article "a" chooses
option A, the last number of a reply is its count, and the V-Score has no precision term, so that a
fixed grid of boxes beats every published model. Situs' own scores stand beside them in every table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from situs.score.published.sgmri_answers import count, letters, without_thinking, yes_no
from situs.score.published.sgmri_boxes import FoundBox, Size, published_boxes, true_boxes
from situs.score.published.sgmri_text import bleu_smoothing_1, without_boxes
from situs.score.text.rouge import rouge

__all__ = [
    "V_THRESHOLDS",
    "Reasoning",
    "Visual",
    "a_score",
    "ar_score",
    "gpt_part",
    "parse_boxes",
    "v_score",
    "video_answer",
    "visual",
    "without_boxes",
]

V_THRESHOLDS = (0.1, 0.25, 0.5)
_CONCLUDED = re.compile(r"[Tt]herefore,?\s+the\s+final\s+answer\s+is:\s*(.+)")


class Reasoning(msgspec.Struct, frozen=True):
    """The AR-Score of one sample, and the parts it was made of."""

    ar_score: float
    parts: dict[str, float]
    """`gpt`, `bertscore`, `bleu`, `rouge_l`; those that were not given are not there."""


class Visual(msgspec.Struct, frozen=True):
    """The V-Score of one sample with what the released code computes beside it."""

    v_score: float | None
    """None without a true box."""
    map: float | None
    """Mean F1 over `V_THRESHOLDS`; None where no box was predicted."""
    f1: dict[float, float]


def a_score(
    prediction: str, gt_answer: str, qa_type: str, gt_labels: Sequence[str] | None = None
) -> float:
    """Answer accuracy of one sample, from 0 to 1; 0 for a type it does not know.

    `closed_ended`: equal yes or no, else equal counts. `single_choice`: equal first letters of the
    alphabet. `multiple_choice`: F1 of the sets. `open_ended`, `chain_of_thought`: the share of
    labels that the reply contains, or of the true answer's words without labels; the released
    code's embedding is not used, as in its tables.
    """
    match qa_type:
        case "closed_ended":
            return float(_closed(prediction, gt_answer))
        case "single_choice":
            predicted, true = letters(prediction), letters(gt_answer)
            return float(bool(predicted) and bool(true) and min(predicted) == min(true))
        case "multiple_choice" | "multi_choice":
            return _set_f1(letters(prediction), letters(gt_answer))
        case "open_ended" | "chain_of_thought":
            return _open(
                without_thinking(prediction).lower(), without_thinking(gt_answer).lower(), gt_labels
            )
        case _:
            return 0.0


def _closed(prediction: str, gt_answer: str) -> bool:
    predicted, true = yes_no(prediction), yes_no(gt_answer)
    if predicted is not None and true is not None:
        return predicted == true
    number = count(gt_answer)
    return number is not None and count(prediction) == number


def _set_f1(said: set[str], true: set[str]) -> float:
    shared = len(said & true)
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(true)
    return 2 * precision * recall / (precision + recall)


def _open(said: str, true: str, labels: Sequence[str] | None) -> float:
    if labels:
        return sum(label.lower() in said for label in labels) / len(labels)
    words = set(true.split())
    return len(words & set(said.split())) / len(words) if words else 0.0


def ar_score(
    prediction: str, gt_answer: str, *, gpt: float | None = None, bertscore: float | None = None
) -> Reasoning:
    """0.4 of a judge's part and 0.6 shared equally by the wording parts; these alone where there is
    no judge.

    Wording is BLEU (smoothing 1) and ROUGE-L (stemmed); BERTScore's rescaled F1 is `bertscore`, the
    judge's part `gpt` (see `gpt_part`). An empty prediction scores 0. The reference is the answer
    alone, as released. Localization samples are compared `without_boxes`.
    """
    reply, true = prediction.strip(), gt_answer.strip()
    if not reply:
        return Reasoning(0.0, {})
    wording = {
        "bleu": bleu_smoothing_1(reply, true),
        "rouge_l": float(rouge([reply], [[true]])["rougeL"][0]),
    }
    if bertscore is not None:
        wording["bertscore"] = bertscore
    mean = sum(wording.values()) / len(wording)
    if gpt is None:
        return Reasoning(mean, wording)
    return Reasoning(0.4 * gpt + 0.6 * mean, {"gpt": gpt, **wording})


def gpt_part(rates: Sequence[float], reference_rates: Sequence[float]) -> float:
    """A judge's mean rate (accuracy, relevance, helpfulness;
    1 to 10) over its rate of the reference, at most 1."""
    reply_rate, best = (
        sum(rates) / len(rates) / 10.0,
        sum(reference_rates) / len(reference_rates) / 10.0,
    )
    return min(reply_rate / best if best > 0 else reply_rate, 1.0)


def parse_boxes(
    text: str, image_width: float | None = None, image_height: float | None = None
) -> list[list[Any]]:
    """The boxes of a reply as lists `[frame or None, [x, y, width, height]]`;
    thinking is not removed here."""
    return [[frame, box] for frame, box in published_boxes(text, _size(image_width, image_height))]


def v_score(
    prediction: str,
    gt_boxes: Sequence[dict[str, Any]],
    image_width: float | None = None,
    image_height: float | None = None,
    *,
    pred_boxes: Sequence[dict[str, Any]] | None = None,
) -> float | None:
    """Σ IoU of Hungarian pairs / number of true boxes. None without a true box, 0 without a
    predicted one.

    True boxes are objects with `x, y, width, height` and maybe `frame` or `slice_num`. If any has a
    frame, boxes of different frames do not match, but a predicted box without a frame matches any.
    `pred_boxes` (objects with `bbox` and maybe `frame`) replace those read from the prediction.
    """
    return visual(prediction, gt_boxes, image_width, image_height, pred_boxes=pred_boxes).v_score


def visual(
    prediction: str,
    gt_boxes: Sequence[dict[str, Any]],
    image_width: float | None = None,
    image_height: float | None = None,
    *,
    pred_boxes: Sequence[dict[str, Any]] | None = None,
) -> Visual:
    """The V-Score with F1 at each of `V_THRESHOLDS` and their mean."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    truths, frames = true_boxes(list(gt_boxes))
    if not truths:
        return Visual(None, None, {})
    if pred_boxes is None:
        predicted = published_boxes(without_thinking(prediction), _size(image_width, image_height))
    else:
        predicted = [
            (entry.get("frame"), list(entry["bbox"][:4]))
            for entry in pred_boxes
            if _is_box(entry.get("bbox"))
        ]
    if not predicted:
        return Visual(0.0, None, {})
    by_frame = any(frame is not None for frame in frames)
    overlap = np.nan_to_num(
        [[_overlap(t, f, s, by_frame) for s in predicted] for t, f in zip(truths, frames)]
    )
    rows, columns = linear_sum_assignment(-overlap)
    matched = overlap[rows, columns]
    f1 = {
        at: 2 * float((matched >= at).sum()) / (len(truths) + len(predicted)) for at in V_THRESHOLDS
    }
    return Visual(float(matched.sum()) / len(truths), sum(f1.values()) / len(f1), f1)


def video_answer(prediction: str, qa_type: str) -> str:
    """What follows "Therefore, the final answer is:" on its line: its letter for choices, its first
    word for yes/no.

    The whole prediction where nothing does.
    """
    concluded = _CONCLUDED.search(prediction)
    if not concluded:
        return prediction
    answer = re.sub(r"\*{1,2}", "", concluded[1].strip().rstrip(".")).strip()
    if qa_type in {"single_choice", "multiple_choice"}:
        letter = re.match(r"[A-D]\b", answer)
        return letter[0] if letter else answer
    if qa_type == "closed_ended" and answer.split():
        first = answer.split()[0].strip(".,!;:")
        return first if first.lower() in {"yes", "no"} else answer
    return answer


def _size(width: float | None, height: float | None) -> Size:
    return (width, height) if width and height else None


def _is_box(value: object) -> bool:
    return isinstance(value, list | tuple) and len(value) >= 4


def _overlap(truth: list[float], frame: int | None, said: FoundBox, by_frame: bool) -> float:
    if by_frame and frame is not None and said[0] is not None and frame != said[0]:
        return 0.0
    width, height = (
        max(
            0.0,
            min(truth[k] + truth[k + 2], said[1][k] + said[1][k + 2]) - max(truth[k], said[1][k]),
        )
        for k in (0, 1)
    )
    union = truth[2] * truth[3] + said[1][2] * said[1][3] - width * height
    return width * height / union if union > 0 else 0.0
