"""Places that a sentence names:
sides, lobes, segments, organs and their parts, vertebral levels."""

from __future__ import annotations

import re

import msgspec

__all__ = ["LEVEL", "LOBES", "SEGMENTS", "Named", "named_places"]

_SIDE = re.compile(r"\b(right|left)\b")
_BOTH = re.compile(r"\b(?:both|bilateral\w*|each)\b")
_LOBE = re.compile(
    r"\b(upper|middle|lower)(?= lobes?\b|(?:,| and| or)"
    r" (?:upper|middle|lower)\b[^.;]{0,12}\blobes?\b)"
)
_LINGULA = re.compile(r"\blingul\w*")
_LUNG = re.compile(
    r"\b(?:lungs?|pulmonary|ha?emithora\w+|(?:upper|middle|lower)"
    r" lobes?|pleura\w*|lingul\w*|\w+basal)\b"
)
_BESIDE_LOBE = re.compile(
    r"\band (?:in |at |on )?(?:the )?(?:\w+"
    r" ){0,3}(?:parts?|zones?|areas?|regions?|levels?|fissures?|apex|apices|"
    r"bases?|hil\w+|side)\b"
)
"""A further place that is not told by lobe."""
_SEGMENT_NAMES = (
    r"superior lingular|inferior"
    r" lingular|anteromediobasal|apicoposterior|posterobasal|laterobasal|anterobasal|"
    r"mediobasal|superior|inferior|apical|anterior|posterior|medial|lateral|basal"
)
_SEGMENT = re.compile(rf"\b(?:{_SEGMENT_NAMES})\b")
_SEGMENTS = re.compile(
    rf"\b(?:{_SEGMENT_NAMES})\b(?:(?: ?(?:,|/|-|and|or) ?| )+(?:{_SEGMENT_NAMES})\b)*(?="
    r" (?:sub)?segment)"
)
_BASAL = re.compile(r"\b(?:antero|postero|latero|medio|anteromedio)basal\b")
_ORGANS = {
    "kidney": r"kidneys?|renal",
    "adrenal": r"adrenal|surrenal",
    "liver": r"liver|hepatic",
    "thyroid": r"thyroid",
    "breast": r"breasts?|mammary",
    "spleen": r"spleen|splenic",
    "pancreas": r"pancrea\w+",
    "vertebra": r"vertebra\w*|corpus|endplates?|end plateaus?|spine",
    "heart": (
        r"heart|cardiac|atri\w+|ventric\w+|coronary|aort\w+|pericard\w+|arter(?:y|ies|ial)|veins?|"
        r"venous|vena|lad"
    ),
    "gallbladder": r"gall ?bladder|bile|biliary|choledoch\w*",
    "chest wall": (
        r"axilla\w*|ribs?|costal|clavicl\w*|sternum|scapula\w*|humer\w+|muscle\w*|chest"
        r" wall|shoulder\w*|"
        r"subcutaneous|skin"
    ),
    "bowel": r"stomach|gastric|colon|bowel|intestin\w+|esophag\w+|oesophag\w+|hiat\w+",
    "mediastinum": r"mediastin\w+|trachea\w*|paratrach\w+|subcarinal|bronch(?:us|i)",
}
_HAS_ORGAN = {name: re.compile(rf"\b(?:{words})\b") for name, words in _ORGANS.items()}
_POLE = re.compile(
    r"(?<![-\w])(upper|lower|middle|mid)(?= (?:poles?|zones?|thirds?|part|section)\b)"
)
_LIVER_LOBE = re.compile(r"\b(right|left)(?= lobes?\b)")
LEVEL = re.compile(
    r"\b(th|dh|[tldc]) ?-?(\d{1,2})\b((?:\s*(?:[-–—/,&]|and|to)\s*\d{1,2}\b(?!\s?(?:mm|cm|%)))*)"
)
"""`T10`, and the further ones of `T10-11` and `T5, 6 and 7`."""
_REGION = {"th": "T", "dh": "T", "d": "T"}
"""Thoracic vertebrae are also called D, Dh or Th."""

LOBES = {
    "right upper": "the right upper lobe",
    "right middle": "the right middle lobe",
    "right lower": "the right lower lobe",
    "left upper": "the left upper lobe",
    "left lower": "the left lower lobe",
}
SEGMENTS = {
    "right upper": ("apical", "anterior", "posterior"),
    "right middle": ("medial", "lateral"),
    "right lower": ("superior", "mediobasal", "anterobasal", "laterobasal", "posterobasal"),
    "left upper": ("apicoposterior", "anterior", "superior lingular", "inferior lingular"),
    "left lower": ("superior", "anteromediobasal", "laterobasal", "posterobasal"),
}


class Named(msgspec.Struct, frozen=True):
    """Everything a sentence names as a place;
    what is not single is for the reader of it to refuse."""

    organs: frozenset[str]
    sides: frozenset[str]
    """`left`, `right`, `both`."""
    lobes: frozenset[str] = frozenset()
    """Of the lung: `upper`, `middle`, `lower`,
    and `elsewhere` for a place beside them without a lobe."""
    segments: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    """Of kidney (`upper`, `middle`, `lower`) or liver (`left`, `right`)."""
    levels: frozenset[str] = frozenset()

    @property
    def consistent(self) -> bool:
        """Whether lobe, segment and side can go together at all."""
        if len(self.lobes) == 1 and len(self.sides) == 1 and "both" not in self.sides:
            (lobe,), (side,) = self.lobes, self.sides
            known = SEGMENTS.get(f"{side} {lobe}")
            return known is not None and (len(self.segments) != 1 or self.segments <= set(known))
        return True


def named_places(sentence: str) -> Named:
    """The places of a sentence in lower case."""
    organs = {name for name, pattern in _HAS_ORGAN.items() if pattern.search(sentence)}
    if _LUNG.search(sentence) and "kidney" not in organs and "liver" not in organs:
        organs.add("lung")
    sides = {match[1] for match in _SIDE.finditer(sentence)} | (
        {"both"} if _BOTH.search(sentence) else set()
    )
    lobes: set[str] = set()
    segments: set[str] = set()
    parts: set[str] = set()
    if "lung" in organs:
        lobes = {match[1] for match in _LOBE.finditer(sentence)}
        if lobes and _BESIDE_LOBE.search(sentence):
            lobes.add("elsewhere")
        if _LINGULA.search(sentence):
            lobes.add("upper")
            sides.add("left")
        if _BASAL.search(sentence):
            lobes.add("lower")
        if lobes == {"middle"} and not sides:
            sides.add("right")
        segments = {
            name
            for segment_match in _SEGMENTS.finditer(sentence)
            for name in _SEGMENT.findall(segment_match[0])
        }
        segments |= set(_BASAL.findall(sentence))
    if "kidney" in organs:
        parts = {"middle" if match[1] == "mid" else match[1] for match in _POLE.finditer(sentence)}
    elif "liver" in organs:
        parts = {match[1] for match in _LIVER_LOBE.finditer(sentence)}
    levels = {
        f"{_REGION.get(match[1], match[1].upper())}{int(number)}"
        for match in LEVEL.finditer(sentence)
        for number in (match[2], *re.findall(r"\d+", match[3]))
    }
    return Named(
        frozenset(organs),
        frozenset(sides),
        frozenset(lobes),
        frozenset(segments),
        frozenset(parts),
        frozenset(levels),
    )
