"""Options named by the first and the last of them: "A–D", "A through C", "L2 through L4"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from situs.score.read.option_names.phrases import ALPHABET

__all__ = ["with_ranges_written", "without_runs", "written_runs"]

_RUN = re.compile(
    r"(?<![\w'.,-])(?:(?:options?|choices?|letters?) )?\(?(?P<first>[A-Z])\)?"
    r"(?: ?[–—] ?|-| ?\.\.\.? ?| ?… ?| (?:through|thru|to|up to|until) (?:option )?)"
    r"\(?(?P<last>[A-Z])\)?(?![\w'-])"
)
_SHORTEST = 2
"""Letters from the first to the last, if more than two stand for a run."""


def written_runs(plain: str, count: int) -> str:
    """The text with every letter of a run, as one chooses them: "A, B and C"."""

    def letters(match: re.Match[str]) -> str:
        run = _letters(match, count)
        return f"{', '.join(run[:-1])} and {run[-1]}" if run else match[0]

    return _RUN.sub(letters, plain)


def without_runs(plain: str, count: int) -> str:
    """The text with "the options" for a run: of those offered one is chosen, not all."""
    return _RUN.sub(lambda match: "the options" if _letters(match, count) else match[0], plain)


def _letters(match: re.Match[str], count: int) -> str:
    first, last = ALPHABET.index(match["first"]), ALPHABET.index(match["last"])
    return ALPHABET[first : last + 1] if _SHORTEST <= last - first < count > last else ""


_VERTEBRA = r"[CTLS][0-9]{1,2}"
_MEMBER = re.compile(
    rf"(?P<level>{_VERTEBRA})|(?P<noun>[a-z]+) (?P<number>[0-9]{{1,2}})", re.IGNORECASE
)
_RANGE = re.compile(
    rf"(?<![\w-])(?P<first>{_VERTEBRA}|[a-z]+ [0-9]{{1,2}})"
    r"(?: ?[–—-] ?| (?:all the way )?(?:down |up )?(?:through to|to|through|thru|until)"
    r" (?:and including )?)"
    rf"(?P<last>{_VERTEBRA}|[a-z]+ [0-9]{{1,2}})(?![\w-])",
    re.IGNORECASE,
)
_REGIONS = "ctls"


def with_ranges_written(plain: str, cores: Sequence[str]) -> str:
    """The text with every option of a range of vertebrae or numbers, where several are chosen.

    "L2 through L4" was read as its two ends.
    """
    places = {core: place for core in cores if (place := _place(core)) is not None}

    def members(match: re.Match[str]) -> str:
        ends = _place(match["first"]), _place(match["last"])
        if ends[0] is None or ends[1] is None or ends[0][0] != ends[1][0]:
            return match[0]
        low, high = sorted((ends[0], ends[1]))
        inside = sorted((place, core) for core, place in places.items() if low <= place <= high)
        if len(inside) < _SHORTEST:
            return match[0]
        named = [core for _, core in inside]
        return f"{', '.join(named[:-1])} and {named[-1]}"

    return _RANGE.sub(members, plain) if len(places) > _SHORTEST else plain


def _place(name: str) -> tuple[str, int, int] | None:
    """Where an option stands in the order of its kind; None for a name without such an order."""
    match = _MEMBER.fullmatch(name)
    if match is None:
        return None
    if match["level"]:
        return "vertebra", _REGIONS.index(name[0].lower()), int(name[1:])
    return match["noun"].lower(), 0, int(match["number"])
