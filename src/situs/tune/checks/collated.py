"""What can be proved with the model's own processor: the very tensors a training step gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from situs.clients import Image, Request
from situs.clients.hf.prompt import chat_of
from situs.errors import Severity
from situs.tune.checks.grids import PictureGrids
from situs.tune.checks.problems import Problems
from situs.tune.record import Example, TrainingData, messages_of
from situs.tune.training.examples import chat_row, make_collator
from situs.tune.training.models import model_type, need_packages, processor_of

__all__ = ["PROVED_BY_MODEL", "CollatedCheck"]

PROVED_BY_MODEL = (
    "the supervised text is the completion and the end of the turn",
    "no picture token is supervised",
    "as many places for pictures as pictures",
    "nothing is cut",
    "the tokens before the completion are those that situs run sends",
)
_BATCH = 8
_WITNESSES = 8
"""Examples that are also collated with all their pixels:
the first that shows pictures of another size."""


class CollatedCheck:
    """Collates batches as a run does, and reads back what is in them."""

    def __init__(self, data: TrainingData, model: Path, problems: Problems) -> None:
        need_packages("torch", "transformers", "trl")
        self._data, self._problems = data, problems
        self._processor = processor_of(model)
        self._pictures = PictureGrids(self._processor.image_processor, data.folder, problems)
        self._processor.image_processor = self._pictures
        self._collate = make_collator(self._processor)
        self._collate_pixels = make_collator(processor_of(model))
        self._witnessed: set[tuple[int, int]] = set()
        context, self._image_token = _limits(model, self._processor)
        self._most = min(context, data.manifest.max_length or context)
        self._waiting: list[Example] = []
        self.longest = 0

    def add(self, example: Example) -> None:
        """Look at one example, whose pictures are usable, with the next few."""
        self._waiting.append(example)
        if len(self._waiting) == _BATCH:
            self.finish()

    def finish(self) -> None:
        """Look at what is waiting."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            batch = self._collate([self._row(example) for example in waiting])
            grids = iter(_grids(batch))
            for row, example in enumerate(waiting):
                shown = [next(grids) for _ in example.pictures]
                self._look(example, batch, row, shown)
                if not set(shown) <= self._witnessed and len(self._witnessed) < _WITNESSES:
                    self._witnessed.update(shown)
                    self._compare_pixels(example)

    def _row(self, example: Example) -> dict[str, Any]:
        return chat_row(
            example, self._data.folder, lambda folder, name: self._pictures.stand_in(name)
        )

    def _compare_pixels(self, example: Example) -> None:
        """One example with all its pixels, as a step gets it, beside the one with grids alone."""
        whole = self._collate_pixels([chat_row(example, self._data.folder)])
        light = self._collate([self._row(example)])
        same = set(whole) == set(light) and all(
            whole[key].shape == light[key].shape
            and (key == "pixel_values" or bool((whole[key] == light[key]).all()))
            for key in whole
        )
        if not same:
            self._problems.add(
                "batch-differs", example.item_id, "its tokens depend on more than picture sizes"
            )

    def _look(self, example: Example, batch: Any, row: int, grids: list[tuple[int, int]]) -> None:
        where, add = example.item_id, self._problems.add
        real = batch["attention_mask"][row].bool()
        ids, labels = batch["input_ids"][row][real], batch["labels"][row][real]
        supervised = labels != -100
        self.longest = max(self.longest, len(ids))
        if not bool(supervised.any()):
            add("nothing-supervised", where, "every token is masked: its loss is not a number")
            return
        if bool((labels == self._image_token).any()):
            add("picture-supervised", where, "picture tokens are supervised")
        text = self._processor.tokenizer.decode(ids[supervised], skip_special_tokens=False)
        if not _is_completion(text, example.completion, self._ends()):
            add("supervised-differs", where, f"{text[-60:]!r} is supervised, not the completion")
        if len(ids) > self._most:
            add(
                "too-long",
                where,
                f"has {len(ids):,} tokens, at most {self._most:,} are read",
                "build with --model and --max-length, or with fewer or smaller pictures",
            )
        first = int(supervised.nonzero()[0])
        if not self._same_prompt(example, ids[:first].tolist()):
            add("prompt-tokens", where, "the tokens before the completion are not those of a run")
        self._check_pictures(example, ids, grids)

    def _check_pictures(self, example: Example, ids: Any, grids: list[tuple[int, int]]) -> None:
        pictures = self._processor.image_processor
        patch, merge = int(pictures.patch_size), int(pictures.merge_size)
        expected = sum(rows * columns // merge**2 for rows, columns in grids)
        picture_tokens = int((ids == self._image_token).sum())
        if picture_tokens != expected:
            self._problems.add(
                "placeholders",
                example.item_id,
                f"{picture_tokens} picture tokens for {expected} pieces",
            )
        if self._data.profile.answer.box_scale != "pixel" or example.boxes < 1:
            return
        sizes = {(columns * patch, rows * patch) for rows, columns in grids}
        data_sizes, form = set(self._data.manifest.sizes), self._data.manifest.box_form
        if not sizes <= data_sizes:
            self._problems.add(
                "resized-by-model",
                example.item_id,
                f"boxes are in pixels of {sorted(data_sizes)}, the model sees {sorted(sizes)}",
                "use box form qwen3, another --size, or the model's pixel limits",
                severity=Severity.ERROR if form == "qwen2.5" else Severity.WARNING,
            )

    def _same_prompt(self, example: Example, before: list[int]) -> bool:
        """The same tokens as the hf client makes of the same pictures and words."""
        messages = messages_of(example, self._data.folder, _named)
        chat = chat_of(Request("", messages), lambda image: self._pictures.stand_in(image.digest))
        text = self._processor.apply_chat_template(
            chat.messages, add_generation_prompt=True, tokenize=False
        )
        ids = self._processor(text=[text], images=[chat.images], add_special_tokens=False)
        sent = ids["input_ids"][0]
        return [int(token) for token in sent] == before

    def _ends(self) -> set[str]:
        tokenizer = self._processor.tokenizer
        return {str(token) for token in tokenizer.all_special_tokens}


def _named(folder: Path, name: str) -> Image:
    """A picture that is known by its name; its bytes are looked at elsewhere."""
    return Image(b"", "", name, 0, 0)


def _is_completion(text: str, completion: str, special: set[str]) -> bool:
    """Whether a text is the completion, the end of the turn, and white space."""
    if not text.startswith(completion):
        return False
    tail = text[len(completion) :]
    ends = any(token in tail for token in special)
    for token in special:
        tail = tail.replace(token, "")
    return ends and not tail.strip()


def _grids(batch: Any) -> list[tuple[int, int]]:
    """Rows and columns of patches of every picture of a batch."""
    return [(int(rows), int(columns)) for _, rows, columns in batch["image_grid_thw"].tolist()]


def _limits(model: Path, processor: Any) -> tuple[int, int]:
    from transformers import AutoConfig

    model_type(model)
    config = AutoConfig.from_pretrained(model, local_files_only=True)
    text = config.get_text_config()
    token = getattr(config, "image_token_id", None)
    if token is None:
        token = processor.tokenizer.convert_tokens_to_ids(processor.image_token)
    return int(getattr(text, "max_position_embeddings", 0) or 2**31), int(token)
