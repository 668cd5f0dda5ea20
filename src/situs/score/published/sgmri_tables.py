"""The tables of SGMRI-VQA by the rules of its released code,
beside what Situs finds right in the same answers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from situs.bench import Bench
from situs.errors import SitusError
from situs.items import (
    Boxes,
    Choice,
    Choices,
    Compound,
    Item,
    Number,
    Simple,
    Text,
    YesNo,
    letter_of,
)
from situs.profiles import Profile
from situs.run import AnswerRow, Baseline, Spec, Viewing, boxes_of, make_baseline
from situs.score.blind.sample import BlindSample
from situs.score.metrics.boxes import BOX_F1, BOX_TUBE_IOU
from situs.score.outcomes import NOT_COUNTED, score_answer
from situs.score.published.sgmri_answers import without_thinking
from situs.score.sgmri import a_score, ar_score, parse_boxes, v_score, video_answer, without_boxes
from situs.score.text.bertscore import BertScore, find_roberta

__all__ = [
    "SgmriCell",
    "SgmriRates",
    "SgmriTable",
    "sgmri_bertscores",
    "sgmri_tables",
    "sgmri_texts",
]

_COLUMNS = {
    "slice": (
        "detection A",
        "classification A",
        "diagnosis A",
        "localization V",
        "localization AR",
        "captioning AR",
    ),
    "volume": (
        "detection A",
        "counting A",
        "classification A",
        "localization V",
        "localization AR",
        "captioning AR",
    ),
}
_ANSWERED = ("detection", "counting", "classification", "diagnosis")
_DUPLICATE = "Locate the bounding box"
_PUBLISHED_SIZE = {"brain": (256, 256), "knee": (320, 320)}
"""What the released code takes for the size of every picture of an organ.

Brain pictures are mostly 320 px wide.
"""
_GivenBox = tuple[int | None, tuple[float, float, float, float]]
"""Frame, from 1, and x, y, width and height, as the set has it."""
_BLIND = ("random", "majority", "prior", "prior?boxes=5", "grid")


class SgmriRates(msgspec.Struct, frozen=True):
    """A judge's part of the AR-Score."""

    judge: str
    parts: dict[str, float]
    """Item → part; an item that is not there was not rated, which is not a 0."""


class SgmriCell(msgspec.Struct, frozen=True):
    """One column of the published table."""

    column: str
    """Task and score, e.g. `localization V`."""
    value: float | None
    n: int
    ours: dict[str, float]
    """What Situs finds on the same items: accuracy, or F1 at IoU .5 and tube IoU."""
    blind: dict[str, float]
    """The same published score of rows that never saw an image."""


class SgmriTable(msgspec.Struct, frozen=True):
    """Image or volume level."""

    level: str
    cells: list[SgmriCell]
    average: float | None
    """The published "Avg": the plain mean of the six columns,
    accuracy, IoU and wording alike; None if one lacks."""
    notes: list[str]


def sgmri_tables(
    bench: Bench,
    items: Callable[[], Iterable[Item]],
    rows: Mapping[str, AnswerRow],
    profile: Profile | None,
    rates: SgmriRates | None = None,
    bertscores: Mapping[str, float] | None = None,
) -> list[SgmriTable]:
    """Both levels, where the bench has items of them. Each cell is the plain mean over its samples,
    as published.

    With a judge's rates, AR is over the samples it rated. The AR of blind rows is BLEU and ROUGE-L
    alone.
    """
    viewing = Viewing(bench, profile)
    asked = [item for item in items() if item.task in (*_ANSWERED, "localization", "captioning")]
    samples = _cells(asked, viewing, lambda item: rows.get(item.item_id), rates, bertscores or {})
    notes = _ar_notes(asked, rows, rates, with_bertscore=bertscores is not None)
    ours = _ours(asked, viewing, rows)
    blind = {}
    sample = BlindSample(lambda: asked)
    # Where no true box names a frame, the answer here is text: no blind row speaks of boxes, which
    # is not a 0.
    drawn = [item for item in sample if "gt_boxes" not in item.parameters]
    for name in _BLIND:
        kind, _, count = name.partition("?boxes=")
        baseline = make_baseline(
            bench, Spec(kind, settings={"boxes": count} if count else {}), profile
        )
        blind[name] = {
            key: sum(values) / len(values)
            for key, values in _cells(drawn, viewing, _asking(baseline)).items()
        }
    tables = []
    for level, columns in _COLUMNS.items():
        cells = [_cell(level, column, samples, ours, blind) for column in columns]
        if any(cell.n for cell in cells):
            level_notes = [*notes[level], sample.note] if sample.note else notes[level]
            tables.append(_table(level, cells, level_notes))
    return tables


def _asking(baseline: Baseline) -> Callable[[Item], AnswerRow | None]:
    return lambda item: AnswerRow(item.item_id, response=baseline.answer(item) or "")


def _cell(
    level: str,
    column: str,
    samples: Mapping[tuple[str, str], list[float]],
    ours: Mapping[tuple[str, str], dict[str, float]],
    blind: Mapping[str, Mapping[tuple[str, str], float]],
) -> SgmriCell:
    values = samples.get((level, column), [])
    blind_values = {
        name: table[level, column] for name, table in blind.items() if (level, column) in table
    }
    value = sum(values) / len(values) if values else None
    return SgmriCell(column, value, len(values), ours.get((level, column), {}), blind_values)


def sgmri_bertscores(
    items: Iterable[Item], rows: Mapping[str, AnswerRow]
) -> dict[str, float] | None:
    """Item → BERTScore of its reply, for the AR-Score; None if no item has one.

    Refused without the weights.
    """
    texts = {
        item.item_id: pair
        for item in items
        if (pair := sgmri_texts(item, rows.get(item.item_id))) is not None
    }
    if not texts:
        return None
    scorer = BertScore(find_roberta())
    replied = {key: pair for key, pair in texts.items() if pair[0].strip()}
    return dict(zip(replied, scorer.f1(*zip(*replied.values())))) if replied else {}


def _ar_notes(
    items: Iterable[Item],
    rows: Mapping[str, AnswerRow],
    rates: SgmriRates | None,
    *,
    with_bertscore: bool,
) -> dict[str, list[str]]:
    """Level → what the AR columns hold."""
    wording = (
        "BERTScore, BLEU and ROUGE-L"
        if with_bertscore
        else "BLEU and ROUGE-L (no BERTScore: no weights)"
    )
    blind = "; blind rows are BLEU and ROUGE-L alone" if with_bertscore or rates is not None else ""
    if rates is None:
        return {key: [f"AR holds {wording} only: no judge was asked{blind}"] for key in _COLUMNS}
    result = {}
    for level in _COLUMNS:
        texts = ((i, sgmri_texts(i, rows.get(i.item_id))) for i in items if i.level == level)
        lacking = sum(
            1 for i, held in texts if held and held[0].strip() and i.item_id not in rates.parts
        )
        notes = [f"AR is 0.4 {rates.judge} + 0.6 of {wording}{blind}"]
        if lacking:
            notes.append(
                f"{lacking} replies have no rate of {rates.judge} and are left out of AR, not"
                " counted as 0"
            )
        result[level] = notes
    return result


def _table(level: str, cells: list[SgmriCell], about: list[str]) -> SgmriTable:
    values = [cell.value for cell in cells if cell.value is not None]
    is_complete = len(values) == len(cells)
    notes = [*about]
    if not is_complete:
        lacking = [cell.column for cell in cells if cell.value is None]
        notes.append(f"no average: the bench has no {', '.join(lacking)}")
    return SgmriTable(level, cells, sum(values) / len(values) if is_complete else None, notes)


def _cells(
    items: Iterable[Item],
    viewing: Viewing,
    row_of: Callable[[Item], AnswerRow | None],
    rates: SgmriRates | None = None,
    bertscores: Mapping[str, float] = {},
) -> dict[tuple[str, str], list[float]]:
    """Level and column → the score of every sample."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item in items:
        if _is_duplicate(item):
            continue
        row = row_of(item)
        for score, value in _scores(item, row, viewing, rates, bertscores.get(item.item_id)):
            found[item.level, f"{item.task} {score}"].append(value)
    return found


def sgmri_texts(item: Item, row: AnswerRow | None) -> tuple[str, str] | None:
    """What the AR-Score compares: reply and reference; None for an item that has none."""
    if (
        item.task not in ("captioning", "localization")
        or _is_duplicate(item)
        or not (reference := _reference(item))
    ):
        return None
    strip = without_boxes if item.task == "localization" else str
    return strip(_said(row)), strip(reference)


def _is_duplicate(item: Item) -> bool:
    return item.task == "localization" and item.question.startswith(_DUPLICATE)


def _said(row: AnswerRow | None) -> str:
    return without_thinking(row.response) if row is not None and row.state == "answered" else ""


def _scores(
    item: Item,
    row: AnswerRow | None,
    viewing: Viewing,
    rates: SgmriRates | None,
    bertscore: float | None,
) -> Iterable[tuple[str, float]]:
    reply = _said(row)
    qa_type = item.parameters.get("qa_type") or _qa_type(item.answer)
    if item.task in _ANSWERED and qa_type != "open_ended":
        answer = video_answer(reply, qa_type) if item.level == "volume" else reply
        labels = [label for label in item.parameters.get("gt_labels", "").split("; ") if label]
        yield "A", a_score(answer, _gt_answer(item), qa_type, labels)
    texts = sgmri_texts(item, row)
    if texts is not None:
        part = None if rates is None else rates.parts.get(item.item_id)
        if rates is None or part is not None or not texts[0].strip():
            yield "AR", ar_score(*texts, gpt=part, bertscore=bertscore).ar_score
    if item.task == "localization" and not viewing.obstacle(item):
        value = _v_score(item, reply, viewing)
        if value is not None:
            yield "V", value


def _v_score(item: Item, said: str, viewing: Viewing) -> float | None:
    """In pixels of the pictures shown;
    a box without a frame is put on the first, as the released script does."""
    truth = _truth(item, viewing)
    if not truth:
        return None
    size = _PUBLISHED_SIZE.get(_organ(item)) or viewing.sizes(item)[0]
    width, height = size if math.isfinite(size[0]) else (None, None)
    found: list[dict[str, Any]] = [
        {"frame": f or 1, "bbox": box} for f, box in parse_boxes(said, width, height)
    ]
    return v_score(said, truth, width, height, pred_boxes=found or None)


def _published_boxes(item: Item) -> list[_GivenBox]:
    try:
        return msgspec.json.decode(item.parameters["gt_boxes"], type=list[_GivenBox])
    except (msgspec.DecodeError, RecursionError) as error:
        problem = f"item {item.item_id}: its published boxes cannot be read ({error})"
        raise SitusError(problem, fix="import the set again") from error


def _truth(item: Item, viewing: Viewing) -> list[dict[str, Any]]:
    """True boxes as the released code takes them:
    on frames for a volume, but for those that name none."""
    if "gt_boxes" in item.parameters:
        given_boxes = _published_boxes(item)
        return [
            dict(zip(("x", "y", "width", "height"), box)) | {"frame": frame}
            for frame, box in given_boxes
        ]
    asked = boxes_of(item)
    return [
        {"x": b.x0, "y": b.y0, "width": b.x1 - b.x0, "height": b.y1 - b.y0}
        | ({"frame": b.frame + 1} if item.level == "volume" else {})
        for b in viewing.boxes(item, asked.boxes if asked is not None else ())
    ]


def _organ(item: Item) -> str:
    return item.parameters.get("dataset", "")


def _ours(
    items: Iterable[Item], viewing: Viewing, rows: Mapping[str, AnswerRow]
) -> dict[tuple[str, str], dict[str, float]]:
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        scored = score_answer(item, rows.get(item.item_id), None, shown=viewing)
        if scored.outcome.state in (NOT_COUNTED, "unjudged"):
            continue
        if item.task in _ANSWERED:
            found[item.level, f"{item.task} A"]["accuracy"].append(
                float(bool(scored.outcome.right))
            )
        for name in (BOX_F1[0.5], BOX_TUBE_IOU):
            if item.task == "localization" and name in scored.values:
                found[item.level, "localization V"][name].append(scored.values[name])
    return {key: {name: sum(v) / len(v) for name, v in held.items()} for key, held in found.items()}


def _simple(answer: object) -> Simple:
    """The part of an answer that is not a place."""
    if isinstance(answer, Compound):
        others = [part for part in answer.parts.values() if not isinstance(part, Boxes)]
        return others[0] if others else next(iter(answer.parts.values()))
    return answer  # type: ignore[return-value]


def _qa_type(answer: object) -> str:
    match _simple(answer):
        case YesNo() | Number():
            return "closed_ended"
        case Choice():
            return "single_choice"
        case Choices():
            return "multiple_choice"
        case _:
            return "open_ended"


def _gt_answer(item: Item) -> str:
    if "gt_answer" in item.parameters:
        return item.parameters["gt_answer"]
    match _simple(item.answer):
        case YesNo(value):
            return "Yes" if value else "No"
        case Number(value):
            return f"{value:g}"
        case Choice(value):
            return f"({letter_of(item, value)})"
        case Choices(values):
            return "".join(f"({letter_of(item, value)})" for value in values)
        case _:
            return ""


def _reference(item: Item) -> str:
    if "gt_answer" in item.parameters:
        return item.parameters["gt_answer"]
    part = _simple(item.answer)
    return part.references[0] if isinstance(part, Text) else ""
