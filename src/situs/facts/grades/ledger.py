"""The ledger of a graded joint: the reader's grades,
where regions lie, and what masks say of the same signs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property

import numpy as np

from situs.anatomy import Suspicion
from situs.anatomy.banks import Bank, BankQuestion, Region, Scale, SubScore
from situs.errors import SitusError
from situs.facts.doubts import Doubted
from situs.facts.grades.box_file import GivenBoxes, RegionBox
from situs.facts.grades.joint import (
    Cartilage,
    JointFrame,
    JointMasks,
    Measure,
    Part,
    block_of,
    cartilage_loss,
    extrusion_mm,
    joint_frame,
    joint_suspicions,
    lesion_count,
    lesion_share,
    patient_frame,
    with_lesions,
)
from situs.facts.grades.table import GradedStudy
from situs.facts.record import Cell, Fact, FactValue, Measured, fact_id
from situs.space import WorldBox
from situs.volumes import LabelMap

__all__ = ["GEOMETRY", "READER", "REGION_BOX", "GradeLedger", "masks_for"]

READER = "grade.reader"
"""What a reader wrote into the table."""
GEOMETRY = "grade.geometry"
"""What the masks give by the same bins; never called by the name of the reader's score."""
REGION_BOX = "region_box"

_LESIONS = "bone_marrow_lesion"
_CARTILAGE = {
    "femur": "femoral_cartilage",
    "tibia": "tibial_cartilage",
    "patella": "patellar_cartilage",
}
_CARTILAGE_PARTS = {
    f"{side}_{name}": name for name in _CARTILAGE.values() for side in ("medial", "lateral")
}
_MEASURES = {
    "lesion_share": 1,
    "lesion_count": 1,
    "cartilage_loss_share": 2,
    "cartilage_full_thickness_share": 2,
    "extrusion_mm": 1,
}
"""What is measured, and the version of its function."""


def masks_for(bank: Bank, labels: LabelMap, told: Collection[str]) -> JointMasks:
    """The masks that a bank's regions and measures rest on; `told` are the names of a label map.

    A mask with the name of a region is that region. Where a structure comes only in such parts, it
    is their union; so is cartilage that comes as a medial and a lateral mask.
    """
    parts_of = {
        name: region.structure for name, region in bank.regions.items() if not region.block
    } | _CARTILAGE_PARTS
    wanted = {region.structure for region in bank.regions.values()} | {
        _LESIONS,
        *_CARTILAGE.values(),
        *parts_of,
    }
    used = [structure for structure in labels.structures if structure.name in wanted]
    voxels = {s.name: np.argwhere(labels.mask(s)) for s in used}
    split = {name: whole for name, whole in parts_of.items() if name in voxels}
    for whole in sorted({structure for structure in split.values() if structure not in voxels}):
        parts = [voxels[name] for name, structure in split.items() if structure == whole]
        voxels[whole] = np.unique(np.concatenate(parts), axis=0)
    if _LESIONS in voxels:
        bones = [name for name in voxels if name in _CARTILAGE or split.get(name) in _CARTILAGE]
        voxels |= with_lesions(
            {name: voxels[name] for name in bones}, voxels[_LESIONS], labels.grid.shape
        )
    return JointMasks(labels.grid, voxels, told)


def _box_of(region: Region, masks: JointMasks, frame: JointFrame) -> WorldBox | None:
    if region.block:
        return block_of(region, masks, frame)
    part = masks.part(region, frame)
    return part.box_mm(masks.grid) if part is not None else None


_NO_BOXES = GivenBoxes()


class GradeLedger(Doubted):
    """Facts about one series, derived when first asked for; `KeyError` for those it cannot tell."""

    def __init__(
        self,
        graded: GradedStudy,
        bank: Bank,
        *,
        study_id: str,
        series: str,
        masks: JointMasks | None = None,
        labels_hash: str = "",
        boxes: GivenBoxes = _NO_BOXES,
        trusted: Collection[str] = (),
    ) -> None:
        """`trusted`: what the user vouches for, though it looks wrong."""
        self.trusted = frozenset(trusted)
        self.graded = graded
        self.bank = bank
        self.study_id = study_id
        self.series = series
        self._masks = masks
        self._labels_hash = labels_hash
        self._boxes = boxes
        self._facts: dict[tuple[str, tuple[str, ...]], Fact] = {}
        self._cartilage: dict[str, Cartilage | None] = {}
        self._kinds: dict[str, Callable[..., Fact]] = {
            READER: self._reader,
            GEOMETRY: self._geometry,
            REGION_BOX: self._region_box,
            **dict.fromkeys(_MEASURES, self._measure),
        }

    @cached_property
    def frame(self) -> JointFrame | None:
        """The knee's own directions, or the patient's for what is no knee; None without masks."""
        if self._masks is None:
            return None
        regions = self.bank.regions.values()
        is_knee = {"femur", "tibia"} <= {region.structure for region in regions}
        needs_side = is_knee or any("medial_lateral" in region.span for region in regions)
        if self.graded.side == "" and not needs_side:
            return patient_frame("right")
        if self.graded.side == "":
            fix = "give the column side: medial and lateral are never guessed"
            raise SitusError("no side of the body in the table", where=self.graded.study, fix=fix)
        if not is_knee:
            return patient_frame(self.graded.side)
        return joint_frame(self._masks.centres_mm(), self.graded.side)

    def _find_suspicions(self) -> list[Suspicion]:
        return [] if self._masks is None else joint_suspicions(self._masks, self.graded.side)

    def fact(self, kind: str, *subjects: str) -> Fact:
        """A fact by kind and subjects: (question, sub-score), or (region,) of a box."""
        key = (kind, subjects)
        if key not in self._facts:
            make = self._kinds[kind]
            self._facts[key] = make(kind, *subjects) if kind in _MEASURES else make(*subjects)
        return self._facts[key]

    def has(self, kind: str, *subjects: str) -> Fact | None:
        """The fact, or None where the evidence does not tell it."""
        try:
            return self.fact(kind, *subjects)
        except KeyError:
            return None

    def known_facts(self) -> list[Fact]:
        """Every fact asked for so far."""
        return list(self._facts.values())

    def box(self, region: str) -> RegionBox | None:
        """Where a region lies; None where nothing tells."""
        fact = self.has(REGION_BOX, region)
        if fact is None or not isinstance(fact.value, tuple):
            return None
        x0, y0, z0, x1, y1, z1 = fact.value
        box = WorldBox((x0, y0, z0), (x1, y1, z1), self.bank.regions[region].text)
        return RegionBox(box, "approximate" in fact.flags)

    def is_boxed(self, region: str) -> bool:
        """Whether a box of the region is asked for, here or in other studies: its mask or its box
        has a name there.

        A question with a box in some studies and without it in others would tell by its words which
        is which.
        """
        names = (region, self.bank.regions[region].structure)
        is_named = self._masks is not None and any(self._masks.is_told(name) for name in names)
        return is_named or region in self._boxes.regions or self.box(region) is not None

    def _reader(self, question: str, key: str) -> Fact:
        grade = self.graded.grades[question][key]
        return self._record(
            READER, (question, key), grade, Cell(self.graded.hash, f"question {question}", key)
        )

    def _region_box(self, region: str) -> Fact:
        given_box = self._boxes.of_study.get(region)
        if given_box is not None:
            value = (*given_box.box.lo_mm, *given_box.box.hi_mm)
            flags = ("approximate",) if given_box.approximate else ()
            return self._record(
                REGION_BOX,
                (region,),
                value,
                Cell(self._boxes.hash, region, "box"),
                unit="mm",
                flags=flags,
            )
        if self._masks is None or self.frame is None:
            raise KeyError(region)
        known = self._region(region, self._masks)
        box = _box_of(known, self._masks, self.frame)
        if box is None:
            raise KeyError(region)
        flags = ("approximate",) if known.approximate else ()
        rule = {"rule": known.rule} if known.approximate else {}
        how = self._measured("region_box@1", {"basis": self.frame.basis, **rule})
        return self._record(
            REGION_BOX, (region,), (*box.lo_mm, *box.hi_mm), how, unit="mm", flags=flags
        )

    def _part(self, region: str) -> Part | None:
        """The voxels of a region: a mask of its own name, or a part of its structure's."""
        if self._masks is None or self.frame is None:
            return None
        return self._masks.part(self._region(region, self._masks), self.frame)

    def _region(self, name: str, masks: JointMasks) -> Region:
        """A region as the bank has it, or as the mask of its own name; a block is never a mask."""
        known = self.bank.regions[name]
        return Region(known.text, name) if name in masks and not known.block else known

    def _measure(self, kind: str, question_id: str, key: str) -> Fact:
        question, sub, scale = self._known(question_id, key)
        if sub.measures != kind or self._masks is None or self.frame is None:
            raise KeyError(kind)
        measure = self._measured_value(question, sub, self._masks, self.frame)
        if measure is None:
            raise KeyError(kind)
        how = self._measured(f"{kind}@{_MEASURES[kind]}", {"region": question.region})
        return self._record(
            kind, (question_id, key), measure.value, how, unit=scale.unit, interval=measure.interval
        )

    def _measured_value(
        self, question: BankQuestion, sub: SubScore, masks: JointMasks, frame: JointFrame
    ) -> Measure | None:
        region = self.bank.regions[question.region]
        match sub.measures:
            case "lesion_share" | "lesion_count":
                part = self._part(question.region)
                if part is None or not masks.is_told(_LESIONS):
                    return None
                measure = lesion_share if sub.measures == "lesion_share" else lesion_count
                return measure(part, masks.indices(_LESIONS), masks)
            case "extrusion_mm":
                return extrusion_mm(region.structure, sub.direction, masks, frame)
            case _:
                if question.region not in self._cartilage:
                    name = _CARTILAGE.get(region.structure, "")
                    part = self._part(question.region)
                    self._cartilage[question.region] = cartilage_loss(
                        part, region.structure, name, masks, frame
                    )
                loss = self._cartilage[question.region]
                if loss is None:
                    return None
                return loss.loss if sub.measures == "cartilage_loss_share" else loss.full

    def _geometry(self, question_id: str, key: str) -> Fact:
        """The grade of the measured value;
        None near the edge of a bin, where the interval holds two grades."""
        _, sub, scale = self._known(question_id, key)
        if not sub.measures:
            raise KeyError(key)
        measured = self.fact(sub.measures, question_id, key)
        assert isinstance(measured.value, float)
        assert measured.interval is not None
        grades = {scale.grade_of(value) for value in (measured.value, *measured.interval)}
        sure = len(grades) == 1
        how = Measured("grade.geometry@1", {"scale": sub.scale}, (f"fact:{measured.fact_id}",))
        flags = () if sure else ("near_edge",)
        return self._record(
            GEOMETRY, (question_id, key), grades.pop() if sure else None, how, flags=flags
        )

    def _known(self, question_id: str, key: str) -> tuple[BankQuestion, SubScore, Scale]:
        question = self.bank.by_id[question_id]
        sub = {one.key: one for one in self.bank.sub_scores_of(question)}[key]
        return question, sub, self.bank.scales[sub.scale]

    def _measured(self, function: str, parameters: dict[str, float | str]) -> Measured:
        return Measured(
            function, parameters, (f"labels:{self._labels_hash}", f"table:{self.graded.hash}")
        )

    def _record(
        self,
        kind: str,
        subjects: tuple[str, ...],
        value: FactValue,
        derivation: Cell | Measured,
        *,
        unit: str = "",
        interval: tuple[float, float] | None = None,
        flags: tuple[str, ...] = (),
    ) -> Fact:
        own_id = fact_id(self.study_id, self.series, kind, subjects)
        return Fact(
            own_id,
            self.study_id,
            self.series,
            kind,
            subjects,
            value,
            unit,
            interval,
            derivation,
            flags,
        )
