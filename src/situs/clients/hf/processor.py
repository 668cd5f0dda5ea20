"""The processor of a model folder: it must take pictures, whatever the auto class hands back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from situs.errors import SitusError

__all__ = ["image_only_class", "load_processor"]

_IMAGE_ONLY = {
    "qwen2_vl": "Qwen2VLProcessor",
    "qwen2_5_vl": "Qwen2_5_VLProcessor",
    "qwen3_vl": "Qwen3VLProcessor",
    "qwen3_vl_moe": "Qwen3VLProcessor",
    "internvl": "InternVLProcessor",
}
"""Model types whose processor needs torchvision for its video half only."""


def load_processor(folder: Path, model_type: str, *, trust_remote_code: bool = False) -> Any:
    """The folder's processor, of text and images.

    Without torchvision the auto class raises for the families with a video half, and for a folder
    that names a processor it does not know it silently returns the tokenizer: a model behind it
    would answer without the images.
    """
    from transformers import AutoProcessor, ProcessorMixin

    try:
        processor = AutoProcessor.from_pretrained(
            folder, local_files_only=True, trust_remote_code=trust_remote_code
        )
        trouble = f"the folder gives only a {type(processor).__name__}"
    except Exception as error:  # the auto classes raise whatever the folder's files provoke
        processor, trouble = None, str(error)
    if (
        isinstance(processor, ProcessorMixin)
        and getattr(processor, "image_processor", None) is not None
    ):
        return _pad_left(processor)
    if model_type in _IMAGE_ONLY:
        return _pad_left(_image_only(folder, model_type))
    if "orchvision" in trouble:
        fix = "pip install torchvision (of your torch's own build)"
        raise SitusError(f"its {model_type} processor needs torchvision", where=folder, fix=fix)
    fix = (
        "give the folder with all of the model's files (preprocessor_config.json, tokenizer, chat"
        " template)"
    )
    raise SitusError(f"has no processor that takes images ({trouble[:200]})", where=folder, fix=fix)


def image_only_class(model_type: str) -> Any:
    """The family's own processor without its video half."""
    import transformers

    family: Any = getattr(transformers, _IMAGE_ONLY[model_type])

    class ImageOnlyProcessor(family):  # type: ignore[misc]
        # transformers reads from this signature what a processor is made of.
        def __init__(
            self,
            image_processor: Any = None,
            tokenizer: Any = None,
            chat_template: Any = None,
            image_seq_length: int | None = None,
            **kwargs: Any,
        ) -> None:
            length_option = (
                {} if image_seq_length is None else {"image_seq_length": image_seq_length}
            )
            super().__init__(
                image_processor, tokenizer, None, chat_template=chat_template, **length_option
            )

    return ImageOnlyProcessor


def _image_only(folder: Path, model_type: str) -> Any:
    try:
        return image_only_class(model_type).from_pretrained(folder, local_files_only=True)
    except Exception as error:
        fix = "give the folder with all of the model's files"
        problem = (
            f"its image processor cannot be loaded ({type(error).__name__}: {str(error)[:200]})"
        )
        raise SitusError(problem, where=folder, fix=fix) from error


def _pad_left(processor: Any) -> Any:
    """Generation goes on at the right end of a row, so a batch is padded on the left."""
    tokenizer = processor.tokenizer
    tokenizer.padding_side = "left"
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return processor
