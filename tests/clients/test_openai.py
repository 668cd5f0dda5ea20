"""What goes over the wire to a chat-completions server, and how its replies are read."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest

import wire
from asking import QUICK, picture, question
from situs.clients import (
    Message,
    Request,
    Settings,
    ToolCall,
    make_client,
    parse_spec,
    settings_for,
)
from situs.errors import SitusError

ONE = msgspec.structs.replace(QUICK, concurrency=1)
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


def replies(payload: dict[str, Any], code: int = 200) -> wire.Server:
    return wire.Server(lambda number, body: wire.raw(json.dumps(payload).encode(), code=code))


def test_words_and_pictures_go_out_in_their_order(asked) -> None:
    parts = (picture(1), "first", picture(2), picture(1), "last")
    request = Request(
        "k", (Message("system", ("be brief",)), Message("user", parts)), Settings(max_tokens=7)
    )
    with wire.Server() as server:
        asked(server.spec, [request])
    body = server.bodies[0]
    assert {key: body[key] for key in ("model", "temperature", "max_tokens")} == {
        "model": "test",
        "temperature": 0.0,
        "max_tokens": 7,
    }
    assert body["messages"][0] == {"role": "system", "content": "be brief"}

    def shown(number: int) -> dict[str, Any]:
        uri = f"data:image/png;base64,{base64.b64encode(picture(number).data).decode()}"
        return {"type": "image_url", "image_url": {"url": uri}}

    said = [{"type": "text", "text": text} for text in ("first", "last")]
    assert body["messages"][1] == {
        "role": "user",
        "content": [shown(1), said[0], shown(2), shown(1), said[1]],
    }
    assert set(body) == {"model", "messages", "temperature", "max_tokens"}


def test_a_body_of_many_megabytes_arrives_whole(asked) -> None:
    large = msgspec.structs.replace(picture(1), data=bytes(range(256)) * 4096 * 3, digest="large")
    with wire.Server() as server:
        asked(server.spec, [Request("k", (Message("user", (large, "what?", large)),))])
    for part in (server.bodies[0]["messages"][0]["content"][n] for n in (0, 2)):
        assert base64.b64decode(part["image_url"]["url"].partition(",")[2]) == large.data


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("", {"temperature": 0.0, "max_tokens": 1024}),
        (
            "?temperature=0.7&seed=3&top_p=0.9&max_tokens=5",
            {"temperature": 0.7, "seed": 3, "top_p": 0.9, "max_tokens": 5},
        ),
        ("?temperature=default", {"max_tokens": 1024}),
        ("?max_completion_tokens=9", {"temperature": 0.0, "max_completion_tokens": 9}),
        (
            '?chat_template_kwargs={"enable_thinking":false}',
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
        ("?reasoning_effort=low&top_k=4", {"reasoning_effort": "low", "top_k": 4}),
    ],
)
def test_settings_of_the_spec_are_sent(asked, query, sent) -> None:
    spec = parse_spec("openai:test@http://127.0.0.1:1/v1" + query)
    settings = settings_for(make_client(spec), spec)
    with wire.Server() as server:
        asked(server.spec, [question(1, settings=settings)])
    body = {
        key: value for key, value in server.bodies[0].items() if key not in ("model", "messages")
    }
    assert (
        body == {"temperature": 0.0, "max_tokens": 1024} | sent
        if "kwargs" in query or "top_k" in query
        else sent
    )


@pytest.mark.parametrize(
    "odd", ["stream=true", "n=3", "messages=[]", "temperature=hot", "max_tokens=-1", "top_p=2"]
)
def test_settings_that_cannot_be_are_refused(odd) -> None:
    with pytest.raises(SitusError, match=odd.partition("=")[0]):
        make_client(parse_spec(f"openai:m@http://127.0.0.1:1/v1?{odd}"))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/a/v2/", "/a/v2/chat/completions"),
    ],
)
def test_the_address_is_completed(asked, url, path) -> None:
    with wire.Server() as server:
        asked(f"openai:m@http://127.0.0.1:{server.port}{url}", [question(1)])
    assert server.seen[0].splitlines()[0] == f"POST {path}".encode()


@pytest.mark.parametrize(
    "spec", ["openai", "openai:m@localhost:8000", "openai:m@ftp://x/v1", "openai:m@http://:99999/"]
)
def test_an_address_that_is_none_is_refused(spec) -> None:
    with pytest.raises(SitusError):
        make_client(parse_spec(spec))


def test_a_schema_is_sent_where_the_server_takes_one(asked) -> None:
    with wire.Server() as server:
        asked(server.spec, [question(n, schema=SCHEMA) for n in range(3)])
    for body in server.bodies:
        assert body["response_format"]["json_schema"]["schema"] == SCHEMA
        assert body["response_format"]["type"] == "json_schema"


def test_a_server_without_schemas_is_asked_without_one_from_then_on(asked) -> None:
    def old(number: int, body: dict[str, Any]) -> wire.Behaviour:
        return wire.status(400) if "response_format" in body else wire.good

    with wire.Server(old) as server:
        _, book = asked(server.spec, [question(n, schema=SCHEMA) for n in range(5)], ONE)
    assert [reply.state for reply in book.values()] == ["answered"] * 5
    assert ["response_format" in body for body in server.bodies] == [True] + [False] * 5


def test_a_request_that_is_wrong_for_another_reason_does_not_cost_the_schema(asked) -> None:
    def picky(number: int, body: dict[str, Any]) -> wire.Behaviour:
        return wire.status(400) if "question 0" in wire.words_of(body) else wire.good

    with wire.Server(picky) as server:
        _, book = asked(server.spec, [question(n, schema=SCHEMA) for n in range(2)], ONE)
    assert [book[f"key{n}"].state for n in range(2)] == ["failed", "answered"]
    assert "response_format" in server.bodies[-1]


def test_tools_and_their_answers_go_both_ways(asked) -> None:
    tool = {"type": "function", "function": {"name": "measure", "parameters": {"type": "object"}}}
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "measure", "arguments": '{"of": "spleen"}'},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    with replies(wire.completion("", message=message, finish_reason="tool_calls")) as server:
        history = (
            Message("user", ("how large?",)),
            Message("assistant", ("",), tool_calls=(ToolCall("c0", "measure", "{}"),)),
            Message("tool", ("12 mL",), tool_call_id="c0"),
        )
        _, book = asked(server.spec, [Request("k", history, tools=(tool,))])
    assert book["k"].tool_calls == (ToolCall("c1", "measure", '{"of": "spleen"}'),)
    assert book["k"].finish_reason == "tool_calls"
    sent = server.bodies[0]
    assert sent["tools"] == [tool]
    assert sent["messages"][1]["tool_calls"][0]["function"] == {
        "name": "measure",
        "arguments": "{}",
    }
    assert sent["messages"][2] == {"role": "tool", "content": "12 mL", "tool_call_id": "c0"}


REFUSALS = {
    "a filter's reason": (wire.completion("", finish_reason="content_filter"), 200),
    "a refusal field": (
        wire.completion("", message={"content": None, "refusal": "I cannot help"}),
        200,
    ),
    "a filter's error": ({"error": {"message": "flagged", "code": "content_filter"}}, 400),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_the_providers_signal_is_a_refusal(asked, kind) -> None:
    with replies(*REFUSALS[kind]) as server:
        result, book = asked(server.spec, [question(1)])
    assert book["key1"].state == "refused"
    assert result.tally.requests == 1


def test_a_refusal_in_words_is_an_answer(asked) -> None:
    with replies(wire.completion("I cannot answer that.")) as server:
        assert asked(server.spec, [question(1)])[1]["key1"].state == "answered"


def test_an_answer_cut_at_its_length_says_so(asked) -> None:
    with replies(wire.completion("The answer", finish_reason="length")) as server:
        result, book = asked(server.spec, [question(1)])
    assert (book["key1"].state, book["key1"].finish_reason, result.tally.cut) == (
        "answered",
        "length",
        1,
    )


@pytest.mark.parametrize("content", [None, "", [{"type": "text", "text": ""}]])
def test_an_empty_reply_is_answered_with_nothing(asked, content) -> None:
    with replies(wire.completion("", message={"content": content})) as server:
        reply = asked(server.spec, [question(1)])[1]["key1"]
    assert (reply.state, reply.text) == ("answered", "")


def test_usage_is_recorded_and_nonsense_in_it_is_not(asked) -> None:
    usage = {
        "prompt_tokens": 11,
        "completion_tokens": 5,
        "total_tokens": "many",
        "cost": -1,
        "completion_tokens_details": {"reasoning_tokens": 4, "x": None},
    }
    with replies(wire.completion("B") | {"usage": usage}) as server:
        result, book = asked(server.spec, [question(1)])
    assert book["key1"].usage == {
        "prompt_tokens": 11,
        "completion_tokens": 5,
        "completion_tokens.reasoning_tokens": 4,
    }
    assert (result.tally.prompt_tokens, result.tally.completion_tokens) == (11, 5)


SECRET = "sk-verysecret123456"


@pytest.mark.parametrize(
    ("variable", "query"), [("OPENAI_API_KEY", ""), ("MY_KEY", "?key_env=MY_KEY")]
)
def test_the_key_goes_into_the_header_and_nowhere_else(asked, monkeypatch, variable, query) -> None:
    monkeypatch.setenv(variable, SECRET)
    echo = wire.status(500, {"message": f"Incorrect API key provided: {SECRET} or sk-very***3456"})
    with wire.Server(lambda number, body: echo) as server:
        spec = parse_spec(server.spec + query)
        client = make_client(spec)
        result, book = asked(client, [question(1)])
    head, _, body = server.seen[0].partition(b"\n\n")
    assert f"Authorization: Bearer {SECRET}".encode() in head
    assert SECRET.encode() not in body + head.splitlines()[0]
    told = f"{book} {result} {client.name} {client.cache_key} {client.versions} {spec}"
    assert "verysecret" not in told
    assert "sk-very" not in told


def test_a_key_that_is_named_but_missing_is_refused(monkeypatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(SitusError, match="NO_SUCH_KEY"):
        make_client(parse_spec("openai:m@http://127.0.0.1:1/v1?key_env=NO_SUCH_KEY"))


@pytest.mark.parametrize(
    "spec",
    [
        f"openai:m@http://127.0.0.1:1/v1?api_key={SECRET}",
        f"openai:m@http://{SECRET}:x@127.0.0.1:1/v1",
    ],
)
def test_a_key_on_the_command_line_is_refused_without_repeating_it(spec) -> None:
    with pytest.raises(SitusError, match="environment") as caught:
        parse_spec(spec)
    assert "verysecret" not in str(caught.value)


def test_the_usual_key_is_not_sent_in_the_open(monkeypatch) -> None:
    """Over plain HTTP to another machine only a key that was named for it goes out."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert make_client(parse_spec("openai:m@http://192.0.2.1/v1"))._key == ""
    assert (
        make_client(parse_spec("openai:m@http://192.0.2.1/v1?key_env=OPENAI_API_KEY"))._key
        == SECRET
    )
    assert make_client(parse_spec("openai:m@https://192.0.2.1/v1"))._key == SECRET
