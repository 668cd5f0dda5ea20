"""Which example is learnt when: the whole order of a run, fixed before it starts.

The order depends on the configuration and its seed alone, so a resumed run sees exactly what it
would have seen, on one device or on many.
"""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import msgspec
import numpy as np

from situs.base.files import bounded_lines, digest
from situs.errors import SitusError
from situs.tune.checks.folder import refuse_changed
from situs.tune.record import Example, TrainingData, bench_of, open_data
from situs.tune.selection import check_patients
from situs.tune.training.config import Config, Stage

__all__ = ["ExampleFile", "Plan", "make_plan"]


class ExampleFile:
    """The examples of a split by number; only where each line begins is held in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("q")
        offset = 0
        if path.is_file():
            with path.open("rb") as stream:
                for line in bounded_lines(stream, path):
                    self._starts.append(offset)
                    offset += len(line)
        self._decoder = msgspec.json.Decoder(Example)

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> Example:
        with self._path.open("rb") as stream:
            stream.seek(self._starts[number])
            return self._decoder.decode(stream.readline())


class Plan(msgspec.Struct, frozen=True):
    """The order of a run."""

    data: tuple[TrainingData, ...]
    files: tuple[ExampleFile, ...]
    order: tuple[array, ...]  # type: ignore[type-arg]
    """For each draw: the source, and the number of its example."""
    steps: int
    stage_steps: tuple[tuple[str, int], ...]

    def __len__(self) -> int:
        return len(self.order[0])

    def example(self, draw: int) -> tuple[TrainingData, Example]:
        """The example of a draw, with the data it is from."""
        source = self.order[0][draw]
        return self.data[source], self.files[source][self.order[1][draw]]

    @property
    def hash(self) -> str:
        """Of all data and of the order."""
        return digest(
            *(data.manifest.hash for data in self.data),
            *(part.tobytes() for part in self.order),
        )


def make_plan(config: Config, *, most_steps: int = 0) -> Plan:
    """Open the data and draw the order; refused if they do not belong together."""
    paths = list(dict.fromkeys(one.path for stage in config.stages for one in stage.data))
    data = tuple(open_data(Path(path)) for path in paths)
    _check_alike(data)
    for one in data:
        refuse_changed(one)
        _refuse_held_out(one)
    files = tuple(ExampleFile(one.folder / "train.jsonl") for one in data)
    for one, file in zip(data, files, strict=True):
        if not one.manifest.with_pictures:
            raise SitusError(
                "was built without pictures", where=one.folder, fix="build it without --no-pictures"
            )
        if not len(file):
            raise SitusError("has no training example", where=one.folder, fix="build it again")
    size = config.batch.per_device * config.batch.accumulate * config.hardware.devices
    if config.method == "grpo":
        size //= config.grpo.generations  # a step has so many replies to each of its prompts
    rng = np.random.default_rng(config.seed)
    sources, numbers = array("q"), array("q")
    stage_steps = []
    left = most_steps or math.inf
    for number, stage in enumerate(config.stages):
        steps = int(min(left, _steps(stage, paths, files, size)))
        left -= steps
        stage_steps.append((stage.name or f"stage {number + 1}", steps))
        _draw(stage, steps * size, paths, files, rng, (sources, numbers))
    total = sum(steps for _, steps in stage_steps)
    return Plan(data, files, (sources, numbers), total, tuple(stage_steps))


def _check_alike(data: tuple[TrainingData, ...]) -> None:
    """One model has one way to write boxes."""
    forms = {one.manifest.box_form for one in data if one.manifest.target != "answer"}
    if len(forms) > 1:
        raise SitusError(
            f"the data write boxes in {len(forms)} forms: {', '.join(sorted(forms))}",
            where=", ".join(one.folder.name for one in data),
            fix="build them with one --box-form",
        )


def _refuse_held_out(data: TrainingData) -> None:
    """No patient is learnt from who is held out, by the data or by the bench, if that is here."""
    split_of = _bench_splits(data)
    watched = {example.patient_id for example in data.examples("val")}
    for example in data.examples():
        patient = example.patient_id
        split = "val" if patient in watched else split_of.get(patient, example.split)
        if split != "train":
            raise SitusError(
                f"train.jsonl holds patient {patient}, who is in the {split} split",
                where=data.folder,
                fix="build the data again",
            )


def _bench_splits(data: TrainingData) -> dict[str, str]:
    """Patient → split; nothing where the bench is not here, or not what it was."""
    try:
        bench = bench_of(data, None)
    except SitusError:
        return {}
    return {} if bench is None else check_patients(bench)


def _steps(stage: Stage, paths: list[str], files: tuple[ExampleFile, ...], size: int) -> int:
    if stage.steps:
        return stage.steps
    examples = sum(len(files[paths.index(one.path)]) for one in stage.data)
    return max(1, math.ceil(stage.epochs * examples / size))


def _draw(
    stage: Stage,
    count: int,
    paths: list[str],
    files: tuple[ExampleFile, ...],
    rng: np.random.Generator,
    into: tuple[array, array],  # type: ignore[type-arg]
) -> None:
    """Sources by weight; within a source a fresh shuffle for every pass,
    so that none is seen twice before all."""
    source_numbers = [paths.index(one.path) for one in stage.data]
    weights = np.array([one.weight for one in stage.data], np.float64)
    chosen = rng.choice(len(source_numbers), size=count, p=weights / weights.sum())
    waiting: list[list[int]] = [[] for _ in source_numbers]
    for which in chosen.tolist():
        if not waiting[which]:
            waiting[which] = rng.permutation(len(files[source_numbers[which]])).tolist()
        into[0].append(source_numbers[which])
        into[1].append(waiting[which].pop())
