"""Scripted models behind the protocols of three providers,
which refuse what the real servers refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import scripted

import wire

Body = dict[str, Any]
SIGNATURE = "c2VhbGVkIHRob3VnaHRz"


def _names(act: Body) -> tuple[str, Body]:
    return act["action"], {name: value for name, value in act.items() if name != "action"}


class _OpenAI:
    """Chat completions."""

    address = "/v1"

    def chat(self, body: Body) -> Body:
        return body

    def pictures(self, body: Body) -> int:
        return wire.pictures_in(body)

    def fault(self, body: Body) -> str:
        calls = [c["id"] for m in body["messages"] for c in m.get("tool_calls", ())]
        results = [m["tool_call_id"] for m in body["messages"] if m["role"] == "tool"]
        return "" if calls == results else "tool_calls must be followed by tool messages"

    def reply(self, act: Body, number: int, native: bool) -> Body:
        if not native:
            return wire.completion(json.dumps(act))
        name, arguments = _names(act)
        call = {
            "id": f"call{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return wire.completion("", message=message, finish_reason="tool_calls")


class _Anthropic:
    """Messages."""

    address = ""

    def _blocks(self, body: Body) -> list[Body]:
        return [block for message in body["messages"] for block in message["content"]]

    def chat(self, body: Body) -> Body:
        return body

    def pictures(self, body: Body) -> int:
        pictures = [b["source"] for b in self._blocks(body) if b["type"] == "image"]
        assert all(p["type"] == "base64" and p["media_type"] == "image/png" for p in pictures)
        return len(pictures)

    def fault(self, body: Body) -> str:
        blocks = self._blocks(body)
        roles = [message["role"] for message in body["messages"]]
        if any(one == other for one, other in pairwise(roles)):
            return "roles must alternate"
        if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            return "text content blocks must be non-empty"
        if sum("cache_control" in block for block in blocks) > 4:
            return "a maximum of 4 blocks with cache_control may be provided"
        used = [block["type"] for block in blocks].count("tool_use")
        if used and "tools" not in body:
            return "requests which have tool_use blocks must define tools"
        for said, after in pairwise(body["messages"]):
            calls = [b["id"] for b in said["content"] if b["type"] == "tool_use"]
            results = [b["tool_use_id"] for b in after["content"][: len(calls)] if calls]
            if calls != results:
                return "tool_use ids were found without tool_result blocks immediately after"
            if calls and said["content"][0].get("signature") != SIGNATURE:
                return "Expected thinking or redacted_thinking, but found tool_use"
        return ""

    def reply(self, act: Body, number: int, native: bool) -> Body:
        content: list[Body] = [{"type": "text", "text": json.dumps(act)}]
        if native:
            name, arguments = _names(act)
            content = [
                {"type": "thinking", "thinking": "hm, no", "signature": SIGNATURE},
                {"type": "tool_use", "id": f"toolu{number}", "name": name, "input": arguments},
            ]
        usage = {"input_tokens": 20, "output_tokens": 3}
        return {"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage}


class _Gemini:
    """generateContent."""

    address = ""

    def chat(self, body: Body) -> Body:
        roles = {"user": "user", "model": "assistant"}
        messages = [
            {
                "role": roles[content["role"]],
                "content": [
                    {"type": "text", "text": part["text"]}
                    for part in content["parts"]
                    if "text" in part
                ],
            }
            for content in body["contents"]
        ]
        return {"messages": messages}

    def _parts(self, body: Body) -> list[Body]:
        return [part for content in body["contents"] for part in content["parts"]]

    def pictures(self, body: Body) -> int:
        pictures = [p["inlineData"] for p in self._parts(body) if "inlineData" in p]
        assert all(picture["mimeType"] == "image/png" for picture in pictures)
        return len(pictures)

    def fault(self, body: Body) -> str:
        parts = self._parts(body)
        if any(not part.get("text", "x").strip() for part in parts):
            return "must not have an empty text parameter"
        for tool in body.get("tools", ()):
            for declared in tool["functionDeclarations"]:
                if "additionalProperties" in declared.get("parameters", {}):
                    return "Unknown name additionalProperties at parameters: Cannot find field."
        calls = [part for part in parts if "functionCall" in part]
        if any(part.get("thoughtSignature") != SIGNATURE for part in calls):
            return "Function call is missing a thought_signature in functionCall parts."
        names = [part["functionCall"]["name"] for part in calls]
        results = [p["functionResponse"]["name"] for p in parts if "functionResponse" in p]
        return "" if names == results else "function response parts must equal function call parts"

    def reply(self, act: Body, number: int, native: bool) -> Body:
        part: Body = {"text": json.dumps(act)}
        if native:
            name, arguments = _names(act)
            call = {"name": name, "args": arguments}
            part = {"functionCall": call, "thoughtSignature": SIGNATURE}
        candidate = {"content": {"parts": [part], "role": "model"}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 20, "candidatesTokenCount": 3}
        return {"candidates": [candidate], "usageMetadata": usage}


PROVIDERS = {"openai": _OpenAI(), "anthropic": _Anthropic(), "gemini": _Gemini()}


def server(
    known: scripted.Known, script: scripted.Script, provider: str, *, native: bool
) -> wire.Server:
    """A server of a provider that plays a script; what the provider refuses is status 400."""
    shape = PROVIDERS[provider]

    def behave(number: int, body: Body) -> wire.Behaviour:
        fault = shape.fault(body)
        if fault:
            return wire.status(400, {"message": fault})
        act = script(scripted.Seen(known, shape.chat(body)))
        assert isinstance(act, dict)
        return wire.raw(json.dumps(shape.reply(act, number, native)).encode())

    return wire.Server(behave)


def spec(provider: str, server: wire.Server) -> str:
    """The model that such a server serves."""
    return f"{provider}:some-model@http://127.0.0.1:{server.port}{PROVIDERS[provider].address}"


def pictures_of(provider: str) -> Callable[[Body], int]:
    """Counts the pictures of a request in the provider's own form."""
    return PROVIDERS[provider].pictures
