"""What is taken of a bench into a project:
which items are drawn, and a copy of each; the database is not needed."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import digest
from situs.bench import Bench
from situs.errors import SitusError
from situs.items import Item, has_places, marks_of
from situs.review.station.folder import StationFolder
from situs.review.station.places import STATION_PROFILE
from situs.review.station.plan import draw_sample
from situs.review.station.protocol import ReadingProtocol
from situs.review.station.snapshot import ItemSnapshot, take_snapshots, wrong_key
from situs.run import Viewing
from situs.space import FrameBox

__all__ = ["Sample", "TakenSample", "TakenUnit", "take_sample"]


class Sample(msgspec.Struct, frozen=True):
    """What is taken of a bench."""

    items: int
    seed: int = 0
    disputes: tuple[str, ...] = ()
    """Items that must be read, whatever is drawn:
    a stratum of their own, outside the key-error rate."""
    training: int = 0
    wordings: bool = False


class TakenUnit(msgspec.Struct, frozen=True):
    """One thing to be read, not yet in the database."""

    kind: str
    stratum: str
    weight: float
    patient: str
    shown: bytes
    hidden: bytes
    """As JSON: a sample may hold many thousand of them."""
    twin_group: str = ""


class TakenSample(msgspec.Struct, frozen=True):
    """A sample of a bench, ready to become a project; its volumes are stored already."""

    bench: str
    bench_hash: str
    protocol: ReadingProtocol
    seed: int
    units: list[TakenUnit]
    strata: dict[str, dict[str, float]]
    left_out: dict[str, int]


def take_sample(
    folder: StationFolder,
    bench: Bench,
    protocol: ReadingProtocol,
    sample: Sample,
    *,
    data: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> TakenSample:
    """Copy a sample of a bench, without the database:
    this takes minutes, and readers go on writing meanwhile."""
    every = list(bench.items())
    viewing = Viewing(bench, STATION_PROFILE)
    obstacles = {item.item_id: _obstacle(item, viewing) for item in every}
    readable = [item for item in every if not obstacles[item.item_id]]
    known = {item.item_id: item for item in readable}
    strangers = [one for one in sample.disputes if one not in known]
    if strangers:
        raise SitusError(
            f"the bench has no item {strangers[0]}", where="--disputes", fix="remove it"
        )
    weights = _drawn(readable, sample)
    training = _training(readable, weights, sample)
    chosen = [known[key] for key in (*weights, *training)]
    units: list[TakenUnit] = []
    catch_ids = _catch_ids([known[key] for key in weights], protocol, sample.seed)
    for taken in take_snapshots(bench, chosen, folder.volumes, data=data, progress=progress):
        key = taken.item.item_id
        stratum, weight = weights.get(key, ("training", 0.0))
        kind = "item" if key in weights else "training"
        units.append(_taken(taken, taken.hidden, kind, stratum, weight))
        if key in catch_ids:
            wrong = wrong_key(taken, int(digest(key, size=4), 16))
            if wrong is not None:
                units.append(_taken(taken, wrong, "catch", "catch", 0.0))
    if sample.wordings:
        units += _wordings(readable, sample.seed)
    strata: dict[str, dict[str, float]] = {}
    for stratum, weight in weights.values():
        row = strata.setdefault(stratum, {"drawn": 0, "weight": weight})
        row["drawn"] += 1
    left_out = dict(Counter(reason for reason in obstacles.values() if reason))
    info = bench.info
    return TakenSample(info.name, info.content_hash, protocol, sample.seed, units, strata, left_out)


def _obstacle(item: Item, viewing: Viewing) -> str:
    """Why an item cannot be read at the station; empty if it can."""
    if not item.series:
        return "not about a scan"
    is_on_frames = any(isinstance(box, FrameBox) for box in marks_of(item).values())
    return viewing.obstacle(item) if has_places(item.answer) or is_on_frames else ""


def _drawn(items: Sequence[Item], sample: Sample) -> dict[str, tuple[str, float]]:
    """Item → stratum and weight, of all that are read for the record."""
    strata: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if item.item_id not in sample.disputes:
            strata[item.stratum or "all"].append(item.item_id)
    result = {
        key: (name, weight)
        for name, (keys, weight) in draw_sample(strata, sample.items, sample.seed).items()
        for key in keys
    }
    return result | dict.fromkeys(sample.disputes, ("dispute", 0.0))


def _training(
    items: Sequence[Item], taken: dict[str, tuple[str, float]], sample: Sample
) -> list[str]:
    free = [item.item_id for item in items if item.item_id not in taken]
    return sorted(free, key=lambda key: digest("training", str(sample.seed), key))[
        : sample.training
    ]


def _catch_ids(items: Sequence[Item], protocol: ReadingProtocol, seed: int) -> set[str]:
    """Items that also come as catch trials: only where a key can be plainly wrong."""
    count = math.ceil(protocol.catch * len(items))
    able = [item.item_id for item in items if item.form in ("yes_no", "choice")]
    return set(sorted(able, key=lambda key: digest("catch", str(seed), key))[:count])


def _taken(
    snapshot: ItemSnapshot, hidden: dict[str, Any], kind: str, stratum: str, weight: float
) -> TakenUnit:
    item = snapshot.item
    return TakenUnit(
        kind,
        stratum,
        weight,
        item.patient_id,
        msgspec.json.encode(snapshot.shown),
        msgspec.json.encode(hidden),
        # A catch trial is a twin of its item: side by side, one question with two keys would tell.
        item.twin_group or item.item_id,
    )


def _wordings(items: Sequence[Item], seed: int) -> list[TakenUnit]:
    """One unit for each way a question is put, with three examples."""
    ways: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        ways[f"{item.task}/{item.form}/{item.parameters.get('ask', '')}"].append(item)
    units = []
    for way, of_way in sorted(ways.items()):
        ranked = sorted(of_way, key=lambda item: digest("wording", str(seed), item.item_id))
        examples = list(dict.fromkeys(item.question for item in ranked))[:3]
        options = [[o.text for o in ranked[0].options]] if ranked[0].options else []
        visible = {"wordings": examples, "options": options, "form": ranked[0].form}
        hidden = {"wording": way, "items": len(of_way)}
        encoded = msgspec.json.encode(visible), msgspec.json.encode(hidden)
        units.append(TakenUnit("wording", "wording", 0.0, way, *encoded))
    return units
