"""Numbers of frames, however they are written."""

from __future__ import annotations

import re

from situs.score.read.numbers.literals import WORD, word_value
from situs.score.read.numbers.ordinals import ORDINAL, ordinal_value
from situs.score.read.numbers.words import digits_for_words

__all__ = ["in_digits"]

_IN_WORDS = re.compile(
    r"(?:(?<=slice )|(?<=frame )|(?<=slices )|(?<=frames )|(?<=image )|(?<=images"
    rf" ))(?:{WORD.pattern})\b"
    rf"|\b(?!one\b)(?:{WORD.pattern})(?= (?:to|through|until|up to) |[ .]*$)|(?:(?<= to )|(?<="
    r" through )|(?<= until ))"
    rf"(?:{WORD.pattern})\b",
    re.IGNORECASE,
)
# "S8–S22": slices, where the last of two vertebrae of the sacrum would be S5.
_SHORT = re.compile(r"\b[Ss]([0-9]{1,3})\s*(?:-|–|—|to)\s*[Ss]((?:[6-9]|[0-9]{2,3}))\b")
# "14,15,16": numbers of pictures have no decimals, so that a comma between them parts them.
_TIGHT = re.compile(r"(?<=[0-9]),(?=[0-9]{1,2}(?![0-9]))")
_AFTER_LABEL = re.compile(
    r"\b((?:slices?|frames?|images?|first|last|start|end)(?: is| ?[:=])?"
    rf" )(?!one\b)({WORD.pattern})",
    re.IGNORECASE,
)

_PICTURE = r"(?:axial )?(?:slice|frame|image|picture)s?\b"
_JOINED = r",? (?:and|to|through|until|up to|or)(?: the)? "
# "The fourth lesion" and "the second to last slice" count no pictures from the first on.
_ORDINAL = re.compile(
    rf"\b(?:{ORDINAL.pattern})(?![- ](?:to[- ](?:the[- ])?)?last\b)"
    rf"(?=(?:(?:{_JOINED}|, (?:the )?)(?:{ORDINAL.pattern}))* {_PICTURE})"
    r"|(?:(?<= on the )|(?<= at the )|(?<= to the )|(?<= with the )|(?<= through the ))"
    rf"(?:{ORDINAL.pattern})(?= ?(?:[.;\n]|$))"
    rf"|\b(?:{ORDINAL.pattern})"
    rf"(?= (?:to|through|until) (?:the )?(?:{ORDINAL.pattern}) ?(?:[.;\n]|$))"
    rf"|(?<= to )(?:{ORDINAL.pattern})(?= ?(?:[.;\n]|$))",
    re.IGNORECASE,
)


def in_digits(plain: str) -> str:
    """With the numbers of frames that are written as words in digits;
    other words for numbers stay."""
    plain = _SHORT.sub(r"slices \1 to \2", plain)
    plain = _ORDINAL.sub(lambda match: str(ordinal_value(match[0])), plain)
    plain = _IN_WORDS.sub(lambda match: str(word_value(match[0])), digits_for_words(plain))
    plain = _AFTER_LABEL.sub(lambda match: f"{match[1]}{word_value(match[2])}", plain)
    return _TIGHT.sub(", ", plain)
