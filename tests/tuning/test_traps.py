"""Every trap of grounded fine-tuning: the naive way falls in, ours does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from situs.tune import check_data, export_data, open_data
from situs.tune.checks import collated
from situs.tune.checks.grids import PictureGrids
from situs.tune.checks.problems import Problems
from situs.tune.training.config import Config, Lora, Source, Stage
from situs.tune.training.examples import chat_row, make_collator
from situs.tune.training.models import adapted_modules, load_trainable, part_of, processor_of

pytestmark = pytest.mark.tune

QWEN3_TEMPLATE_RULE = (
    "{% for m in messages %}{% for c in m.content %}"
    "{% if c.type == 'image' or 'image' in c or 'image_url' in c %}<PICTURE>"
    "{% elif 'text' in c %}{{ c.text }}{% endif %}{% endfor %}{% endfor %}"
)
"""How Qwen3-VL's own template decides what a picture is."""


def row(prepared: Path, number: int = 0) -> dict[str, Any]:
    data = open_data(prepared / "boxes")
    return chat_row(list(data.examples())[number], data.folder)


def supervised(batch: Any, processor: Any) -> str:
    labels = batch["labels"][0]
    return str(processor.tokenizer.decode(labels[labels != -100]))


def test_messages_supervise_everything_and_prompt_completion_does_not(prepared: Path) -> None:
    from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

    processor = processor_of(prepared / "tiny-seed0")
    made = row(prepared)
    completion = made["completion"][0]["content"][0]["text"]
    naive = {"images": made["images"], "messages": [*made["prompt"], *made["completion"]]}
    everything = DataCollatorForVisionLanguageModeling(processor=processor)([naive])
    token = processor.tokenizer.convert_tokens_to_ids("<|image_pad|>")
    assert int((everything["labels"] == token).sum()) > 0  # picture tokens are supervised
    ours = make_collator(processor)([row(prepared)])
    assert int((ours["labels"] == token).sum()) == 0
    assert supervised(ours, processor).startswith(completion)
    assert supervised(ours, processor).removeprefix(completion).strip() == "<|im_end|>"


def test_a_length_limit_cuts_boxes_and_the_check_says_so(
    prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trl import SFTConfig
    from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

    assert SFTConfig.__dataclass_fields__["max_length"].default == 1024  # the trap is still there

    whole = make_collator(processor_of(prepared / "tiny-seed0"))([row(prepared)])[
        "input_ids"
    ].shape[1]

    def short(processor: Any) -> Any:
        return DataCollatorForVisionLanguageModeling(
            processor=processor, max_length=whole - 4, completion_only_loss=True
        )

    monkeypatch.setattr(collated, "make_collator", short)
    found = check_data(prepared / "boxes", model=prepared / "tiny-seed0", limit=24).by_code
    assert found.get("supervised-differs", 0) + found.get("nothing-supervised", 0) > 0
    assert make_collator(processor_of(prepared / "tiny-seed0")).max_length is None


def test_supervising_everything_is_found_by_the_check(
    prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

    monkeypatch.setattr(
        collated,
        "make_collator",
        lambda processor: DataCollatorForVisionLanguageModeling(
            processor=processor, completion_only_loss=False
        ),
    )
    found = check_data(prepared / "boxes", model=prepared / "tiny-seed0", limit=8).by_code
    assert found["picture-supervised"] == found["supervised-differs"] == 8


def test_the_collator_spoils_what_it_is_given_and_rows_are_made_anew(prepared: Path) -> None:
    collate = make_collator(processor_of(prepared / "tiny-seed0"))
    made = row(prepared)
    before = json.dumps(made["prompt"])
    first = collate([made])
    assert json.dumps(made["prompt"], default=str) != before  # it was changed in place
    again = collate([row(prepared)])
    assert first["input_ids"].tolist() == again["input_ids"].tolist()


def test_arrow_turns_text_into_pictures_if_blocks_have_a_key_image(prepared: Path) -> None:
    from datasets import Dataset
    from jinja2 import Template

    rule = Template(QWEN3_TEMPLATE_RULE)
    naive = [{"type": "image", "image": "a.png"}, {"type": "text", "text": "Where?"}]
    stored = Dataset.from_list([{"messages": [{"role": "user", "content": naive}]}])[0]
    assert rule.render(messages=stored["messages"]) == "<PICTURE><PICTURE>"  # the words are gone
    ours = Dataset.from_list([{"messages": row(prepared)["prompt"]}])[0]
    assert rule.render(messages=ours["messages"]).startswith("<PICTURE>One slice.")


def test_the_trl_export_is_read_by_datasets_as_it_was_written(
    prepared: Path, tmp_path: Path
) -> None:
    from datasets import load_dataset

    export_data(prepared / "boxes", "trl", tmp_path / "trl")
    table = load_dataset(
        "json",
        data_files=str(tmp_path / "trl" / "train.jsonl"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    examples = list(open_data(prepared / "boxes").examples())
    assert len(table) == len(examples)
    assert table[0]["completion"][0]["content"][0]["text"] == examples[0].completion
    assert "image" not in table[0]["prompt"][0]["content"][0]
    assert (tmp_path / "trl" / table[0]["images"][0]).is_file()


def test_all_linear_wraps_the_vision_tower_and_language_does_not(prepared: Path) -> None:
    config = Config(
        "t",
        str(prepared / "tiny-seed0"),
        (Stage((Source(str(prepared / "boxes")),), steps=1),),
        tuning="full",
        freeze=(),
    )
    model = load_trainable(config)
    every = adapted_modules(model, "all-linear")
    language = adapted_modules(model, "language")
    assert {part_of(name) for name in every} == {"vision", "merger", "language"}
    assert {part_of(name) for name in language} == {"language"}
    assert all("language_model" in name for name in language)
    assert Lora().modules == "language"


@pytest.mark.parametrize("frozen", [("vision",), ("vision", "merger"), ("language",)])
def test_what_is_frozen_is_frozen_and_nothing_else(prepared: Path, frozen: Any) -> None:
    config = Config(
        "t",
        str(prepared / "tiny-seed0"),
        (Stage((Source(str(prepared / "boxes")),), steps=1),),
        tuning="full",
        freeze=frozen,
    )
    parts = {
        (part_of(name), parameter.requires_grad)
        for name, parameter in load_trainable(config).named_parameters()
    }
    assert parts == {(part, part not in frozen) for part in ("vision", "merger", "language")}


def test_a_check_collates_the_tokens_of_a_training_step_without_its_pixels(
    prepared: Path,
) -> None:
    """Every picture is prepared once; tokens and shapes are those that the trainer gets."""
    data = open_data(prepared / "boxes")
    examples = [list(data.examples())[number] for number in (0, 1, 0, 2, 1)]
    light = processor_of(prepared / "tiny-seed0")
    prepare, calls = light.image_processor, []

    class Counted:
        """The processor, and what it was asked for."""

        def __getattr__(self, name: str) -> Any:
            return getattr(prepare, name)

        def __call__(self, images: Any, **settings: Any) -> Any:
            calls.append(len(images))
            return prepare(images, **settings)

    problems = Problems()
    grids = PictureGrids(Counted(), data.folder, problems)
    light.image_processor = grids
    plain = make_collator(processor_of(prepared / "tiny-seed0"))
    expected = plain([chat_row(example, data.folder) for example in examples])
    for _ in range(2):
        stand_ins = [
            chat_row(example, data.folder, lambda folder, name: grids.stand_in(name))
            for example in examples
        ]
        batch = make_collator(light)(stand_ins)
        assert set(batch) == set(expected)
        for key in expected:
            assert batch[key].shape == expected[key].shape
            assert key == "pixel_values" or bool((batch[key] == expected[key]).all())
    assert batch["pixel_values"].untyped_storage().nbytes() < 2**16  # one patch, not all of them
    assert calls == [1] * len({name for example in examples for name in example.pictures})
    assert problems.errors == 0


def test_tokens_that_depend_on_more_than_sizes_are_found(
    prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PictureGrids._look

    def narrower(self: Any, name: str, settings: dict[str, Any]) -> Any:
        seen = real(self, name, settings)
        return msgspec.structs.replace(seen, grid=(*seen.grid[:2], seen.grid[2] - 2))

    monkeypatch.setattr(PictureGrids, "_look", narrower)
    found = check_data(prepared / "boxes", model=prepared / "tiny-seed0", limit=2).by_code
    assert found["batch-differs"] == 1


def test_a_missing_picture_is_a_problem_among_others_with_a_model_too(
    prepared: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(prepared / "boxes", tmp_path / "data"))
    (copy / next(iter(open_data(copy).examples())).pictures[0]).unlink()
    found = check_data(copy, model=prepared / "tiny-seed0", limit=2)
    assert found.by_code["picture-missing"] == 1
    assert found.longest > 0
