"""Servers in the shape of the services people use:
addresses, keys, thoughts and refusals of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

import wire
from asking import QUICK, question
from situs.clients import make_client, parse_spec
from situs.clients.openai.reply import read_reply
from situs.errors import SitusError

ONE = msgspec.structs.replace(QUICK, concurrency=1)


def replying(message: dict[str, Any], **usage: Any) -> wire.Server:
    """A server that answers every call with this message."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        whole = wire.completion("", message={"role": "assistant", **message})
        whole["usage"] |= usage
        return web.json_response(whole)

    return wire.Server(lambda number, body: behave)


def refusing(status: int, error: Any) -> wire.Server:
    """A server that refuses every call."""

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(error, status=status)

    return wire.Server(lambda number, body: behave)


def request_line(server: wire.Server) -> str:
    return server.seen[0].split(b"\n", 1)[0].decode()


def test_azure_is_asked_by_deployment_and_version_with_its_own_header(
    asked: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "an-azure-key-for-the-test")
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-azure-at-all")
    with wire.Server() as server:
        spec = f"openai:my-gpt@http://127.0.0.1:{server.port}?api_version=2024-10-21"
        _, book = asked(spec, [question(1)], limits=ONE)
    assert [reply.state for reply in book.values()] == ["answered"]
    path = "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    assert request_line(server) == f"POST {path}"
    head = server.seen[0].lower()
    assert b"api-key: an-azure-key-for-the-test" in head
    assert b"authorization" not in head
    assert b"not-for-azure" not in server.seen[0]


@pytest.mark.parametrize("version", ["2024/10", "a b", ""])
def test_a_version_of_azures_interface_is_checked(version: str) -> None:
    spec = f"openai:m@https://me.openai.azure.com?api_version={version}"
    with pytest.raises(SitusError, match="is not a version"):
        make_client(parse_spec(spec))
    with pytest.raises(SitusError, match="Azure's address"):
        make_client(parse_spec("openai:m?api_version=2024-10-21"))


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thoughts_are_recorded_and_are_no_part_of_the_answer(
    situs: Callable[..., Any], bench: Path, tmp_path: Path, field: str
) -> None:
    """`reasoning_content` as vLLM, SGLang and DeepSeek have it,
    `reasoning` as OpenRouter, Ollama and LM Studio."""
    details = {"reasoning_tokens": 40}
    with replying({"content": "B", field: "A lies left."}, completion_tokens_details=details) as s:
        args = ("--model", f"{s.spec}?reasoning_effort=low", "--profile", "montage")
        ran = situs("run", bench, *args, "--limit", 2, "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    journal = (tmp_path / "run" / "answers.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in journal.splitlines()]
    assert {(row["response"], row["thinking"]) for row in rows} == {("B", "A lies left.")}
    assert {row["usage"]["completion_tokens.reasoning_tokens"] for row in rows} == {40}
    assert all(body["reasoning_effort"] == "low" for body in s.bodies)
    recorded = json.loads((tmp_path / "run" / "run.json").read_bytes())
    assert recorded["sampling"]["extra"] == {"reasoning_effort": "low"}


REFUSALS = {
    "azure filters": (
        400,
        {
            "error": {
                "code": "content_filter",
                "message": "The response was filtered",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
        "refused",
        "",
    ),
    "azure has no such deployment": (
        404,
        {"error": {"code": "DeploymentNotFound", "message": "The API deployment does not exist."}},
        "failed",
        "is the model's name as the server has it",
    ),
    "bedrock knows no such key": (
        403,
        {"message": "The security token included in the request is invalid."},
        "failed",
        "is the key right and in the environment",
    ),
    "openrouter wants money": (
        402,
        {"error": {"code": 402, "message": "Insufficient credits"}},
        "failed",
        "Insufficient credits",
    ),
    "ollama has no such model": (
        404,
        {"error": {"message": "model 'x' not found", "type": "not_found_error"}},
        "failed",
        "is the model's name as the server has it",
    ),
    "vllm takes fewer pictures": (
        400,
        {"error": {"message": "At most 4 image(s) may be provided in one prompt."}},
        "failed",
        "choose a profile with fewer pictures",
    ),
    "openrouter has no such model with eyes": (
        404,
        {"error": {"code": 404, "message": "No endpoints found that support image input"}},
        "failed",
        "this model takes no pictures",
    ),
    "openai takes pictures in other models": (
        400,
        {"error": {"message": "image_url is only supported by certain models."}},
        "failed",
        "this model takes no pictures",
    ),
    "vllm has no room for the answer": (
        400,
        {
            "error": {
                "message": "'max_tokens' or 'max_completion_tokens' is too large: 1024. This"
                " model's maximum context length is 8192 tokens."
            }
        },
        "failed",
        "allow a shorter answer",
    ),
    "openai looked at the prompt": (
        400,
        {"error": {"message": "Invalid prompt: flagged by our policy.", "code": "invalid_prompt"}},
        "refused",
        "",
    ),
    "dashscope looked at the picture": (
        400,
        {"error": {"message": "Input data may be bad.", "code": "data_inspection_failed"}},
        "refused",
        "",
    ),
    "xai looked at the content": (
        403,
        {"code": "permission", "error": "Content violates usage guidelines. Failed check: BIO"},
        "refused",
        "",
    ),
    "openrouter asked a moderator": (
        403,
        {"error": {"code": 403, "message": "Your model needs care and your input was flagged"}},
        "refused",
        "",
    ),
    "openrouter wants money in a success": (
        200,
        {"error": {"code": 402, "message": "Insufficient credits"}},
        "failed",
        "HTTP 402: Insufficient credits",
    ),
    "groq takes few pictures": (
        400,
        {"error": {"message": "Too many images provided. This model supports up to 5 images"}},
        "failed",
        "choose a profile with fewer pictures",
    ),
    "anthropic takes smaller pictures": (
        400,
        {"error": {"message": "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"}},
        "failed",
        "choose a profile with smaller pictures",
    ),
    "a proxy takes smaller requests": (413, {}, "failed", "fewer or smaller pictures"),
    "azure knows no such version": (
        400,
        {"error": {"code": "BadRequest", "message": "API version not supported"}},
        "failed",
        "?api_version=",
    ),
    "mistral has no such model": (
        400,
        {"object": "error", "message": "Invalid model: pixtral-99", "type": "invalid_model"},
        "failed",
        "is the model's name",
    ),
    "bedrock takes fewer pictures": (
        400,
        {"message": "messages.0.content: too many images and documents: 25 + 0 > 20"},
        "failed",
        "choose a profile with fewer pictures",
    ),
    "anthropic takes fewer pictures": (
        400,
        {"error": {"message": "messages.1.content: Too much media: 0 document pages + 120 images"}},
        "failed",
        "choose a profile with fewer pictures",
    ),
    "one picture is the most": (
        422,
        {"error": {"message": "This model only supports 1 image per request, got 32"}},
        "failed",
        "choose a profile with fewer pictures",
    ),
    "several pictures are too many": (
        400,
        {"error": {"message": "multiple images are not supported by this model"}},
        "failed",
        "choose a profile with fewer pictures",
    ),
    "vllm serves a model without its eyes": (
        400,
        {"error": {"message": "At most 0 image(s) may be provided in one prompt."}},
        "failed",
        "this model takes no pictures",
    ),
    "deepseek knows words only": (
        400,
        {"error": {"message": "messages[0]: unknown variant `image_url`, expected `text`"}},
        "failed",
        "this model takes no pictures",
    ),
    "vllm has no room for the question": (
        400,
        {
            "error": {
                "message": "The decoder prompt (length 9000) is longer than the maximum model"
                " length of 4096."
            }
        },
        "failed",
        "fewer or smaller pictures",
    ),
    "dashscope has no room for the question": (
        400,
        {"error": {"message": "Range of input length should be [1, 30720]"}},
        "failed",
        "fewer or smaller pictures",
    ),
    "openai wants to know who asks": (
        403,
        {"error": {"message": "Your organization must be verified to use the model `gpt-5`."}},
        "failed",
        "in your account with the provider",
    ),
    "openrouter knows nobody who may see the data": (
        404,
        {"error": {"message": "No endpoints found matching your data policy.", "code": 404}},
        "failed",
        "in your account with the provider",
    ),
    "openai has the model elsewhere": (
        404,
        {"error": {"message": "This is not a chat model and thus not supported in this endpoint."}},
        "failed",
        "choose a model that the server offers as chat completions",
    ),
    "openai has its tools elsewhere": (
        400,
        {
            "error": {
                "message": "Function tools with reasoning_effort are not supported for gpt-5.2 in"
                " /v1/chat/completions. Please use /v1/responses instead."
            }
        },
        "failed",
        "--turns schema",
    ),
    "openai thought to the end": (
        400,
        {
            "error": {
                "message": "Could not finish the message because max_tokens or model output limit"
                " was reached. Please try again with higher max_tokens."
            }
        },
        "failed",
        "allow a longer answer",
    ),
    "lm studio has loaded nothing": (
        404,
        {"error": {"message": "No models loaded. Please load a model in the developer page."}},
        "failed",
        "load the model in the server first",
    ),
    "lm studio has a shorter context": (
        400,
        {"error": "The number of tokens to keep is greater than the context length"},
        "failed",
        "fewer or smaller pictures",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_a_service_says_comes_with_a_cure(asked: Callable[..., Any], name: str) -> None:
    status, error, state, words = REFUSALS[name]
    with refusing(status, error) as server:
        _, book = asked(server.spec, [question(1)], limits=ONE)
    (reply,) = book.values()
    assert reply.state == state
    assert words in reply.error


def test_who_has_no_money_left_is_told_at_once(asked: Callable[..., Any]) -> None:
    """As Anthropic has it, with a status that means nothing of the kind."""
    error = {"error": {"message": "Your credit balance is too low to access the API."}}
    with refusing(400, error) as server:
        told, _ = asked(server.spec, [question(n) for n in range(5)], limits=ONE)
    assert len(server.bodies) == 1
    assert "credit balance" in told.stopped


def events(*pieces: dict[str, Any], end: str = "data: [DONE]\n\n") -> bytes:
    """A stream of events, with a comment ahead of them as OpenRouter sends it."""
    return (
        ": PROCESSING\n\n" + "".join(f"data: {json.dumps(p)}\n\n" for p in pieces) + end
    ).encode()


def delta(reason: str | None = None, **said: Any) -> dict[str, Any]:
    return {"choices": [{"delta": said, "finish_reason": reason}]}


@pytest.mark.parametrize(
    "words",
    [
        "This model only support stream mode, please enable the stream parameter.",  # DashScope
        "parameter.enable_thinking must be set to false for non-streaming calls",
        "Stream must be set to true",
        "Non-streaming requests are not supported for this model",
        "Requests with max_tokens > 4096 must have stream=true",  # Fireworks
    ],
)
def test_a_model_that_is_only_streamed_is_read(asked: Callable[..., Any], words: str) -> None:
    stream = events(
        delta(role="assistant", reasoning_content="A lies "),
        delta(reasoning_content="left."),
        delta(content="The answer"),
        delta("stop", content=" is B."),
        {"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 7}},
    )

    async def behave(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if body.get("stream"):
            return web.Response(body=stream, content_type="text/event-stream")
        return web.json_response({"error": {"message": words}}, status=400)

    with wire.Server(lambda number, body: behave) as server:
        told, book = asked(server.spec, [question(n) for n in range(3)], limits=ONE)
    assert len(server.bodies) == 1 + 3, "learned once"
    assert {(r.text, r.thinking) for r in book.values()} == {("The answer is B.", "A lies left.")}
    assert {r.usage["completion_tokens"] for r in book.values()} == {7}
    assert sum("streams only" in note for note in told.notices) == 1


def test_calls_of_tools_come_whole_out_of_a_stream() -> None:
    first = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": '{"pl'}}
    then = {"index": 0, "function": {"arguments": 'ane": 1}'}}
    body = events(delta(tool_calls=[first]), delta(tool_calls=[then]), delta("tool_calls"))
    (call,) = read_reply(body, "text/event-stream", "").tool_calls
    assert (call.id, call.name, call.arguments) == ("c1", "look", '{"plane": 1}')


@pytest.mark.parametrize(
    "body",
    [
        events(delta(content="The left"), end=""),
        events(delta(content="B"), {"error": {"message": "upstream died"}}),
        events({"choices": "no list"}),
        b"data: {half",
    ],
    ids=["cut off", "an error", "wrong types", "no JSON"],
)
def test_a_stream_that_breaks_off_is_no_answer(body: bytes) -> None:
    assert read_reply(body, "text/event-stream", "").state == "failed"


def test_thoughts_in_parts_beside_the_answer(asked: Callable[..., Any]) -> None:
    """As Mistral hands them over."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "A lies left."}]}
    with replying({"content": [thought, {"type": "text", "text": "B"}]}) as server:
        _, book = asked(server.spec, [question(1)], limits=ONE)
    assert [(reply.text, reply.thinking) for reply in book.values()] == [("B", "A lies left.")]


def test_what_a_server_says_it_charged_is_the_cost_where_no_price_is_known(
    asked: Callable[..., Any],
) -> None:
    """As OpenRouter has it."""
    with replying({"content": "B"}, cost=0.25) as server:
        told, _ = asked(server.spec, [question(n) for n in range(3)], limits=ONE)
    assert told.tally.cost == pytest.approx(3 * 0.25)


def test_a_run_in_which_all_failed_says_why_and_what_helps(
    situs: Callable[..., Any], bench: Path, tmp_path: Path
) -> None:
    error = {"error": {"message": "At most 4 image(s) may be provided in one prompt."}}
    with refusing(400, error) as server:
        args = ("--model", server.spec, "--profile", "montage", "--limit", 2)
        ran = situs("run", bench, *args, "--out", tmp_path / "run")
    assert ran.code == 1
    (line,) = [line for line in ran.err.splitlines() if "every call failed" in line]
    assert "At most 4 image(s)" in line
    assert "choose a profile with fewer pictures" in line


def test_replies_of_thoughts_alone_are_counted_with_a_cure(
    situs: Callable[..., Any], bench: Path, tmp_path: Path
) -> None:
    with replying({"content": None, "reasoning_content": "A lies"}) as server:
        args = ("--model", server.spec, "--profile", "montage", "--limit", 2)
        ran = situs("run", bench, *args, "--out", tmp_path / "run")
    assert ran.code == 0, ran.err
    assert "2 replies with thoughts and no answer: raise max_tokens" in " ".join(ran.out.split())
