"""Answers about graded knees, worked out again from the readers' table and the masks.

The grading system is data (`moaks-knee.toml`): how a region is cut out of a bone, and the bins of a
scale, are read from there; what lies in a region, how much of it is lesion and how far a meniscus
stands out are measured here. Lost cartilage is judged where the closed form is known, in phantoms.
"""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.referee.scan import Mask, Scan, codes_of
from benchmarks.referee.stored import mapping
from numpy.typing import NDArray
from scipy import ndimage

__all__ = ["Bank", "Knee", "Table", "judge"]

Item = dict[str, Any]
NOT_JUDGED = "not judged"
_AXES = {"medial_lateral": 0, "posterior_anterior": 1, "inferior_superior": 2}
_BOX_MM = 1.5
"""A plane that cuts a region out of a bone takes a row of voxels or leaves it, by rounding."""
_LEAST_LESION_MM3 = 15.0
_PLATEAU_MM = 15.0


class Table:
    """What readers graded: a long table."""

    def __init__(self, path: Path) -> None:
        self.grades: dict[str, dict[tuple[str, str], int]] = defaultdict(dict)
        self.sides: dict[str, str] = {}
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                self.sides[row["study"]] = row.get("side", "")
                self.grades[row["study"]][row["question"], row["sub_score"]] = int(row["grade"])


class Bank:
    """Questions, regions and scales of a grading system."""

    def __init__(self, path: Path) -> None:
        data = tomllib.loads(path.read_text("utf-8"))
        self.regions: dict[str, dict[str, Any]] = data["regions"]
        self.questions = {row["id"]: row for row in data["question"]}
        self._scales = data["scales"]
        self._families = data["families"]

    def sub_score(self, question: str, key: str) -> dict[str, Any]:
        """One of the grades that a question asks for."""
        family = self._families[self.questions[question]["family"]]
        return next(row for row in family["sub_scores"] if row["key"] == key)

    def grade(self, question: str, key: str, value: float) -> int:
        """The grade whose interval holds a value."""
        for level in self._scales[self.sub_score(question, key)["scale"]]["levels"]:
            ends = re.fullmatch(r"([\[(])(.+),(.+)([\])])", level["range"])
            assert ends is not None, level
            low, high = float(ends[2]), float(ends[3])
            above = value >= low if ends[1] == "[" else value > low
            below = value <= high if ends[4] == "]" else value < high
            if above and below:
                return int(level["grade"])
        raise ValueError(f"{value} has no grade in {question} {key}")


class Knee:
    """The masks of one knee in its own directions: lateral, forward, up."""

    def __init__(self, scan: Scan, side: str, drawn: Path) -> None:
        """`drawn`: the file with a phantom's closed forms, if there is one."""
        self.scan, self.side = scan, side
        plates = json.loads(drawn.read_text("utf-8"))["plates"] if drawn.is_file() else []
        self.plates: dict[str, dict[str, float]] = {plate["name"]: plate for plate in plates}
        self._regions: dict[str, Mask] = {}

    @cached_property
    def directions(self) -> NDArray[np.float64]:
        """Rows: lateral, forward, up, in RAS+ mm."""
        centres = {n: self.scan[n].points.mean(0) for n in ("femur", "tibia", "patella")}
        up = _unit(centres["femur"] - centres["tibia"])
        ahead = centres["patella"] - centres["femur"]
        forward = _unit(ahead - (ahead @ up) * up)
        lateral = np.cross(forward, up) * (1.0 if self.side == "right" else -1.0)
        return np.stack([lateral, forward, up])

    def region(self, rule: dict[str, Any]) -> Mask:
        """The voxels of a region."""
        if rule["text"] not in self._regions:
            self._regions[rule["text"]] = self._cut_out(rule)
        return self._regions[rule["text"]]

    def _cut_out(self, rule: dict[str, Any]) -> Mask:
        mask = self.scan[rule["structure"]]
        half = float(np.linalg.norm(mask.affine[:3, :3], axis=0).mean()) / 2.0
        along = mask.points @ self.directions.T
        inside = np.ones(len(mask.index), bool)
        if "joint_mm" in rule:
            up = along[:, 2]
            depth = up.max() - up if rule["structure"] == "tibia" else up - up.min()
            inside = depth + half <= rule["joint_mm"]
        near = inside.copy()
        for name, (first, last) in rule.get("span", {}).items():
            place = along[:, _AXES[name]]
            low, high = place[near].min() - half, place[near].max() + half
            share = (place - low) / (high - low)
            inside &= (share >= first) & ((share < last) | (last == 1.0))
        return Mask(mask.index[inside], mask.affine, mask.shape)

    def lesion_share(self, region: Mask) -> float:
        """Per cent of the region that is lesion."""
        return 100.0 * len(self._lesion_voxels(region)) / len(region.index)

    def lesion_count(self, region: Mask) -> float:
        """Lesions in the region that are more than a speck."""
        voxels = self._lesion_voxels(region)
        if not len(voxels):
            return 0.0
        block = np.zeros(np.ptp(voxels, axis=0) + 1, bool)
        block[tuple((voxels - voxels.min(0)).T)] = True
        numbers, _ = ndimage.label(block, np.ones((3, 3, 3)))
        mm3 = np.bincount(numbers.ravel())[1:] * abs(np.linalg.det(region.affine[:3, :3]))
        return float((mm3 >= _LEAST_LESION_MM3).sum())

    def extrusion_mm(self, meniscus: str, direction: str) -> float:
        """How far a meniscus stands out beyond the top of the tibia."""
        body, tibia = (self.scan[n].points @ self.directions.T for n in (meniscus, "tibia"))
        plateau = tibia[tibia[:, 2] > tibia[:, 2].max() - _PLATEAU_MM]
        axis = 1 if direction == "anterior" else 0
        sign = -1.0 if axis == 0 and meniscus.startswith("medial") else 1.0
        return max(0.0, float((sign * body[:, axis]).max() - (sign * plateau[:, axis]).max()))

    def _lesion_voxels(self, region: Mask) -> NDArray[np.int64]:
        if "bone_marrow_lesion" not in self.scan:
            return region.index[:0]
        lesions = self.scan["bone_marrow_lesion"]
        voxels: NDArray[np.int64] = lesions.index[np.isin(codes_of(lesions.index), region.codes)]
        return voxels


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = vector / np.linalg.norm(vector)
    return unit


def judge(item: Item, knee: Knee, bank: Bank, table: Table) -> str:
    """Empty: agrees. Else what the referee makes of it, or `NOT_JUDGED`."""
    question = item["parameters"]["question"]
    rule = bank.regions[bank.questions[question]["region"]]
    box, grades = _parts(item)
    wrong = [_box(box, knee, rule)] if box is not None else []
    for key, grade in grades.items():
        if item["task"].startswith("geometry."):
            ours = _measured(knee, bank, question, key)
        else:
            ours = table.grades[item["study_id"]].get((question, key))
        if ours is None:
            return next(filter(None, wrong), NOT_JUDGED)
        wrong.append("" if ours == grade else f"{key} {ours}, not {grade}")
    return "; ".join(filter(None, wrong))


def _parts(item: Item) -> tuple[NDArray[np.float64] | None, dict[str, int]]:
    """The box of an answer, if it has one, and its grades."""
    answer = item["answer"]
    if item["form"] != "compound":
        return None, mapping(answer["grades"])
    parts = mapping(answer["parts"])
    box = parts["box"]["boxes"]["boxes"][0]["world"]
    return np.array([box["lo_mm"], box["hi_mm"]]), mapping(parts["grades"]["grades"]["grades"])


def _box(box: NDArray[np.float64], knee: Knee, rule: dict[str, Any]) -> str:
    if rule.get("block"):
        return ""  # placed by the bones; no mask shows it
    ours = np.array(knee.region(rule).box)
    slack = _BOX_MM if rule.get("span") or "joint_mm" in rule else 1e-3
    off = float(np.abs(ours - box).max())
    return "" if off <= slack else f"the box is {off:.1f} mm off"


def _measured(knee: Knee, bank: Bank, question: str, key: str) -> int | None:
    """The grade of what the masks show; None where this referee has no measure."""
    row = bank.questions[question]
    sub = bank.sub_score(question, key)
    region = bank.regions[row["region"]]
    match sub.get("measures"):
        case "lesion_share":
            value = knee.lesion_share(knee.region(region))
        case "lesion_count":
            value = knee.lesion_count(knee.region(region))
        case "extrusion_mm":
            value = knee.extrusion_mm(region["structure"], sub["direction"])
        case "cartilage_loss_share" if row["region"] in knee.plates:
            value = knee.plates[row["region"]]["loss_share"]
        case "cartilage_full_thickness_share" if row["region"] in knee.plates:
            value = knee.plates[row["region"]]["full_share"]
        case _:
            return None
    return bank.grade(question, key, value)
