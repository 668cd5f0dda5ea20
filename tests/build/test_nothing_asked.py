"""What a user is told where a build has not one question: every reason with a cure that helps."""

from __future__ import annotations

from situs.build.coverage import nothing_asked
from situs.errors import Problem, Severity
from situs.items.masks.marks import NO_ROOM
from situs.items.masks.shared import CUT

NAMES = "no vocabulary knows"


def without_names(study: str, *labels: str) -> Problem:
    text = f"{len(labels)} structures {NAMES} ({', '.join(labels)}); not asked about"
    return Problem(Severity.WARNING, "names", study, text, "name them")


def test_one_name_map_can_hold_the_names_of_all_studies() -> None:
    problems = [
        without_names("a", "label_1", "label_5"),
        without_names("b", "label_1", "label_5"),
        without_names("c", "label_2"),
    ]
    error = nothing_asked("masks", 3, {NO_ROOM.reason: 3}, problems)
    assert "label_5" in error.problem
    assert "label_2" in error.problem
    assert "similarly in 1 more" in error.problem
    assert "--names" in str(error.fix)


def test_studies_that_lack_the_same_names_are_told_once() -> None:
    problems = [without_names(study, "label_1") for study in "abc"]
    error = nothing_asked("masks", 3, {}, problems)
    assert error.problem.count("label_1") == 1
    assert "similarly in 2 more" in error.problem


def test_scans_that_cut_what_they_show_are_cured_by_other_scans_not_by_readers() -> None:
    asked = {NO_ROOM.reason: 5, CUT.reason: 3, "fewer than three whole vertebrae annotated": 2}
    error = nothing_asked("masks", 1, asked, [])
    assert "whole" in str(error.fix)
    assert "--annotation" not in str(error.fix)
    few = nothing_asked("masks", 1, asked | {"contact too close to call": 9}, [])
    assert "--annotation" in str(few.fix)
