"""What the tests with real models share: a tiny model on disk, pictures and requests."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from situs.clients import Image, Message, Request, Settings

os.environ["HF_HUB_OFFLINE"] = "1"


def picture(seed: int, side: int = 64) -> Image:
    """A square of noise."""
    from PIL import Image as Pictures

    buffer = io.BytesIO()
    grey = np.random.default_rng(seed).integers(0, 255, (side, side), dtype=np.uint8)
    Pictures.fromarray(grey).save(buffer, "png")
    data = buffer.getvalue()
    return Image(data, "image/png", hashlib.blake2b(data).hexdigest(), side, side)


@pytest.fixture(scope="session")
def ask() -> Callable[..., Request]:
    """A request of so many pictures (noise, from a seed on) and a question."""

    def make(
        images: int = 0,
        question: str = "Which is larger?",
        seed: int = 0,
        side: int = 64,
        temperature: float = 0.0,
        sampling_seed: int | None = None,
    ) -> Request:
        pictures = [picture(1000 * seed + number, side) for number in range(images)]
        how = Settings(temperature=temperature, max_tokens=12, seed=sampling_seed)
        return Request(f"{seed}-{images}", (Message("user", (*pictures, question)),), how)

    return make


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny Qwen3-VL. Do not change it."""
    from situs.tune.demo.tiny import write_tiny_model

    folder = tmp_path_factory.mktemp("models") / "tiny-qwen3-vl"
    write_tiny_model(folder)
    return folder


@pytest.fixture(scope="session")
def language(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of SmolLM2-135M behind llama.cpp's own server."""
    from serving import served

    log = tmp_path_factory.mktemp("log") / "llama.txt"
    with served(log, sys.executable, str(Path(__file__).parent / "serve_llama.py"), "PORT") as url:
        yield url
