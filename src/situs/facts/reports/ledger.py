"""The facts of one report: where each finding lies,
as one sentence states it and none contradicts."""

from __future__ import annotations

import re

from situs.errors import SitusError
from situs.facts.record import Fact, Quoted, fact_id
from situs.facts.reports.file import Report
from situs.facts.reports.lexicon import DISTRUSTED, POINTS_BACK, Finding
from situs.facts.reports.mentions import Mention, cleared_places, findings_in, mentions_of
from situs.facts.reports.places import Named

__all__ = ["LOCATED", "ReportLedger", "place_of"]

LOCATED = "located"
"""Kind of fact: subjects are the finding (with its size, where there are others) and the organ.

The value is the place, as `side=right lobe=upper`.
"""
_NOT_MILLIMETRIC = 10.0
"""From this size on, in mm, nobody calls a finding millimetric."""
_SIZED = re.compile(r" (\d+(?:\.\d+)?) mm$")
_PAIRED = ("lung", "kidney", "adrenal", "breast", "thyroid")


class ReportLedger:
    """What a report proves. Facts are read from the text anew; nothing stored is used."""

    def __init__(self, report: Report, study_id: str, series: str = "") -> None:
        self.study_id, self.series = study_id, series
        self.text, self.hash = report.text, report.hash
        self.findings_length = len(report.findings)
        self._mentions = mentions_of(self.text, self.findings_length)
        self._cleared = cleared_places(self.text, self.findings_length)
        self.distrusted = DISTRUSTED.search(self.text.lower()) is not None
        """Whether the report corrects itself somewhere; then it proves nothing."""

    def located(self) -> list[tuple[str, str]]:
        """Finding and organ of every place that is proved, in the order of the text."""
        pairs: dict[tuple[str, str], None] = {}
        for mention in self._mentions:
            for organ in (
                mention.finding.sites if mention.status == "stated" and mention.finding.one else ()
            ):
                if mention.places.organs == {organ}:
                    name = mention.finding.name
                    sized = f"{name} {mention.size_mm:g} mm" if mention.size_mm else name
                    pairs |= {(name, organ): None, (sized, organ): None}
        proved = [pair for pair in pairs if self._proof(*pair) is not None]
        # A size is named only where the finding could be taken for another without it.
        plain = {(name, organ) for name, organ in proved if not name.endswith(" mm")}
        return [
            p
            for p in proved
            if not p[0].endswith(" mm") or (_SIZED.sub("", p[0]), p[1]) not in plain
        ]

    def is_plural(self, finding: str, organ: str) -> bool:
        """Whether the sentence that proves the place speaks of several."""
        proof = self._proof(finding, organ)
        return proof is not None and proof.plural

    def fact(self, kind: str, *subjects: str) -> Fact:
        """Where a finding in an organ lies."""
        if kind != LOCATED or len(subjects) != 2:
            raise SitusError(f"a report gives no fact {kind!r}", where=self.study_id)
        proof = self._proof(*subjects)
        if proof is None:
            raise SitusError(
                f"the report does not prove where the {subjects[0]} lies", where=self.study_id
            )
        return Fact(
            fact_id=fact_id(self.study_id, self.series, kind, subjects),
            study_id=self.study_id,
            series=self.series,
            kind=kind,
            subjects=subjects,
            value=_written(proof.places),
            unit="",
            interval=None,
            derivation=self.quoted(proof.sentence.start, proof.sentence.end),
        )

    def quoted(self, start: int, end: int) -> Quoted:
        """A span of the report."""
        return Quoted(self.hash, start, end, self.text[start:end])

    def rivals(self, asked: str, start: int, end: int) -> bool:
        """Whether a mention outside a span tells another
        place of what stands there, or denies it."""
        inside = [m for m in self._mentions if start <= m.sentence.start < end]
        outside = [m for m in self._mentions if not start <= m.sentence.start < end]
        for mention in inside:
            for other in outside:
                families = set(mention.finding.families) & set(other.finding.families)
                if not families or (
                    families == {"other"} and not _shares_word(asked, other.sentence.text.lower())
                ):
                    continue
                if other.status == "denied":
                    denial = other.finding.name == mention.finding.name
                    if denial and not any(
                        _is_elsewhere(other.places, mention.places, o)
                        for o in mention.places.organs
                    ):
                        return True
                elif not _is_within(other.places, mention.places):
                    return True
        return False

    def _proof(self, finding: str, organ: str) -> Mention | None:
        """The most precise sentence that states it,
        if every other mention fits that place or is of another size."""
        sized = _SIZED.search(finding)
        size, name = (float(sized[1]) if sized else None), _SIZED.sub("", finding)
        stated = [
            mention
            for mention in self._mentions
            if mention.finding.name == name
            and mention.status == "stated"
            and mention.places.organs == {organ}
        ]
        stated = [mention for mention in stated if size is None or mention.size_mm == size]
        stated = [
            mention
            for mention in stated
            if organ in mention.finding.sites and _is_single(mention.places, organ)
        ]
        if not stated or self.distrusted:
            return None
        best = max(stated, key=lambda mention: _precision(mention.places))
        families = set(best.finding.families)
        others = (
            m
            for m in self._mentions
            if m is not best
            and m.status != "denied"
            and not families.isdisjoint(m.finding.families)
        )
        good = all(
            _fits(other, best, organ) or (size is not None and _differs(other, size))
            for other in others
        )
        denials = [
            m.places
            for m in self._mentions
            if m.status == "denied" and _is_denial_of(m, best.finding, organ)
        ]
        good &= all(
            _is_elsewhere(places, best.places, organ) for places in (*denials, *self._cleared)
        )
        return best if good else None


def _is_single(places: Named, organ: str) -> bool:
    """Whether the places name one spot, and not several."""
    if organ == "vertebra":
        return len(places.levels) == 1 and not places.lobes
    if organ == "liver":
        return len(places.parts) == 1 and places.sides == places.parts
    several = max(len(places.sides), len(places.lobes), len(places.parts))
    return (
        len(places.sides) == 1
        and several == 1
        and not (places.sides == {"both"} and (places.lobes or places.parts))
    )


def _precision(places: Named) -> int:
    return sum(
        map(
            bool,
            (places.sides, places.lobes, len(places.segments) == 1, places.parts, places.levels),
        )
    )


def _fits(other: Mention, best: Mention, organ: str) -> bool:
    """Whether a further mention can be of the same thing at the same place, and of nothing else."""
    theirs, ours = other.places, best.places
    if (
        theirs.organs
        and organ not in theirs.organs
        and not (organ == "lung" and theirs.organs <= {"mediastinum"})
    ):
        return True
    placed = (
        theirs.sides
        or theirs.lobes
        or theirs.parts
        or theirs.levels
        or organ in theirs.organs - {"lung"}
    )
    if other.finding.wide and not placed and not POINTS_BACK.search(other.sentence.text.lower()):
        return True
    if other.plural and best.finding.many and not best.plural:
        return False
    if other.sentence.impression and not (theirs.sides or theirs.lobes or theirs.levels):
        return True
    if other.finding.name != best.finding.name and other.sentence.start == best.sentence.start:
        return False
    named = bool(theirs.sides) if organ in _PAIRED else bool(theirs.levels or theirs.parts)
    narrow = not ours.lobes or bool(theirs.lobes) or other.sentence.impression
    return (
        named
        and narrow
        and theirs.sides <= ours.sides
        and theirs.lobes <= ours.lobes
        and theirs.parts <= ours.parts
        and theirs.levels <= ours.levels
        and not (ours.segments and theirs.segments and theirs.segments != ours.segments)
    )


def _is_denial_of(denied: Mention, finding: Finding, organ: str) -> bool:
    """Whether to deny the one is to deny the other.

    It is the same, or another name for it; a wide word ("lesion") must name the organ, and in lungs
    says too little ("infiltrative lesion").
    """
    if denied.finding.name == finding.name:
        return True
    if denied.finding.one or set(denied.finding.families).isdisjoint(finding.families):
        return False
    return not denied.finding.wide or (organ != "lung" and organ in denied.places.organs)


def _is_elsewhere(theirs: Named, ours: Named, organ: str) -> bool:
    """Whether a denial is of another place only."""
    if theirs.organs and organ not in theirs.organs:
        return True
    return any(
        bool(named) and "both" not in named | ours_named and named.isdisjoint(ours_named)
        for named, ours_named in (
            (theirs.sides, ours.sides),
            (theirs.lobes, ours.lobes),
            (theirs.levels, ours.levels),
        )
        if ours_named
    )


def _is_within(theirs: Named, ours: Named) -> bool:
    """Whether a further mention tells no other place:
    of another organ, or nothing but what ours says."""
    if theirs.organs and ours.organs and theirs.organs.isdisjoint(ours.organs):
        return True
    pairs = (
        (theirs.sides, ours.sides),
        (theirs.lobes, ours.lobes),
        (theirs.segments, ours.segments),
        (theirs.parts, ours.parts),
        (theirs.levels, ours.levels),
    )
    return all(named <= ours_named for named, ours_named in pairs)


def _shares_word(asked: str, sentence: str) -> bool:
    """Whether what is asked for,
    where findings have no name of their own, is named in a sentence."""
    return any(
        re.search(rf"\b{re.escape(match[0][:6])}", sentence) for _, match in findings_in(asked)
    )


def _differs(other: Mention, size: float) -> bool:
    """Whether a further mention is of something clearly larger or smaller."""
    theirs = other.size_mm
    if theirs is None:
        return size >= _NOT_MILLIMETRIC and "millimetric" in other.sentence.text.lower()
    return max(theirs, size) >= 1.25 * min(theirs, size) and abs(theirs - size) >= 1.0


def _written(places: Named) -> str:
    """`side=right lobe=upper segment=anterior`; a segment only if it is the only one."""
    fields = {
        "side": places.sides,
        "lobe": places.lobes,
        "segment": {word.replace(" ", "_") for word in places.segments}
        if len(places.segments) == 1
        else set(),
        "part": places.parts,
        "level": places.levels,
    }
    words = [f"{name}={min(values)}" for name, values in fields.items() if len(values) == 1]
    return " ".join(words)


def place_of(fact: Fact) -> dict[str, str]:
    """The parts of a place."""
    pairs = (word.partition("=") for word in str(fact.value).split())
    return {name: value.replace("_", " ") for name, _, value in pairs}
