"""What is worth asking of a structure:
the table of clinical relevance, and defaults for a user's own structures."""

from __future__ import annotations

import functools
import math
import re
import statistics
import tomllib
from importlib.resources import files

import msgspec

from situs.anatomy.terms import Term, canonical_name, term

__all__ = [
    "Compared",
    "Measured",
    "Reaching",
    "are_continuous",
    "compared",
    "is_sided_lesion",
    "measured",
    "near_lesion",
    "ranked",
    "reaching",
]


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is asked of one structure, and what for."""

    limits_ml: tuple[float, ...] = ()
    """Volumes that someone decides by, in rising order; none: the volume is not asked for."""
    adults_ml: tuple[float, float] | None = None
    """Mean and standard deviation of its volume in adults."""
    length: bool = False
    limits_cm: tuple[float, ...] = ()
    """Lengths from top to bottom that someone decides by, in rising order."""
    left_right: tuple[str, ...] = ()
    """`larger` by volume, `longer` from top to bottom."""
    top: str = ""
    bottom: str = ""
    """How an end is asked for by vertebral level, with `{}` for the structure; empty: it is not."""
    top_levels: tuple[str, str] | None = None
    bottom_levels: tuple[str, str] | None = None
    """The highest and the lowest vertebra at which the upper and the lower end lie in adults."""
    top_lines: tuple[str, ...] = ()
    bottom_lines: tuple[str, ...] = ()
    """Vertebrae above which the upper end, or below which the lower end, lies in some adults and
    not in others."""
    thirds: bool = False
    use: str = ""
    sources: tuple[str, ...] = ()

    @property
    def open_limits_ml(self) -> tuple[float, ...]:
        """The limits that are not known beforehand: neither answer holds for more than nine in ten
        adults.

        Volumes of organs are skewed, so that they are taken as log-normal with the given mean and
        deviation.
        """
        if self.adults_ml is None:
            return self.limits_ml
        mean, deviation = self.adults_ml
        spread = math.sqrt(math.log1p((deviation / mean) ** 2))
        adults = statistics.NormalDist(math.log(mean) - spread**2 / 2, spread)
        return tuple(
            limit for limit in self.limits_ml if _RARE <= adults.cdf(math.log(limit)) <= 1 - _RARE
        )


class Compared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Structures that are held side by side, and in which respects."""

    of: tuple[str, ...]
    use: str
    sources: tuple[str, ...]
    ask: tuple[str, ...] = ()


class Reaching(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two structures of which it is asked which reaches further up (`top`) or down (`bottom`)."""

    of: tuple[str, str]
    end: str
    use: str
    sources: tuple[str, ...]
    textbook: bool = False
    """Nearly every patient is alike in this: a control, never in the headline."""


class _Lesions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    near: dict[str, tuple[str, ...]]
    sided: tuple[str, ...]
    use: str
    sources: tuple[str, ...]


class Relevance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole table."""

    measured: dict[str, Measured]
    compared: tuple[Compared, ...]
    ranked: tuple[Compared, ...]
    reaching: tuple[Reaching, ...]
    lesion: _Lesions
    sources: dict[str, str]
    continuous: tuple[tuple[str, str], ...]
    """Pairs of structures that pass into each other."""


_RARE = 0.1
"""An answer that fewer adults than this give is as good as known not to be theirs."""
_NOTHING = Measured()
_OWN = Measured(length=True, left_right=("larger",), thirds=True)
"""Of a structure that only the user knows:
its length, and the left against the right; its volume has no limits."""


@functools.cache
def load_relevance() -> Relevance:
    """The shipped table."""
    text = files("situs.anatomy").joinpath("data", "relevance.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Relevance)


def measured(entry: Term) -> Measured:
    """What is asked of a structure: by its canonical name, else by that name without its side."""
    table = load_relevance().measured
    if not entry.canonical:
        return _OWN
    return table.get(entry.canonical) or table.get(_without_side(entry.canonical)) or _NOTHING


def compared(ask: str) -> list[tuple[str, str]]:
    """Canonical names of the pairs that are compared in this respect, the usually larger first."""
    return [(pair.of[0], pair.of[1]) for pair in load_relevance().compared if ask in pair.ask]


def ranked() -> list[tuple[str, ...]]:
    """Canonical names of the sets that are put in order by volume."""
    return [several.of for several in load_relevance().ranked]


def reaching() -> tuple[Reaching, ...]:
    """The pairs of which one may reach further up or down than the other."""
    return load_relevance().reaching


def near_lesion(lesion: Term) -> frozenset[str] | None:
    """Canonical names of what a lesion of this kind is held against;
    None if its organ is not known: everything."""
    organ = None if lesion.part_of is None else canonical_name(lesion.part_of)
    if organ is None:
        return None
    both = [name for name in (organ, f"{organ}_left", f"{organ}_right") if term(name).canonical]
    around = {name for part in both for name in term(part).neighbours}
    return frozenset(around | set(load_relevance().lesion.near.get(_without_side(organ), ())))


def are_continuous(a: Term, b: Term) -> bool:
    """Whether the one passes into the other, so that nobody asks whether they touch."""
    pairs = load_relevance().continuous
    return (a.canonical, b.canonical) in pairs or (b.canonical, a.canonical) in pairs


def is_sided_lesion(lesion: Term) -> bool:
    """Whether it may be asked on which side the lesion lies:
    its organ is one of two, has two halves, or is unknown."""
    organ = None if lesion.part_of is None else canonical_name(lesion.part_of)
    return organ is None or _without_side(organ) in load_relevance().lesion.sided


def _without_side(name: str) -> str:
    return re.sub(r"_(left|right)$", "", name)
