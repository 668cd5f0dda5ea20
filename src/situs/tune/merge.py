"""`situs tune merge`: an adapter into its model's weights,
and the proof that nothing else changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from situs.base.files import write_atomic
from situs.base.publish import new_folder
from situs.clients import Request, Settings
from situs.clients.hf.batch import answer_batch
from situs.clients.hf.model import LoadedModel, image_token_id
from situs.errors import SitusError
from situs.tune.record import Example, TrainingData, messages_of, open_data
from situs.tune.training.examples import chat_row, make_collator
from situs.tune.training.folder import copy_processor, open_training
from situs.tune.training.models import keep_quiet, model_type, need_packages, processor_of

__all__ = ["Merged", "merge_adapter"]

_MARKER = "config.json"
_ROUNDING = {"float32": 1e-4, "bfloat16": 3e-2}
"""By how much of the largest a logit may change by merging alone:
Wx + BAx and (W + BA)x are rounded differently, layer after layer.

A model of three layers was seen to change by 5e-7 and 4e-3; deep ones add up more of them."""
_LIKELIEST = 16
"""Tokens whose logits are compared at each place."""


class Merged(msgspec.Struct, frozen=True):
    """What was merged."""

    model: str
    compared: int
    """Greedy replies that are the same before and after."""
    ties: int = 0
    """Replies that part at a tie of two tokens, while all logits agree but for rounding."""


class _Likeliest(msgspec.Struct, frozen=True):
    """What a model holds likely at every place of a reply."""

    tokens: Any
    """Place × the likeliest tokens."""
    logits: Any


def merge_adapter(
    run: Path, out: Path, *, sample: int = 8, max_tokens: int = 128, overwrite: bool = False
) -> Merged:
    """Write the whole model of a run with an adapter; refused if its greedy replies change.

    Logits are compared too, also of replies that are the same: a weak adapter that was lost may
    change none of them. A reply that parts where two tokens are as likely, while all logits agree,
    has not changed.
    """
    need_packages("torch", "transformers", "peft")
    import torch
    from peft import PeftModel
    from transformers import AutoModelForImageTextToText

    keep_quiet()
    record = open_training(run)
    base, adapter = Path(record.config.model), run / "model"
    if not (adapter / "adapter_config.json").is_file():
        raise SitusError(
            "has no adapter: its weights are whole already", where=run, fix=f"use hf:{adapter}"
        )
    model_type(base)
    dtype = getattr(torch, record.config.hardware.dtype)
    plain = AutoModelForImageTextToText.from_pretrained(base, dtype=dtype, local_files_only=True)
    adapted = PeftModel.from_pretrained(plain, adapter, local_files_only=True).eval()
    examples = _sample(open_data(Path(record.config.stages[-1].data[0].path)), sample)
    before = _replies(adapted, adapter, examples, max_tokens)
    held = [
        _likeliest(_logits(adapted, adapter, *one, reply)) for one, reply in zip(examples, before)
    ]
    merged = adapted.merge_and_unload()
    with new_folder(out, marker=_MARKER, overwrite=overwrite) as folder:
        merged.save_pretrained(folder)
        copy_processor(adapter, folder)
        loaded = AutoModelForImageTextToText.from_pretrained(
            folder, dtype=dtype, local_files_only=True
        ).eval()
        after = _replies(loaded, folder, examples, max_tokens)
        rounding = _ROUNDING[record.config.hardware.dtype]
        ties, changed = 0, []
        for one, reply, other, likeliest in zip(examples, before, after, held):
            if not _agree(likeliest, _logits(loaded, folder, *one, reply), rounding):
                changed.append(one[1].item_id)
            elif reply != other:
                ties += 1
        if changed:
            raise SitusError(
                f"{len(changed)} of {len(before)} greedy replies, or their logits, changed by "
                f"merging (first: {changed[0]})",
                where=run,
                fix="serve the adapter itself, or train with dtype float32",
            )
    write_atomic(run / "merged.txt", f"{out.resolve()}\n")
    return Merged(str(out), len(before) - ties, ties)


def _sample(data: TrainingData, count: int) -> list[tuple[TrainingData, Example]]:
    """The first examples of the validation split, else of the training split."""
    split = "val" if data.manifest.counts.get("val") else "train"
    examples = []
    for example in data.examples(split):
        examples.append((data, example))
        if len(examples) == count:
            break
    return examples


def _replies(
    model: Any,
    processor_folder: Path,
    examples: Sequence[tuple[TrainingData, Example]],
    max_tokens: int,
) -> list[str]:
    """Greedy replies through the code of the hf client."""
    processor = processor_of_adapter(processor_folder)
    context = int(model.config.get_text_config().max_position_embeddings)
    loaded = LoadedModel(
        model=model,
        processor=processor,
        device="cpu",
        dtype="",
        image_token_id=image_token_id(model.config, processor, processor_folder),
        context=context,
    )
    settings = Settings(temperature=0.0, max_tokens=max_tokens)
    replies = []
    for data, example in examples:
        request = Request(example.item_id, messages_of(example, data.folder), settings)
        replies.append(answer_batch(loaded, [request])[0].text)
    return replies


def _logits(
    model: Any, processor_folder: Path, data: TrainingData, example: Example, reply: str
) -> Any:
    """The logits before each token of a reply, and before the end of the turn."""
    import torch

    row = chat_row(msgspec.structs.replace(example, completion=reply), data.folder)
    batch = dict(make_collator(processor_of_adapter(processor_folder))([row]))
    places = (batch.pop("labels")[0] != -100).nonzero()[:, 0]
    with torch.inference_mode():
        return model(**batch).logits[0, places - 1].float()


def _likeliest(logits: Any) -> _Likeliest:
    top = logits.topk(min(_LIKELIEST, logits.shape[-1]))
    return _Likeliest(top.indices, top.values)


def _agree(before: _Likeliest, after: Any, rounding: float) -> bool:
    """Whether logits are the same but for rounding: then a reply that changed parted at a tie."""
    difference = (after.gather(1, before.tokens) - before.logits).abs().max()
    return bool(difference <= rounding * before.logits.abs().max())


def processor_of_adapter(folder: Path) -> Any:
    """The processor beside an adapter, whose folder has no config of a model."""
    if (folder / "config.json").is_file():
        return processor_of(folder)
    from situs.clients.hf.processor import load_processor

    base = folder.parent / "training.json"
    record = open_training(base.parent)
    return load_processor(folder, model_type(Path(record.config.model)))
