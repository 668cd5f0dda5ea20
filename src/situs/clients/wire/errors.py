"""How servers say no, read with distrust:
what may help by waiting, what never will, and what was refused."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import msgspec

from situs.clients.protocol import Reply
from situs.clients.wire.cures import cure_for
from situs.clients.wire.transport import Response

__all__ = ["read_error", "retry_after", "words_of_error"]

_DENIED = {401, 402, 403, 404, 405}
_AGAIN = {408, 409, 425, 429}
_WILL_NOT = {400, 403, 422, 451}
_FILTERED = (
    "content_filter",
    "content_policy_violation",
    "ResponsibleAIPolicyViolation",
    "invalid_prompt",
    "moderation_blocked",
    "data_inspection_failed",
)
_FLAGGED = re.compile(
    r"(?:prompt|input|request|content|image|message)s? (?:was|were|is|are|has been|have been)"
    r" (?:flagged|blocked)|violates? .{0,40}(?:usage|content|use) (?:polic|guideline)"
    r"|safety system|inappropriate content|content exists risk",
    re.IGNORECASE,
)
"""How servers without a code for it (xAI, OpenRouter, DeepSeek) say that they looked at the
content and will not answer: about one question, not about whoever asks."""
_NO_MONEY = re.compile(
    r"credit balance is too low|insufficient (?:credit|balance|funds|quota)", re.IGNORECASE
)
_RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"')
_WAIT = re.compile(
    rb"(?:try again|retry) (?:in|after) (?:(\d{1,4}) ?m(?:in\w*)?(?![a-z]) ?)?"
    rb"(?:(\d{1,6}(?:\.\d{1,9})?) ?(ms|milliseconds|s|seconds?)\b)?",
    re.IGNORECASE,
)
"""As OpenAI ("try again in 7m12s", "in 350ms") and Azure ("retry after 26 seconds") say it."""
_MASKED_KEY = re.compile(r"\b(?:sk|pk|key)-[\w*.-]+", re.IGNORECASE)


def read_error(response: Response, secret: str) -> Reply:
    """A response that is not a success."""
    server_words, code = words_of_error(response.content, secret)
    status, headers = response.status, response.headers
    if status < 400:
        error = (
            f"HTTP {status}: the server redirects, and redirects are not followed; give the final"
            " address"
        )
        return Reply("failed", error=error, fatal=True, fault="denied")
    error = (
        f"HTTP {status}"
        + (f": {server_words}" if server_words else "")
        + cure_for(status, server_words)
    )
    if any(word in code for word in _FILTERED) or (
        status in _WILL_NOT and _FLAGGED.search(server_words)
    ):
        return Reply("refused", server_words, finish_reason="content_filter")
    if status in _DENIED or code == "insufficient_quota" or _NO_MONEY.search(server_words):
        return Reply("failed", error=error, fatal=True, fault="denied")
    if status in _AGAIN or status >= 500:
        wait = retry_after(headers)
        return Reply(
            "failed", error=error, retry_after=_delay(response.content) if wait is None else wait
        )
    return Reply("failed", error=error, fatal=True)


def _delay(body: bytes) -> float | None:
    """Seconds to wait as the body of an error says them."""
    start = body[:4096]
    if stated := _RETRY_DELAY.search(start):
        return float(stated[1])
    wait = _WAIT.search(start)
    if wait is None or not (wait[1] or wait[2]):
        return None
    unit = 0.001 if (wait[3] or b"").lower().startswith(b"m") else 1.0
    return 60.0 * float(wait[1] or 0) + unit * float(wait[2] or 0)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `Retry-After` in seconds or as a date, or Azure's in milliseconds;
    None if they say nothing readable."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if re.fullmatch(r"\d{1,9}", milliseconds):
        return float(milliseconds) / 1000.0
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


def words_of_error(body: bytes, secret: str) -> tuple[str, str]:
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
