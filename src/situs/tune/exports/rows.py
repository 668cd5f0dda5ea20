"""One example in the words of each trainer."""

from __future__ import annotations

import io
import re
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from situs.tune.pictures import opened_picture, picture_bytes
from situs.tune.record import Example, Turn

__all__ = ["ROWS", "Row", "chat_messages", "obstacle"]

Row = Callable[[Example, Path], dict[str, Any]]

_PLACE = "<image>"
"""What ms-swift, LLaMA-Factory and Qwen's scripts replace by a picture, wherever it stands."""
_OPENAI_PICTURES = 10
"""Pictures of an example that OpenAI's fine-tuning takes; it rejects a file with more."""
_SPECIAL = re.compile(r"<\|[a-z_]+\|>|<(image|video|audio)>|<bbox>|<ref-object>")


def obstacle(example: Example, to: str) -> str:
    """Why an example would be misread by a trainer; empty if it would not."""
    words = example.words()
    if mark := _SPECIAL.search("\n".join((*words, example.completion))):
        return f"its text holds {mark[0]}, which the trainer takes for a mark of its own"
    if to == "qwen" and len(example.messages()) > 1:
        return "it has several turns, all of which Qwen's script supervises"
    if to == "qwen" and any("assistant" in text for text in words):
        return "its prompt holds the word assistant, at which Qwen's script begins to supervise"
    if to == "openai" and len(example.pictures) > _OPENAI_PICTURES:
        return f"it shows more than the {_OPENAI_PICTURES} pictures that OpenAI takes"
    return ""


def chat_messages(example: Example) -> list[dict[str, Any]]:
    """The conversation as content blocks: a bare place for each picture, then words.

    No block has the key `image`: Arrow would add it to all of them, and Qwen3-VL's template takes a
    block with that key for a picture.
    """
    return [
        {
            "role": turn.role,
            "content": [
                *({"type": "image"} for _ in range(turn.pictures)),
                *({"type": "text", "text": text} for text in turn.texts),
            ],
        }
        for turn in example.messages()
    ]


def _trl(example: Example, folder: Path) -> dict[str, Any]:
    """Prompt and completion apart: only the completion is supervised."""
    return {
        "prompt": chat_messages(example),
        "completion": [
            {"role": "assistant", "content": [{"type": "text", "text": example.completion}]}
        ],
        "images": list(example.pictures),
        "item_id": example.item_id,
    }


def _placed(turn: Turn) -> str:
    return _PLACE * turn.pictures + "".join(turn.texts)


def _ms_swift(example: Example, folder: Path) -> dict[str, Any]:
    """A place for each picture in the user's text; earlier replies of a session are not supervised.

    Boxes stay text in the coordinates they were written in. ms-swift's `objects` would scale them
    again, by its environment and by the size of the first picture.
    """
    earlier = [
        {"role": turn.role, "content": _placed(turn)}
        | ({"loss": False} if turn.role == "assistant" else {})
        for turn in example.messages()
    ]
    return {
        "messages": [*earlier, {"role": "assistant", "content": example.completion}],
        "images": list(example.pictures),
    }


def _llama_factory(example: Example, folder: Path) -> dict[str, Any]:
    """As for ms-swift; that only the last reply counts
    is said in the launch file (`mask_history`)."""
    return {
        "messages": [
            *({"role": turn.role, "content": _placed(turn)} for turn in example.messages()),
            {"role": "assistant", "content": example.completion},
        ],
        "images": list(example.pictures),
    }


def _qwen(example: Example, folder: Path) -> dict[str, Any]:
    return {
        "image": list(example.pictures),
        "conversations": [
            {"from": "human", "value": _PLACE * len(example.pictures) + example.prompt},
            {"from": "gpt", "value": example.completion},
        ],
    }


def _openai(example: Example, folder: Path) -> dict[str, Any]:
    """Pictures inside, since nothing else is uploaded; earlier replies have no weight."""
    names = iter(example.pictures)
    messages: list[dict[str, Any]] = []
    for turn in example.messages():
        pictures = [
            {"type": "image_url", "image_url": {"url": _data_url(folder / next(names))}}
            for _ in range(turn.pictures)
        ]
        texts = [{"type": "text", "text": text} for text in turn.texts]
        if turn.role == "assistant":
            messages.append({"role": turn.role, "content": "".join(turn.texts), "weight": 0})
        else:
            messages.append({"role": turn.role, "content": [*pictures, *texts]})
    return {"messages": [*messages, {"role": "assistant", "content": example.completion}]}


def _data_url(path: Path) -> str:
    """A picture as OpenAI takes it: in colour mode. The greys are the same, pixel for pixel."""
    data, kind = picture_bytes(path), "jpeg" if path.suffix == ".jpg" else "png"
    with opened_picture(data) as picture:
        if picture.mode not in ("RGB", "RGBA"):
            coloured = io.BytesIO()
            picture.convert("RGB").save(coloured, "png")
            data, kind = coloured.getvalue(), "png"
    return f"data:image/{kind};base64,{b64encode(data).decode('ascii')}"


ROWS: dict[str, Row] = {
    "trl": _trl,
    "ms-swift": _ms_swift,
    "llama-factory": _llama_factory,
    "qwen": _qwen,
    "openai": _openai,
}
"""Trainer → how it takes an example."""
