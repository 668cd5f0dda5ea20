"""One action a turn: every shape models use is read, and everything else is refused with a word."""

from __future__ import annotations

import json
import time

import msgspec
import pytest

from situs.clients import Reply, ToolCall
from situs.clients.turns import Action, ActionKind, Field, Misread, read_action, schema_of, tools_of
from situs.errors import SitusError

LOOK = ActionKind(
    "look",
    "Show a slice.",
    {
        "plane": Field("choice", choices=("axial", "coronal"), required=True),
        "slice": Field("whole", least=1, most=40),
        "centre": Field("numbers", count=(2, 2)),
    },
)
ANSWER = ActionKind("answer", "End.", {"answer": Field("text", required=True, longest=20)})
KINDS = (LOOK, ANSWER)


def read(text: str, **more: str) -> Action | Misread:
    return read_action(Reply("answered", text, **more), KINDS)


@pytest.mark.parametrize(
    "text",
    [
        '{"action": "look", "plane": "axial", "slice": 3}',
        '{"action": "look", "plane": "Axial", "slice": "3", "centre": null}',
        '{"action": "look", "arguments": {"plane": "axial", "slice": 3.0}}',
        '{"name": "look", "arguments": {"plane": "axial", "slice": 3}}',
        '{"look": {"plane": "axial", "slice": 3}}',
        'I look first.\n```json\n{"action": "look", "plane": "axial", "slice": 3}\n```',
        '<think>{"action": "answer"}</think>{"action": "look", "plane": "axial", "slice": 3}',
    ],
)
def test_every_shape_is_the_same_action(text: str) -> None:
    assert read(text) == Action("look", {"plane": "axial", "slice": 3})


def test_a_native_call_is_read_and_keeps_its_id() -> None:
    call = ToolCall("c1", "look", '{"plane": "coronal"}')
    said = read_action(Reply("answered", "", tool_calls=(call,)), KINDS)
    assert said == Action("look", {"plane": "coronal"}, "c1")


def test_half_a_character_never_reaches_a_file() -> None:
    half = "\ud83e"
    said = Reply("answered", f"é{half}", error=half, tool_calls=(ToolCall("c", "look", half),))
    assert msgspec.json.encode(said)
    assert (said.text, said.tool_calls[0].arguments) == ("é\ufffd", "\ufffd")
    assert read(r'{"answer": "B \ud83e"}') == Action("answer", {"answer": "B \ufffd"})
    assert read(r'{"answer": "\ud83e\udde0"}') == Action("answer", {"answer": "\U0001f9e0"})


@pytest.mark.parametrize(
    ("answer", "meant"), [("true", "yes"), ("false", "no"), ("12.5", "12.5"), ('"B"', "B")]
)
def test_an_answer_may_be_any_value(answer: str, meant: str) -> None:
    assert read(f'{{"answer": {answer}}}') == Action("answer", {"answer": meant})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "no JSON object"),
        ("the left kidney", "no JSON object"),
        ('{"action": "loook"}', "did you mean look"),
        ('{"action": "look"}', "needs plane"),
        ('{"action": "look", "plane": "oblique"}', "one of axial, coronal"),
        ('{"action": "look", "plane": "axial", "slice": 41}', "at most 40"),
        ('{"action": "look", "plane": "axial", "slice": 2.5}', "whole number"),
        ('{"action": "look", "plane": "axial", "slice": 1e999}', "too large"),
        ('{"action": "look", "plane": "axial", "centre": [1]}', "list of 2 numbers"),
        ('{"action": "look", "plane": "axial", "size": 1000000}', "has no 'size'"),
        ('{"action": "answer", "answer": "' + 21 * "x" + '"}', "21 characters"),
        ('{"action": ' * 4000, "no JSON object"),
        ("{" * 100_000, "no JSON object"),
    ],
)
def test_what_is_no_action_is_told_why(text: str, word: str) -> None:
    before = time.process_time()
    said = read(text)
    assert time.process_time() - before < 0.7  # the square of a long reply's length takes seconds
    assert isinstance(said, Misread)
    assert said.state == "invalid"
    assert word in said.reason
    assert len(said.reason) < 300


def test_a_reply_that_ran_out_of_tokens_or_into_white_space_is_cut() -> None:
    assert read('{"action": "lo', finish_reason="length").state == "cut"
    assert read('{"action": "look",' + " " * 400).state == "cut"
    whole = '{"action": "look", "plane": "axial"}' + " " * 400
    assert read(whole, finish_reason="length") == Action("look", {"plane": "axial"})


def test_the_schema_is_flat_and_bounded() -> None:
    schema = schema_of(KINDS)
    assert schema["required"] == list(schema["properties"])
    assert schema["properties"]["action"]["enum"] == ["look", "answer"]
    assert schema["properties"]["answer"] == {"type": ["string", "null"], "maxLength": 20}
    assert schema["properties"]["plane"]["enum"] == ["axial", "coronal", None]
    nested = [p for p in schema["properties"].values() if "object" in json.dumps(p)]
    assert nested == []
    names = [tool["function"]["name"] for tool in tools_of(KINDS)]
    assert names == ["look", "answer"]


def test_one_name_for_two_things_is_refused() -> None:
    other = ActionKind("mark", "", {"slice": Field("text")})
    with pytest.raises(SitusError, match="different things"):
        schema_of((*KINDS, other))


@pytest.mark.sampled
@pytest.mark.parametrize("depth", [17, 500, *range(985, 996), 5000])
@pytest.mark.parametrize(
    "reply",
    [
        '{{"action": "answer", "answer": {inner}}}',
        '{{"action": {inner}}}',
        '{{"action": "look", "plane": {inner}}}',
    ],
)
def test_what_is_nested_beyond_sense_is_refused_however_deep(depth: int, reply: str) -> None:
    """Python follows about a thousand levels, fewer from deeper calls: none of that may decide."""
    for inner in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        assert isinstance(read(reply.format(inner=inner)), Misread)
    call = ToolCall("1", "answer", f'{{"answer": {"[" * depth + "]" * depth}}}')
    assert isinstance(read_action(Reply("answered", tool_calls=(call,)), KINDS), Misread)
