"""`situs tune check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from situs.bench import Bench
from situs.items import Item
from situs.tune.checks.folder import PROVED_OF_FOLDER, FolderCheck, check_files
from situs.tune.checks.problems import Checked, Problems
from situs.tune.checks.sessions import SessionCheck, run_of
from situs.tune.checks.truth import TruthCheck
from situs.tune.record import Example, TrainingData, bench_of, open_data, read_examples
from situs.tune.sessions import SESSIONS

__all__ = ["check_data"]

Progress = Callable[[int, int], None]
_CHUNK = 2000
"""Examples that are matched with their items at a time: memory stays flat."""


def check_data(
    folder: Path,
    *,
    model: Path | None = None,
    bench: Path | None = None,
    volumes: Path | None = None,
    limit: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Checked:
    """Prove what can be proved of training data: alone, against the bench, with a model's
    processor.

    `limit` bounds what is compared with the bench and the model; the folder is always looked at
    whole.
    """
    data = open_data(folder)
    problems = Problems()
    check_files(data, problems)
    folder_check = FolderCheck(folder, problems)
    opened = bench_of(data, bench)
    truth = None if opened is None else _comparison(data, opened, problems, folder_check, volumes)
    collated = None
    if model is not None:
        from situs.tune.checks.collated import CollatedCheck

        collated = CollatedCheck(data, model, problems)
    total, looked = sum(data.manifest.counts.values()), 0
    for split in sorted(path.stem for path in folder.glob("*.jsonl")):
        for chunk in _chunks(read_examples(folder / f"{split}.jsonl")):
            near = chunk if limit is None else chunk[: max(0, limit - looked)]
            items = _items(opened, {example.item_id for example in near}, data)
            for example in chunk:
                folder_check.add(example, split)
            for example in near:
                looked += 1
                if truth is not None:
                    truth.add(example, items.get(example.item_id))
                if collated is not None and folder_check.has_pictures(example):
                    collated.add(example)
                progress(looked, min(total, limit or total))
    if collated is not None:
        collated.finish()
    return _checked(data, problems, looked, truth, collated.longest if collated else None)


def _comparison(
    data: TrainingData, bench: Bench, problems: Problems, folder: FolderCheck, volumes: Path | None
) -> TruthCheck | SessionCheck | None:
    """What examples are compared with: their items, or the sessions they are turns of."""
    if data.manifest.target != SESSIONS:
        return TruthCheck(data, bench, problems, folder, volumes)
    run = run_of(data)
    return None if run is None else SessionCheck(data, run, bench, problems, volumes)


def _chunks(examples: Iterator[Example]) -> Iterator[list[Example]]:
    chunk: list[Example] = []
    for example in examples:
        chunk.append(example)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _items(bench: Bench | None, wanted: set[str], data: TrainingData) -> dict[str, Item]:
    if bench is None or not wanted:
        return {}
    steps = data.manifest.target.startswith("reasoning")
    return {item.item_id: item for item in bench.items(steps=steps) if item.item_id in wanted}


def _checked(
    data: TrainingData,
    problems: Problems,
    looked: int,
    truth: TruthCheck | SessionCheck | None,
    longest: int | None,
) -> Checked:
    proved = list(PROVED_OF_FOLDER)
    missing: dict[str, str] = {}
    if truth is None:
        missing["prompts, boxes and answers"] = (
            "the run or its bench has moved"
            if data.manifest.target == SESSIONS
            else "the bench is not here; give it with --bench"
        )
    else:
        proved += truth.proves
        if truth.not_rendered:
            missing["pictures drawn anew"] = truth.not_rendered
        elif data.manifest.with_pictures and isinstance(truth, TruthCheck):
            proved.append("pictures are pixel for pixel those of situs run")
    if longest is None:
        missing["what a training step gets"] = "no model was given (--model FOLDER)"
    else:
        from situs.tune.checks.collated import PROVED_BY_MODEL

        proved += PROVED_BY_MODEL
    if not data.manifest.with_pictures:
        missing["pictures"] = "the data were built without them"
    return Checked(
        looked,
        problems.shown(),
        problems.errors,
        dict(sorted(problems.counts.items())),
        () if problems.errors else tuple(proved),
        missing,
        longest or 0,
    )
