"""Examples as a processor takes them: chat blocks and pictures, made afresh each time.

The collator changes what it is given, and Arrow would add empty keys that a chat template takes for
pictures; so nothing is stored, and every call makes new dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from situs.base.files import digest
from situs.errors import SitusError
from situs.tune.exports.rows import chat_messages
from situs.tune.pictures import opened_picture, picture_bytes
from situs.tune.record import Example
from situs.tune.training.plan import Plan

__all__ = ["chat_row", "make_collator", "open_picture", "planned_examples"]


def open_picture(folder: Path, name: str) -> Any:
    """A picture as the hf client decodes it."""
    try:
        data = picture_bytes(folder / name)
        if digest(data) != Path(name).stem:
            raise ValueError("its bytes are not those it is named by")
        with opened_picture(data) as picture:
            return picture.convert("RGB")
    except (OSError, SyntaxError, ValueError) as error:
        raise SitusError(
            f"cannot be used ({error})", where=folder / name, fix="build the data again"
        ) from error


def chat_row(
    example: Example, folder: Path, open_one: Callable[[Path, str], Any] = open_picture
) -> dict[str, Any]:
    """`images`, `prompt` and `completion`: only the completion is supervised."""
    return {
        "images": [open_one(folder, name) for name in example.pictures],
        "prompt": chat_messages(example),
        "completion": [
            {"role": "assistant", "content": [{"type": "text", "text": example.completion}]}
        ],
    }


def planned_examples(plan: Plan) -> Any:
    """The examples of a plan in their order:
    a table of draws, each made into an example when read."""
    from datasets import Dataset

    def rows(batch: dict[str, list[int]]) -> dict[str, list[Any]]:
        made = [plan.example(draw) for draw in batch["draw"]]
        examples = [chat_row(example, data.folder) for data, example in made]
        return {key: [row[key] for row in examples] for key in examples[0]}

    return Dataset.from_dict({"draw": list(range(len(plan)))}).with_transform(rows)


def make_collator(processor: Any, most_tokens: int = 0) -> Any:
    """The collator of every run and check: nothing is cut, and only completions are supervised.

    With `most_tokens`, a longer example stops the run: its boxes stand at its end, and a cut one
    would teach to leave them out.
    """
    from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

    collate = DataCollatorForVisionLanguageModeling(
        processor=processor, max_length=None, completion_only_loss=True
    )
    if not most_tokens:
        return collate

    def bounded(rows: list[dict[str, Any]]) -> Any:
        batch = collate(rows)
        longest = int(batch["attention_mask"].sum(dim=1).max())
        if longest > most_tokens:
            raise SitusError(
                f"an example has {longest:,} tokens, the run takes {most_tokens:,}",
                where="max_length",
                fix="build the data with --max-length, or with fewer or smaller pictures",
            )
        return batch

    return bounded
