"""What is served: the studies of a bench, or one scan, each behind a viewer of its own."""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path
from typing import Any

from situs.base.files import digest
from situs.bench import Bench, SeriesRecord, open_bench
from situs.clients import Reply, ToolCall
from situs.clients.turns import Action, Misread, read_action
from situs.errors import SitusError
from situs.probe import volumes_of
from situs.profiles import options_text
from situs.room import Room
from situs.room.actions import action_kinds
from situs.room.desk import Desk, Done
from situs.room.view.opened import OpenScans
from situs.room.view.scan import Scan
from situs.room.view.used import Used
from situs.room.words import action_words, inventory, picture_words
from situs.show import volume_of
from situs.volumes import modality_of

__all__ = ["Studies", "studies_of"]

_MOST_OPEN = 3
"""Viewers at a time: each holds a scan in memory."""
_MOST_QUESTIONS = 200


class _Viewer:
    """A scan that is open, and what was used of the room's allowance at it."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.desk = Desk(scan, None, None)
        self.used = Used(scan)
        self.turns = 0

    def take_turn(self) -> None:
        """One more call; a mistake costs one too, as it does in a session."""
        if self.turns >= self.scan.room.budget.turns:
            raise self.used_up("turns", self.scan.room.budget.turns)
        self.turns += 1

    def check(self, action: Action) -> None:
        """An error if a look is beyond what the room allows."""
        over = self.used.exceeded_by(self.desk.look_of(action))
        if over:
            raise self.used_up(over, getattr(self.scan.room.budget, over))

    def used_up(self, what: str, allowed: int) -> SitusError:
        """Which allowance is used up, and how to go on."""
        problem = (
            f"no {what} are left at this viewer: room {self.scan.room.name} allows {allowed:,}"
        )
        return SitusError(problem, fix="answer with what was seen; open_study starts again")


class Studies:
    """Scans by number. Nothing that is told names a patient, a label or a path, and no answer is."""

    def __init__(self, room: Room, restricted: bool) -> None:
        self.room = room
        self.restricted = restricted
        self._viewers: OrderedDict[int, _Viewer] = OrderedDict()
        self._opened = 0

    def count(self) -> int:
        """How many scans there are."""
        raise NotImplementedError

    def about(self, number: int) -> str:
        """One line on a scan (from 1)."""
        raise NotImplementedError

    def scan(self, number: int) -> Scan:
        """A scan (from 1)."""
        raise NotImplementedError

    def questions(self, number: int) -> list[str]:
        """The questions on a scan, without their answers."""
        return []

    def list(self) -> str:
        """Every scan, a line each."""
        return "\n".join(f"{n}: {self.about(n)}" for n in range(1, self.count() + 1))

    def open(self, number: int) -> str:
        """Open a viewer on a scan: its number, the inventory and the actions."""
        if not 1 <= number <= self.count():
            raise SitusError(f"there is no study {number}; they run from 1 to {self.count()}")
        while len(self._viewers) >= _MOST_OPEN:
            self._viewers.popitem(last=False)
        scan = self.scan(number)
        self._opened += 1
        self._viewers[self._opened] = _Viewer(scan)
        kinds = [kind for kind in action_kinds(self.room, scan) if kind.name != "answer"]
        return f"Viewer {self._opened}.\n{inventory(scan)}\n\n{action_words(kinds, scan)}"

    def do(self, name: str, arguments: dict[str, Any], viewer: int | None) -> Done:
        """Carry out an action at a viewer; the latest opened one if none is named."""
        at = self._viewer(viewer)
        at.take_turn()
        call = ToolCall("", name, json.dumps(arguments))
        read = read_action(Reply("answered", tool_calls=(call,)), action_kinds(self.room, at.scan))
        if isinstance(read, Misread):
            raise SitusError(read.reason)
        at.check(read)
        done = at.desk.do(read)
        if done.picture is None:
            return done
        at.used.add(done.picture)
        words = picture_words(at.used.looks, done.picture, at.scan, at.used.looks_left)
        return done._replace(words=words)

    def _viewer(self, number: int | None) -> _Viewer:
        if not self._viewers:
            raise SitusError("no study is open; call open_study first")
        wanted = next(reversed(self._viewers)) if number is None else number
        if wanted not in self._viewers:
            shown = ", ".join(map(str, self._viewers))
            raise SitusError(f"viewer {wanted} is not open; open are {shown}")
        return self._viewers[wanted]


class _OfBench(Studies):
    def __init__(self, bench: Bench, room: Room, data: Path | None) -> None:
        super().__init__(room, bench.info.restricted)
        self._bench = bench
        volumes = volumes_of(bench, data)
        self._scans = OpenScans(bench, room, room.profile(), volumes)
        self._series: list[tuple[str, SeriesRecord]] = [
            (study.study_id, series)
            for study in bench.studies()
            for series in study.series
            if series.image_hash
        ]
        if not self._series:
            fix = "build it with images"
            raise SitusError("no study has an image to show", where=bench.folder, fix=fix)

    def count(self) -> int:
        return len(self._series)

    def about(self, number: int) -> str:
        series = self._series[number - 1][1]
        size = " × ".join(map(str, series.shape))
        return f"{series.modality.upper()} scan, {size} voxels"

    def scan(self, number: int) -> Scan:
        study_id, series = self._series[number - 1]
        return self._scans.peek((study_id, series.series)).scan

    def questions(self, number: int) -> list[str]:
        study_id, series = self._series[number - 1]
        asked = []
        for item in self._bench.items(steps=False):
            if (item.study_id, item.series) == (study_id, series.series):
                asked.append(" ".join(filter(None, (item.question, options_text(item)))))
                if len(asked) >= _MOST_QUESTIONS:
                    break
        return asked


class _OfScan(Studies):
    def __init__(self, source: Path, room: Room) -> None:
        super().__init__(room, restricted=True)
        volume = volume_of(source)
        array = volume.array()
        grid = volume.grid
        self._record = SeriesRecord(
            series="scan",
            modality=modality_of(array),
            image_hash=digest("served"),
            labels_hash="",
            shape=grid.shape,
            affine=tuple(float(value) for value in grid.affine.matrix.ravel()),
            side_basis="affine",
            annotation="",
            structures={},
        )
        self._scan = Scan(self._record, room, room.profile(), array)

    def count(self) -> int:
        return 1

    def about(self, number: int) -> str:
        size = " × ".join(map(str, self._record.shape))
        return f"{self._record.modality.upper()} scan, {size} voxels"

    def scan(self, number: int) -> Scan:
        return self._scan


def studies_of(source: Path, room: Room, data: Path | None = None) -> Studies:
    """The studies of a bench, or the one of an image file or study folder."""
    if (source / "bench.json").is_file():
        return _OfBench(open_bench(source), room, data)
    return _OfScan(source, room)
