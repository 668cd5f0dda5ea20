"""Real servers on loopback: a tiny Qwen3-VL behind `transformers serve`,
a language model behind llama.cpp's."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import served

from situs.clients import (
    Limits,
    Message,
    Reply,
    Request,
    Settings,
    Terms,
    ask,
    make_client,
    parse_spec,
)

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]

HERE = Path(__file__).parent
Ask = Callable[..., Request]


@pytest.fixture(scope="module")
def folder(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model as it is saved with an image-only processor:
    its files name a class transformers does not know."""
    copy = tmp_path_factory.mktemp("served") / "tiny"
    shutil.copytree(tiny, copy, ignore=shutil.ignore_patterns("video_preprocessor_config.json"))
    pixels = json.loads((copy / "preprocessor_config.json").read_text())
    (copy / "preprocessor_config.json").write_text(
        json.dumps(pixels | {"processor_class": "ImageOnlyProcessor"})
    )
    return copy


def serve(folder: Path, *program: str) -> tuple[str, ...]:
    return (
        *program,
        "serve",
        str(folder),
        "--host",
        "127.0.0.1",
        "--port",
        "PORT",
        "--device",
        "cpu",
    )


@pytest.fixture(scope="module")
def seeing(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Served with the processor registered."""
    log = tmp_path_factory.mktemp("log") / "seeing.txt"
    with served(log, *serve(folder, sys.executable, str(HERE / "serve_with_images.py"))) as url:
        yield url


@pytest.fixture(scope="module")
def blind(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Served plainly: it answers 200 and ignores the pictures."""
    log = tmp_path_factory.mktemp("log") / "blind.txt"
    program = (sys.executable, "-c", "from transformers.cli.transformers import main; main()")
    with served(log, *serve(folder, *program)) as url:
        yield url


def answers(spec: str, *requests: Request) -> tuple[dict[str, Reply], tuple[str, ...]]:
    """Replies by key, and what the loop noticed."""
    replies: dict[str, Reply] = {}
    asked = ask(
        make_client(parse_spec(spec)),
        requests,
        lambda request, reply, seconds: replies.update({request.key: reply}),
        Terms(True, limits=Limits(concurrency=2)),
    )
    return replies, asked.notices


def test_several_pictures_reach_a_served_model(seeing: str, folder: Path, ask: Ask) -> None:
    """Prompt tokens and, being greedy,
    the words are those of the same folder asked in this process."""
    requests = [ask(images=count, seed=count) for count in (0, 1, 3)]
    served_replies, notices = answers(f"openai:{folder}@{seeing}", *requests)
    local, _ = answers(f"hf:{folder}", *requests)
    assert notices == ()
    for request in requests:
        there, here = served_replies[request.key], local[request.key]
        assert (there.state, here.state) == ("answered", "answered")
        assert there.usage["prompt_tokens"] == here.usage["prompt_tokens"]
        # The server takes blanks off both ends of what a model says.
        assert there.text.strip() == here.text.strip() != ""


def test_a_server_that_ignores_the_pictures_is_caught(blind: str, folder: Path, ask: Ask) -> None:
    replies, notices = answers(f"openai:{folder}@{blind}", ask(images=3))
    (reply,) = replies.values()
    assert reply.state == "answered", "the trap: it answers as if nothing were wrong"
    assert len(notices) == 1
    assert "ignore the pictures" in notices[0]


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"enum": ["yes", "no"]}, "organ": {"enum": ["liver", "spleen"]}},
    "required": ["answer", "organ"],
    "additionalProperties": False,
}


def test_a_language_model_follows_a_json_schema(language: str) -> None:
    questions = (
        "Is the liver larger than the spleen?",
        "Does the spleen lie on the left?",
        "Is 2 an odd number?",
    )
    requests = [
        Request(
            question,
            (Message("system", ("Answer as JSON.",)), Message("user", (question,))),
            Settings(max_tokens=64),
            schema=SCHEMA,
        )
        for question in questions
    ]
    replies, _ = answers(f"openai:smollm2@{language}", *requests)
    assert replies.keys() == set(questions)
    for reply in replies.values():
        assert (reply.state, reply.finish_reason) == ("answered", "stop"), reply
        said = json.loads(reply.text)
        assert said.keys() == {"answer", "organ"}
        assert said["answer"] in ("yes", "no")
        assert reply.usage["prompt_tokens"] > 10


def test_an_answer_that_is_cut_off_says_so(language: str) -> None:
    request = Request(
        "long", (Message("user", ("Tell me all about the liver.",)),), Settings(max_tokens=5)
    )
    replies, _ = answers(f"openai:smollm2@{language}", request)
    assert (replies["long"].state, replies["long"].finish_reason) == ("answered", "length")
    assert replies["long"].usage["completion_tokens"] == 5
