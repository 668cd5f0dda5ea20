"""What a metric is: one record, from which every list of metrics is made.

A metric of single answers gives each answer a value and is averaged over answers; a metric over
rows is worked out from many answers together. `catalogue.py` declares those of Situs; others are
added with `situs.metric`, in a script or by the entry point `situs.metrics`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from situs.base.docstrings import summary
from situs.base.plugins import load_offered, offered_names
from situs.errors import SitusError, did_you_mean
from situs.items import Boxes, Choice, Choices, Frames, Grades, Item, Number, Simple, YesNo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from situs.run import Viewing
    from situs.score.columns import Columns, Rows
    from situs.score.stats.estimates import Estimate
    from situs.space import FrameBox

__all__ = [
    "FORMS",
    "Given",
    "Metric",
    "Shown",
    "always",
    "known_metrics",
    "metric",
    "metrics_of",
    "register",
    "shown_at",
    "shown_in",
]

GROUP = "situs.metrics"
"""The entry points of packages that offer metrics."""

FORMS: dict[str, type[Simple]] = {
    "yes_no": YesNo,
    "choice": Choice,
    "choices": Choices,
    "number": Number,
    "boxes": Boxes,
    "frames": Frames,
    "grades": Grades,
}
"""The kinds of answer that a rule reads, by name."""


class Shown(StrEnum):
    """A place in which metrics are shown beside the JSON, which has them all."""

    TERMINAL = "terminal"
    """The first table of `situs score`."""
    TAG = "tag"
    """Tables by tag."""
    SUB_SCORE = "sub-score"
    """Tables by sub-score of a bank of grades."""
    BREAKDOWN = "breakdown"
    """Tables by structure, size and the like."""
    COMPARISON = "comparison"
    """`situs compare --metric`."""
    REPORT = "report"
    """Worked out for the report."""
    LEADERBOARD = "leaderboard"
    """A column of the report's first table."""


def shown_at(*places: str) -> frozenset[Shown]:
    """The places with these names."""
    return frozenset(map(Shown, places))


@dataclass(slots=True)
class Given:
    """One answer that was read, as metrics of single answers see it."""

    item: Item
    answer: Simple
    """The true one."""
    said: Any
    """What was read: a bool, an option's value, a set of them,
    a fraction, boxes, positions of pictures or grades."""
    viewing: Viewing | None = None
    boxes: tuple[Sequence[FrameBox], Sequence[FrameBox]] | None = None
    """The true and the said ones on the pictures, under the labels that both use;
    worked out when asked for."""
    shared: dict[str, Any] = field(default_factory=dict)
    """What metrics of one answer work out together."""
    flags: tuple[str, ...] = ()
    """What a careful reader should know of how it was read."""

    @property
    def true_boxes(self) -> Sequence[FrameBox]:
        """The true boxes on the pictures, under the labels that both use."""
        return self._comparable()[0]

    @property
    def said_boxes(self) -> Sequence[FrameBox]:
        """The said boxes under these labels."""
        return self._comparable()[1]

    def _comparable(self) -> tuple[Sequence[FrameBox], Sequence[FrameBox]]:
        if self.boxes is None:
            from situs.score.metrics.boxes import same_labels

            assert self.viewing is not None
            assert isinstance(self.answer, Boxes)
            true = self.viewing.boxes(self.item, self.answer.boxes)
            self.boxes = same_labels(true, self.said)
        return self.boxes

    @property
    def truth(self) -> Any:
        """The true value, of the same kind as `said`."""
        match self.answer:
            case Boxes():
                return list(self.true_boxes)
            case Frames(frames) if self.viewing is not None:
                return self.viewing.frames(self.item, frames)
            case Choices(values):
                return values
            case Grades(grades):
                return grades
            case YesNo(value) | Choice(value) | Number(value):
                return value
        return None


def always(item: Item, answer: Simple) -> bool:
    """That every answer of a metric's forms has it."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric."""

    id: str
    """With its version, `name@1`: another formula is another version.

    Plain accuracies have none.
    """
    about: str = ""
    """What it is, in a line."""
    heading: str = ""
    """Its column in the report's first table; without, its id says it."""
    forms: tuple[str, ...] = ()
    """The kinds of answer it is about; empty if it is about any."""
    of_answer: Callable[[Given], float | None] | None = None
    """The value of one answer that was read; one that was not counts as 0.

    None where it is undefined.
    """
    applies: Callable[[Item, Simple], bool] = always
    """Whether an answer of these forms has it."""
    of_columns: Callable[[Columns], NDArray[np.float64]] | None = None
    """The value of each row, NaN where it has none; without, that of the answer."""
    over_rows: Callable[[Rows, int], Estimate | None] | None = None
    """A value of many answers together, with its interval; the number seeds what is resampled."""
    bounds: tuple[float, float] = (0.0, 1.0)
    """The least and the greatest possible value."""
    higher_is_better: bool = True
    shown: frozenset[Shown] = frozenset()
    of_hidden: bool = False
    """Whether it is about items that the profile hides, which all others leave out."""
    by_item: bool = False
    """Whether it reads more of the item than its answer, options and tags."""
    blind: bool = True
    """Whether it says something of rows that do not look."""
    golden: tuple[tuple[Any, Any, float], ...] = ()
    """Worked out by hand: what is said, the true answer, and the value;
    of metrics from elsewhere."""

    @property
    def column(self) -> str:
        """What stands above its values."""
        return self.heading or self.id.partition("@")[0]


_REGISTERED: dict[str, Metric] = {}


def register(*metrics: Metric) -> None:
    """Add metrics; a second one of an id is an error, whoever adds it."""
    for one in metrics:
        unknown = next((form for form in one.forms if form not in FORMS), None)
        if unknown is not None:
            fix = did_you_mean(unknown, FORMS)
            raise SitusError(f"metric {one.id!r}: unknown form {unknown!r}", fix=fix)
        if one.id in _REGISTERED:
            raise SitusError(f"metric {one.id!r} is there already", fix="give it another name")
        _REGISTERED[one.id] = one
    metrics_of.cache_clear()


def known_metrics() -> Mapping[str, Metric]:
    """Every metric by id, in the order in which tables show them."""
    _load()
    return _REGISTERED


def shown_in(*places: Shown) -> tuple[str, ...]:
    """The ids that any of the places shows."""
    return tuple(one.id for one in known_metrics().values() if not one.shown.isdisjoint(places))


@functools.lru_cache(maxsize=64)
def metrics_of(form: type[Simple]) -> tuple[Metric, ...]:
    """The metrics of single answers of one kind."""
    _load()
    return tuple(
        one
        for one in _REGISTERED.values()
        if one.of_answer is not None and any(FORMS[name] is form for name in one.forms)
    )


@functools.cache
def _load() -> None:
    """Those of Situs, then those that installed packages offer."""
    import situs.score.metrics.catalogue  # noqa: F401 - declares them

    for name in offered_names(GROUP):
        load_offered(GROUP, name)


Function = Callable[..., float | None]
_ARGUMENTS = ("said", "truth", "interval", "item")


def metric(
    name: str,
    *,
    forms: Iterable[str],
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
    shown: Iterable[str] = ("terminal", "comparison", "report"),
    heading: str = "",
    golden: Iterable[tuple[Any, Any, float]] = (),
) -> Callable[[Function], Function]:
    """Make a function a metric of single answers: it is then in `score`, its tables, `compare` and
    the report.

    The function may ask, by the names of its arguments, for what was `said`, the `truth`, the
    `interval` in which a number is right, and the `item`. It returns the answer's value, or None
    where that is undefined. An answer that could not be read counts as 0.

    Args:
        name: The id with its version, such as "close@1".
        forms: The kinds of answer it is about: yes_no, choice, choices, number, boxes, frames
            or grades.
        bounds: The least and the greatest possible value.
        higher_is_better: False for errors.
        shown: Where it is shown beside the JSON: terminal, tag, breakdown, comparison, report,
            leaderboard.
        heading: Its column in the report's leaderboard; without, its id says it.
        golden: (said, truth, value) worked out by hand; each is tried at once.

    Raises:
        SitusError: The id is taken, a form or argument is not known, or a golden value is missed.

    Example:
        >>> @metric("close@1", forms=["number"], golden=[(12.0, 10.0, 0.8)])
        ... def close(said, truth):
        ...     return max(0.0, 1.0 - abs(said - truth) / truth) if truth else None
    """

    def added(function: Function) -> Function:
        vectors = tuple(golden)
        value = _called(name, function)
        register(
            Metric(
                id=name,
                about=summary(function),
                heading=heading,
                forms=tuple(forms),
                of_answer=value,
                bounds=bounds,
                higher_is_better=higher_is_better,
                by_item="item" in inspect.signature(function).parameters,
                shown=frozenset(_place(name, one) for one in shown),
                golden=vectors,
            )
        )
        for said, truth, expected in vectors:
            computed = function(**_only(function, {"said": said, "truth": truth}))
            if computed is None or abs(computed - expected) > 1e-9:
                problem = (
                    f"metric {name!r} gives {computed} for {said!r} and {truth!r}, not {expected}"
                )
                raise SitusError(problem, fix="correct the function or its golden value")
        return function

    return added


def _place(name: str, place: str) -> Shown:
    # A function of whole answers says nothing of one score of many.
    known = [str(one) for one in Shown if one is not Shown.SUB_SCORE]
    if place not in known:
        fix = did_you_mean(place, known)
        raise SitusError(f"metric {name!r}: unknown place {place!r}", fix=fix)
    return Shown(place)


def _called(name: str, function: Function) -> Callable[[Given], float | None]:
    odd = next(
        (one for one in inspect.signature(function).parameters if one not in _ARGUMENTS), None
    )
    if odd is not None:
        fix = f"it may ask for {', '.join(_ARGUMENTS)}"
        raise SitusError(f"metric {name!r}: its function asks for {odd!r}", fix=fix)

    def value(given: Given) -> float | None:
        answer = float(given.said) if isinstance(given.said, Fraction) else given.said
        interval = given.answer.interval if isinstance(given.answer, Number) else None
        known = {"said": answer, "truth": given.truth, "interval": interval, "item": given.item}
        computed = function(**_only(function, known))
        return None if computed is None else float(computed)

    return value


def _only(function: Function, known: Mapping[str, Any]) -> dict[str, Any]:
    wanted = inspect.signature(function).parameters
    return {name: known.get(name) for name in wanted}
