"""How servers say no, read with distrust:
what may help by waiting, what never will, and what was refused."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

import msgspec

from situs.clients.protocol import Reply
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
_LARGE_PICTURE = re.compile(
    r"image.{0,60}(?:too large|dimension|\d (?:pixels|bytes|[KM]i?B)\b)", re.IGNORECASE
)
_TOO_MANY_PICTURES = re.compile(
    r"(?:too many|at most \d+|maximum (?:number )?of \d*|exceeds?.{0,40}number"
    r" of).{0,40}(?:image|picture)"
    r"|image.{0,40}(?:limit|maximum|exceed|too many)",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context.{0,20}(?:length|window|size)|maximum.{0,30}tokens|prompt is too long|too large"
    r"|must be <= \d+\. Given",
    re.IGNORECASE,
)
_NO_PICTURES = re.compile(
    r"support.{0,30} image|image.{0,40}(?:not|only) supported|not a (?:multimodal|vision) model"
    r"|does not (?:accept|take).{0,20}image|image input is not|missing data required for image",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"(?:invalid|unknown|no such) model|model.{0,60}(?:not exist|not found|deprecated|retired)",
    re.IGNORECASE,
)
_TOO_MUCH_OUTPUT = re.compile(
    r"max_(?:completion_|output_)?tokens\W{0,3}(?:is |are )?(?:too (?:large|high)|exceed)"
    r"|max_tokens: \d+ > \d+",
    re.IGNORECASE,
)
_CURES: tuple[tuple[Callable[[int, str], object], str], ...] = (
    (
        lambda status, server_words: status in (401, 403),
        "is the key right and in the environment? (?key_env=NAME names its variable)",
    ),
    (
        lambda status, server_words: (
            status in (400, 413, 422) and _LARGE_PICTURE.search(server_words)
        ),
        "choose a profile with smaller pictures (situs list profiles shows all)",
    ),
    (
        lambda status, server_words: (
            status in (400, 413, 422) and _TOO_MANY_PICTURES.search(server_words)
        ),
        "choose a profile with fewer pictures, such as montage (one) or three-views (three; situs"
        " list profiles shows all), or raise the server's limit",
    ),
    (
        lambda status, server_words: (
            status in (400, 404, 415, 422, 500) and _NO_PICTURES.search(server_words)
        ),
        "this model takes no pictures: choose one that does, or serve it with its image processor",
    ),
    (
        lambda status, server_words: (
            status in (400, 404) and "api version" in server_words.casefold()
        ),
        "name one that the server knows (?api_version=…)",
    ),
    (
        lambda status, server_words: (
            status in (404, 410) or (status in (400, 422) and _NO_MODEL.search(server_words))
        ),
        "is the model's name as the server has it (on Azure: the deployment's), and does the"
        " address end in /v1?",
    ),
    (
        lambda status, server_words: status in (400, 422) and _TOO_MUCH_OUTPUT.search(server_words),
        "allow a shorter answer (e.g. ?max_tokens=512), or choose a profile with fewer pictures",
    ),
    (
        lambda status, server_words: (
            status == 413 or (status in (400, 422) and _TOO_LONG.search(server_words))
        ),
        "choose a profile with fewer or smaller pictures (situs list profiles)",
    ),
)
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
        + _cure(status, server_words)
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


def _cure(status: int, server_words: str) -> str:
    """What usually helps; nothing where the server's own words are all there is."""
    return next((f"; {cure}" for fits, cure in _CURES if fits(status, server_words)), "")


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
