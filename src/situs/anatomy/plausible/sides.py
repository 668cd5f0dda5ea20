"""Where structures normally lie, and what to suspect when they do not. No voxels: sides go in,
suspicions come out.

A suspicion is never proof: one patient in several thousand is mirrored, and organs move. It says
what a reader should look at before believing any left or right of the study.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from situs.anatomy.plausible.scene import Doubt, Suspect, Suspicion
from situs.anatomy.terms import Naming, Term, term
from situs.errors import SitusError
from situs.space import Side

__all__ = ["FIXED", "expected_side", "neighbours", "suspects"]


FIXED = ("liver", "spleen")
"""Unpaired organs of which every part lies on one side,
so that what is seen of a cut one tells, too."""


def expected_side(name: str) -> Side | None:
    """The side on which a structure normally lies; None on the midline, if it varies, or if it is
    unknown.

    A positional name says it itself. Of the others the table says it: the left atrium, say, lies in
    the middle.
    """
    return _expected(term(name))


def neighbours(name: str) -> tuple[str, ...]:
    """Canonical names of the structures that normally touch this one or lie next to it."""
    return term(name).neighbours


def _expected(entry: Term) -> Side | None:
    return entry.side if entry.naming is Naming.POSITIONAL else entry.expected_side


class _Tally:
    """Structures of one sort, by whether they lie where they should;
    those across the midline say nothing."""

    def __init__(
        self, names: Iterable[str], observed: Mapping[str, Side], expected: Mapping[str, Side]
    ) -> None:
        placed = [name for name in names if observed[name] is not Side.BOTH]
        self.there = [name for name in placed if observed[name] is expected[name]]
        self.opposite = [name for name in placed if observed[name] is not expected[name]]

    @property
    def all_opposite(self) -> bool:
        """At least one lies on the wrong side, and none (or one in ten: a slip) where it should."""
        return bool(self.opposite) and len(self.there) * 10 <= len(self.opposite)


def suspects(
    observed: Mapping[str, str], terms: Mapping[str, Term] | None = None
) -> list[Suspicion]:
    """What to suspect, given on which side of the midline (`left`, `right` or `both`) each
    structure lies.

    Leave out structures that the scan cuts off: their visible part may lie anywhere. `terms` are a
    vocabulary's own; other names mean what the shipped table says. The whole study is judged first,
    then pairs, then single structures.
    """
    entries = {name: (terms or {}).get(name) or term(name) for name in observed}
    expected = {
        name: side for name, entry in entries.items() if (side := _expected(entry)) is not None
    }
    sides = {name: _side(name, observed[name]) for name in expected}
    named = _Tally((n for n in expected if entries[n].side is not None), sides, expected)
    placed = _Tally(
        (n for n in expected if entries[n].naming is Naming.POSITIONAL), sides, expected
    )
    organs = _Tally(
        (n for n in expected if entries[n].side is None and entries[n].kind == "organ"),
        sides,
        expected,
    )
    of_study = _whole_study(named, placed, organs, sides)
    if of_study is not None:
        return [of_study]
    singles = [n for n in expected if sides[n] is expected[n].mirrored]
    result = []
    # One great vessel on the other side is a known variant; two that have changed places are
    # misnamed.
    vessels = [n for n in singles if _may_vary(entries[n])]
    exchanged = len({expected[n] for n in vessels}) == 2
    for name in sorted(singles):
        partner = entries[name].partner
        if partner is not None and partner in singles:
            if name < partner:
                result.append(_swapped_pair(name, partner))
        else:
            variant = name in vessels and not exchanged
            result.append(
                _wrong_side(name, entries[name], sides[name], None if variant else Doubt.STRUCTURE)
            )
    return result


def _side(name: str, value: str) -> Side:
    try:
        return Side(value)
    except ValueError:
        raise SitusError(f"side {value!r} of {name}", fix="use left, right or both") from None


def _whole_study(
    named: _Tally, placed: _Tally, organs: _Tally, sides: Mapping[str, Side]
) -> Suspicion | None:
    """`named` are all sided names, `placed` those among them that follow the place,
    `organs` the unpaired organs."""
    seen = _phrase([*organs.opposite, *named.opposite], sides)
    several = len(named.opposite) >= 2
    if organs.all_opposite and named.all_opposite and (several or len(organs.opposite) >= 2):
        return Suspicion(
            Suspect.MIRRORED,
            (*organs.opposite, *named.opposite),
            f"the whole volume looks mirrored: {seen}",
            "check the orientation in the header (RAS or LPS, a flip without its affine); else flip"
            " the image",
            Doubt.LEFT_RIGHT,
        )
    if organs.all_opposite and len(organs.opposite) >= 2 and not placed.opposite:
        # Rightly named, a mirrored patient's sides are what they are called: nothing is in doubt.
        why = "while the sided names agree" if placed.there else "and no sided name tells more"
        return Suspicion(
            Suspect.SITUS_INVERSUS if placed.there else Suspect.MIRRORED,
            tuple(organs.opposite),
            f"the unpaired organs lie mirrored ({_phrase(organs.opposite, sides)}), {why}",
            "check the orientation in the header, and whether the patient is known to have situs"
            " inversus",
            None if placed.there else Doubt.LEFT_RIGHT,
        )
    if several and named.all_opposite and not organs.opposite:
        organs_agree = bool(organs.there)
        return Suspicion(
            Suspect.SWAPPED_NAMES if organs_agree else Suspect.SWAPPED_OR_MIRRORED,
            tuple(named.opposite),
            f"left and right look swapped in the names: {seen}"
            + (
                f", but {_phrase(organs.there, sides)} as usual"
                if organs_agree
                else "; or the whole volume is mirrored"
            ),
            "exchange left and right in the name map"
            + ("" if organs_agree else ", or check the orientation in the header"),
            Doubt.LEFT_RIGHT,
        )
    return None


def _swapped_pair(name: str, partner: str) -> Suspicion:
    return Suspicion(
        Suspect.SWAPPED_NAMES,
        (name, partner),
        f"{name} and {partner} each lie on the other's side",
        "exchange their two labels in the name map",
        Doubt.STRUCTURE,
    )


def _may_vary(entry: Term) -> bool:
    return entry.kind == "vessel" and entry.naming is not Naming.POSITIONAL


def _wrong_side(name: str, entry: Term, side: Side, doubt: Doubt | None) -> Suspicion:
    if entry.naming is Naming.POSITIONAL:
        fix = "check its name and mask; a displaced or crossed organ is rare"
    else:
        fix = "check its mask, and whether this patient's anatomy is unusual"
    usual = f"is named {entry.side}" if entry.side is not None else f"normally lies {side.mirrored}"
    return Suspicion(
        Suspect.WRONG_SIDE, (name,), f"{name} {usual} but lies on the patient's {side}", fix, doubt
    )


def _phrase(names: list[str], sides: Mapping[str, Side], most: int = 4) -> str:
    phrases = [f"{name} lies {sides[name]}" for name in names[:most]]
    more = len(names) - most
    return ", ".join(phrases) + (f" and {more} more" if more > 0 else "")
