"""Randomly initialised models of other families, each a folder like a published one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from situs.tune.demo.tiny import CHAT_TEMPLATE, SPECIAL, make_tokenizer

_TEXT = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
_TEXT |= {"num_key_value_heads": 2, "max_position_embeddings": 2048}
_VISION: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
_VISION |= {"image_size": 64, "patch_size": 16}
_END = "<|im_end|>"


def _template(image: str, start: str = "") -> str:
    return start + CHAT_TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", image)


def _save(
    folder: Path, model_class: Any, config: Any, tokenizer: Any, **files: dict[str, Any]
) -> None:
    import torch

    torch.manual_seed(1)
    model = model_class(config)
    model.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids(_END)
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


def llava(folder: Path) -> None:
    """A CLIP tower; 16 patches a picture."""
    from transformers import (
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
    )

    tokenizer = make_tokenizer((*SPECIAL, "<image>"), _template("<image>"))
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**_VISION),
        text_config=LlamaConfig(vocab_size=len(tokenizer), **_TEXT),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-1,
    )
    pixels = {"image_processor_type": "CLIPImageProcessor", "processor_class": "LlavaProcessor"}
    pixels |= {"size": {"shortest_edge": 64}, "crop_size": {"height": 64, "width": 64}}
    how = {"processor_class": "LlavaProcessor", "patch_size": 16, "num_additional_image_tokens": 1}
    how |= {"vision_feature_select_strategy": "default"}
    _save(
        folder,
        LlavaForConditionalGeneration,
        config,
        tokenizer,
        preprocessor_config=pixels,
        processor_config=how,
    )


def gemma3(folder: Path) -> None:
    """The family of MedGemma; 4 tokens a picture,
    and a template that writes the first token itself."""
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    names = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    template = _template("<start_of_image>", "{{ bos_token }}")
    special = (*SPECIAL, "<bos>", *names.values())
    tokenizer = make_tokenizer(special, template, bos_token="<bos>", extra_special_tokens=names)
    ids = {
        name.replace("_token", "_token_index"): tokenizer.convert_tokens_to_ids(t)
        for name, t in names.items()
    }
    text = {**_TEXT, "vocab_size": len(tokenizer), "head_dim": 32, "sliding_window": 512}
    config = Gemma3Config(text_config=text, vision_config=_VISION, mm_tokens_per_image=4, **ids)
    pixels: dict[str, Any] = {
        "image_processor_type": "Gemma3ImageProcessor",
        "processor_class": "Gemma3Processor",
    }
    pixels |= {"size": {"height": 64, "width": 64}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    how = {"processor_class": "Gemma3Processor", "image_seq_length": 4}
    _save(
        folder,
        Gemma3ForConditionalGeneration,
        config,
        tokenizer,
        preprocessor_config=pixels,
        processor_config=how,
    )


def internvl(folder: Path) -> None:
    """4 × 4 patches shuffled to 4 tokens a picture; its processor has a video half."""
    from transformers import InternVLConfig, InternVLForConditionalGeneration, Qwen2Config

    names = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
    }
    names |= {"video_token": "<video>"}
    special = (*SPECIAL, *names.values())
    tokenizer = make_tokenizer(special, _template("<IMG_CONTEXT>\n"), extra_special_tokens=names)
    config = InternVLConfig(
        text_config=Qwen2Config(vocab_size=len(tokenizer), **_TEXT),
        vision_config={**_VISION, "image_size": [64, 64], "patch_size": [16, 16]},
        image_token_id=tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
    )
    pixels: dict[str, Any] = {
        "image_processor_type": "GotOcr2ImageProcessor",
        "processor_class": "InternVLProcessor",
    }
    pixels |= {"size": {"height": 64, "width": 64}, "crop_to_patches": False}
    how = {"processor_class": "InternVLProcessor", "image_seq_length": 4}
    _save(
        folder,
        InternVLForConditionalGeneration,
        config,
        tokenizer,
        preprocessor_config=pixels,
        processor_config=how,
    )


def qwen2_5_vl(folder: Path) -> None:
    """Patches of 14, merged 2 × 2: a 64 px picture becomes 56 px and 4 tokens."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    tokenizer = make_tokenizer(SPECIAL, CHAT_TEMPLATE)
    ids = {name: tokenizer.convert_tokens_to_ids(f"<|{token}|>") for name, token in (
        ("image_token_id", "image_pad"),
        ("video_token_id", "video_pad"),
        ("vision_start_token_id", "vision_start"),
        ("vision_end_token_id", "vision_end"),
    )}  # fmt: skip
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [6, 5, 5]}
    vision = {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "patch_size": 14,
    }
    vision |= {"out_hidden_size": 64, "window_size": 56}
    config = Qwen2_5_VLConfig(
        text_config={**_TEXT, "vocab_size": len(tokenizer), "rope_parameters": rope},
        vision_config={**vision, "fullatt_block_indexes": [1]},
        **ids,
    )
    pixels = {
        "image_processor_type": "Qwen2VLImageProcessor",
        "processor_class": "Qwen2_5_VLProcessor",
    }
    numbers = {
        "patch_size": 14,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "min_pixels": 56**2,
        "max_pixels": 512**2,
    }
    _save(
        folder,
        Qwen2_5_VLForConditionalGeneration,
        config,
        tokenizer,
        preprocessor_config=pixels | numbers,
    )


FAMILIES: dict[str, tuple[Callable[[Path], None], int]] = {
    "llava": (llava, 16),
    "gemma3": (gemma3, 4),
    "internvl": (internvl, 4),
    "qwen2_5_vl": (qwen2_5_vl, 4),
}
"""Name → what writes the folder, and the image tokens of a 64 px picture."""
