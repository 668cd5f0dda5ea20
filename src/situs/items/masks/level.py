"""At which vertebral level?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from situs.anatomy import measured
from situs.facts import (
    LEVELS,
    Fact,
    Ledger,
    end_is_cut,
    end_is_stray,
    has_anchor,
    level_name,
    number,
    span,
)
from situs.items.masks.shared import (
    BEYOND,
    CANNOT_TELL,
    CUT,
    ISLANDS,
    compose,
    end_facts,
    measure_step,
    obstacle,
)
from situs.items.posed import NotAsked, Posed, Question
from situs.items.record import Choice, Option, Step, YesNo
from situs.items.subjects import Subject, resolve
from situs.items.tasks import NothingExpected, TaskRules

__all__ = ["Level"]

_CUT = Option(CANNOT_TELL, "cannot be told, it is cut off")
_NEAR_LINE = 1.25
"""Vertebrae between an end and the edge that it is held against, at most: beyond, anatomy tells."""


class Level(NothingExpected):
    """Asks for the vertebra at which a lesion lies, or an organ begins or ends, or beyond which."""

    name = "level"
    rules = TaskRules(
        quotas={"choice": 12, "past": 24},
        mix="comparison",
        units=(),
        whole=False,
        decides=("level",),
        learns=(),
        group="level",
        ordered=("choice",),
    )

    def questions(self, ledger: Ledger, subjects: list[Subject]) -> Iterator[Question]:
        """The centre of every lesion, and both ends of the organs that readers describe so."""
        for subject in subjects:
            if subject.is_lesion:
                yield Question(self.name, "choice", {"of": subject.key, "at": "centre"})
                continue
            ends = [end for end in ("top", "bottom") if _ending(subject, end)]
            for end, beyond in itertools.product(ends, ({}, BEYOND)):
                yield Question(
                    self.name,
                    "choice",
                    {"of": subject.key, "at": end, **beyond},
                    family=f"{subject.key}|{end}",
                    must_offer=beyond.get("or", ""),
                )
            entry = measured(subject.term)
            for end, lines in (("top", entry.top_lines), ("bottom", entry.bottom_lines)):
                for line in lines:
                    yield Question(
                        self.name,
                        "yes_no",
                        {"ask": "past", "of": subject.key, "at": end, "line": line},
                        family=f"{subject.key}|{end}",
                    )

    def pose(self, ledger: Ledger, question: Question) -> Posed | NotAsked:
        """Asked if the vertebrae can be counted from an
        anchor and both ways to read the level are clear."""
        subject, end = resolve(ledger, question.parameters["of"]), question.parameters["at"]
        if question.form == "yes_no":
            return self.pose_past(ledger, subject, end, question.parameters["line"])
        return self.pose_at(ledger, subject, end, beyond="or" in question.parameters)

    def pose_at(
        self, ledger: Ledger, subject: Subject, end: str, *, beyond: bool = False
    ) -> Posed | NotAsked:
        """The level of a subject's centre or end; `beyond`: that it is cut off is offered."""
        hindrance = obstacle(ledger, [subject], whole=False, oriented=False) or _uncounted(ledger)
        if hindrance is not None:
            return hindrance
        if end_is_cut(ledger, subject.structure, end):
            return _pose_cut(ledger, subject, end) if beyond else CUT
        if end_is_stray(ledger, subject.structure, end):
            return ISLANDS
        fact, beside = (
            ledger.fact(f"{kind}.{end}", subject.structure) for kind in ("level", "level_beside")
        )
        unclear = _unclear(fact, beside) or _implausible(subject, end, fact)
        if unclear is not None:
            return unclear
        value, (low, high) = number(fact), _both(fact, beside)
        name = level_name(value)
        return compose(
            ledger,
            [subject],
            text=_text(subject, end),
            answer=Choice(name),
            facts=(fact, beside, *(() if end == "centre" else end_facts(ledger, subject))),
            steps=_level_steps(fact, beside, end),
            conclusion=f"It lies at {name}.",
            needs=("slice_order", "anchor"),
            tags=(f"level:{name}",),
            difficulty=(0.5 - abs(value - round(value))) / max(1e-6, (high - low) / 2),
            pool=(*_vertebrae(ledger), _CUT) if beyond else _vertebrae(ledger),
        )

    def pose_past(self, ledger: Ledger, subject: Subject, end: str, line: str) -> Posed | NotAsked:
        """Whether an upper end lies above a vertebra, or a lower end below it.

        An end that lies between two vertebrae is at neither, but clearly above or below others.
        """
        hindrance = obstacle(ledger, [subject], whole=False, oriented=False) or _uncounted(ledger)
        if hindrance is not None:
            return hindrance
        if line not in {option.value for option in _vertebrae(ledger)}:
            return NotAsked("lies beyond the annotated vertebrae")
        if end_is_cut(ledger, subject.structure, end):
            return CUT
        kinds = ("level", "level_beside", "level_body")
        fact, beside, body = (ledger.fact(f"{kind}.{end}", subject.structure) for kind in kinds)
        unlikely = _implausible(subject, end, fact)
        if unlikely is not None:
            return unlikely
        vertebra = LEVELS.index(line)
        sign = 1.0 if end == "bottom" else -1.0
        bounds = [sign * (level - vertebra) - 0.5 for level in _both(fact, beside)]
        dead_band = ledger.recipe.truth.level_dead_band
        is_past, is_not = min(bounds) > 0, max(bounds) < 0
        distance = sign * (number(fact) - vertebra) - 0.5
        if abs(distance) > _NEAR_LINE:
            return NotAsked("nowhere near this vertebra")
        if "unsteady" in body.flags or abs(distance) < dead_band or not (is_past or is_not):
            return NotAsked("too near the end of this vertebra")
        # An island beyond an end that is past the line lies past it, too.
        if not is_past and end_is_stray(ledger, subject.structure, end):
            return ISLANDS
        on_slice = body.value if isinstance(body.value, float) else None
        if on_slice is not None and (sign * (on_slice - vertebra) > 0.5) is not is_past:
            return NotAsked(
                "the vertebra on its slice is not the one beside it on the curve of the spine"
            )
        where = "below" if end == "bottom" else "above"
        asked = _ending(subject, end).format(subject.phrase)
        return compose(
            ledger,
            [subject],
            text=f"{asked[0].upper()}{asked[1:]} {where} {line}?",
            answer=YesNo(is_past),
            facts=(fact, beside, body, *end_facts(ledger, subject)),
            steps=_level_steps(fact, beside, end),
            conclusion=f"It lies {'' if is_past else 'not '}{where} {line}.",
            needs=("slice_order", "anchor"),
            tags=(f"level:{line}",),
            difficulty=abs(distance) / max(1e-6, (max(bounds) - min(bounds)) / 2),
        )


def _uncounted(ledger: Ledger) -> NotAsked | None:
    """Why no vertebra can be named in this scan, if so."""
    if ledger.spine is None:
        return NotAsked("fewer than three whole vertebrae annotated")
    return None if has_anchor(ledger) else NotAsked("no anchor to number the vertebrae from")


def _unclear(fact: Fact, beside: Fact) -> NotAsked | None:
    """Why the level of this place is not clear, if so."""
    if "beyond" in fact.flags:
        return NotAsked("lies beyond the annotated vertebrae")
    if "disputed" in fact.flags:
        return NotAsked(
            "the vertebra on its slice is not the one beside it on the curve of the spine"
        )
    if "near_line" in fact.flags:
        return NotAsked("too near the line between two vertebrae")
    nearest, (low, high) = round(number(fact)), _both(fact, beside)
    if low < nearest - 0.5 or high > nearest + 0.5:
        return NotAsked("a tilt of the patient would change the vertebral level")
    return None


def _implausible(subject: Subject, end: str, fact: Fact) -> NotAsked | None:
    """Why an end that lies where it does in no adult is not asked for, if so."""
    entry = measured(subject.term)
    levels = {"top": entry.top_levels, "bottom": entry.bottom_levels}.get(end)
    if levels is None or LEVELS.index(levels[0]) <= round(number(fact)) <= LEVELS.index(levels[1]):
        return None
    return NotAsked("ends at a level where it does in no adult: the mask may be of something else")


def _both(fact: Fact, beside: Fact) -> tuple[float, float]:
    """Where the level may lie by either reading."""
    bounds = (*span(fact), *span(beside))
    return min(bounds), max(bounds)


def _vertebrae(ledger: Ledger) -> tuple[Option, ...]:
    """The vertebrae that the scan shows: no other is offered."""
    if ledger.spine is None:
        return ()
    first, last = int(ledger.spine.levels[0]), int(ledger.spine.levels[-1])
    return tuple(Option(name, name) for name in LEVELS[first : last + 1])


def _text(subject: Subject, end: str) -> str:
    asked = "is {} centred" if end == "centre" else _ending(subject, end)
    return f"At which vertebral level {asked.format(subject.phrase)}?"


def _level_steps(on_slice: Fact, beside: Fact, end: str) -> tuple[Step, ...]:
    """What both ways to read a level give."""
    where = {"top": "upper end", "bottom": "lower end"}.get(end, "centre")
    return (
        measure_step(
            f"On the axial slice of its {where} lies the body of {level_name(number(on_slice))}.",
            on_slice,
        ),
        measure_step(
            f"Along the curve of the spine, {level_name(number(beside))} lies beside it.", beside
        ),
    )


def _ending(subject: Subject, end: str) -> str:
    """How readers ask for this end; empty if they do not."""
    entry = measured(subject.term)
    return entry.top if end == "top" else entry.bottom


def _pose_cut(ledger: Ledger, subject: Subject, end: str) -> Posed | NotAsked:
    """That the end cannot be told, if it lies beyond the first or last slice."""
    fact = ledger.fact("ends_beyond", subject.structure)
    if end not in str(fact.value).split("+"):
        return CUT
    return compose(
        ledger,
        [subject],
        text=_text(subject, end),
        answer=Choice(CANNOT_TELL),
        facts=(fact,),
        steps=(Step("compare", "See whether that end is shown.", (fact.fact_id,)),),
        conclusion=f"{subject.opening} goes on beyond the scan there.",
        needs=("slice_order", "anchor"),
        pool=(*_vertebrae(ledger), _CUT),
    )
