"""Series that are open in a room: image, masks and ledger, few of them in memory at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from situs.base.files import digest
from situs.bench import Bench, SeriesRecord, StudyRecord, restrict, terms_for
from situs.errors import SitusError
from situs.facts import Ledger
from situs.items import Item, resolve
from situs.measure import nearest_faces
from situs.probe import Patient
from situs.profiles import FileVolumes, Profile, Verdict, Volumes
from situs.profiles.geometry.layout import mark_points
from situs.room.schema import Room
from situs.room.view.evidence import Masks, Target, Triple, targets_of
from situs.room.view.possible import possible
from situs.room.view.scan import Point, Scan
from situs.space import Grid

__all__ = ["OpenScan", "OpenScans"]

_KEPT = 3
"""Series in memory beyond those that sessions hold."""
_OF_POINTS = ("distance", "contact")
"""Tasks that are decided where two structures are nearest."""

_Made = TypeVar("_Made")
SeriesKey = tuple[str, str]


class OpenScan:
    """One series: what a model may look at, and what decides the items about it."""

    def __init__(
        self,
        bench: Bench,
        study: StudyRecord,
        series: SeriesRecord,
        volumes: Volumes,
        room: Room,
        profile: Profile,
    ) -> None:
        if not series.image_hash:
            fix = "build the bench with images (boxes: --images FOLDER)"
            raise SitusError(
                "its study has annotations but no image", where=study.study_id, fix=fix
            )
        self._bench = bench
        self._volumes = volumes
        self.study = study
        self.series = series
        self._made: dict[str, Any] = {}
        self.scan = Scan(series, room, profile, volumes.image(series))

    def once(self, name: str, make: Callable[[], _Made]) -> _Made:
        """What is worked out of the series, once while it is open."""
        if name not in self._made:
            self._made[name] = make()
        made: _Made = self._made[name]
        return made

    @cached_property
    def masks(self) -> Masks | None:
        """The structures of the series; None where it has no masks on this machine."""
        patient = self.patient
        return None if patient is None else Masks(patient.labels, self._bench.info.terms)

    @cached_property
    def patient(self) -> Patient | None:
        """Image and masks together; None where there are no masks."""
        series = self.series
        if not series.labels_hash or not isinstance(series.grid, Grid):
            return None
        try:
            labels = self._volumes.labels(series)
        except SitusError:
            return None
        if not labels.grid.matches(series.grid):
            return None
        terms = terms_for(series.structures, self._bench.info.terms)
        known = restrict(labels, series.structures)
        return Patient(self.study, series, known, self.scan.image, terms)

    @cached_property
    def ledger(self) -> Ledger | None:
        """What can be measured of the series; None without masks."""
        return None if self.patient is None else self.patient.ledger(self._bench)

    def targets(self, item: Item) -> tuple[Target, ...]:
        """What has to be seen to answer an item."""
        marks = mark_points(item, self.scan.answer_layout.lattice)
        places = {letter: _triple(point) for letter, point in marks.items()}
        return targets_of(item, self.masks, self._witness_points(item), places)

    def verdict(self, item: Item) -> Verdict:
        """Whether the room lets anyone answer the item."""
        return possible(item, self.scan, self.masks)

    def _witness_points(self, item: Item) -> dict[str, Triple]:
        """Where the structures of a distance are nearest to each other:
        on the first, and on each of the others."""
        names = [need[5:] for need in item.needs if need.startswith("sees:")]
        if item.task not in _OF_POINTS or len(names) < 2 or self.masks is None:
            return {}
        ledger, points = self.ledger, dict[str, Triple]()
        assert ledger is not None
        try:
            first = ledger.main_region(resolve(ledger, names[0]).structure)
            for name in names[1:]:
                other = ledger.main_region(resolve(ledger, name).structure)
                nearest = nearest_faces([(first, other)])[0]
                points[f"{names[0]} towards {name}"] = nearest.a_mm
                points[f"{name} towards {names[0]}"] = nearest.b_mm
        except (KeyError, SitusError):
            return {}
        return points


class OpenScans:
    """Opens series and lets go of those used longest ago, unless a session holds them."""

    def __init__(
        self,
        bench: Bench,
        room: Room,
        profile: Profile,
        volumes: Volumes | None = None,
        data: Path | None = None,
    ) -> None:
        self._bench = bench
        self._room = room
        self._profile = profile
        self._volumes = volumes or FileVolumes(bench, data=data)
        self._known: dict[SeriesKey, tuple[StudyRecord, SeriesRecord]] = {
            (study.study_id, series.series): (study, series)
            for study in bench.studies()
            for series in study.series
        }
        self._open: OrderedDict[SeriesKey, OpenScan] = OrderedDict()
        self._holders: dict[SeriesKey, int] = {}

    def has_room_for(self, key: SeriesKey) -> bool:
        """Whether another session on this series would keep memory in bounds."""
        return key in self._holders or len(self._holders) < _KEPT

    def record(self, key: SeriesKey) -> SeriesRecord | None:
        """What the bench says of a series; None if it has none of that name."""
        known = self._known.get(key)
        return None if known is None else known[1]

    def another_patient(self, study: StudyRecord, series: SeriesRecord) -> Patient | None:
        """The masks of the next patient with the same modality,
        in an order drawn by the ids; None if there is none."""
        own_rank = digest("other", study.study_id, series.series)
        others = [
            (digest("other", key[0], key[1]), known)
            for key, known in self._known.items()
            if known[0].patient_id != study.patient_id
            and known[1].modality == series.modality
            and known[1].labels_hash
            and known[1].affine
        ]
        if not others:
            return None
        later = [entry for entry in others if entry[0] > own_rank]
        _, (other_study, other) = min(later or others, key=lambda entry: entry[0])
        labels = restrict(self._volumes.labels(other), other.structures)
        terms = terms_for(other.structures, self._bench.info.terms)
        return Patient(other_study, other, labels, None, terms)

    def take(self, item: Item) -> OpenScan:
        """The series an item is about, held until `give_back`."""
        key = item.study_id, item.series
        opened = self.peek(key, where=item.item_id)
        self._holders[key] = self._holders.get(key, 0) + 1
        return opened

    def peek(self, key: SeriesKey, where: str = "") -> OpenScan:
        """A series, held by nobody."""
        if key not in self._open:
            if key not in self._known:
                raise SitusError(
                    "its study has no image to show",
                    where=where or key[0],
                    fix="build or import it with --images FOLDER",
                )
            self._trim(_KEPT - 1)
            study, series = self._known[key]
            self._open[key] = OpenScan(
                self._bench, study, series, self._volumes, self._room, self._profile
            )
        self._open.move_to_end(key)
        return self._open[key]

    def give_back(self, item: Item) -> None:
        """A session on the item's series has ended."""
        key = item.study_id, item.series
        self._holders[key] -= 1
        if not self._holders[key]:
            del self._holders[key]

    def _trim(self, most: int) -> None:
        for key in [key for key in self._open if key not in self._holders]:
            if len(self._open) <= most:
                return
            del self._open[key]


def _triple(point: Point) -> Triple:
    x, y, z = (float(value) for value in point)
    return x, y, z
