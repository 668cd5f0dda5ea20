"""What a reader must know before trusting an item:
what is cut, unstable or oblique, and what sides rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from situs.anatomy import Term, term
from situs.bench import SeriesRecord, StudyRecord
from situs.facts import Fact, Measured
from situs.items import Item
from situs.items.programs import COMPOSE, program_of
from situs.space import Affine

__all__ = ["SeriesNote", "authored_flags", "fact_flags", "series_note"]

_OBLIQUE_DEGREES = 5.0


class SeriesNote(msgspec.Struct, frozen=True):
    """What a reader must know of a series."""

    study: str
    modality: str
    spacing: str
    flags: tuple[tuple[str, str], ...]


def fact_flags(facts: Sequence[Fact], own_terms: Mapping[str, Term]) -> list[tuple[str, str]]:
    cut = sorted(
        {
            s
            for fact in facts
            if "cut" in fact.flags and len(fact.subjects) == 1
            for s in fact.subjects
        }
    )
    flags = []
    words = [term(name, own_terms).plain for name in cut]
    if cut:
        # What is asked does not hang on the part outside: the length of a kidney cut at its side.
        flags.append(("warn", f"reaches beyond the scan: {', '.join(words)}"))
    if any("unstable" in fact.flags for fact in facts):
        flags.append(("warn", "unstable: a fact does not hold over its whole interval"))
    if any("islands" in fact.flags for fact in facts):
        flags.append(("warn", "islands were set aside"))
    flags += [
        ("warn", f"approximate box: {_rule(fact)}") for fact in facts if "approximate" in fact.flags
    ]
    if not facts:
        flags.append(("note", "answer given by the source, not derived from facts"))
    return flags


def _rule(fact: Fact) -> str:
    """How an approximate box was got."""
    rule = (
        fact.derivation.parameters.get("rule", "") if isinstance(fact.derivation, Measured) else ""
    )
    what = (
        "a place defined by rule"
        if str(rule).startswith("block ")
        else "a part of the mask defined by rule"
    )
    return f"{what} ({rule})" if rule else "as its table states"


def series_note(study: StudyRecord, series: SeriesRecord) -> SeriesNote:
    if not series.affine:
        frames, height, width = series.shape
        size = f"{width} × {height} px" if width and height else "size of the frames not known"
        words = [("note", f"annotated: {series.annotation}")] if series.annotation else []
        words.append(("note", "no millimetres and no orientation: sides are the image's"))
        counted = f"{frames} frames, " if frames else ""
        return SeriesNote(study.study_id, series.modality.upper(), counted + size, tuple(words))
    affine = Affine([series.affine[row * 4 : row * 4 + 4] for row in range(4)])
    angle = affine.obliquity_degrees
    flags = []
    if angle > _OBLIQUE_DEGREES:
        flags.append(("warn", f"oblique grid ({angle:.0f}°), letters are nearest axis"))
    if affine.is_sheared:
        flags.append(("warn", "sheared grid (tilted gantry): angles on screen are not true"))
    if series.side_basis == "affine":
        flags.append(("note", "left and right from the file's affine"))
    else:
        flags.append(("warn", f"side basis: {series.side_basis}"))
    flags.append(("note", f"masks: {series.annotation}"))
    spacing = " × ".join(f"{step:.2g}" if step < 1 else f"{step:.3g}" for step in affine.spacing_mm)
    return SeriesNote(study.study_id, series.modality.upper(), f"{spacing} mm voxels", tuple(flags))


def authored_flags(item: Item) -> Iterator[tuple[str, str]]:
    """How a composed or authored question came to be:
    its program, its wording and its citations."""
    program = program_of(item)
    tags = {
        name: [tag.partition(":")[2] for tag in item.tags if tag.startswith(f"{name}:")]
        for name in ("wording", "cites", "routed")
    }
    if program is not None and (item.task == COMPOSE or any(tags.values())):
        yield "note", f"Program: {program}"
    yield from (
        ("note", f"Wording {wording}, read back as this program") for wording in tags["wording"]
    )
    yield from (("note", f"Why it matters: PubMed {pmid}") for pmid in tags["cites"])
    if tags["routed"]:
        yield "warn", "A critic objects to its wording: for readers to decide"
