"""Composed questions, worked out again from their programs by the definitions: plain values, no
intervals.

A program is read by its brackets alone. Where the definitions leave a band in which nothing may be
asked (a contact by less than a clear area, a direction that holds for fewer than nine in ten
voxels), an answer inside it is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.referee.masks import NOT_JUDGED, WAYS, proved, right_share, vertebra_at
from benchmarks.referee.scan import Mask, Scan

__all__ = ["judge_program"]

Item = dict[str, Any]
Tree = str | list[Any]
"""A name or number, or an operator with its arguments."""
_ONE_SIDED = 0.9
"""DEFINITIONS, side: of the volume, or it lies on both."""


def tree_of(text: str) -> Tree:
    """`any(within(lesions(x),aorta,10))` as nested lists."""
    call = re.fullmatch(r"(\w+)\((.*)\)", text)
    if call is None:
        return text
    depth, start = 0, 0
    parts = []
    for end, character in enumerate(call[2]):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(call[2][start:end])
            start = end + 1
    return [call[1], *(tree_of(part) for part in (*parts, call[2][start:]))]


def _text(tree: Tree) -> str:
    return tree if isinstance(tree, str) else f"{tree[0]}({','.join(map(_text, tree[1:]))})"


class Undecidable(Exception):
    """By the definitions this is not clear enough to be asked."""


class Patient:
    """One study and one item: what the names and descriptions of a program mean."""

    def __init__(self, scan: Scan, offered: list[str]) -> None:
        self._scan, self._offered = scan, offered
        self._lesions: dict[str, dict[str, Mask]] = {}

    def mask(self, name: str) -> Mask:
        """A structure by its name, or a lesion by its number."""
        family, _, number = name.partition("#")
        return self._family(family)[name] if number else self._scan[name]

    def _family(self, family: str) -> dict[str, Mask]:
        if family not in self._lesions:
            masks = self._scan.lesions(family)
            self._lesions[family] = {f"{family}#{n}": mask for n, mask in enumerate(masks, 1)}
        return self._lesions[family]

    def gap(self, a: str, b: str) -> float:
        """Between the main parts, face to face."""
        return self.mask(a).main.gap_mm(self.mask(b).main)

    def centre(self, name: str) -> Any:
        """Where a structure is centred, in mm."""
        return self.mask(name).points.mean(0)

    def beyond(self, direction: str, a: str, b: str) -> bool:
        """Whether a lies in a direction from b; nothing is said where nine in ten voxels do not."""
        axis, sign = WAYS[direction]
        step = float(np.sign((self.centre(a) - self.centre(b))[axis]))
        if not proved(self.mask(a), self.mask(b), axis, step):
            raise Undecidable(f"{a} and {b} overlap along {direction}")
        return step == sign

    def on(self, side: str, name: str) -> bool:
        """Whether nine in ten parts of a structure lie on a side."""
        share = right_share(self.mask(name), self._scan)
        if share is None:
            raise NotImplementedError
        if max(share, 1 - share) < _ONE_SIDED - 0.005:
            raise Undecidable(f"{name} lies on both sides")
        return (side == "right") == (share > 0.5)

    def group(self, tree: Tree) -> list[str]:
        """Names of the members of a group."""
        if tree == "structures" or tree[0] == "structures":
            # A choice is made among what is offered.
            return self._offered
        op, *args = tree
        if op == "lesions":
            return list(self._family(str(args[0])))
        if op in ("beyond", "on"):
            members = self.group(args[1])
            if op == "on":
                return [name for name in members if self._surely(self.on, args[0], name)]
            other = self.thing(args[2])
            return [name for name in members if self._surely(self.beyond, args[0], name, other)]
        members, other = self.group(args[0]), self.thing(args[1])
        limit = 1e-6 if op == "touching" else float(args[2])
        return [name for name in members if self.gap(name, other) <= limit]

    @staticmethod
    def _surely(relation: Callable[..., bool], *about: str) -> bool:
        """A member of which it cannot be told is left out: it may not win, and the pick says so."""
        try:
            return relation(*about)
        except Undecidable:
            return False

    def thing(self, tree: Tree) -> str:
        """The one structure or lesion that is meant."""
        if isinstance(tree, str):
            return tree
        op, *args = tree
        if op == "most":
            axis, sign = WAYS[args[0]]
            members = self.group(args[1])
            first = max(members, key=lambda name: sign * self.centre(name)[axis])
            for name in members:
                if name != first and not self.beyond(args[0], first, name):
                    raise Undecidable(f"{first} is not {args[0]} of {name}")
            return first
        members = self.group(args[0])
        if op == "nearest":
            other = self.thing(args[1])
            return min(members, key=lambda name: self.gap(name, other))
        by_volume = sorted(members, key=lambda name: -self.mask(name).ml)
        return by_volume[0 if op == "largest" else 1]


def judge_program(item: Item, scan: Scan) -> str:
    """Empty if the referee agrees, else what it makes of the question."""
    tree = tree_of(item["parameters"]["program"])
    offered = [option["value"] for option in item["options"]]
    try:
        value = _answer(tree, Patient(scan, offered), scan)
    except Undecidable as error:
        return str(error)
    except NotImplementedError:
        return NOT_JUDGED
    answer = item["answer"]
    if isinstance(value, tuple):
        low, high = value
        told = answer["value"]
        inside = low - 1e-3 <= told <= high + 1e-3
        return "" if inside else f"{low:.5g}–{high:.5g}, not {told:.5g}"
    return "" if value == answer["value"] else f"{value}, not {answer['value']}"


def _answer(tree: Tree, patient: Patient, scan: Scan) -> Any:
    """Text of the right option, True or False, a count, or the range in which a number lies."""
    op, *args = tree
    rule = _RULES.get(str(op))
    if rule is None:
        raise NotImplementedError
    return rule(patient, scan, *args)


def _which(patient: Patient, scan: Scan, pick: Tree) -> str:
    return patient.thing(pick)


def _any(patient: Patient, scan: Scan, group: Tree) -> bool:
    return bool(patient.group(group))


def _count(patient: Patient, scan: Scan, group: Tree) -> float:
    return float(len(patient.group(group)))


def _is_touching(patient: Patient, scan: Scan, a: Tree, b: Tree) -> bool:
    return patient.gap(patient.thing(a), patient.thing(b)) < 1e-6


def _is_within(patient: Patient, scan: Scan, a: Tree, b: Tree, limit: str) -> bool:
    return patient.gap(patient.thing(a), patient.thing(b)) <= float(limit)


def _is_on(patient: Patient, scan: Scan, side: str, a: Tree) -> bool:
    return patient.on(side, patient.thing(a))


def _is_beyond(patient: Patient, scan: Scan, direction: str, a: Tree, b: Tree) -> bool:
    return patient.beyond(direction, patient.thing(a), patient.thing(b))


def _same(patient: Patient, scan: Scan, a: Tree, b: Tree) -> bool:
    return patient.thing(a) == patient.thing(b)


def _larger(patient: Patient, scan: Scan, *things: Tree) -> str:
    return _text(max(things, key=lambda one: patient.mask(patient.thing(one)).ml))


def _rank(patient: Patient, scan: Scan, *things: Tree) -> str:
    order = sorted(things, key=lambda one: -patient.mask(patient.thing(one)).ml)
    return ">".join(map(_text, order))


def _wider(patient: Patient, scan: Scan, *things: Tree) -> str:
    return _text(max(things, key=lambda one: _diameter(patient, scan, one)[1]))


def _closer(patient: Patient, scan: Scan, a: Tree, *others: Tree) -> str:
    thing = patient.thing(a)
    return _key(min(others, key=lambda one: patient.gap(thing, patient.thing(one))))


def _reaches(end: int) -> Callable[..., str]:
    """`end` 1: by the upper end of the box, 0: by the lower."""

    def rule(patient: Patient, scan: Scan, *things: Tree) -> str:
        heights = {_text(t): patient.mask(patient.thing(t)).main.box[end][2] for t in things}
        return (max if end else min)(heights, key=lambda name: heights[name])

    return rule


def _key(tree: Tree) -> str:
    """`largest(lesions(x))` as options call it: `largest:x`."""
    if isinstance(tree, str):
        return tree
    return f"{'largest' if tree[0] == 'largest' else 'second'}:{tree[1][1]}"


def _volume(patient: Patient, scan: Scan, a: Tree) -> tuple[float, float]:
    ml = patient.mask(patient.thing(a)).ml
    return ml, ml


def _volume_exceeds(patient: Patient, scan: Scan, a: Tree, limit: str) -> bool:
    return patient.mask(patient.thing(a)).ml > float(limit)


def _diameter(patient: Patient, scan: Scan, a: Tree) -> tuple[float, float]:
    return patient.mask(patient.thing(a)).axial_diameter_mm()


def _diameter_exceeds(patient: Patient, scan: Scan, a: Tree, limit: str) -> bool:
    least, most = _diameter(patient, scan, a)
    if least <= float(limit) < most:
        raise NotImplementedError
    return least > float(limit)


def _length(patient: Patient, scan: Scan, a: Tree) -> tuple[float, float]:
    low, high = patient.mask(patient.thing(a)).main.box
    return high[2] - low[2], high[2] - low[2]


def _gap(patient: Patient, scan: Scan, a: Tree, b: Tree) -> tuple[float, float]:
    gap = patient.gap(patient.thing(a), patient.thing(b))
    return gap, gap


def _centre_distance(patient: Patient, scan: Scan, a: Tree, b: Tree) -> tuple[float, float]:
    step = patient.centre(patient.thing(a)) - patient.centre(patient.thing(b))
    mm = float(np.linalg.norm(step))
    return mm, mm


def _level(patient: Patient, scan: Scan, a: Tree) -> str:
    return vertebra_at(float(patient.centre(patient.thing(a))[2]), scan)


def _level_of_end(pick: Callable[[Any], float]) -> Callable[..., str]:
    """By the highest or the lowest voxel of the main part."""

    def rule(patient: Patient, scan: Scan, a: Tree) -> str:
        heights = patient.mask(patient.thing(a)).main.points[:, 2]
        return vertebra_at(float(pick(heights)), scan)

    return rule


def _side(patient: Patient, scan: Scan, a: Tree) -> str:
    return "right" if patient.on("right", patient.thing(a)) else "left"


_RULES: dict[str, Callable[..., Any]] = {
    "which": _which, "any": _any, "count": _count, "is_touching": _is_touching,
    "is_within": _is_within, "is_on": _is_on, "is_beyond": _is_beyond, "same": _same,
    "larger": _larger, "rank": _rank, "wider": _wider, "closer": _closer, "volume": _volume,
    "reaches_higher": _reaches(1), "reaches_lower": _reaches(0),
    "volume_exceeds": _volume_exceeds, "diameter": _diameter,
    "diameter_exceeds": _diameter_exceeds, "length": _length, "gap": _gap,
    "centre_distance": _centre_distance, "level": _level, "side": _side,
    "top_level": _level_of_end(max), "bottom_level": _level_of_end(min),
}  # fmt: skip
"""What is asked → how the referee answers."""
