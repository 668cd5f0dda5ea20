"""`transformers serve` with the image-only processor registered,
as a person without torchvision would start it."""

from __future__ import annotations

from transformers import AutoProcessor, Qwen3VLConfig
from transformers.cli.transformers import main

from situs.clients.hf.processor import image_only_class

if __name__ == "__main__":
    AutoProcessor.register(Qwen3VLConfig, image_only_class("qwen3_vl"), exist_ok=True)
    main()
