"""What became of one answer: its state, and whether it is right."""

from __future__ import annotations

from fractions import Fraction

import msgspec

from situs.items import Choice, Item, Number, YesNo, letter_of
from situs.profiles import unmet_needs
from situs.run import AnswerRow
from situs.score._metrics_number import mra_vsi_code, mra_vsi_paper, relative_accuracy, within_interval
from situs.score._parse_choice import parse_choice
from situs.score._parse_common import Parsed, RefusedInWords, Result
from situs.score._parse_number import parse_number
from situs.score._parse_yes_no import parse_yes_no
from situs.score._statistics import cluster_of

__all__ = ["NOT_COUNTED", "Outcome", "Scored", "judge"]

NOT_COUNTED = "not answerable"
"""The one state that stays outside accuracy: the profile hides what the item needs."""


class Outcome(msgspec.Struct, frozen=True):
    """One item's result, as a report shows it."""

    item_id: str
    state: str
    """`answered`, `refused`, `failed`, `unparsed`, `unjudged`, `not answerable` or `missing`."""
    right: bool | None
    """None where it is not answerable under the profile."""
    parsed: str = ""
    """What was read from the response, or why nothing was."""


class Scored(msgspec.Struct, frozen=True):
    """An outcome with what tables group and average by; the little that is kept of each item."""

    outcome: Outcome
    cluster: str
    task: str
    form: str
    stratum: str
    tags: tuple[str, ...]
    question: str
    chance: float | None
    """Probability that a uniform guess is right; None for numbers."""
    truth: float | None = None
    prediction: Fraction | None = None
    mra_code: float | None = None
    mra_paper: float | None = None
    relative: float | None = None


def judge(item: Item, row: AnswerRow | None, gives: tuple[str, ...] | None) -> Scored:
    """Score one answer. `gives` are the profile's promises; None if no profile is known."""
    truth = item.answer.value if isinstance(item.answer, Number) else None
    base = Scored(
        outcome=Outcome(item.item_id, "missing", False),
        cluster=cluster_of(item),
        task=item.task,
        form=item.form,
        stratum=item.stratum,
        tags=item.tags,
        question=item.question,
        chance=1.0 / (len(item.options) or 2) if isinstance(item.answer, YesNo | Choice) else None,
        truth=truth,
        mra_code=None if truth is None else 0.0,
        mra_paper=None if truth is None else 0.0,
        relative=None if truth is None else 0.0,
    )
    missing = unmet_needs(item, gives) if gives is not None else []
    if missing:
        outcome = Outcome(item.item_id, NOT_COUNTED, None, f"needs {', '.join(missing)}")
        return msgspec.structs.replace(base, outcome=outcome)
    if row is None:
        return base
    if row.state != "answered":
        return msgspec.structs.replace(base, outcome=Outcome(item.item_id, row.state, False))
    if not isinstance(item.answer, YesNo | Choice | Number):
        outcome = Outcome(item.item_id, "unjudged", False, f"a {item.form} answer needs a judge")
        return msgspec.structs.replace(base, outcome=outcome)
    return _judge_response(item, row.response, base)


def _judge_response(item: Item, response: str, base: Scored) -> Scored:
    result = _parse(item, response)
    if isinstance(result, RefusedInWords):
        return msgspec.structs.replace(base, outcome=Outcome(item.item_id, "refused", False, "refused in words"))
    if not isinstance(result, Parsed):
        return msgspec.structs.replace(base, outcome=Outcome(item.item_id, "unparsed", False, result.reason))
    if isinstance(item.answer, Number):
        return _judge_number(item, item.answer, result.value, base)
    right = _is_right(item, result.value)
    shown = letter_of(item, str(result.value)) if item.options else ("yes" if result.value else "no")
    return msgspec.structs.replace(base, outcome=Outcome(item.item_id, "answered", right, shown))


def _parse(item: Item, response: str) -> Result[str] | Result[bool] | Result[Fraction]:
    match item.answer:
        case YesNo():
            return parse_yes_no(response)
        case Number(unit=unit):
            return parse_number(response, unit)
        case _:
            return parse_choice(response, item.options)


def _is_right(item: Item, value: str | bool | Fraction) -> bool:
    match item.answer:
        case YesNo(truth):
            return value is truth
        case Choice(truth, also_right):
            return value == truth or value in also_right
        case _:
            return False


def _judge_number(item: Item, answer: Number, value: object, base: Scored) -> Scored:
    assert isinstance(value, Fraction)
    interval = answer.interval or (answer.value, answer.value)
    right = within_interval(value, interval)
    shown = f"{float(value):g} {answer.unit}".strip()
    return msgspec.structs.replace(
        base,
        outcome=Outcome(item.item_id, "answered", right, shown),
        prediction=value,
        mra_code=_float(mra_vsi_code(value, answer.value)),
        mra_paper=_float(mra_vsi_paper(value, answer.value)),
        relative=_float(relative_accuracy(value, answer.value)),
    )


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
