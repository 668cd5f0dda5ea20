"""Replies that are written to be slow to read: twice the text must not be four times the work."""

from __future__ import annotations

import contextlib
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

__all__ = ["case", "readers"]

_PIECES = (
    "[", '{"a":', "<think>", "</think>", "<bbx>[", "Frame 1 ", "frames 1-2, ", "1 mm ", "A: no\n", "not A ",
    "no. ", '"', "wait A ", "one hundred and ", "between 1 and ", "3 = ", "size: 1, ", "| A ", "A or ",
    "yes, but no ", "(", "1,", "- ", "the left kidney ", "not the left ", "\n", " ", "1-", "**", "```json\n",
    "to ", "slice ", "x=1 y=2 ", "therefore ", "if ", "1.5e", "½",
    "A)", "answer: ", "&", "/", "°", "é", "左",
    "'", "–", "grade 2 ", "size ", "not ", "or ", ";", ":", "\t", "\u00a0", "×1", "1×",
    "posterobasal ", "left\n",
    ", but ", "x ", "top left ", "(1,2) ", "grade ",
)  # fmt: skip
_SMALL, _LARGE = 600, 2_400
_MOST_STEPS, _FIXED = 6.5, 4_000
"""Four times the text may cost this many times the steps, and some that every reply costs."""
_LONG = 20_000
_SECONDS, _MOST_GROWTH = 1.0, 9.0
"""Of work for so long a text; where it takes longer, it must at least grow as the text does."""


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A reply of one to four pieces over and over, to a few readers."""
    unit = "".join(rng.choice(_PIECES) for _ in range(rng.choice([1, 1, 2, 2, 3, 4])))
    lead = "".join(rng.choice(_PIECES) for _ in range(rng.choice([0, 0, 1])))
    wrong = []
    known = readers()
    for name in rng.sample(list(known), 3):
        read = known[name]
        read(_of_length(lead, unit, _LARGE))  # patterns are compiled once
        # Work that is cut off after some tries grows until then: what grows too fast is tried
        # longer.
        if _grows(read, lead, unit, _SMALL) and _grows(read, lead, unit, _LARGE):
            wrong.append(f"{name}: {lead!r} + n × {unit!r} takes more than its length")
    name, read = rng.choice(list(known.items()))
    short, long = (_seconds(read, _of_length(lead, unit, size)) for size in (_LONG // 4, _LONG))
    if long > max(_SECONDS, _MOST_GROWTH * short):
        wrong.append(f"{name}: {lead!r} + n × {unit!r}: {short:.2f} s, then {long:.2f} s")
    return wrong


def _grows(read: Callable[[str], Any], lead: str, unit: str, size: int) -> bool:
    few, many = (_steps(read, _of_length(lead, unit, length)) for length in (size, 4 * size))
    return many > _MOST_STEPS * few + _FIXED


def _seconds(read: Callable[[str], Any], text: str) -> float:
    begun = time.thread_time()
    read(text)
    return time.thread_time() - begun


def _of_length(lead: str, unit: str, size: int) -> str:
    return lead + unit * (size // len(unit))


def readers() -> dict[str, Callable[[str], Any]]:
    from situs.facts.reports import mentions_of
    from situs.items import Option
    from situs.judges.by_id import _entries
    from situs.judges.verdict import VERDICT
    from situs.probe.mirage import describes_a_picture
    from situs.profiles import AnswerSpace
    from situs.score import (
        loose_values,
        parse_boxes,
        parse_choice,
        parse_choices,
        parse_frames,
        parse_grades,
        parse_number,
        parse_yes_no,
        sgmri,
    )
    from situs.score.text.facts import facts_of

    options = (Option("a", "the left kidney"), Option("b", "the right kidney"))
    return {
        "yes_no": parse_yes_no,
        "choice": lambda text: parse_choice(text, options),
        "choices": lambda text: parse_choices(text, options),
        "number": lambda text: parse_number(text, "mm"),
        "frames": lambda text: parse_frames(text, 1, 40),
        "boxes": lambda text: parse_boxes(text, AnswerSpace(), [(512.0, 512.0)], ["tear"]),
        "grades": lambda text: parse_grades(text, ["size"], {}),
        "json": lambda text: list(loose_values(text)),
        "sgmri": sgmri.parse_boxes,
        "mirage": describes_a_picture,
        "facts": facts_of,
        "report": lambda text: _unless_refused(mentions_of, text, len(text)),
        "judge": lambda text: _entries(text, VERDICT, ["a", "b"]),
    }


def _unless_refused(read: Callable[..., Any], *given: Any) -> None:
    """What is too long to be read is refused, which is as good as reading it fast."""
    from situs.errors import SitusError

    with contextlib.suppress(SitusError):
        read(*given)


def _steps(read: Callable[[str], Any], text: str) -> int:
    """Lines of Python that run, which no other load changes;
    patterns that run in C show in the seconds."""
    count = 0

    def step(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        read(text)
    finally:
        sys.settrace(before)
    return count
