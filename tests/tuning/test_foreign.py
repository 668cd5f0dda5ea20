"""Exports read by the trainers' own code, where it is installed (its files alone are enough)."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from situs.tune import export_data, open_data
from situs.tune.training.models import processor_of

pytestmark = pytest.mark.tune


@pytest.fixture
def llama_factory(monkeypatch: pytest.MonkeyPatch) -> Any:
    """LLaMA-Factory's data package.

    It imports torchaudio for its other models, which is not needed here.
    """
    pytest.importorskip("omegaconf")
    if importlib.util.find_spec("llamafactory") is None:
        pytest.skip("pip install --no-deps llamafactory")
    monkeypatch.setenv("DISABLE_VERSION_CHECK", "1")
    from transformers import AutoProcessor

    assert AutoProcessor  # transformers looks for torchaudio itself when it is first used
    if importlib.util.find_spec("torchaudio") is None:
        stub = types.ModuleType("torchaudio")
        stub.__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)
        monkeypatch.setitem(sys.modules, "torchaudio", stub)
    from llamafactory.data import converter, parser, template
    from llamafactory.data.processor import supervised
    from llamafactory.hparams import DataArguments

    return types.SimpleNamespace(
        parser=parser,
        converter=converter,
        template=template,
        processor=supervised.SupervisedDatasetProcessor,
        arguments=DataArguments,
    )


def test_llama_factory_supervises_the_completion_and_finds_the_pictures(
    llama_factory: Any, prepared: Path, tmp_path: Path
) -> None:
    out = tmp_path / "x"
    export_data(prepared / "boxes", "llama-factory", out)
    launch = dict(
        line.split(": ", 1)
        for line in (out / "train.yaml").read_text().splitlines()
        if ": " in line and not line.startswith("#")
    )
    arguments = llama_factory.arguments(
        dataset_dir=str(out),
        media_dir=str(out),
        template=launch["template"],
        cutoff_len=int(launch["cutoff_len"].split()[0]),
        mask_history=launch["mask_history"].startswith("true"),
    )
    (about,) = llama_factory.parser.get_dataset_list([launch["dataset"]], str(out))
    convert = llama_factory.converter.get_dataset_converter(about.formatting, about, arguments)
    processor = processor_of(prepared / "tiny-seed0")
    processor.video_processor = processor.image_processor
    processor.image_max_pixels = int(launch["image_max_pixels"])
    processor.image_min_pixels = int(launch["image_min_pixels"])
    for name in ("image_do_pan_and_scan", "crop_to_patches"):
        setattr(processor, name, False)
    template = llama_factory.template.get_template_and_fix_tokenizer(processor.tokenizer, arguments)
    encode = llama_factory.processor(
        template=template, tokenizer=processor.tokenizer, processor=processor, data_args=arguments
    )._encode_data_example
    lines = (out / about.dataset_name).read_text().splitlines()
    for example, line in list(zip(open_data(prepared / "boxes").examples(), lines))[::40]:
        row = convert(json.loads(line))
        assert all(Path(name).is_file() for name in row["_images"])
        ids, labels = encode(
            prompt=row["_prompt"],
            response=row["_response"],
            system=row["_system"],
            tools=row["_tools"],
            images=row["_images"],
            videos=[],
            audios=[],
        )
        supervised = processor.tokenizer.decode([label for label in labels if label != -100])
        assert supervised == f"{example.completion}<|im_end|>\n"
        token = processor.tokenizer.convert_tokens_to_ids("<|image_pad|>")
        # 64 pixels are 4 × 4 tokens of 16: the limits of the launch file leave the picture its
        # size.
        assert ids.count(token) == 16 * len(example.pictures)
