"""Code in the docs is shown as code, on the site as well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_STARTS_A_LIST = re.compile(r"(?:[-*] |1\. )")
_NUMBERED = re.compile(r"(\d+)\. ")
_LIST_ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s")


@pytest.mark.parametrize("page", sorted(_ROOT.glob("docs/**/*.md")), ids=lambda page: page.stem)
def test_no_indented_code_follows_a_list(page: Path) -> None:
    """Python-Markdown takes four blanks after a list for a paragraph of its last item:
    such code is fenced."""
    lines = page.read_text("utf-8").splitlines()
    fenced = False
    for number, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        if fenced or not re.match(r" {4}\S", line) or (number and lines[number - 1]):
            continue
        above = number - 1
        while above > 0 and (not lines[above] or lines[above].startswith(" ")):
            above -= 1
        assert not _LIST_ITEM.match(lines[above]), f"line {number + 1}: fence this code"


@pytest.mark.parametrize("page", sorted(_ROOT.glob("docs/**/*.md")), ids=lambda page: page.stem)
def test_lists_are_lists_on_the_site_as_well(page: Path) -> None:
    """Python-Markdown begins no list right below a line of text, and begins to count anew after
    whatever ends one."""
    reached, above, fenced = 0, "", False
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if line.startswith("```"):
            fenced, reached = not fenced, 0
        elif not fenced:
            if _STARTS_A_LIST.match(line) and above and above[0] not in " #":
                fault = f"line {number}: leave the line above the list empty"
                assert _LIST_ITEM.match(above), fault
            item = _NUMBERED.match(line)
            if item:
                assert int(item[1]) in (1, reached + 1), f"line {number}: the site calls it 1"
                reached = int(item[1])
            elif line and not line.startswith(" ") and not above:
                reached = 0
        above = line
