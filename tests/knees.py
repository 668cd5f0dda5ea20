"""Phantom knees as the tests of graded questions see them:
masks in any axis order, mirrored, with their grades."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from situs.anatomy.banks import load_bank
from situs.bench import Bench, SeriesRecord, StudyRecord, open_bench
from situs.build import knee_grades
from situs.build.sources.grades import BASES
from situs.build.writer import BenchWriter, BuildOptions
from situs.facts import load_recipe
from situs.facts.grades import GradedStudy, GradeLedger
from situs.facts.grades.joint import JointMasks
from situs.items import NotAsked, graded_questions, pose_grades
from situs.space import Affine, Grid
from situs.volumes.phantoms import KNEE_MASKS, PhantomKnee, make_knee

BANK = load_bank("moaks-knee")
SPACING = (1.2, 1.0, 1.0)


@cache
def knee(index: int, side: str | None = None) -> PhantomKnee:
    """A knee without noise on a somewhat coarse grid, so that tests are quick."""
    return make_knee(11, index, side=side, spacing_mm=SPACING, noise=False)  # type: ignore[arg-type]


def masks_of(
    made: PhantomKnee, order=(0, 1, 2), flips=(False, False, False), mirrored: bool = False
) -> JointMasks:
    """Its masks with voxel axes permuted and flipped, the affine changed to match;
    or in the mirror of its volume."""
    shape = tuple(made.grid.shape[axis] for axis in order)
    affine = made.grid.affine.reordered(order, flips, shape)
    if mirrored:
        affine = Affine(np.diag([-1.0, 1.0, 1.0, 1.0]) @ affine.matrix)
    voxels = {}
    for name in KNEE_MASKS:
        mask = np.transpose(made.mask(name), order)
        mask = mask[tuple(slice(None, None, -1 if flip else 1) for flip in flips)]
        if mask.any():
            voxels[name] = np.argwhere(mask)
    return JointMasks(Grid(shape, affine), voxels, KNEE_MASKS)


def graded(made: PhantomKnee, side: str | None = None) -> GradedStudy:
    """What the table would say of it."""
    grades: dict[str, dict[str, int]] = {}
    for question, key, grade in knee_grades(made.truth, BANK):
        grades.setdefault(question, {})[key] = grade
    return GradedStudy("k", "k", side or made.side, "", "", "", (), (), grades, {}, (), "h")  # type: ignore[arg-type]


def as_bench(folder: Path, ledgers: dict[str, tuple[GradeLedger, Grid]]) -> Bench:
    """A bench of all that knees are asked, with no file behind it."""
    folder.mkdir()
    with BenchWriter(
        folder, "made", BuildOptions(name="knees", recipe=load_recipe(None)), {}
    ) as writer:
        for study, (own, grid) in ledgers.items():
            matrix = tuple(float(v) for v in grid.affine.matrix.ravel())
            series = SeriesRecord("dess", "mr", "", "", grid.shape, matrix, "affine", "exact", {})
            posed = [
                pose_grades(own, asked, study, "test")
                for asked in graded_questions(own, ("plain",), BASES)
            ]
            items = [item for item in posed if not isinstance(item, NotAsked)]
            writer.add(
                StudyRecord(study, study, "test", (series,)), own.known_facts(), items, {}, {}
            )
    writer.finish([])
    return open_bench(folder)


def ledger(
    made: PhantomKnee, masks: JointMasks, side: str | None = None, study: str = "k"
) -> GradeLedger:
    """The ledger of a knee."""
    return GradeLedger(
        graded(made, side), BANK, study_id=study, series="dess", masks=masks, labels_hash="l"
    )
