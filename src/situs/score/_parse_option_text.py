"""Options named by their words: which are mentioned in a text, and which of these are denied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from situs.items._record import Option

__all__ = ["Mention", "OptionWords", "fold"]

_UNIT_GAP = re.compile(r"(?<=[0-9]) ?(?=(?:%|mm|cm|ml|m|l)\b|%)")
_ARTICLE = re.compile(r"(?:the|a|an) ")
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|no|without|cannot|rather than|instead of|unlike|exclud\w*|rul\w* out|eliminat\w*|"
    r"less likely)|n't)"
    r"(?: (?:the|a|an|to|be|in|on|at|of|is|it|option|answer|really|quite|exactly|just|seen|located|lie|lies))* ?\(?$"
)
_BOUNDED = re.compile(r"(?:\b(?:\w+er|more|less) than|\bat least|\bat most|\bup to|\bover|\bunder|[<>≤≥]) ?$")
_DENIED_AFTER = re.compile(
    r"\)?(?: [a-z]+)? (?:is|are|was|were|seems?|appears?|looks?|can be|could be|would be|does|do|has been) (?:\w+ly )?"
    r"(?:not|un(?:likely|true)|incorrect|wrong|false|excluded|ruled out|eliminated|less likely|implausible|"
    r"impossible|out)\b"
    r"|\)?(?: [a-z]+)? (?:isn't|aren't|wasn't|doesn't|cannot|can't|cannot be)\b"
)

# What something is compared with is not what is said of it.
_STANDARD = re.compile(
    r"\b(?:than|compared (?:with|to)|in comparison (?:with|to)|relative to|versus|vs\.?)(?: [a-z'-]+){0,4} ?\(?$"
)
_SIDED = re.compile(r"\b(?:left|right|top|bottom|upper|lower)\b")
_PICTURE = r"(?:image|picture|screen|slice|display|photo|scan|figure|frame|view|page|panel|viewer|film|monitor)s?"
_OF_PICTURE = re.compile(
    r"(?: hand)?(?: (?:side|half|part|edge|portion|corner))? (?:of|in|on) (?:the |this |each |every |my |your )?"
    rf"(?:[a-z]+ )?{_PICTURE}\b"
)
_PICTURE_BEFORE = re.compile(rf"\b{_PICTURE}(?:'s)? $")
# "In the image, it is on the left." may mean either left; "in the image, the left kidney …" names the kidney.
_PICTURE_LED = re.compile(
    rf"\b(?:in|on|within|from) (?:the |this |these |each )?(?:[a-z]+ )?{_PICTURE}\b[^.;!?]{{0,60}}"
    r"\b(?:on|to|at|towards?) (?:the )?$"
)
_SIDE_ALONE = re.compile(r"(?: hand)?(?: side)? ?(?:$|[.,;!?)])")
_DIRECTIONS = frozenset(
    {
        "left", "right", "above", "below", "behind", "front", "back", "anterior",
        "posterior", "superior", "inferior", "medial", "lateral", "top", "bottom", "up",
        "down", "inside", "outside", "over", "under", "before", "after",
    }
)  # fmt: skip
_DIRECTED = re.compile(
    r"(?:^|[.;:!?,(/\"&-] ?|'s |\b(?:on|to|in|at|from|the|its|is|are|was|were|be|towards?|or|and|but|more|lies?|sits?|"
    r"located|situated|positioned|placed|found|seen|extends?|appears?|directly|\w+ly|slightly|so|therefore|not|say|"
    r"answer|it's|directed|points?|pointing|further|farther|mostly) )$"
)
_NO_DIRECTION = re.compile(r"(?:\b(?:you are|you're|that is|that's|this is|which is|what is|is all|of the|as) )$")
_IDIOM_AFTER = {
    "right": re.compile(
        r" (?:behind|above|below|next|beside|besides|in|on|at|under|over|there|here|away|now|after|before|by|up|down|"
        r"through|between|where|into|around|against|along|about|to|near|answer|option|choice)\b"
        r"|, (?:so|let|i|now|here|ok|okay|this|we)\b"
    ),
    "left": re.compile(r" (?:to (?:see|say|do|be|show|assess)|over|out|alone|behind|with|untouched)\b"),
}
_ADJECTIVE = re.compile(
    r" (?:of|kidney|lobe|lung|side|sided|one|adrenal|ureter|half|ventricle|atrium|hip|femur|breast|upper|lower|middle|"
    r"hemi\w+|hand)\b"
)


def fold(text: str) -> str:
    """Case, quotes' and hyphens' variants and spacing made equal, so that the same words compare equal."""
    text = " ".join(text.casefold().replace("’", "'").replace("\u2212", "-").split())
    text = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", text)
    return _UNIT_GAP.sub(" ", text)


@dataclass(frozen=True, slots=True)
class Mention:
    """An option's words at a place of a folded text."""

    option: int
    start: int
    end: int
    denied: bool
    aside: bool = False
    """Named, but neither affirmed nor denied: what another thing is compared with, a side of the picture, an idiom."""
    of_picture: bool = False
    """A side of the picture, which may be the patient's other side."""


@dataclass(frozen=True, slots=True)
class OptionWords:
    """The options' words, ready to be found."""

    cores: tuple[str, ...]
    """Folded text of each option, without a leading article and outer punctuation."""

    @staticmethod
    def of(options: Sequence[Option]) -> OptionWords:
        """The words of these options."""
        return OptionWords(tuple(_core(option.text) for option in options))

    def exact(self, text: str) -> list[int]:
        """The options whose words are the whole text."""
        core = _core(text)
        return [index for index, own in enumerate(self.cores) if own and own == core]

    def mentions(self, folded: str, *, bare_numbers: bool) -> list[Mention]:
        """All mentions, longest words first, so that "left" inside "left kidney" is not counted twice.

        Single letters are never found: they are the letters' business. Plain numbers only with `bare_numbers`, since
        prose is full of other numbers; "yes" and "no" never, since "no" is mostly a determiner.
        """
        found: list[Mention] = []
        taken = bytearray(len(folded))
        by_length = sorted(set(self.cores), key=lambda core: (-len(core), core))
        for core in by_length:
            if len(core) < 2 and not (core.isdigit() and bare_numbers):
                continue
            if core in {"yes", "no", "true", "false"} or (core.replace(".", "").isdigit() and not bare_numbers):
                continue
            for match in _pattern(core).finditer(folded):
                if any(taken[match.start() : match.end()]):
                    continue
                taken[match.start() : match.end()] = b"\x01" * len(match[0])
                denied = _is_denied(folded, match.start(), match.end())
                of_picture = not denied and _is_of_picture(folded, core, match.start(), match.end())
                aside = of_picture or (not denied and _is_aside(folded, core, match.start(), match.end()))
                found += [
                    Mention(index, match.start(), match.end(), denied, aside, of_picture)
                    for index, own in enumerate(self.cores)
                    if own == core
                ]
        return sorted(found, key=lambda mention: (mention.start, mention.option))


def _core(text: str) -> str:
    folded = fold(text).strip(" .,;:!\"'")
    return _ARTICLE.sub("", folded, count=1) if _ARTICLE.match(folded) else folded


@lru_cache(maxsize=4096)
def _pattern(core: str) -> re.Pattern[str]:
    before = r"(?<!\w)(?<![0-9][.,])" + (r"(?<!-)" if core[0].isdigit() else "")
    return re.compile(before + re.escape(core) + r"(?!\w)(?![.,][0-9])")


def _is_denied(folded: str, start: int, end: int) -> bool:
    before = folded[max(0, start - 60) : start]
    if folded[start].isdigit() and _BOUNDED.search(before):  # "more than 5 cm" does not say 5 cm
        return True
    return bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.match(folded, end, end + 60))


def _is_of_picture(folded: str, core: str, start: int, end: int) -> bool:
    """Whether a side is that of the picture, as far as the words tell."""
    if not _SIDED.search(core) or re.search(rf"\b{_PICTURE}\b", core):
        return False
    if _OF_PICTURE.match(folded, end, end + 60) or _PICTURE_BEFORE.search(folded[max(0, start - 60) : start]):
        return True
    return bool(_PICTURE_LED.search(folded[max(0, start - 100) : start]) and _SIDE_ALONE.match(folded, end))


def _is_aside(folded: str, core: str, start: int, end: int) -> bool:
    before = folded[max(0, start - 60) : start]
    if _STANDARD.search(before):
        return True
    if core not in _DIRECTIONS:
        return False
    idiom = _IDIOM_AFTER.get(core)
    if (idiom and idiom.match(folded, end, end + 30)) or _NO_DIRECTION.search(before):
        return True
    return not _DIRECTED.search(before) and not _ADJECTIVE.match(folded, end, end + 20)
