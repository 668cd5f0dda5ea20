"""Models whose behaviour is known, behind a real server on loopback:
each knows the item by the words it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

import wire
from situs.bench import Bench, open_bench
from situs.clients import Spec
from situs.items import Answer, Item
from situs.profiles.planes import Plane
from situs.room import load_room, with_tools
from situs.room.actions import action_kinds
from situs.room.view.evidence import Target
from situs.room.view.opened import OpenScan, OpenScans
from situs.room.words import opening
from situs.run import make_baseline

Act = dict[str, Any] | str
Script = Callable[["Seen"], Act]


class Known:
    """The items of a bench by their opening words in a room, with what a perfect reader needs."""

    def __init__(
        self,
        bench: Path,
        room: str,
        tools: str | None = None,
        limit: int = 6,
        *,
        native: bool = False,
    ) -> None:
        self.bench: Bench = open_bench(bench)
        self.room = load_room(room) if tools is None else with_tools(load_room(room), tools)
        self.profile = self.room.profile()
        self._scans = OpenScans(self.bench, self.room, self.profile)
        self._oracle = make_baseline(self.bench, Spec("oracle"), self.profile)
        self.items: dict[str, Item] = {}
        self.opened: dict[str, OpenScan] = {}
        self.targets: dict[str, tuple[Target, ...]] = {}
        for item, _ in zip(self.bench.items(), range(limit)):
            opened = self._scans.take(item)
            kinds = action_kinds(self.room, opened.scan)
            words = opening(item, opened.scan, kinds, "", native)
            assert words not in self.items
            self.items[words] = item
            self.opened[item.item_id] = opened
            self.targets[item.item_id] = opened.targets(item)
            self._scans.give_back(item)

    def right(self, item: Item) -> str:
        """What the oracle says."""
        said = self._oracle.answer(item)
        assert said is not None
        return said

    def spoken(self, item: Item, answer: Answer) -> str:
        """What the oracle would say if this were the answer."""
        return self.right(msgspec.structs.replace(item, answer=answer))

    def wrong(self, item: Item) -> str:
        """Something that is not right."""
        if item.options:
            return next(w for w in "ABCD" if w != self.right(item).strip("()")[:1].upper())
        return {"yes": "no", "no": "yes"}.get(self.right(item).lower(), "99999")

    def slices(self, item: Item) -> list[int]:
        """Axial slices (from 1) on which the evidence of an item is plain:
        inside its boxes, and at its points."""
        scan = self.opened[item.item_id].scan
        chosen: set[int] = set()
        for box in item.boxes:
            for share in (0.4, 0.5, 0.6):
                z = box.lo_mm[2] + share * (box.hi_mm[2] - box.lo_mm[2])
                middle = [0.5 * (a + b) for a, b in zip(box.lo_mm, box.hi_mm)]
                chosen.add(scan.nearest_index("axial", (middle[0], middle[1], z)))
        for target in self.targets[item.item_id]:
            if target.at is not None:
                chosen.add(scan.nearest_index("axial", target.at))
        return [index + 1 for index in sorted(chosen)]


class Seen:
    """What a scripted model knows when it is asked."""

    def __init__(self, known: Known, body: dict[str, Any]) -> None:
        """`body` in the form of chat completions."""
        self.known = known
        self.body = body
        first = body["messages"][0]["content"]
        self.item = known.items[first if isinstance(first, str) else first[-1]["text"]]
        self.turn = sum(message["role"] == "assistant" for message in body["messages"])
        self.last = wire.words_of(body)

    def answer(self, right: bool = True) -> Act:
        """The end."""
        said = self.known.right(self.item) if right else self.known.wrong(self.item)
        return {"action": "answer", "answer": said}

    @property
    def must_answer(self) -> bool:
        """Whether nothing else is accepted."""
        return "Answer now" in self.last


class Played:
    """One run and all that is known of it."""

    def __init__(self, run: Any, scores: Any, out: Path, server: Any, known: Any) -> None:
        self.run = run
        self.scores = scores
        self.out = out
        self.server = server
        self.known = known

    def cells(self) -> dict[str, float]:
        """The four shares."""
        names = ("right_seen", "right_unseen", "wrong_seen", "wrong_unseen")
        return {name: self.scores["evidence"][name]["value"] for name in names}


def looker(seen: Seen) -> Act:
    """Looks at the evidence, then answers."""
    slices = seen.known.slices(seen.item)
    if seen.turn < len(slices):
        return {"action": "look", "plane": Plane.AXIAL.value, "slice": slices[seen.turn]}
    return seen.answer()


def clairvoyant(seen: Seen) -> Act:
    """Never looks."""
    return seen.answer()


def server(known: Known, script: Script) -> wire.Server:
    """A server that plays a script; pictures cost 100 tokens each."""

    def behave(number: int, body: dict[str, Any]) -> wire.Behaviour:
        act = script(Seen(known, body))
        text = act if isinstance(act, str) else json.dumps(act)
        tokens = 50 + 100 * wire.pictures_in(body)
        return wire.raw(json.dumps(wire.completion(text, tokens)).encode())

    return wire.Server(behave)
