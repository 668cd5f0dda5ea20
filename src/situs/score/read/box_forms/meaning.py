"""Which of the boxes in a reply are meant:
not those it denies, doubts, leaves again or says of another thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from situs.score.read.box_forms.record import Mention
from situs.score.read.prose.beside import just_before
from situs.score.read.prose.claims import Certainty, Claim, Role
from situs.score.read.prose.content import content_words, noun
from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english, language_file
from situs.score.read.prose.refusal import cannot_tell
from situs.score.read.prose.tokens import Mention as TextMention
from situs.score.read.prose.tokens import tokenise

__all__ = ["meant_boxes"]

_MOST_JUDGED = 60
"""Boxes of a reply whose sentences are read; longer lists are no prose."""
_OPEN = frozenset({Certainty.ASKED, Certainty.CONDITIONAL})
# "The ACL is at [..]", "The tear, just behind it, is at [..]", "Effusion: [..]": what a box is said
# to hold, right before it.
_HEADING = re.compile(
    r"(?:^|[.;,\n\])(]|\b(?:and|but|while)\b)[\s*•-]*(?:[0-9]{1,2}[.)])?\s*"
    r"(?:(?:on|in) (?:frame|slice|picture|image) [0-9]{1,4},? )?"
    r"(?:(?:so )?i(?:'d| would|'ve|)? (?:put|place|locate|mark|found|see|find) )?"
    r"(?:the |an? |this |there is an? )?"
    r"(?P<name>(?!(?:but|and|or|rather|instead|not)\b)[a-z][a-z -]{1,40}?)"
    r"(?:,(?: [a-z]+){1,6},|\s*\([a-z ,-]{1,60}\))?"
    r"\s*(?::|=|(?:,? (?:is|lies|sits|was|appears))?(?: (?:located|seen|visible|found|marked))?"
    r" (?:at|in|within|around)| (?:spans|occupies|covers|fills|measures|takes up)|)"
    r"(?:\s*(?:on |in )?(?:frame|slice|picture|image) [0-9]{1,4}[,:]?)?\s*$",
    re.IGNORECASE,
)
_LONGEST_HEADING = 80
_NO_NAMES = frozenset(
    {
        "abnormality", "answer", "area", "bbox", "bounding", "box", "boxes", "coordinate",
        "correction", "final",
        "finding", "first", "frame", "image", "it", "lesion", "location", "mark", "one", "output",
        "pathology",
        "picture", "pixel", "position", "rectangle", "region", "response", "result", "second",
        "slice", "target",
        "third", "xyxy", "update", "revised", "corrected", "new", "instead", "rather", "next",
        "detection",
    }
)  # fmt: skip
"""Content words of a heading that say nothing of what the box holds."""


def meant_boxes(prose: str, found: list[Mention], labels: Sequence[str] = ()) -> list[Mention]:
    """The boxes that the reply gives as its answer.

    Left out are those it denies, asks about or makes depend on something ("not [..] but [..]",
    "if it is flipped, [..]"), leaves again ("at first [..]", "[..] Correction: [..]"), offers as
    one of two ("[..] or [..]"), and those of another thing than a label names elsewhere
    ("The ACL is at [..], the tear at [..]").
    """
    if not 0 < len(found) <= _MOST_JUDGED:
        return found
    named = [TextMention(*box.span, index) for index, box in enumerate(found)]
    sentences = statements(prose, named, english(), apart=True)
    unmeant: set[int] = set()
    for sentence in sentences:
        unmeant |= {_box_of(claim) for claim in sentence.claims if _is_left(claim)}
        if cannot_tell(prose[sentence.start : sentence.end]):
            unmeant |= {_box_of(claim) for claim in sentence.claims if not claim.asserted}
        unmeant |= _alternatives(prose, sentence.claims)
    unmeant |= _superseded(prose, named, found, unmeant)
    unmeant |= _of_other_things(prose, found, labels)
    return [box for index, box in enumerate(found) if index not in unmeant]


def _box_of(claim: Claim) -> int:
    return int(str(claim.values[0]))


def _is_left(claim: Claim) -> bool:
    left = claim.denied or claim.retracted or claim.role is Role.WEAK
    return left or claim.certainty in _OPEN


def _alternatives(prose: str, claims: Sequence[Claim]) -> set[int]:
    """ "[..] or [..]": one of the two, which is not said."""
    either: set[int] = set()
    for one, other in pairwise(claims):
        if re.search(r"\bor\b", prose[one.end : other.start], re.IGNORECASE):
            either |= {_box_of(one), _box_of(other)}
    return either


def _superseded(
    prose: str, named: list[TextMention], found: list[Mention], unmeant: set[int]
) -> set[int]:
    """Boxes before a turn ("wait", "correction") where a box for the same frames comes after it."""
    turns = [token.start for token in tokenise(prose, named, english()) if token.kind == "turn"]
    return {
        index
        for index, box in enumerate(found)
        for later in range(index + 1, len(found))
        if later not in unmeant
        and found[later].frames == box.frames
        and any(box.span[1] <= turn < found[later].span[0] for turn in turns)
    }


def _of_other_things(prose: str, found: Sequence[Mention], labels: Sequence[str]) -> set[int]:
    """Boxes under a name that shares no word with the labels, where another box has such a name."""
    asked = _words(tuple(labels))
    if not asked:
        return set()
    names = [_heading(prose, box, asked) for box in found]
    # "The liver spans [..] and the lesion [..]": the last word of a label says what it is.
    heads = frozenset(content_words(label)[-1] for label in labels if content_words(label))
    asked = heads if any(name & heads for name in names) else asked
    if not any(name & asked for name in names):
        structures = _structures() - asked
        foreign = {index for index, name in enumerate(names) if name & structures}
        return foreign if len(foreign) < len(found) else set()
    return {index for index, name in enumerate(names) if name and not name & asked}


@lru_cache(maxsize=1)
def _structures() -> frozenset[str]:
    """Organs and bones, which a box may hold instead of a finding."""
    return frozenset(noun(word) for word in language_file("en")["numbers"]["structures"])


@lru_cache(maxsize=256)
def _words(labels: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for label in labels for word in content_words(label))


def _heading(prose: str, box: Mention, asked: frozenset[str]) -> set[str]:
    start = box.span[0]
    match = _HEADING.search(just_before(prose, start, _LONGEST_HEADING))
    words = set(content_words(match["name"])) if match else set()
    return set() if words & _NO_NAMES - asked else words
