"""A session on a real CT: what a reader measures from
what it is told and shown is what the ledger holds."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
import scripted
from scripted import Seen

from situs.room.journal import Outcome, read_turns

CT = Path(os.environ.get("SITUS_REAL_DATA") or "/nonexistent") / "volumes" / "totalseg_s0009"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not CT.is_dir(), reason="SITUS_REAL_DATA is not set"),
]
ORGANS = (
    *("adrenal_gland_left", "adrenal_gland_right", "aorta", "duodenum", "kidney_left"),
    *("kidney_right", "pancreas", "spinal_cord", "vertebrae_L1", "vertebrae_L2", "vertebrae_L3"),
    *("vertebrae_L4", "vertebrae_L5", "vertebrae_S1", "vertebrae_T12"),
)
MEASURED = "duodenum"


class Plan:
    """Where a reader has to point on a coronal picture,
    worked out from the words that it was sent."""

    def __init__(self, words: str) -> None:
        # Slices are told by their middles; the scan ends half a slice beyond the last.
        (_, self.right), (_, self.top) = (self._ends(words, axis) for axis in "xz")

    @staticmethod
    def _ends(words: str, axis: str) -> tuple[float, float]:
        found = re.search(rf"([\d.]+) mm apart, {axis} from (-?[\d.]+) to (-?[\d.]+) mm", words)
        assert found is not None
        apart, *ends = map(float, found.groups())
        return min(ends) - apart / 2, max(ends) + apart / 2

    def point(self, number: int, x: float, z: float, scale: float) -> list[float]:
        """Pixels of a picture; its first column is the patient's right, its first row the head."""
        return [number, (self.right - x) / scale - 0.5, (self.top - z) / scale - 0.5]


def test_measured_millimetres_are_those_of_the_ledger(situs, play, tmp_path) -> None:
    masks = tmp_path / "data" / "s0009" / "segmentations"
    masks.mkdir(parents=True)
    shutil.copy(CT / "ct.nii.gz", masks.parent)
    for organ in ORGANS:
        shutil.copy(CT / "segmentations" / f"{organ}.nii.gz", masks)
    bench = tmp_path / "bench"
    args = ("--annotation", "corrected", "--licence", "CC-BY-4.0", "--out", bench)
    built = situs("build", "masks", masks.parents[1], *args)
    assert built.code == 0, built.err

    def reader(seen: Seen) -> scripted.Act:
        """Looks through the middle of an organ, and measures its height and its width."""
        ledger = seen.known.opened[seen.item.item_id].ledger
        box = ledger.main_region(MEASURED).box_mm
        middle = [(a + b) / 2 for a, b in zip(box.lo_mm, box.hi_mm)]
        if seen.turn == 0:
            return {"action": "look", "plane": "coronal", "at_mm": middle[1]}
        if seen.turn == 3:
            return seen.answer()
        shown = seen.body["messages"][2]["content"][-1]["text"]
        scale = float(shown.split("one pixel is ")[1].split(" mm")[0])
        plan = Plan(seen.body["messages"][0]["content"])
        ends = [
            [(middle[0], box.lo_mm[2]), (middle[0], box.hi_mm[2])],
            [(box.lo_mm[0], middle[2]), (box.hi_mm[0], middle[2])],
        ][seen.turn - 1]
        a, b = (plan.point(1, x, z, scale) for x, z in ends)
        return {"action": "measure", "a": a, "b": b}

    played = play(reader, "callipers", limit=1, folder=bench)
    (opened,) = played.known.opened.values()
    rows = [r for r in read_turns(played.out / "turns.jsonl") if isinstance(r, Outcome)]
    look, height, width, _ = rows
    assert look.look.plane == "coronal"
    scale = float(look.words.split("one pixel is ")[1].split(" mm")[0])
    box = opened.ledger.main_region(MEASURED).box_mm
    for row, kind in ((height, "superior_inferior"), (width, "left_right")):
        truth = opened.ledger.fact(f"extent.{kind}", MEASURED).value
        assert truth > 20 * scale
        assert row.length_mm == pytest.approx(truth, abs=scale / 2)
    for end, z in zip(height.points, (box.lo_mm[2], box.hi_mm[2])):
        assert end[2] == pytest.approx(z, abs=scale / 2)
    for end, x in zip(width.points, (box.lo_mm[0], box.hi_mm[0])):
        assert end[0] == pytest.approx(x, abs=scale / 2)
