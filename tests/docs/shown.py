"""The `situs …` lines that README and docs show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["PAGES", "prose_spans", "shown_commands"]

_ROOT = Path(__file__).parents[2]
PAGES = [_ROOT / "README.md", _ROOT / "CONTRIBUTING.md", *sorted((_ROOT / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    (situs .*)$", re.MULTILINE)
# A remark behind a command stands behind a hash, or two blanks or more away from it in an indented
# list.
_REMARK = re.compile(r"\s+#.*$|\s{3,}(?!-).*$")


def _lines(text: str) -> Iterator[str]:
    for language, block in _FENCE.findall(text):
        if language in ("", "sh", "bash", "console"):
            yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    yield from _INDENTED.findall(_FENCE.sub("", text))


def shown_commands(path: Path) -> Iterator[str]:
    """The commands of a page, without remarks, in order, each once."""
    seen = set()
    for line in _lines(path.read_text("utf-8")):
        for part in re.split(r"&&|\|(?!\|)|;", _REMARK.sub("", line)):
            words = part.strip().removeprefix("$ ")
            if words.startswith("situs ") and words not in seen:
                seen.add(words)
                yield words


def prose_spans(path: Path) -> list[str]:
    """The pieces of code in the running text of a page."""
    prose = _FENCE.sub("", path.read_text("utf-8"))
    return [span for span in re.findall(r"`([^`\n]+)`", prose) if span.strip()]
