"""Inspect: samples with chat messages and targets,
a task that reads them, and of a run a log to be scored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from situs.export.about import About
from situs.export.example import Example
from situs.export.pictures import PictureFolder
from situs.export.written import JsonLines, Written, template, write_readme

__all__ = ["write_inspect"]

_NO_TIME = "1970-01-01T00:00:00+00:00"
"""A log must have times; an export has none, so that equal runs give equal bytes."""


def write_inspect(examples: Iterator[Example], folder: Path, about: About) -> Written:
    """`samples.jsonl`, `task.py` and, of a run, `log.json`."""
    pictures = PictureFolder(folder / "images")
    logged: list[dict[str, Any]] = []
    with JsonLines(folder / "samples.jsonl") as samples:
        for example in examples:
            names = pictures.add(example)
            samples.add(_sample(example, names))
            if example.said is not None:
                logged.append(_logged(example, about.model))
    (folder / "task.py").write_text(
        template("inspect_task.py.txt").replace("TASK_NAME", about.name), "utf-8"
    )
    load = "inspect eval task.py --model …"
    if about.model:
        (folder / "log.json").write_bytes(msgspec.json.encode(_log(logged, about)))
        load = "inspect score log.json --scorer task.py@situs_accuracy"
    write_readme(
        folder,
        about,
        [f"`{load}`", "", "Choices, yes/no and numbers are scored by rule; text is not scored."],
    )
    return Written(samples.count, len(pictures), load)


def _about_item(example: Example) -> dict[str, Any]:
    return {
        "form": example.form,
        "letters": list(example.options),
        "interval": example.interval,
        "task": example.task,
        "stratum": example.stratum,
        "patient_id": example.patient_id,
        "study_id": example.study_id,
        "split": example.split,
    }


def _message(example: Example, names: list[str]) -> dict[str, Any]:
    content = [{"type": "image", "image": name} for name in names]
    return {"role": "user", "content": [*content, {"type": "text", "text": example.prompt}]}


def _sample(example: Example, names: list[str]) -> dict[str, Any]:
    return {
        "id": example.item_id,
        "input": [_message(example, names)],
        "target": list(example.targets),
        "metadata": _about_item(example),
    }


def _logged(example: Example, model: str) -> dict[str, Any]:
    assert example.said is not None
    answer = {"role": "assistant", "content": example.said.read, "source": "generate"}
    asked = _message(example, [])
    words = {"response": example.said.response, "state": example.said.state}
    return {
        "id": example.item_id,
        "epoch": 1,
        "input": [asked],
        "target": list(example.targets),
        "messages": [asked, answer],
        "output": {"model": model, "choices": [{"message": answer, "stop_reason": "stop"}]},
        "metadata": {**_about_item(example), **words},
    }


def _log(samples: list[dict[str, Any]], about: About) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": _NO_TIME,
            "task": about.name,
            "task_file": "task.py",
            "dataset": {
                "name": about.name,
                "samples": len(samples),
                "sample_ids": [s["id"] for s in samples],
            },
            "model": f"none/{about.model}",
            "config": {},
        },
        "stats": {"started_at": _NO_TIME, "completed_at": _NO_TIME},
        "samples": samples,
    }
