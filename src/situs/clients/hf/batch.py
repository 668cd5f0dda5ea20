"""Several requests in one pass through the model:
padded on the left, checked for their pictures, cut at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from situs.clients.hf.model import LoadedModel
from situs.clients.hf.prompt import Chat, Unaskable, chat_of, seed_of
from situs.clients.protocol import Reply, Request

__all__ = ["OutOfMemory", "answer_batch"]


class OutOfMemory(Exception):
    """The batch does not fit the device."""


def answer_batch(loaded: LoadedModel, requests: Sequence[Request]) -> list[Reply]:
    """One reply per request; all have the same settings, and all or none have pictures.

    Raises `OutOfMemory` where the device is too small and `Unaskable` where a request is not one
    for this model.
    """
    import torch

    try:
        chats = [chat_of(request) for request in requests]
        inputs = _tokenize(loaded, chats)
        prompt_tokens = inputs["attention_mask"].sum(dim=1).tolist()
        image_tokens = (inputs["input_ids"] == loaded.image_token_id).sum(dim=1).tolist()
        for chat, tokens in zip(chats, image_tokens):
            _check_images(chat, tokens, "pixel_values" in inputs)
        room = loaded.context - max(prompt_tokens)
        if room < 1:
            raise Unaskable(
                f"the prompt has {max(prompt_tokens):,} tokens, the model reads {loaded.context:,};"
                " show fewer or smaller pictures"
            )
        settings = requests[0].settings
        if room < settings.max_tokens and len(requests) > 1:
            raise Unaskable(
                "near the end of the context a request goes alone, so that its neighbours cut"
                " nothing off"
            )
        with torch.inference_mode():
            if settings.temperature != 0.0:
                torch.manual_seed(seed_of(requests[0]))
            output = loaded.model.generate(
                **inputs.to(loaded.model.device, dtype=loaded.model.dtype),
                **_how(loaded, requests[0], min(settings.max_tokens, room)),
            )
    except torch.OutOfMemoryError as error:
        raise OutOfMemory from error
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "memory" in str(error):
            raise OutOfMemory from error
        raise
    width = inputs["input_ids"].shape[1]
    rows = output[:, width:].tolist()
    return [_reply(loaded, *row) for row in zip(rows, prompt_tokens, image_tokens)]


def _tokenize(loaded: LoadedModel, chats: Sequence[Chat]) -> Any:
    processor = loaded.processor
    texts = []
    for chat in chats:
        try:
            texts.append(
                processor.apply_chat_template(
                    chat.messages, add_generation_prompt=True, tokenize=False
                )
            )
        except Exception as error:  # a template is the model's own program and raises what it likes
            raise Unaskable(f"the model's chat template refuses it ({error})") from error
    start = processor.tokenizer.bos_token
    # A template that writes the first token itself must not get a second one from the tokenizer.
    special = not (start and texts[0].startswith(start))
    images = [chat.images for chat in chats] if chats[0].images else None
    return processor(
        text=texts, images=images, padding=True, return_tensors="pt", add_special_tokens=special
    )


def _check_images(chat: Chat, image_tokens: int, has_pixels: bool) -> None:
    """Pictures that did not enter the prompt would give an answer that looked at nothing."""
    if chat.images and (image_tokens < len(chat.images) or not has_pixels):
        raise Unaskable(
            f"{len(chat.images)} pictures were given but only {image_tokens} image tokens are in"
            " the prompt: the model would answer without seeing them"
        )


def _how(loaded: LoadedModel, request: Request, max_new_tokens: int) -> dict[str, Any]:
    """Arguments of `generate`.

    The folder's own defaults hold only where the temperature is left to it.
    """
    settings = request.settings
    how: dict[str, Any] = {
        "max_new_tokens": max_new_tokens,
        "pad_token_id": loaded.processor.tokenizer.pad_token_id,
    }
    if settings.temperature is None:
        return how | ({} if settings.top_p is None else {"top_p": settings.top_p}) | settings.extra
    how |= {"num_beams": 1, "repetition_penalty": 1.0, "do_sample": settings.temperature > 0}
    if settings.temperature > 0:
        how |= {"temperature": settings.temperature, "top_p": settings.top_p or 1.0, "top_k": 0}
    else:
        how |= {"temperature": None, "top_p": None, "top_k": None}
    return how | settings.extra


def _reply(loaded: LoadedModel, row: list[int], prompt_tokens: int, image_tokens: int) -> Reply:
    """The words of one row up to its end token."""
    ends = loaded.model.generation_config.eos_token_id
    ends = {ends} if isinstance(ends, int) else set(ends or ())
    stop = next((position for position, token in enumerate(row) if token in ends), None)
    answer_tokens = row if stop is None else row[: stop + 1]
    text = loaded.processor.tokenizer.decode(answer_tokens, skip_special_tokens=True)
    usage: dict[str, float] = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": len(answer_tokens),
        "image_tokens": image_tokens,
    }
    return Reply("answered", text, usage, "length" if stop is None else "stop")
