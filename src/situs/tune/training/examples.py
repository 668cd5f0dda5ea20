"""Examples as a processor takes them: chat blocks and pictures, made afresh each time.

The collator changes what it is given, and Arrow would add empty keys that a chat template takes for
pictures; so nothing is stored, and every call makes new dictionaries.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from situs.errors import SitusError
from situs.tune.record import Example
from situs.tune.training.plan import Plan

__all__ = ["chat_row", "make_collator", "open_picture", "planned_examples"]


def open_picture(folder: Path, name: str) -> Any:
    """A picture as the hf client decodes it."""
    from PIL import Image

    try:
        with Image.open(folder / name, formats=("PNG", "JPEG")) as picture:
            return picture.convert("RGB")
    except (OSError, SyntaxError, ValueError) as error:
        raise SitusError(
            f"cannot be decoded ({error})", where=folder / name, fix="build the data again"
        ) from error


def chat_row(example: Example, folder: Path) -> dict[str, Any]:
    """`images`, `prompt` and `completion`: only the completion is supervised."""
    blocks = [{"type": "image"} for _ in example.pictures]
    return {
        "images": [open_picture(folder, name) for name in example.pictures],
        "prompt": [
            {"role": "user", "content": [*blocks, {"type": "text", "text": example.prompt}]}
        ],
        "completion": [
            {"role": "assistant", "content": [{"type": "text", "text": example.completion}]}
        ],
    }


def planned_examples(plan: Plan) -> Any:
    """The examples of a plan in their order: a table of draws, each made into an example when read."""
    from datasets import Dataset

    def rows(batch: dict[str, list[int]]) -> dict[str, list[Any]]:
        made = [plan.example(draw) for draw in batch["draw"]]
        examples = [chat_row(example, data.folder) for data, example in made]
        return {key: [row[key] for row in examples] for key in examples[0]}

    return Dataset.from_dict({"draw": list(range(len(plan)))}).with_transform(rows)


def make_collator(processor: Any) -> Any:
    """The collator of every run and check: nothing is cut, and only completions are supervised."""
    from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

    return DataCollatorForVisionLanguageModeling(
        processor=processor, max_length=None, completion_only_loss=True
    )
