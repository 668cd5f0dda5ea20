"""Questions how far down or up a structure reaches, and replies that tell where it ends.

"It ends two slices above the pole" and "it does not reach that far down" say that its end is not
below. Only where this is asked: a spleen that ends below the kidney's upper pole need not lie
below it.
"""

from __future__ import annotations

import re

__all__ = ["with_ends_as_places"]

_ASKED = re.compile(
    r"^do(?:es)? [^?]+? (?:reach|extend|go|come|end|stop)(?: down| up)? (?:above|below) ",
    re.IGNORECASE,
)
_MEASURE = (
    r"(?:(?:only |just |about |around |roughly |approximately |some )?"
    r"(?:[0-9]+(?:\.[0-9]+)?|an?|one|two|three|four|five|six|several|a few)(?: full)?"
    r" ?(?:mm|cm|millimet(?:er|re)s?|centimet(?:er|re)s?|slices?|sections?|levels?|vertebrae?) )?"
)
_ENDS = re.compile(
    r"\b(?:does |do )?(?:reach(?:es)?|extends?|goes|go|ends?|stops?|terminates?|finishes|lies)"
    rf"(?: down| up)? (?:well |just |clearly |slightly )?{_MEASURE}(?=(?:above|below)\b)",
    re.IGNORECASE,
)
_FAR = re.compile(
    r"\b(?:(?P<not>does not|doesn't|do not|don't) )?(?:reach(?:es)?|extends?|goes|go|comes?)"
    r" (?:that|so|as|this) (?:far|much) (?P<way>down|up)\b",
    re.IGNORECASE,
)


def with_ends_as_places(plain: str, question: str) -> str:
    """The reply with where a structure ends as where it is, if the question asks for its end."""
    if not _ASKED.match(question.strip()):
        return plain
    return _FAR.sub(
        lambda match: (
            f"is{' not' if match['not'] else ''} {'below' if match['way'] == 'down' else 'above'}"
        ),
        _ENDS.sub("is ", plain),
    )
