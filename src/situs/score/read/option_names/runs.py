"""Letters named by the first and the last of them: "A–D", "A through C"."""

from __future__ import annotations

import re

from situs.score.read.option_names.phrases import ALPHABET

__all__ = ["without_runs", "written_runs"]

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
