"""Boxes of regions that were worked out before: a CSV in mm or in the published slice form."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from situs.anatomy.banks import Bank
from situs.base.files import canonical_json, digest
from situs.errors import SitusError
from situs.facts.grades.grouped import GroupedTable
from situs.facts.grades.published import from_published
from situs.space import Grid, IndexBox, WorldBox

__all__ = ["GivenBoxes", "RegionBox", "RegionBoxes"]

_MM = ("x0", "y0", "z0", "x1", "y1", "z1")
_SLICES = ("start_slice", "end_slice", "x_min", "x_max", "y_min", "y_max")
_TRUE = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False, "": None}


class RegionBox(msgspec.Struct, frozen=True):
    """Where a region lies."""

    box: WorldBox
    approximate: bool


class GivenBoxes(msgspec.Struct, frozen=True):
    """What a file of boxes says of one study."""

    of_study: Mapping[str, RegionBox] = {}
    """Region → box."""
    hash: str = ""
    """Of the study's rows; empty without a file."""
    regions: Collection[str] = ()
    """Those that have a box in this study or in another."""


class RegionBoxes:
    """`--boxes`: columns study, region or question, and six numbers; `approximate` if the box is
    only roughly right.

    x0 … z1 are RAS+ mm; start_slice … y_max are the published form (`from_published`).
    Without the column `approximate`, a region that the bank divides by rule is approximate.
    """

    def __init__(self, path: Path, bank: Bank) -> None:
        self.path = path
        self._bank = bank
        self._rows = GroupedTable(path, "study")
        columns = self._rows.columns
        self._form = next((form for form in (_MM, _SLICES) if set(form) <= set(columns)), None)
        if self._form is None or not {"region", "question"} & set(columns):
            fix = f"give study, region (or question) and {', '.join(_MM)} or {', '.join(_SLICES)}"
            raise SitusError("lacks columns of boxes", where=path, fix=fix)
        self._numbers = [columns.index(name) for name in self._form]
        self._name = columns.index("region" if "region" in columns else "question")
        self._approximate = columns.index("approximate") if "approximate" in columns else None

    @cached_property
    def regions(self) -> frozenset[str]:
        """Those it has boxes of, in any study;
        names that the bank lacks are told when their study is read."""
        bank = self._bank
        named_regions = {
            bank.by_id[name].region if name in bank.by_id else name
            for name in self._rows.values(self._name)
        }
        return frozenset(named_regions & set(bank.regions))

    @property
    def studies(self) -> list[str]:
        """Those it has boxes of."""
        return self._rows.keys

    def read(self, study: str, grid: Grid) -> tuple[dict[str, RegionBox], str]:
        """Region → box, and the hash of what the file says of this study."""
        boxes: dict[str, RegionBox] = {}
        raw = []
        for number, row in self._rows.rows(study):
            where = f"{self.path.name}:{number}"
            region = self._region(row[self._name].strip(), where)
            numbers = self._read_numbers(row, where)
            stated = row[self._approximate].strip().lower() if self._approximate is not None else ""
            if stated not in _TRUE:
                raise SitusError(
                    f"cannot read approximate {stated!r}", where=where, fix="write yes or no"
                )
            flag = _TRUE[stated]
            rough = self._bank.regions[region].approximate if flag is None else flag
            raw.append((region, *numbers, rough))
            box = RegionBox(self._box(numbers, grid, where), rough)
            if boxes.setdefault(region, box) != box:
                raise SitusError(
                    f"{region} has two boxes", where=where, fix="give one box per region and study"
                )
        return boxes, digest(canonical_json(sorted(raw)))

    def _region(self, name: str, where: str) -> str:
        if name in self._bank.regions:
            return name
        if name in self._bank.by_id:
            return self._bank.by_id[name].region
        raise SitusError(
            f"unknown region or question {name!r}", where=where, fix="use the names of the bank"
        )

    def _read_numbers(self, row: list[str], where: str) -> list[float]:
        try:
            numbers = [float(row[column]) for column in self._numbers]
        except ValueError as error:
            raise SitusError(
                "a corner is not a number", where=where, fix="correct the row"
            ) from error
        if not all(math.isfinite(number) for number in numbers):
            raise SitusError("a corner is not finite", where=where, fix="correct the row")
        return numbers

    def _box(self, numbers: list[float], grid: Grid, where: str) -> WorldBox:
        if self._form == _MM:
            x0, y0, z0, x1, y1, z1 = numbers
            try:
                box = WorldBox((x0, y0, z0), (x1, y1, z1))
            except SitusError as error:
                raise SitusError(error.problem, where=where, fix="correct the row") from error
            scan = IndexBox((0, 0, 0), grid.shape).to_world(grid.affine)
            if any(
                a >= d or b <= c for a, b, c, d in zip(box.lo_mm, box.hi_mm, scan.lo_mm, scan.hi_mm)
            ):
                raise SitusError(
                    "the box lies outside the scan",
                    where=where,
                    fix="give RAS+ millimetres in the frame of the image's header",
                )
            return box
        try:
            return from_published(numbers, grid)
        except SitusError as error:
            raise SitusError(error.problem, where=where, fix=error.fix) from error
