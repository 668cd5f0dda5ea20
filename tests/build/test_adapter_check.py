"""`situs adapter-check`, with the plugin that the documentation shows."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from situs.probe.adapter_check import _ability

DOCS = Path(__file__).parents[2] / "docs" / "plugins.md"
SMALL = """
name = "small"
about = "few small slices"
gives = ["side_convention", "view_convention", "scale", "slice_order", "frame_count", "anchor"]
[view]
plane = "axial"
slices = 16
size_px = 64
[window.ct]
low = -160.0
high = 240.0
[prompt]
intro = "You see {what} of one patient{order}. {sides} {spacing}"
intro_pixels = "You see {what} of one patient{order}."
yes_no = "Answer with yes or no."
choice = "Answer with the letter of the right option."
number = "Answer with one number{in_unit}."
"""

WRONG = """
from bright import Bright

class Mirrored(Bright):
    def answer(self, request):
        said = super().answer(request)
        return {"A": "B", "B": "A"}[said] if "On which side" in request.text() else said

class Blind:
    remote = False
    def answer(self, request):
        return "(A)"
"""


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The example's code, in the folder the command is called in."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    (tmp_path / "bright.py").write_text(code)
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "wrong.py").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("bright", "wrong"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return code


def verdicts(ran) -> dict[str, str]:
    return {row["ability"]: row["verdict"] for row in json.loads(ran.out)["abilities"]}


def test_the_documented_example_is_thirty_lines_and_sees_all(example, situs) -> None:
    assert len(example.splitlines()) <= 32
    ran = situs(
        "adapter-check", "plugin:bright:Bright", "--profile", "small.toml", "--trials", 12, "--json"
    )
    assert set(verdicts(ran).values()) == {"sees"}, ran
    assert set(verdicts(ran)) == {"left_right", "front_back", "up_down", "slice_order"}
    assert ran.code == 0
    assert all(row["right"] == 12 and row["unread"] == 0 for row in ran.json["abilities"])


def test_a_flipped_axis_is_called_reversed_and_fails(example, situs) -> None:
    ran = situs(
        "adapter-check",
        "plugin:wrong:Mirrored",
        "--profile",
        "small.toml",
        "--trials",
        12,
        "--json",
    )
    assert verdicts(ran) == {
        "left_right": "reversed",
        "front_back": "sees",
        "up_down": "sees",
        "slice_order": "sees",
    }
    assert ran.code == 1


def test_a_blind_adapter_stays_inside_chance(example, situs) -> None:
    """Always the first letter: right as often as a coin, since options and answers are balanced."""
    ran = situs(
        "adapter-check", "plugin:wrong:Blind", "--profile", "small.toml", "--trials", 12, "--json"
    )
    assert set(verdicts(ran).values()) <= {"does not see", "cannot be told"}
    assert ran.code == 1


def test_what_the_profile_does_not_tell_is_not_asked_of_the_adapter(
    example, situs, tmp_path
) -> None:
    silent = SMALL.replace("{sides} ", "").replace('"side_convention", "view_convention", ', "")
    (tmp_path / "silent.toml").write_text(silent)
    ran = situs(
        "adapter-check",
        "plugin:bright:Bright",
        "--profile",
        "silent.toml",
        "--trials",
        12,
        "--json",
    )
    assert verdicts(ran) == {
        "left_right": "not given",
        "front_back": "not given",
        "up_down": "sees",
        "slice_order": "sees",
    }
    assert ran.code == 0


@pytest.mark.parametrize(
    ("right", "wrong", "verdict"),
    [
        (20, 0, "sees"),
        (18, 2, "sees"),
        (10, 10, "does not see"),
        (12, 8, "does not see"),  # P(at most 12 of 20 at 0.8) = 0.032
        (13, 7, "cannot be told"),  # P(at most 13 of 20 at 0.8) = 0.087
        (7, 13, "cannot be told"),
        (2, 18, "reversed"),
        (3, 0, "cannot be told"),
        (0, 0, "cannot be told"),
    ],
)
def test_what_neither_proves_sight_nor_excludes_it_cannot_be_told(
    right: int, wrong: int, verdict: str
) -> None:
    assert _ability("left_right", right, wrong, 20 - right - wrong, given=True).verdict == verdict
