"""lmms-eval: a task (YAML and functions),
the items as JSON lines with pictures, and of a run a log it replays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import file_name
from situs.export.about import About
from situs.export.example import CLOSED, Example
from situs.export.pictures import PictureFolder
from situs.export.written import JsonLines, Written, template, write_readme

__all__ = ["write_lmms_eval"]

_YAML = """\
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: items.jsonl
test_split: test
output_type: generate_until
doc_to_visual: !function utils.doc_to_visual
doc_to_text: !function utils.doc_to_text
doc_to_target: !function utils.doc_to_target
process_results: !function utils.process_results
generation_kwargs:
  max_new_tokens: 1024
  temperature: 0
  do_sample: false
metric_list:
{metrics}metadata:
  - version: 1.0
"""

_METRIC = """\
  - metric: {name}
    aggregation: mean
    higher_is_better: true
"""


def write_lmms_eval(examples: Iterator[Example], folder: Path, about: About) -> Written:
    """`<task>.yaml`, `utils.py`, `items.jsonl`, `images/` and, of a run, `logs/`."""
    pictures = PictureFolder(folder / "images")
    logs: list[dict[str, Any]] = []
    metrics: set[str] = set()
    texts = 0
    with JsonLines(folder / "items.jsonl") as items:
        for example in examples:
            if example.form not in (*CLOSED, "number"):
                texts += 1
                continue
            metrics.add("accuracy_closed" if example.form in CLOSED else "within_interval")
            if example.said is not None:
                logs.append(
                    {
                        "doc_id": items.count,
                        "resps": [[example.said.read]],
                        "response": example.said.response,
                    }
                )
            items.add(_row(example, pictures.add(example)))
    (folder / "utils.py").write_text(template("lmms_eval_utils.py.txt"), "utf-8")
    metric_lines = "".join(_METRIC.format(name=name) for name in sorted(metrics))
    (folder / f"{file_name(about.name)}.yaml").write_text(
        _YAML.format(name=about.name, metrics=metric_lines), "utf-8"
    )
    model = "…"
    if about.model:
        (folder / "logs").mkdir()
        (folder / "logs" / f"{file_name(about.name)}.json").write_bytes(
            msgspec.json.encode(_log(logs, about))
        )
        model = "from_log --model_args logs=logs"
    load = f"python -m lmms_eval --include_path . --tasks {about.name} --model {model}"
    notes = [
        "In this folder:",
        "",
        f"`{load}`",
        "",
        "`accuracy_closed` is over choices and yes/no.",
    ]
    write_readme(folder, about, notes)
    return Written(
        items.count,
        len(pictures),
        load,
        {"a text answer, which needs a judge": texts} if texts else {},
    )


def _row(example: Example, names: list[str]) -> dict[str, Any]:
    low, high = example.interval or (0.0, 0.0)
    return {
        "item_id": example.item_id,
        "study_id": example.study_id,
        "patient_id": example.patient_id,
        "task": example.task,
        "form": example.form,
        "stratum": example.stratum,
        "split": example.split,
        "prompt": example.prompt,
        "images": names,
        "letters": list(example.options),
        "targets": list(example.targets),
        "low": low,
        "high": high,
    }


def _log(logs: list[dict[str, Any]], about: About) -> dict[str, Any]:
    """What lmms-eval's `from_log` model reads."""
    return {
        "args": {"model": about.model, "model_args": "", "limit": None},
        "model_configs": {"task": about.name},
        "time": "0101_0000",
        "logs": logs,
    }
