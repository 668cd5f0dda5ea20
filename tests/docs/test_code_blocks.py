"""Code in the docs is shown as code, on the site as well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
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
