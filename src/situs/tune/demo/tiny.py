"""A randomly initialised Qwen3-VL of one million parameters with its own small tokenizer,
as a folder on disk."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["CHAT_TEMPLATE", "SPECIAL", "make_tokenizer", "phrase_tokenizer", "write_tiny_model"]

SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}"
    "{% if part.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif part.type == 'text' %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

_POSITION = 0.5
"""Size of the position features, about that of a patch of full contrast."""
_MOST_PHRASES = 400
_ROLES = ("user\n", "assistant\n", "\n")
"""Of the chat template."""
WORDS = """yes no the answer is left right larger smaller liver spleen kidney lesion patient \
slice option A B C D
how many which side of the body does it lie on 0 1 2 3 4 5 6 7 8 9 mm mL"""


def make_tokenizer(
    special: tuple[str, ...], template: str, *, pieces: int = 400, **settings: Any
) -> Any:
    """A byte-level tokenizer of 400 pieces, or of bytes alone."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=pieces,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator([WORDS], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template=template,
        **settings,
    )


def phrase_tokenizer(corpus: Iterable[str], template: str = CHAT_TEMPLATE) -> Any:
    """A tokenizer of bytes whose other pieces are the lines of a corpus and its coordinates.

    A prompt then has a few tokens and a box four numbers, each a piece of its own: that is what
    makes training on two cores possible. Any text comes back as it was.
    """
    tokenizer = make_tokenizer(SPECIAL, template, pieces=0)
    phrases = Counter(phrase for text in (*corpus, *_ROLES) for phrase in _phrases(text))
    common = [phrase for phrase, _ in phrases.most_common(_MOST_PHRASES)]
    tokenizer.add_tokens(sorted(common, key=lambda phrase: (-len(phrase), phrase)))
    return tokenizer


def _phrases(text: str) -> Iterator[str]:
    """Lines; where one holds a list of numbers, what stands around it, and each number."""
    for line in text.splitlines(keepends=True):
        for piece in re.split(r"(?<=\[)(\d+(?:, \d+)*)(?=\])", line):
            numbers = re.fullmatch(r"\d+(?:, \d+)*", piece)
            yield from (
                part for part in (re.findall(r"\d+|, ", piece) if numbers else [piece]) if part
            )


def _set_positions(weight: Any) -> None:
    """Sines and cosines of row and column in place of random positions.

    From random ones a model first has to find out which patch lies beside which; that alone takes
    longer than the demonstration may.
    """
    import torch

    count, width = weight.shape
    side, waves = math.isqrt(count), width // 4
    steps = torch.exp2(torch.linspace(0.0, math.log2(side / 2), waves)) * math.pi / side
    angles = (torch.arange(side)[:, None] + 0.5) * steps
    features = torch.cat([angles.sin(), angles.cos()], dim=1) * _POSITION
    rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    with torch.no_grad():
        weight.copy_(torch.cat([features[rows.flatten()], features[columns.flatten()]], dim=1))


def write_tiny_model(
    folder: Path,
    *,
    context: int = 4096,
    tokenizer: Any = None,
    patch: int = 16,
    spread: float = 0.3,
    vision_spread: float = 0.02,
    seed: int = 7,
) -> None:
    """Weights, tokenizer and the preprocessing files of a normal Qwen3-VL folder (no processor of
    ours is named).

    `patch` is the side of a patch in pixels (a token is two by two of them), `spread` that of the
    initial weights: .3 gives varied replies at once, .08 (one over the root of the width) learns;
    with the .02 of large models so narrow a one stays blind for hundreds of steps.
    """
    import torch
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    if tokenizer is None:
        tokenizer = make_tokenizer(SPECIAL, CHAT_TEMPLATE)
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL}
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 128,
            "intermediate_size": 256,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 32,
            "max_position_embeddings": context,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [6, 5, 5],
            },
            "pad_token_id": ids["<|endoftext|>"],
            "initializer_range": spread,
        },
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 2,
            "patch_size": patch,
            "spatial_merge_size": 2,
            "out_hidden_size": 128,
            "num_position_embeddings": 256,
            "deepstack_visual_indexes": [0, 1],
            "initializer_range": vision_spread,
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )
    torch.manual_seed(seed)
    model = Qwen3VLForConditionalGeneration(config)
    _set_positions(model.model.visual.pos_embed.weight)
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|endoftext|>"]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    pixels = {
        "image_processor_type": "Qwen2VLImageProcessor",
        "processor_class": "Qwen3VLProcessor",
        "patch_size": patch,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "min_pixels": (2 * patch) ** 2,
        "max_pixels": 512 * 512,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
        "do_resize": True,
        "do_rescale": True,
        "do_normalize": True,
        "do_convert_rgb": True,
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(pixels))
    video = pixels | {"video_processor_type": "Qwen3VLVideoProcessor"}
    del video["image_processor_type"]
    (folder / "video_preprocessor_config.json").write_text(json.dumps(video))
