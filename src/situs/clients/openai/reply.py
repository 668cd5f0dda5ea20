"""What a chat-completions server sent back, read with distrust."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from situs.clients.protocol import Reply, ToolCall

__all__ = ["read_error", "read_reply", "retry_after"]


class _Function(msgspec.Struct):
    name: str = ""
    arguments: Any = ""


class _Call(msgspec.Struct):
    function: _Function
    id: str | None = None


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(_Completion)

_DENIED = {401, 402, 403, 404, 405}
_AGAIN = {408, 409, 425, 429}
_FILTERED = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
_MASKED_KEY = re.compile(r"\b(?:sk|pk|key)-[\w*.-]+", re.IGNORECASE)


def read_reply(body: bytes, content_type: str, secret: str) -> Reply:
    """A successful response's body; what is not a completion is `failed`."""
    try:
        completion = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        kind = content_type.partition(";")[0].strip()[:60] or "no type"
        what = "an empty body" if not body.strip() else f"{len(body):,} bytes of {kind}"
        # Some gateways answer 200 with an error in the body.
        said = _said(body, secret)[0] if b'"error"' in body[:4096] else ""
        return Reply(
            "failed", error=f"the server's reply is not a chat completion ({said or what})"
        )
    if not completion.choices:
        return Reply(
            "failed", error="the server's reply has no choices", usage=_usage(completion.usage)
        )
    choice = completion.choices[0]
    usage, reason = _usage(completion.usage), choice.finish_reason or ""
    text = _text(choice.message.content)
    calls = tuple(
        ToolCall(call.id or "", call.function.name, _arguments(call.function.arguments))
        for call in choice.message.tool_calls or ()
    )
    if reason == "error":
        return Reply("failed", error="the server stopped with an error", usage=usage)
    if reason == "content_filter" or (choice.message.refusal and not text):
        return Reply("refused", text or choice.message.refusal or "", usage, reason)
    return Reply("answered", text, usage, reason, calls)


def read_error(status: int, headers: Mapping[str, str], body: bytes, secret: str) -> Reply:
    """A response that is not a success."""
    said, code = _said(body, secret)
    if status < 400:
        error = f"HTTP {status}: the server redirects, and redirects are not followed; give the final address"
        return Reply("failed", error=error, fatal=True, fault="denied")
    error = f"HTTP {status}" + (f": {said}" if said else "")
    if any(word in code for word in _FILTERED):
        return Reply("refused", said, finish_reason="content_filter")
    if status in _DENIED or code == "insufficient_quota":
        return Reply("failed", error=error, fatal=True, fault="denied")
    if status in _AGAIN or status >= 500:
        return Reply("failed", error=error, retry_after=retry_after(headers))
    return Reply("failed", error=error, fatal=True)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `Retry-After` in seconds or as a date; None if it says nothing readable."""
    raw = headers.get("Retry-After")
    if raw is None:
        return None
    raw = raw.strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,6})?", raw):
        return float(raw)
    try:
        return max(0.0, parsedate_to_datetime(raw).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _said(body: bytes, secret: str) -> tuple[str, str]:
    """A server's words on what is wrong and its code for it, without the key that some repeat."""
    text, code = body.decode("utf-8", "replace"), ""
    try:
        parsed = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        parsed = None
    if isinstance(parsed, dict):
        inner = parsed.get("error", parsed)
        if isinstance(inner, dict):
            text = str(inner.get("message") or inner.get("detail") or "")
            code = f"{inner.get('code') or inner.get('type') or ''}"
        else:
            text = str(inner)
    elif "<html" in text[:500].lower():
        text = ""
    text = " ".join("".join(c if c.isprintable() else " " for c in text[:2000]).split())
    if secret:
        text = text.replace(secret, "***")
    return _MASKED_KEY.sub("***", text)[:300], code


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        return "".join(
            str(part.get("text", "")) for part in content if part.get("type", "text") == "text"
        )
    return content or ""


def _arguments(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _usage(counts: Mapping[str, Any] | None) -> dict[str, float]:
    """The counts that are numbers; those in `…_details` under their own names."""
    result: dict[str, float] = {}
    for name, value in (counts or {}).items():
        if isinstance(value, dict) and name.endswith("_details"):
            result |= {f"{name[:-8]}.{k}": v for k, v in value.items() if _is_count(v) and v}
        elif _is_count(value):
            result[name] = value
    return result


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
