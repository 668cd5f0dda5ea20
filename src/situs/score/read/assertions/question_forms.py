"""Questions that are asked in several ways, put into the one way that the readers of statements
know.

"Does the volume of the left kidney exceed 150 mL?" and "is the left kidney larger than 150 mL?" ask
the same, so a reply that states how things are must be read alike. Only wordings that mean the same
are exchanged; what is not listed stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["usual_form"]

_FIGURE = r"(?:[0-9]|(?:one|two|three|four|five|ten|twenty) )"
_FORMS = tuple(
    (re.compile(pattern, re.IGNORECASE), form)
    for pattern, form in (
        (r"^was (?:this|the) [a-z]+ (?:read|reported|described) as (?:showing|having) ([^?\n]+)\?$",
         r"Are there \1?"),
        (r"^did the reader record (.+?) for this (?:study|volume|scan) as a whole\?",
         r"Did the reader mark \1 in this volume?"),
        (r"^according to the reader, does this study as a whole show ",
         "According to the reader, does this volume show "),
        (r"^do(?:es)? the (?:reader's |readers' )?(?:annotations?|labels|marks)"
         r" (?:show|contain|include|name|list) ", "Did the reader mark "),
        # A length is measured from top to bottom; only the limit is compared.
        (r",? from top to bottom\?$", "?"),
        (rf"^does the (?:volume|length|size|diameter) of ([^?]+?) exceed (?={_FIGURE})",
         r"Is \1 larger than "),
        (rf"^does ([^?]+?) exceed (?={_FIGURE})", r"Is \1 larger than "),
        (rf"^is the (?:volume|size) of ([^?]+?) (?:more|greater|larger) than (?={_FIGURE})",
         r"Is \1 larger than "),
        (r"^does ([^?]+?) (?:lie|sit) (?=within|more than|farther than|further than|less than"
         r"|closer than|above|below|in front of|behind|to the (?:left|right) of)", r"Is \1 "),
        (r"^does ([^?]+?) (?:reach|extend|go) (higher|lower) than ", r"Is \1 \2 than "),
        (r"^do(es)? ([^?]+?) (?:reach|extend|go|come|end|stop|begin|start)(?: down| up)?"
         r" (?=above |below )", r"Is \2 "),
        (r"^is (?:the )?([a-z -]*cartilage) lost in ", r"Is there \1 loss in "),
        (r"^(?:is|are) there any ([^?]+?) (?=within [0-9]|in contact with|touching)", r"Is \1 "),
        (r"^(is|are|does|do) any ([^?]+?) (?=within [0-9]|in contact with|touch|more than [0-9])",
         r"\1 \2 "),
    )
)  # fmt: skip


@lru_cache(maxsize=1024)
def usual_form(question: str) -> str:
    """A yes/no question in the wording that the readers of statements know."""
    question = question.strip()
    for pattern, form in _FORMS:
        question = pattern.sub(form, question, count=1)
    return question
