"""A planted guesser: it writes as if it had read the scan, and never looks at a picture.

What it says depends on the words of the question alone. Its score is what fluent prose is worth.
"""

from __future__ import annotations

import re
import zlib

from situs.clients import Request

__all__ = ["ConfidentGuesser", "guess", "options_of"]

_QUESTION = re.compile(r"[^\n]*\?[^\n]*")
"""The question without its options and what a prompt says around it."""
_OPTION = re.compile(r"^\(([A-Z])\) (.+)$", re.MULTILINE)
_TYPICAL = {
    "spleen": 200.0, "liver": 1500.0, "kidney": 150.0, "lesion": 20.0, "in cm": 11.0,
    "in mm": 25.0, "how many times": 2.0, "how many": 1.0, "pancreas": 75.0,
}  # fmt: skip
"""Word of the question → the number it gives; the last one that occurs counts."""
_OPENINGS = (
    "On careful review of the axial slices the findings are clear.",
    "The scan shows the relevant anatomy in excellent detail.",
    "Having scrolled through the whole stack, I am confident.",
    "This is well demonstrated on the middle slices.",
)


def options_of(words: str) -> dict[str, str]:
    """Letter → text of the options in a prompt."""
    return dict(_OPTION.findall(words))


def guess(words: str) -> str:
    """An answer in the form asked for, from the words alone; equal words get equal answers."""
    options = options_of(words)
    asked = _QUESTION.search(words)
    chance = zlib.crc32((asked[0] if asked else words).encode())
    if options:
        favourite = sorted(options.values())[chance % len(options)]
        return f"({next(letter for letter, text in options.items() if text == favourite)})"
    if "yes or no" in words:
        return ("Yes.", "No.")[chance % 2]
    if "JSON" in words:
        return '[{"frame": 16, "box": [180, 140, 220, 180]}]'
    if "first and the last" in words:
        return "14 to 18"
    question = words.lower()
    number = [value for word, value in _TYPICAL.items() if word in question]
    return f"{number[-1] if number else 10.0:g}"


class ConfidentGuesser:
    """Fluent, confident, blind."""

    remote = False
    concurrency = 1

    def answer(self, request: Request) -> str:
        """One reply; the pictures are not touched."""
        words = request.text()
        opening = _OPENINGS[zlib.crc32(words.encode()) % len(_OPENINGS)]
        return f"{opening} {guess(words)}"
