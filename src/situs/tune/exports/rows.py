"""One example in the words of each trainer."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from situs.tune.record import Example

__all__ = ["ROWS", "Row", "obstacle"]

Row = Callable[[Example, Path], dict[str, Any]]

_PLACE = "<image>"
"""What ms-swift, LLaMA-Factory and Qwen's scripts replace by a picture, wherever it stands."""
_SPECIAL = re.compile(r"<\|[a-z_]+\|>|<(image|video|audio)>|<bbox>|<ref-object>")


def obstacle(example: Example, to: str) -> str:
    """Why an example would be misread by a trainer; empty if it would not."""
    words = example.prompt + example.completion
    if found := _SPECIAL.search(words):
        return f"its text holds {found[0]}, which the trainer takes for a mark of its own"
    if to == "qwen" and "assistant" in example.prompt:
        return "its prompt holds the word assistant, at which Qwen's script begins to supervise"
    return ""


def _trl(example: Example, folder: Path) -> dict[str, Any]:
    """Prompt and completion apart: only the completion is supervised."""
    places = [{"type": "image"} for _ in example.pictures]
    return {
        "prompt": [
            {"role": "user", "content": [*places, {"type": "text", "text": example.prompt}]}
        ],
        "completion": [
            {"role": "assistant", "content": [{"type": "text", "text": example.completion}]}
        ],
        "images": list(example.pictures),
        "item_id": example.item_id,
    }


def _messages(example: Example, folder: Path) -> dict[str, Any]:
    """ms-swift and LLaMA-Factory: a place for each picture in the user's text.

    Boxes stay text in the coordinates they were written in. ms-swift's `objects` would scale them
    again, by its environment and by the size of the first picture.
    """
    return {
        "messages": [
            {"role": "user", "content": _PLACE * len(example.pictures) + example.prompt},
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
    """Pictures inside, since nothing else is uploaded."""
    shown = [
        {"type": "image_url", "image_url": {"url": _data_url(folder / name)}}
        for name in example.pictures
    ]
    return {
        "messages": [
            {"role": "user", "content": [*shown, {"type": "text", "text": example.prompt}]},
            {"role": "assistant", "content": example.completion},
        ]
    }


def _data_url(path: Path) -> str:
    kind = "jpeg" if path.suffix == ".jpg" else "png"
    return f"data:image/{kind};base64,{b64encode(path.read_bytes()).decode('ascii')}"


ROWS: dict[str, Row] = {
    "trl": _trl,
    "ms-swift": _messages,
    "llama-factory": _messages,
    "qwen": _qwen,
    "openai": _openai,
}
"""Trainer → how it takes an example."""
