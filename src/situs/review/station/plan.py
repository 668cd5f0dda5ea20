"""Who reads what, in which order: balanced incomplete blocks, drawn by a seed."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from situs.base.files import digest
from situs.base.text import counted
from situs.errors import SitusError
from situs.review.station.protocol import ReadingProtocol

__all__ = ["Place", "Plan", "PlannedUnit", "draw_sample", "further_blocks", "plan_reads", "replan"]


class PlannedUnit(msgspec.Struct, frozen=True):
    """What planning needs to know of a unit."""

    key: int
    patient: str
    twin_group: str = ""
    kind: str = "item"


class Place(msgspec.Struct, frozen=True):
    """A unit in a reader's list; `repeat` if the reader has read it before."""

    reader: str
    unit: int
    block: int
    position: int
    repeat: bool = False


class Plan(msgspec.Struct, frozen=True):
    """All lists, and what a coordinator should see before freezing them."""

    places: list[Place]
    loads: dict[str, int]
    pairs: dict[str, int]
    """`A – B` → units both read."""
    read_by_all: int
    warnings: list[str]


def draw_sample(
    strata: Mapping[str, Sequence[str]], count: int, seed: int
) -> dict[str, tuple[list[str], float]]:
    """A random sample in proportion to the strata: name → the drawn keys, and how many each stands
    for.

    Every stratum gives at least two, so that its share of errors has a spread; the weights say how
    strata differ.
    """
    total = sum(len(keys) for keys in strata.values())
    if not 1 <= count <= total:
        raise SitusError(
            f"cannot draw {count} of {total} items", where="--items", fix="ask for fewer"
        )
    result = {}
    for name, keys in sorted(strata.items()):
        wanted = min(len(keys), max(2, round(count * len(keys) / total)))
        ranked = sorted(keys, key=lambda key: digest("station sample", str(seed), key))
        result[name] = (ranked[:wanted], len(keys) / wanted)
    return result


def plan_reads(
    units: Sequence[PlannedUnit], readers: Sequence[str], protocol: ReadingProtocol, seed: int
) -> Plan:
    """Lists for all readers: every set of readers meets about equally often,
    and some units are read by all."""
    if len(set(readers)) < protocol.reads:
        raise SitusError(
            f"{counted(len(set(readers)), 'reader')}, but the protocol needs {protocol.reads} for"
            " each unit",
            where="situs review assign",
            fix="add readers: situs review user DIR add CODE --role reader",
        )
    draw = random.Random(seed)
    training = [unit for unit in units if unit.kind == "training"]
    others = [unit for unit in units if unit.kind != "training"]
    order = draw.sample(others, len(others))
    for_all = math.ceil(protocol.share_all * len(order)) if len(readers) > protocol.reads else 0
    lists: dict[str, list[PlannedUnit]] = {reader: [] for reader in readers}
    for unit in order[:for_all]:
        for reader in readers:
            lists[reader].append(unit)
    teams = _teams(readers, protocol.reads, draw)
    for unit, team in zip(order[for_all:], teams):
        for reader in team:
            lists[reader].append(unit)
    places: list[Place] = []
    for reader in readers:
        places += _training(reader, training)
        places += _laid_out(reader, lists[reader], protocol, seed)
    return Plan(
        places=places,
        loads={reader: sum(p.reader == reader for p in places) for reader in readers},
        pairs=_pairs(lists),
        read_by_all=for_all if len(readers) > protocol.reads else len(order),
        warnings=[*_warnings(lists, protocol), *_late_repeats(places, protocol)],
    )


def replan(
    open_units: Mapping[int, set[str]], readers: Sequence[str], loads: Mapping[str, int], seed: int
) -> dict[int, str]:
    """Who takes each unit that a leaving reader had not begun:
    the least busy who has not got it."""
    busy = {reader: loads.get(reader, 0) for reader in readers}
    result = {}
    ranked = sorted(open_units, key=lambda key: digest("replan", str(seed), str(key)))
    for unit in ranked:
        free = [reader for reader in readers if reader not in open_units[unit]]
        if not free:
            continue
        chosen = min(free, key=lambda reader: (busy[reader], reader))
        result[unit] = chosen
        busy[chosen] += 1
    return result


def _teams(
    readers: Sequence[str], size: int, draw: random.Random
) -> itertools.cycle[tuple[str, ...]]:
    """All sets of readers in turn: after each round every pair has met equally often."""
    sets = list(itertools.combinations(readers, size))
    if len(sets) > 5000:
        # Too many to go round: shifted windows of a shuffled ring keep loads equal and mix the
        # pairs.
        rings = [draw.sample(list(readers), len(readers)) for _ in range(50)]
        sets = [
            tuple(ring[(start + step) % len(ring)] for step in range(size))
            for ring in rings
            for start in range(0, len(ring), size)
        ]
        return itertools.cycle(sets)
    return itertools.cycle(_balanced(sets))


def _balanced(sets: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The sets ordered so that loads stay within one read of each other at any point."""
    loads: Counter[str] = Counter()
    left, result = list(sets), []
    while left:
        best = min(
            left, key=lambda team: (sum(loads[r] for r in team), max(loads[r] for r in team))
        )
        left.remove(best)
        loads.update(best)
        result.append(best)
    return result


def _training(reader: str, units: Sequence[PlannedUnit]) -> list[Place]:
    return [Place(reader, unit.key, 0, n) for n, unit in enumerate(units)]


def _laid_out(
    reader: str, units: Sequence[PlannedUnit], protocol: ReadingProtocol, seed: int
) -> list[Place]:
    """One reader's order: blocks without twins,
    a patient never twice in a row, repeats far behind."""
    blocks = _blocks(reader, units, protocol.block, seed)
    places = _placed(reader, blocks, 1, 0, "")
    known = {unit.key: unit.patient for unit in units}
    last_block = blocks[-1] if blocks else []
    groups, keys = {u.twin_group for u in last_block} - {""}, {u.key for u in last_block}
    items = [unit for block in blocks for unit in block if unit.kind == "item"]
    again = math.ceil(protocol.repeat * len(items)) if protocol.repeat else 0
    # In the last block, so that no short block of its own tells them apart; where it can be helped,
    # none that is read there itself, or whose twin is.
    ranked = sorted(items, key=lambda unit: unit.twin_group in groups or unit.key in keys)
    last = known[places[-1].unit] if places else ""
    for unit in _apart(ranked[:again], last):
        places.append(Place(reader, unit.key, len(blocks), len(places), repeat=True))
    return places


def further_blocks(
    reader: str,
    units: Sequence[PlannedUnit],
    protocol: ReadingProtocol,
    seed: int,
    *,
    after: tuple[int, int, str] = (0, -1, ""),
) -> list[Place]:
    """Blocks of their own for units that a reader takes over, behind the block, the position and
    the patient that end the reader's list."""
    block, position, patient = after
    blocks = _blocks(reader, units, protocol.block, seed)
    return _placed(reader, blocks, block + 1, position + 1, patient)


def _blocks(
    reader: str, units: Sequence[PlannedUnit], size: int, seed: int
) -> list[list[PlannedUnit]]:
    """Units in the reader's own order, in blocks that hold no twins."""
    ranked = sorted(units, key=lambda u: digest("order", str(seed), reader, str(u.key)))
    blocks: list[list[PlannedUnit]] = []
    groups: list[set[str]] = []
    open_blocks: list[int] = []
    for unit in ranked:
        free = (n for n in open_blocks if not unit.twin_group or unit.twin_group not in groups[n])
        number = next(free, len(blocks))
        if number == len(blocks):
            blocks.append([])
            groups.append(set())
            open_blocks.append(number)
        blocks[number].append(unit)
        groups[number].add(unit.twin_group)
        if len(blocks[number]) == size:
            open_blocks.remove(number)
    return blocks


def _placed(
    reader: str, blocks: Sequence[Sequence[PlannedUnit]], block: int, position: int, last: str
) -> list[Place]:
    """Blocks one after the other, from a block's and a position's number on."""
    places: list[Place] = []
    for number, units in enumerate(blocks, start=block):
        for unit in _apart(units, last):
            places.append(Place(reader, unit.key, number, position + len(places)))
            last = unit.patient
    return places


def _apart(block: Sequence[PlannedUnit], last: str) -> list[PlannedUnit]:
    """The block in an order in which no patient follows himself, as far as that can be done.

    The patient with most units left goes first, unless it was the last one.
    """
    left: dict[str, list[PlannedUnit]] = defaultdict(list)
    rank = {unit.key: n for n, unit in enumerate(block)}
    for unit in block:
        left[unit.patient].append(unit)
    result: list[PlannedUnit] = []
    while left:
        others = [patient for patient in left if patient != last] or list(left)
        patient = max(others, key=lambda p: (len(left[p]), -rank[left[p][0].key]))
        result.append(left[patient].pop(0))
        last = patient
        if not left[patient]:
            del left[patient]
    return result


def _pairs(lists: Mapping[str, Sequence[PlannedUnit]]) -> dict[str, int]:
    keys = {reader: {unit.key for unit in units} for reader, units in lists.items()}
    return {
        f"{a} – {b}": len(keys[a] & keys[b]) for a, b in itertools.combinations(sorted(keys), 2)
    }


def _warnings(lists: Mapping[str, Sequence[PlannedUnit]], protocol: ReadingProtocol) -> list[str]:
    few = [pair for pair, n in _pairs(lists).items() if n < protocol.pair_units]
    if not few:
        return []
    more = f" and {counted(len(few) - 1, 'more pair')}" if len(few) > 1 else ""
    fix = "import more items, or plan fewer readers"
    return [f"{few[0]}{more} share fewer than {protocol.pair_units} units: {fix}"]


def _late_repeats(places: Sequence[Place], protocol: ReadingProtocol) -> list[str]:
    """What to say of repeats that too few cases separate from their first reading."""
    first = {(p.reader, p.unit): p.position for p in places if p.block and not p.repeat}
    late = sum(
        place.position - first[place.reader, place.unit] < protocol.repeat_gap_cases
        for place in places
        if place.repeat
    )
    if not late or protocol.repeat_gap_days <= 0:
        return []
    comes = "comes" if late == 1 else "come"
    return [
        f"{counted(late, 'hidden repeat')} {comes} {protocol.repeat_gap_days:g} days after the"
        f" first reading, as fewer than {protocol.repeat_gap_cases} cases lie between: readers can"
        " finish and sign without, and look in again then"
    ]
