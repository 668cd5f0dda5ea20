"""What a reply states on its way to the answer, read by rule, each statement checked against the
facts.

Only what a rule reads with certainty and a fact decides is checked; everything else is passed over
in silence. A statement that merely repeats the answer is no step, and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from situs.anatomy import Term, term
from situs.facts import LEVELS, Fact
from situs.items import Boxes, Frames, Item, mask_task, parts_of
from situs.run import Viewing
from situs.score import Parsed, base_value, parse_boxes, parse_frames, quantities, tube_iou
from situs.space import AXES, Axis, Direction, FrameBox

__all__ = ["Names", "Statement", "StudyFacts", "statements"]

_LONGEST = 20_000
"""Characters of a reply that are read."""
_CLEAR_MM = 10.0
"""Centres nearer to each other than this along an axis decide no direction."""
_TOLERANCE = 0.1
"""How far a stated number may be off where the fact has no interval, as a share."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_ANSWER = re.compile(
    r"\W*(?:final |the |my |so,? |thus,? |therefore,? )*(?:answer|option|choice)\b", re.IGNORECASE
)
_NOT = re.compile(r"\bnot\b|n't\b|\bneither\b|\bno\b", re.IGNORECASE)
_LARGER = re.compile(
    r"\b(larger|bigger|greater|smaller|longer|taller|shorter)\b[^.]{0,40}?\bthan\b", re.IGNORECASE
)
_DISTANCE = re.compile(
    r"\b(?:to the|from|away|distance|between|apart|within|near\w*|next to)\b", re.IGNORECASE
)
_SIDE = re.compile(
    r"\b(?:on|in|at|to|towards) (?:the |his |her |its )?(?:patient's )?(left|right)(?: side| half|"
    r" hemi\w+)?(?=\W|$)"
    r"(?! (?:of|kidney|lung|lobe|adrenal|femur|rib|hip))",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"\b(?:at|level of|level)\s+(?:the level of\s+)?(?:the\s+)?([CTL]\d{1,2}|S1)\b")
_FRAME = re.compile(
    r"\b(?:slices?|frames?|images?|pictures?)\s*(?:numbers?|#)?\s*\d", re.IGNORECASE
)
_BOX = re.compile(r"\[\s*-?[\d.]+(?:\s*,\s*-?[\d.]+){3}\s*\]")
_DIRECTIONS = {
    Direction.LEFT: r"(?:to the |lies |is )?left (?:of|to)",
    Direction.RIGHT: r"(?:to the |lies |is )?right (?:of|to)",
    Direction.ANTERIOR: r"(?:anterior to|in front of|ventral to)",
    Direction.POSTERIOR: r"(?:posterior to|behind|dorsal to)",
    Direction.SUPERIOR: r"(?:superior to|above|cranial to|higher than)",
    Direction.INFERIOR: r"(?:inferior to|below|beneath|caudal to|lower than)",
}
_EXTENTS = {
    Axis.SUPERIOR_INFERIOR: re.compile(
        r"top to bottom|cranio|height|tall|long\b|length", re.IGNORECASE
    ),
    Axis.LEFT_RIGHT: re.compile(r"\bwide|width|transverse|side to side", re.IGNORECASE),
    Axis.ANTERIOR_POSTERIOR: re.compile(
        r"\bdeep|depth|anteroposterior|front to back", re.IGNORECASE
    ),
}


class Statement(msgspec.Struct, frozen=True):
    """One checked statement."""

    kind: str
    """`measurement`, `comparison`, `direction`, `side`, `level`, `frames` or `box`."""
    text: str
    right: bool


@dataclass(frozen=True, slots=True)
class Names:
    """How the structures of a study are called."""

    pattern: re.Pattern[str]
    structures: Mapping[str, str]
    """What is written, in lower case → the structure."""

    def mentioned(self, text: str) -> list[tuple[str, int, int]]:
        """(structure, start, end) in the order of the text; the longest name wins."""
        return [
            (self.structures[m[0].lower()], m.start(), m.end()) for m in self.pattern.finditer(text)
        ]


class StudyFacts:
    """The facts of one study, by kind and subjects."""

    def __init__(self, facts: Iterable[Fact], own_terms: Mapping[str, Term] | None = None) -> None:
        self._held = {(fact.kind, fact.subjects): fact for fact in facts}
        self.names = self._names(own_terms or {})

    def get(self, kind: str, *subjects: str) -> Fact | None:
        """A fact, if it was recorded."""
        return self._held.get((kind, subjects))

    def about(self, *subjects: str) -> list[Fact]:
        """All facts about exactly these, in either order."""
        wanted = {subjects, subjects[::-1]}
        return [fact for (_, own), fact in self._held.items() if own in wanted]

    def structure(self, key: str) -> str:
        """The structure that a parameter names:
        a lesion's role stands for the lesion that plays it."""
        role, _, family = key.rpartition(":")
        kind = {"largest": "largest", "second": "second_largest"}.get(role, "")
        fact = self.get(kind, family) if kind else None
        return str(fact.value) if fact is not None else key

    def _names(self, own_terms: Mapping[str, Term]) -> Names:
        called: dict[str, str] = {}
        for kind, subjects in self._held:
            if kind == "box" and len(subjects) == 1 and "+" not in subjects[0]:
                entry = term(subjects[0], own_terms)
                for word in (entry.plain, *entry.synonyms):
                    called.setdefault(word.lower(), subjects[0])
            elif kind in ("largest", "second_largest"):
                plain = "lesion" if subjects[0] == "*" else term(subjects[0], own_terms).plain
                words = "largest" if kind == "largest" else "second largest"
                called[f"{words} {plain}".lower()] = self.structure(
                    f"{kind.partition('_')[0]}:{subjects[0]}"
                )
        longest = sorted(called, key=lambda word: (-len(word), word))
        pattern = "|".join(map(re.escape, longest)) or r"(?!)"
        return Names(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), called)


def statements(
    item: Item, response: str, facts: StudyFacts, shown: Viewing, said: float | None = None
) -> list[Statement]:
    """Every statement of a reply that a fact decides.

    `said` is the number it answers, in base units, if it does.
    """
    decided_statements = []
    subjects = [
        facts.structure(tag.partition(":")[2]) for tag in item.tags if tag.startswith("structure:")
    ]
    task = mask_task(item) if item.form in ("yes_no", "choice") else None
    decided = () if task is None else task.rules.decides
    for sentence in _SENTENCE.split(response[:_LONGEST]):
        if not sentence.strip() or _ANSWER.match(sentence):
            continue
        named = facts.names.mentioned(sentence)
        for kind, right in _checks(item, sentence, named, subjects, facts, shown, said):
            repeats = kind in decided and {name for name, _, _ in named} <= set(subjects)
            if not repeats:
                decided_statements.append(Statement(kind, sentence.strip()[:300], right))
    return decided_statements


Named = Sequence[tuple[str, int, int]]


def _checks(
    item: Item,
    sentence: str,
    named: Named,
    subjects: Sequence[str],
    facts: StudyFacts,
    shown: Viewing,
    said: float | None,
) -> Iterable[tuple[str, bool]]:
    structures = [name for name, _, _ in named]
    about = structures or (list(subjects) if len(subjects) == 1 else [])
    if _BOX.search(sentence):
        result = _box(item, sentence, about, facts, shown)
        return [("box", result)] if result is not None else []
    checks: list[tuple[str, bool | None]] = [
        (
            "measurement",
            _measured(sentence, _measured_between(item, sentence, about, facts), facts, said),
        )
    ]
    if len(structures) == 2:
        checks.append(("comparison", _compared(sentence, named, facts)))
        checks.append(("direction", _directed(sentence, named, facts)))
    if len(about) == 1:
        checks.append(("side", _sided(sentence, about[0], facts)))
        checks.append(("level", _levelled(sentence, about[0], facts)))
        checks.append(("frames", _framed(item, sentence, about[0], facts, shown)))
    return [(kind, right) for kind, right in checks if right is not None]


def _measured_between(
    item: Item, sentence: str, about: Sequence[str], facts: StudyFacts
) -> Sequence[str]:
    """What a quantity is about:
    "to the aorta it is 95 mm" measures from what the item asks about."""
    is_extent = any(words.search(sentence) for words in _EXTENTS.values())
    if len(about) != 1 or is_extent or not _DISTANCE.search(sentence):
        return about
    other = facts.structure(item.parameters.get("a", ""))
    return (other, about[0]) if other and other != about[0] else ()


def _measured(
    sentence: str, about: Sequence[str], facts: StudyFacts, said: float | None
) -> bool | None:
    """A single quantity about one structure or between two;
    right if any fact it can mean holds it."""
    stated = quantities(sentence)
    if len(stated) != 1 or len(about) not in (1, 2) or _LARGER.search(sentence):
        return None
    value, dimension = stated[0].value, stated[0].dimension
    if said is not None and abs(value - said) <= 0.01 * abs(said):
        return None
    meant = [fact for fact in facts.about(*about) if _may_mean(fact, sentence)]
    known = [fits for fact in meant if (fits := _held(fact, value, dimension)) is not None]
    return any(known) if known else None


def _may_mean(fact: Fact, sentence: str) -> bool:
    axis = next((axis for axis, words in _EXTENTS.items() if words.search(sentence)), None)
    if fact.kind.startswith("extent."):
        return axis is None or fact.kind == f"extent.{axis}"
    kinds = ("gap.", "main_gap", "surface_gap", "centre_distance", "axial_diameter", "volume")
    return fact.kind.startswith(kinds) and fact.kind != "volume_ratio"


def _held(fact: Fact, value: float, dimension: str) -> bool | None:
    """Whether a fact holds a value; None if it measures something else."""
    if isinstance(fact.value, bool) or not isinstance(fact.value, int | float):
        return None
    fact_value = base_value(abs(fact.value), fact.unit)
    if fact_value is None or fact_value[1] != dimension:
        return None
    ends = [base_value(abs(end), fact.unit) for end in fact.interval or ()]
    bounds = [end[0] for end in ends if end is not None] or [
        fact_value[0] * (1 - _TOLERANCE),
        fact_value[0] * (1 + _TOLERANCE),
    ]
    # Stated numbers are rounded: half of the last whole millimetre or millilitre is no error.
    slack = 0.5 if dimension in ("length", "slices") else 500.0
    return min(bounds) - slack <= value <= max(bounds) + slack


def _compared(sentence: str, named: Named, facts: StudyFacts) -> bool | None:
    match = _LARGER.search(sentence)
    if match is None or not named[0][2] <= match.start() < match.end() <= named[1][1]:
        return None
    word = match[1].lower()
    kind = "extent.superior_inferior" if word in ("longer", "taller", "shorter") else "volume"
    a, b = (facts.get(kind, name) for name, _, _ in named)
    if (
        a is None
        or b is None
        or a.interval is None
        or b.interval is None
        or "cut" in (*a.flags, *b.flags)
    ):
        return None
    if a.interval[0] <= b.interval[1] and b.interval[0] <= a.interval[1]:
        return None
    first = a.interval[0] > b.interval[1]
    claimed = word not in ("smaller", "shorter")
    return (first == claimed) != bool(_NOT.search(sentence[named[0][2] : match.start()]))


def _directed(sentence: str, named: Named, facts: StudyFacts) -> bool | None:
    between = sentence[named[0][2] : named[1][1]]
    claimed = [
        direction
        for direction, words in _DIRECTIONS.items()
        if re.search(rf"\b{words}\b", between, re.I)
    ]
    a, b = (facts.get("centroid", name) for name, _, _ in named)
    if (
        len(claimed) != 1
        or a is None
        or b is None
        or not isinstance(a.value, tuple)
        or not isinstance(b.value, tuple)
    ):
        return None
    axis = AXES.index(claimed[0].axis)
    gap = a.value[axis] - b.value[axis]
    if abs(gap) < _CLEAR_MM:
        return None
    return ((gap > 0) == (claimed[0].sign > 0)) != bool(_NOT.search(between))


def _sided(sentence: str, structure: str, facts: StudyFacts) -> bool | None:
    match, fact = _SIDE.search(sentence), facts.get("side", structure)
    if (
        match is None
        or fact is None
        or fact.value not in ("left", "right")
        or term(structure).side is not None
    ):
        return None
    return (match[1].lower() == fact.value) != bool(_NOT.search(sentence[: match.start()]))


def _levelled(sentence: str, structure: str, facts: StudyFacts) -> bool | None:
    match = _LEVEL.search(sentence)
    places = [facts.get(kind, structure) for kind in ("level.top", "level.bottom", "level.centre")]
    known = [
        float(fact.value)
        for fact in places
        if fact is not None and isinstance(fact.value, int | float)
    ]
    if match is None or not known or match[1] not in LEVELS or _NOT.search(sentence):
        return None
    return any(round(place) == LEVELS.index(match[1]) for place in known)


def _framed(
    item: Item, sentence: str, structure: str, facts: StudyFacts, shown: Viewing
) -> bool | None:
    if not _FRAME.search(sentence) or _asks(item, Frames) or _NOT.search(sentence):
        return None
    truth = _shown_boxes(item, structure, facts, shown)
    if not truth:
        return None
    result = parse_frames(sentence, shown.space.frame_base, len(shown.layout(item).frames))
    if not isinstance(result, Parsed) or not result.value:
        return None
    near = {box.frame + step for box in truth for step in (-1, 0, 1)}
    return set(result.value) <= near


def _box(
    item: Item, sentence: str, about: Sequence[str], facts: StudyFacts, shown: Viewing
) -> bool | None:
    if len(about) != 1 or _asks(item, Boxes) or shown.obstacle(item):
        return None
    truth = _shown_boxes(item, about[0], facts, shown)
    result = parse_boxes(sentence, shown.space, shown.sizes(item))
    if not truth or not isinstance(result, Parsed) or not result.value:
        return None
    frames = {box.frame for box in result.value}
    true = [msgspec.structs.replace(box, label="") for box in truth if box.frame in frames]
    return tube_iou(true, [msgspec.structs.replace(box, label="") for box in result.value]) >= 0.5


def _asks(item: Item, kind: type) -> bool:
    parts = parts_of(item.answer).values()
    return any(isinstance(part, kind) for part in parts)


def _shown_boxes(item: Item, structure: str, facts: StudyFacts, shown: Viewing) -> list[FrameBox]:
    if shown.obstacle(item):
        return []
    structure_boxes = [box for box in item.boxes if facts.structure(box.label) == structure]
    return list(shown.boxes(item, structure_boxes))
