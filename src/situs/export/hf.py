"""A folder that `datasets.load_dataset` reads:
rows with their pictures by split, and a dataset card."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from situs.base.files import file_name
from situs.bench import hub_licence
from situs.export.about import About
from situs.export.example import Example
from situs.export.pictures import PictureFolder
from situs.export.written import JsonLines, Written, write_readme

__all__ = ["write_hf"]


class _Split:
    """One split: its rows, and its pictures beside them."""

    def __init__(self, folder: Path, pixels: bool) -> None:
        self.rows = JsonLines(folder / ("metadata.jsonl" if pixels else "data.jsonl"))
        self.pictures = PictureFolder(folder / "images")


def write_hf(examples: Iterator[Example], folder: Path, about: About) -> Written:
    """`<split>/metadata.jsonl` with `<split>/images/`,
    or `<split>/data.jsonl` where there are no pictures."""
    splits: dict[str, _Split] = {}
    with ExitStack() as files:
        for example in examples:
            name = file_name(example.split or "test")
            if name not in splits:
                splits[name] = _Split(folder / name, about.pixels)
                files.enter_context(splits[name].rows)
            split = splits[name]
            split.rows.add(_row(example, split.pictures.add(example), about.pixels))
    load = "datasets.load_dataset('<this folder>')"
    columns = (
        "`prompt` is all a model is told; `targets` are the right answers, `low` and `high` bound a"
        " number's."
    )
    write_readme(folder, about, [f"`{load}`", "", columns], front=_front(about, splits))
    items = sum(split.rows.count for split in splits.values())
    return Written(items, sum(len(split.pictures) for split in splits.values()), load)


def _row(example: Example, names: list[str], pixels: bool) -> dict[str, Any]:
    low, high = example.interval or (None, None)
    row: dict[str, Any] = {"images_file_names": names} if pixels else {}
    row |= {
        "item_id": example.item_id,
        "study_id": example.study_id,
        "patient_id": example.patient_id,
        "task": example.task,
        "form": example.form,
        "stratum": example.stratum,
        "tags": list(example.tags),
        "prompt": example.prompt,
        "letters": list(example.options),
        "options": list(example.options.values()),
        "targets": list(example.targets),
        "low": low,
        "high": high,
    }
    if example.said is not None:
        reply = example.said
        row |= {
            "state": reply.state,
            "response": reply.response,
            "prediction": reply.read,
            "right": reply.right,
        }
    return row


def _front(about: About, splits: dict[str, _Split]) -> str:
    """The card's head, as the hub reads it."""
    lines = [
        "---",
        f"license: {hub_licence(about.bench.licence)}",
        "task_categories:",
        "- visual-question-answering",
        "tags:",
        "- medical",
    ]
    lines += ["configs:", "- config_name: default", "  data_files:"]
    for name in sorted(splits):
        lines += [f"  - split: {name}", f"    path: {name}/**"]
    return "\n".join([*lines, "---", "", ""])
