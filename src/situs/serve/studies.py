"""What is served: the studies of a bench, or one scan, each behind a viewer of its own."""

from __future__ import annotations

import json
from collections import OrderedDict
from pathlib import Path
from typing import Any, NamedTuple

from situs.base.files import digest
from situs.bench import Bench, SeriesRecord, open_bench
from situs.clients import Reply, ToolCall
from situs.clients.turns import Misread, read_action
from situs.errors import SitusError
from situs.probe import volumes_of
from situs.profiles import options_text
from situs.room import Room
from situs.room.actions import action_kinds
from situs.room.desk import Desk, Done
from situs.room.view.opened import OpenScans
from situs.room.view.scan import Look, Scan
from situs.room.view.used import Used
from situs.room.words import action_words, inventory, picture_words
from situs.show import volume_of
from situs.volumes import modality_of

__all__ = ["Studies", "studies_of"]

_MOST_OPEN = 3
"""Viewers at a time: each holds a scan in memory."""
_MOST_QUESTIONS = 200


class _Spent:
    """What was used of the room's allowance at one study,
    by all viewers that were ever opened on it."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.used = Used(room.budget)
        self.turns = 0

    @property
    def turns_left(self) -> int:
        """Calls that may still be made."""
        return self._room.budget.turns - self.turns

    def take_turn(self) -> None:
        """One more call; a mistake costs one too, as it does in a session."""
        if not self.turns_left:
            raise self._used_up("turns")
        self.turns += 1

    def check(self, look: Look | None, scan: Scan) -> None:
        """An error if a look is beyond what the room allows."""
        over = self.used.exceeded_by(look, scan)
        if over:
            raise self._used_up(over)

    def _used_up(self, what: str) -> SitusError:
        """Which allowance is used up, and how to go on."""
        allowed = getattr(self._room.budget, what)
        problem = f"no {what} are left for this study: room {self._room.name} allows {allowed:,}"
        return SitusError(problem, fix="answer with what was seen")


class _Viewer(NamedTuple):
    """A scan that is open. Closing it and opening another gives nothing back of what was used."""

    scan: Scan
    desk: Desk
    spent: _Spent


class Studies:
    """Scans by number. Nothing that is told names a patient,
    a label or a path, and no answer is."""

    def __init__(self, room: Room, restricted: bool) -> None:
        self.room = room
        self.restricted = restricted
        self._viewers: OrderedDict[int, _Viewer] = OrderedDict()
        self._opened = 0
        # The protocol has no sessions that a server could tell apart: a server is one session.
        self._spent: dict[int, _Spent] = {}

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
        self._check(number)
        return self._questions(number)

    def _questions(self, number: int) -> list[str]:
        return []

    def _check(self, number: int) -> None:
        if not 1 <= number <= self.count():
            raise SitusError(f"there is no study {number}; they run from 1 to {self.count()}")

    def list(self) -> str:
        """Every scan, a line each."""
        return "\n".join(f"{n}: {self.about(n)}" for n in range(1, self.count() + 1))

    def open(self, number: int) -> str:
        """Open a viewer on a scan: its number, the inventory and the actions."""
        self._check(number)
        while len(self._viewers) >= _MOST_OPEN:
            self._viewers.popitem(last=False)
        scan = self.scan(number)
        self._opened += 1
        spent = self._spent.setdefault(number, _Spent(self.room))
        self._viewers[self._opened] = _Viewer(scan, Desk(scan, None, None), spent)
        kinds = [kind for kind in action_kinds(self.room, scan) if kind.name != "answer"]
        actions = action_words(kinds, spent.used.looks_left, spent.turns_left)
        return f"Viewer {self._opened}.\n{inventory(scan)}\n\n{actions}"

    def do(self, name: str, arguments: dict[str, Any], viewer: int | None) -> Done:
        """Carry out an action at a viewer; the latest opened one if none is named."""
        at = self._viewer(viewer)
        at.spent.take_turn()
        call = ToolCall("", name, json.dumps(arguments))
        read = read_action(Reply("answered", tool_calls=(call,)), action_kinds(self.room, at.scan))
        if isinstance(read, Misread):
            raise SitusError(read.reason)
        at.spent.check(at.desk.look_of(read), at.scan)
        done = at.desk.do(read)
        if done.picture is None:
            return done
        at.spent.used.add(done.picture)
        picture_number = len(
            at.desk.pictures
        )  # points name pictures by their numbers at this viewer
        words = picture_words(picture_number, done.picture, at.scan, at.spent.used.looks_left)
        return done._replace(words=words)

    def _viewer(self, number: int | None) -> _Viewer:
        if not self._viewers:
            raise SitusError("no study is open; call open_study first")
        wanted = next(reversed(self._viewers)) if number is None else number
        if wanted not in self._viewers:
            open_numbers = ", ".join(map(str, self._viewers))
            raise SitusError(f"viewer {wanted} is not open; open are {open_numbers}")
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

    def _questions(self, number: int) -> list[str]:
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
