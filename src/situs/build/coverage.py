"""What became of the studies a user gave:
which were used, which were lost, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from situs.base.text import counted
from situs.bench import SuspectStudy
from situs.errors import Problem, Severity, SitusError
from situs.items.arrangement.candidates import NO_PICTURE
from situs.items.masks.marks import NO_ROOM
from situs.items.masks.shared import CUT
from situs.volumes import StudySource

__all__ = ["Coverage", "coverage_of", "coverage_problems", "nothing_asked"]

_REASONS_SHOWN = 3
_OF_MARKS = {NO_ROOM.reason, NO_PICTURE.reason}
"""Why questions about marks are not asked, which every study has."""
_NAMES_SHOWN = 3
_FIXES = {
    "masks": "give studies with more structures, or --annotation manual if readers drew the masks"
}
"""Source of a bench → what to do where nothing can be asked."""
_FIX_OF_UNASKED = {
    "masks": (
        "add masks of organs or lesions; for knees with readers' grades use `situs build grades`"
    )
}
"""The same where nobody asks about the structures that are there,
such as cartilage and menisci alone."""
_FIX_OF_CUT = {
    "masks": "give scans that show their structures whole: of a part of one little can be asked"
}
"""The same where the scans cut most of what is there, such as a few slices of a body."""


class Coverage(msgspec.Struct, frozen=True):
    """Studies by what became of them."""

    found: int
    used: int
    """Those in the bench."""
    unreadable: int = 0
    without_image: int = 0
    """In the bench, but no model can be shown them."""
    off_grid: int = 0
    """Of those, the ones beside whose labels an image lies, but on another grid."""
    with_unknown_names: int = 0
    """In the bench, with structures that no vocabulary or name map knows."""
    without_questions: int = 0
    """In the bench, but nothing can be asked of them."""
    passed_over: int = 0
    """Folders with volumes that fit no layout."""


def coverage_of(
    sources: Sequence[StudySource],
    passed_over: Sequence[Path],
    problems: Sequence[Problem],
    without_questions: int,
) -> Coverage:
    """Count what became of the studies."""
    unreadable = sum(problem.code == "study" for problem in problems)
    return Coverage(
        found=len(sources),
        used=len(sources) - unreadable,
        unreadable=unreadable,
        without_image=sum(source.image is None for source in sources),
        off_grid=sum(bool(source.misfit) for source in sources),
        with_unknown_names=sum(problem.code == "names" for problem in problems),
        without_questions=without_questions,
        passed_over=len(passed_over),
    )


def coverage_problems(
    counts: Coverage,
    sources: Sequence[StudySource],
    passed_over: Sequence[Path],
    silent: Sequence[str],
) -> list[Problem]:
    """What was lost, why, and the cure; one line each.

    File and folder names are for the terminal of the user whose files they are; no bench holds
    them.
    """
    misfits = [source.misfit for source in sources if source.misfit]
    alone = [source.stem for source in sources if source.image is None and not source.misfit]
    rows = [
        (
            "grid",
            len(misfits),
            (
                f"{_of(len(misfits), counts.found)} no image on the grid of the labels"
                f" ({_first_names(misfits, most=1)})"
            ),
            "resample one onto the other",
        ),
        (
            "image",
            len(alone),
            (
                f"{_of(len(alone), counts.found)} no image: no model can be shown them"
                f" ({_first_names(alone)})"
            ),
            "put each image beside its labels, or list image and labels in a .csv table",
        ),
        (
            "names",
            counts.with_unknown_names,
            f"{_of(counts.with_unknown_names, counts.found)} structures with unknown names",
            "name them with --names MAP.csv; `situs list names` shows what is known",
        ),
        (
            "questions",
            len(silent),
            f"{_of(len(silent), counts.used)} no question ({_first_names(silent)})",
            "see the table of questions not asked",
        ),
        (
            "layout",
            len(passed_over),
            (
                f"{_counted(len(passed_over), 'folder')} with volumes skipped: no known layout fits"
                f" ({_first_names([folder.name for folder in passed_over])})"
            ),
            "see `situs list layouts`, or list image and labels in a .csv table",
        ),
    ]
    return [
        Problem(Severity.WARNING, code, "studies", text, fix)
        for code, count, text, fix in rows
        if count
    ]


def _of(count: int, total: int) -> str:
    return f"{count} of {total} studies {'has' if count == 1 else 'have'}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _first_names(names: Sequence[str], most: int = _NAMES_SHOWN) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _names_lacking(problems: Sequence[Problem]) -> list[str]:
    """The unknown names of the first studies that differ in them, so that one map can hold all."""
    texts = [problem.problem.removesuffix("; not asked about") for problem in problems]
    shown = list(dict.fromkeys(texts))[:_REASONS_SHOWN]
    others = len(problems) - len(shown)
    if others:
        shown[-1] += f", and similarly in {others} more"
    return shown


def nothing_asked(
    source: str,
    studies: int,
    not_asked: dict[str, int],
    problems: Iterable[Problem],
    doubted: Sequence[SuspectStudy] = (),
) -> SitusError:
    """The error for a bench without a single question:
    the main reasons, and the cure of the first."""
    texts = [
        f"{count} × {reason}"
        for reason, count in sorted(not_asked.items(), key=lambda entry: -entry[1])
    ]
    unnamed = [problem for problem in problems if problem.code == "names"]
    fix = _FIXES.get(source, "check that the files hold what this command reads")
    if unnamed:
        texts[:0] = _names_lacking(unnamed)
        fix = "name the structures with --names MAP.csv; `situs list names` shows what is known"
    elif doubted:
        first = doubted[0]
        texts.insert(0, f"{first.study_id} looks wrong: {first.problem}")
        fix = f"repair the study, or vouch for it with --trust {first.study_id}"
    elif set(not_asked) <= _OF_MARKS:
        texts.insert(0, "they contain nothing that Situs can ask about")
        fix = _FIX_OF_UNASKED.get(source, fix)
    elif max(not_asked.keys() - _OF_MARKS, key=not_asked.__getitem__) == CUT.reason:
        fix = _FIX_OF_CUT.get(source, fix)
    why = "; ".join(texts[:_REASONS_SHOWN]) + ("; …" if len(texts) > _REASONS_SHOWN else "")
    return SitusError(
        f"no question can be asked of {counted(studies, 'study', 'studies')}: {why}", fix=fix
    )
