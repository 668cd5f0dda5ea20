"""What became of the studies a user gave: which were used, which were lost, why, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from situs.bench import SuspectStudy
from situs.errors import Problem, Severity, SitusError
from situs.volumes import StudySource

__all__ = ["Coverage", "coverage_of", "coverage_problems", "nothing_asked"]

_REASONS_SHOWN = 3
_FOLDERS_SHOWN = 3
_FIXES = {"masks": "give studies with more structures, or --annotation manual if readers drew the masks"}
"""Source of a bench → what to do where nothing can be asked."""


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
    sources: Sequence[StudySource], passed_over: Sequence[Path], problems: Sequence[Problem], without_questions: int
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


def coverage_problems(counts: Coverage, sources: Sequence[StudySource], passed_over: Sequence[Path]) -> list[Problem]:
    """What was lost, why, and the cure; one line each."""
    off_grid = next((source.misfit for source in sources if source.misfit), "")
    without = counts.without_image - counts.off_grid
    rows = [
        (
            counts.off_grid,
            "grid",
            f"{counts.off_grid} of {counts.found} studies have no image on the grid of their labels: {off_grid}",
            "resample one onto the other",
        ),
        (
            without,
            "image",
            f"{without} of {counts.found} studies have no image: no model can be shown them",
            "put each image beside its labels, or list image and labels in a .csv table",
        ),
        (
            counts.with_unknown_names,
            "names",
            f"{counts.with_unknown_names} of {counts.found} studies hold structures with unknown names",
            "name them with --names MAP.csv; `situs list names` shows what is known",
        ),
        (
            counts.without_questions,
            "questions",
            f"{counts.without_questions} of {counts.used} studies give no question",
            "the table of what was not asked says why",
        ),
        (
            counts.passed_over,
            "layout",
            f"{counts.passed_over} folders with volumes fit no layout and were passed over ({_shown(passed_over)})",
            "see `situs list layouts`, or list image and labels in a .csv table",
        ),
    ]
    return [Problem(Severity.WARNING, code, "studies", text, fix) for count, code, text, fix in rows if count]


def _shown(folders: Sequence[Path]) -> str:
    """Folder names are for the terminal of the user whose folders they are; no bench holds them."""
    names = [folder.name for folder in folders[:_FOLDERS_SHOWN]]
    return ", ".join(names) + (", …" if len(folders) > _FOLDERS_SHOWN else "")


def nothing_asked(
    source: str,
    studies: int,
    not_asked: dict[str, int],
    problems: Iterable[Problem],
    doubted: Sequence[SuspectStudy] = (),
) -> SitusError:
    """The error for a bench without a single question: the main reasons, and the cure of the first."""
    texts = [f"{count} × {reason}" for reason, count in sorted(not_asked.items(), key=lambda entry: -entry[1])]
    unnamed = sum(problem.code == "names" for problem in problems)
    fix = _FIXES.get(source, "check that the files hold what this command reads")
    if unnamed:
        texts.insert(0, f"structures with names that no vocabulary knows in {unnamed} of them")
        fix = "name the structures with --names MAP.csv; `situs list names` shows what is known"
    elif doubted:
        first = doubted[0]
        texts.insert(0, f"{first.study_id} looks wrong: {first.problem}")
        fix = f"repair the study, or vouch for it with --trust {first.study_id}"
    elif not texts:
        texts = ["they hold nothing that a question is known for"]
    counted = "1 study" if studies == 1 else f"{studies} studies"
    why = "; ".join(texts[:_REASONS_SHOWN]) + ("; …" if len(texts) > _REASONS_SHOWN else "")
    return SitusError(f"no question can be asked of {counted}: {why}", fix=fix)
