"""A bench with every form of answer, on series with and without millimetres; made, not measured."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec

from situs.bench import Bench, SeriesRecord, StudyRecord, open_bench
from situs.build.writer import BenchWriter, BuildOptions
from situs.facts import load_recipe
from situs.items import (
    Boxes,
    Choice,
    Choices,
    Compound,
    Frames,
    Grades,
    Item,
    Number,
    Option,
    Text,
    YesNo,
)
from situs.space import FrameBox, WorldBox

FRAMES, SIDE = 20, 320
"""Of the series without millimetres."""
SHAPE = (48, 56, 40)
"""Of the series with millimetres, 2 × 2 × 4 mm."""
FINDINGS = tuple(Option(name.lower(), name) for name in ("Edema", "Mass", "Meniscus tear", "Cyst"))
GRADED = ("size", "number", "percent")


def write_bench(
    folder: Path,
    patients: int = 12,
    size_known: bool = True,
    moved: str = "",
    tasks: dict[str, str] | None = None,
) -> Bench:
    """One study a patient, some fifteen items each; places and grades differ between patients.

    The patient `moved` gets other answers than otherwise; `tasks` renames some.
    """
    folder.mkdir(parents=True, exist_ok=True)
    options = BuildOptions(name="forms", recipe=load_recipe(None))
    with BenchWriter(folder, "made", options, {}) as writer:
        for number in range(patients):
            study = f"s{number:03d}"
            series = (_pixels(size_known), _millimetres())
            patient = f"p{number:03d}"
            items = _items(study, number, number + 1001 * (patient == moved))
            named = [
                msgspec.structs.replace(item, task=(tasks or {}).get(item.task, item.task))
                for item in items
            ]
            writer.add(StudyRecord(study, patient, "test", series), [], named, {}, {})
    writer.finish([])
    return open_bench(folder)


def _pixels(size_known: bool) -> SeriesRecord:
    side = SIDE if size_known else 0
    return SeriesRecord(
        "frames", "mr", "", "", (FRAMES, side, side), (), "undeclared", "manual", {}
    )


def _millimetres() -> SeriesRecord:
    affine = (2.0, 0, 0, -48, 0, 2.0, 0, -56, 0, 0, 4.0, -80, 0, 0, 0, 1)
    return SeriesRecord("volume", "mr", "", "", SHAPE, affine, "affine", "manual", {})


def _items(study: str, number: int, seed: int) -> list[Item]:
    rng = random.Random(seed)
    made: list[Item] = []

    def add(task: str, answer: object, series: str = "frames", **rest: object) -> None:
        form = type(answer).__struct_config__.tag
        fields = {"question": f"{task}?", "stratum": "made", "split": "test"} | rest
        item_id = f"{study}-{task}"
        made.append(
            Item(item_id, study, series, f"p{number:03d}", task, form, answer=answer, **fields)
        )

    first, last = rng.randint(3, 7), rng.randint(9, 14)
    x, y = rng.randint(60, 120), rng.randint(80, 160)
    tube = tuple(
        FrameBox(f, x, y, x + 50 + f, y + 40, "Meniscus tear") for f in range(first, last + 1)
    )
    one = FrameBox(first, x, y, x + 40.5, y + 30, "Edema")
    other = FrameBox(first, x + 100, y + 20, x + 130, y + 60, "Mass")
    add("slice box", Boxes((one,)), level="slice", frames=(first,))
    add("slice boxes", Boxes((one, other)), level="slice", frames=(first,))
    add(
        "same label twice",
        Boxes((one, FrameBox(first, 200, 200, 240, 240, "Edema"))),
        level="slice",
        frames=(first,),
    )
    add("tube", Boxes(tube))
    add("two tubes", Boxes((*tube, other)))
    add("range", Frames(tuple(range(first, last + 1))))
    add("set", Frames((first, last, last + 2), contiguous=False))
    add("several", Choices(("edema", "cyst") if seed % 3 else ("mass",)), options=FINDINGS)
    grades = {name: rng.choice((0, 0, 0, 1, 2, 3)) for name in GRADED}
    add("grades", Grades(grades), tags=("region:patella",))
    lo = (-30.0 + seed % 20, -20.0, -50.0)
    box = WorldBox(lo, (lo[0] + 30, 14.0, -6.0), "cartilage")
    add("world box", Boxes((box,)), "volume")
    add("grounded", Compound({"box": Boxes((box,)), "grades": Grades(grades)}), "volume")
    add(
        "where and how many", Compound({"boxes": Boxes(tube), "count": Number(2.0, "", (2.0, 2.0))})
    )
    add("seen", YesNo(seed % 2 == 0), twin_group=f"g{number // 2}")
    add(
        "level",
        Choice("L2" if seed % 2 else "T12"),
        options=tuple(Option(v, v) for v in ("L2", "T12", "L1", "L4")),
    )
    add("described", Text(("A tear of the meniscus.",)))
    return made
