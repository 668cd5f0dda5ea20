"""`hf:` on a tiny Qwen3-VL: batches, pictures that really enter, and what cannot be asked."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from situs.clients import Message, Reply, Request, VolumeInput, parse_spec
from situs.errors import SitusError

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

Ask = Callable[..., Request]


def make(folder: Path, settings: str = "") -> Any:
    from situs.clients.hf.client import make_hf

    return make_hf(parse_spec(f"hf:{folder}{settings}"))


def answers(client: Any, *requests: Request) -> list[Reply]:
    """All at once, as the runner asks; the client is closed."""

    async def go() -> list[Reply]:
        replies = await asyncio.gather(*(client.answer(request) for request in requests))
        await client.close()
        return list(replies)

    return asyncio.run(go())


def test_a_batch_answers_as_one_by_one(tiny: Path, ask: Ask) -> None:
    counts = [2, 2, 1, 4, 4, 0, 0, 2, 3, 2]
    requests = [ask(images=count, seed=number) for number, count in enumerate(counts)]
    requests.append(
        ask(
            images=2,
            seed=99,
            question="How many lesions are there in the left kidney of the patient?",
        )
    )
    alone = answers(make(tiny), *requests)
    together = answers(make(tiny, "?batch=4"), *requests)
    assert [reply.state for reply in alone] == ["answered"] * len(requests)
    assert together == alone
    assert len({reply.text for reply in alone}) > len(requests) // 2, (
        "the answers do not depend on the request"
    )


def test_usage_counts_what_the_pictures_cost(tiny: Path, ask: Ask) -> None:
    """A 64 × 96 picture in patches of 16, merged 2 × 2,
    is 2 × 3 tokens between a start and an end token."""
    none, three = answers(make(tiny), ask(images=0), ask(images=3, side=96))
    per_picture = (96 // 32) ** 2
    assert three.usage["image_tokens"] == 3 * per_picture
    assert three.usage["prompt_tokens"] - none.usage["prompt_tokens"] == 3 * (per_picture + 2)
    assert none.usage["image_tokens"] == 0
    assert 1 <= three.usage["completion_tokens"] <= 12


def test_another_picture_gives_other_logits(tiny: Path, ask: Ask) -> None:
    import torch

    from situs.clients.hf.batch import _tokenize
    from situs.clients.hf.model import load_model, read_options
    from situs.clients.hf.prompt import chat_of

    loaded = load_model(read_options(parse_spec(f"hf:{tiny}")))
    logits = []
    for seed in (1, 1, 2):
        with torch.inference_mode():
            inputs = _tokenize(loaded, [chat_of(ask(images=1, seed=seed))])
            logits.append(loaded.model(**inputs).logits[0, -1])
    assert torch.equal(logits[0], logits[1])
    assert (logits[0] - logits[2]).abs().max() > 0.01


def test_a_folder_whose_processor_is_unknown_still_shows_its_pictures(
    tiny: Path, ask: Ask, tmp_path: Path
) -> None:
    """The trap: for such a folder AutoProcessor silently returns the tokenizer."""
    from transformers import AutoProcessor, ProcessorMixin

    folder = tmp_path / "unknown"
    shutil.copytree(tiny, folder)
    (folder / "video_preprocessor_config.json").unlink()
    pixels = json.loads((folder / "preprocessor_config.json").read_text())
    (folder / "preprocessor_config.json").write_text(
        json.dumps(pixels | {"processor_class": "SomebodysProcessor"})
    )
    assert not isinstance(AutoProcessor.from_pretrained(folder), ProcessorMixin)
    same, plain = (answers(make(place), ask(images=2))[0] for place in (folder, tiny))
    assert same == plain
    assert same.usage["image_tokens"] == 2 * 4


def test_pictures_that_do_not_enter_the_prompt_fail(tiny: Path, ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "blind"
    shutil.copytree(tiny, folder)
    template = (folder / "chat_template.jinja").read_text()
    (folder / "chat_template.jinja").write_text(
        template.replace("<|vision_start|><|image_pad|><|vision_end|>", "")
    )
    seen, text = answers(make(folder, "?batch=2"), ask(images=2), ask(images=0))
    assert (seen.state, seen.text) == ("failed", "")
    assert "without seeing them" in seen.error or "image" in seen.error
    assert text.state == "answered"


def test_sampling_depends_on_its_seed_only(tiny: Path, ask: Ask) -> None:
    requests = [ask(images=1, temperature=1.0, sampling_seed=seed) for seed in (1, 2, 3, 1)]
    together, alone = (
        [reply.text for reply in answers(make(tiny, settings), *requests)]
        for settings in ("?batch=4", "")
    )
    assert together == alone
    assert together[0] == together[3]
    assert len(set(together)) == 3


def test_an_answer_ends_at_the_end_token(tiny: Path, ask: Ask) -> None:
    client = make(tiny)
    model, outputs = client._loaded.model, []
    generate = model.generate
    model.generate = lambda **inputs: outputs.append(generate(**inputs)) or outputs[-1]
    first = asyncio.run(client.answer(ask(images=1)))
    assert (first.finish_reason, first.usage["completion_tokens"]) == ("length", 12)
    tokens = outputs[0][0, -12:].tolist()
    model.generation_config.eos_token_id = [tokens[2]]
    (reply,) = answers(client, ask(images=1))
    assert reply.finish_reason == "stop"
    assert reply.usage["completion_tokens"] == tokens.index(tokens[2]) + 1
    assert len(reply.text) < len(first.text)


def test_what_cannot_be_asked_fails_with_a_reason(tiny: Path, ask: Ask) -> None:
    volume = Request("v", (Message("user", (VolumeInput(lambda: None, None, "d"), "Where?")),))  # type: ignore[arg-type]
    long = ask(question="liver " * 5000)
    tools = Request("t", (Message("user", ("Where?",)),), tools=({"type": "function"},))
    good = ask(images=1)
    replies = answers(make(tiny, "?batch=4"), volume, long, tools, good)
    assert [reply.state for reply in replies] == ["failed", "failed", "failed", "answered"]
    assert "plugin:" in replies[0].error
    assert "4,096" in replies[1].error
    assert "openai:" in replies[2].error


def test_a_full_device_halves_the_batch(tiny: Path, ask: Ask) -> None:
    import torch

    client = make(tiny, "?batch=8")
    generate, sizes = client._loaded.model.generate, []

    def small(**inputs: Any) -> Any:
        sizes.append(len(inputs["input_ids"]))
        if sizes[-1] > 2:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return generate(**inputs)

    client._loaded.model.generate = small
    requests = [ask(images=1, seed=seed) for seed in range(8)]
    replies = answers(client, *requests)
    assert replies == answers(make(tiny), *requests)
    assert max(sizes) > 2
    assert client.batch <= 2


def test_a_device_too_small_for_one_request_fails_in_words(tiny: Path, ask: Ask) -> None:
    client = make(tiny, "?batch=2")

    def never(**inputs: Any) -> Any:
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory"
        )

    client._loaded.model.generate = never
    replies = answers(client, ask(images=3), ask(images=3, seed=1))
    assert [reply.state for reply in replies] == ["failed", "failed"]
    assert "out of memory on cpu with 3 pictures" in replies[0].error


def test_a_name_tells_weights_apart_and_no_path(tiny: Path, tmp_path: Path) -> None:
    from situs.clients.hf.model import fingerprint

    other = tmp_path / tiny.name
    shutil.copytree(tiny, other)
    assert fingerprint(other) == fingerprint(tiny)
    weights = bytearray((other / "model.safetensors").read_bytes())
    weights[len(weights) // 2] ^= 1
    (other / "model.safetensors").write_bytes(weights)
    client = make(tiny)
    asyncio.run(client.close())
    assert client.name == f"hf:tiny-qwen3-vl#{fingerprint(tiny)}?dtype=float32"
    assert fingerprint(other) != fingerprint(tiny)


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("preprocessor_config.json", "image processor"),
        ("chat_template.jinja", "chat template"),
        ("model.safetensors", "cannot be loaded"),
    ],
)
def test_a_folder_that_lacks_something_is_refused_in_one_line(
    tiny: Path, tmp_path: Path, lost: str, words: str
) -> None:
    folder = tmp_path / "part"
    shutil.copytree(tiny, folder, ignore=shutil.ignore_patterns(lost))
    with pytest.raises(SitusError, match=words):
        make(folder)


@pytest.mark.parametrize("setting", ["device=cuda:7", "device=toaster"])
def test_a_device_that_is_not_there_is_refused(tiny: Path, setting: str) -> None:
    with pytest.raises(SitusError, match=r"unknown device|there is no"):
        make(tiny, f"?{setting}")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_short_dtype_on_a_cpu_works_or_is_refused_but_never_kills_the_process(
    tiny: Path, dtype: str
) -> None:
    """Where a machine forbids the instructions, torch dies of SIGILL."""
    code = (
        "import asyncio, sys\n"
        "from situs.clients import Message, Request, Settings, parse_spec\n"
        "from situs.clients.hf.client import make_hf\n"
        "from situs.errors import SitusError\n"
        "try:\n"
        "    client = make_hf(parse_spec(sys.argv[1]))\n"
        "except SitusError as error:\n"
        "    sys.exit(f'refused: {error}')\n"
        "request = Request('', (Message('user', ('hi',)),), Settings(max_tokens=2))\n"
        "print(asyncio.run(client.answer(request)).state)\n"
    )
    spec = f"hf:{tiny}?dtype={dtype}&device=cpu"
    done = subprocess.run(
        [sys.executable, "-c", code, spec], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    assert (
        done.stdout.strip() == "answered"
        if done.returncode == 0
        else "cannot compute in" in done.stderr
    )
