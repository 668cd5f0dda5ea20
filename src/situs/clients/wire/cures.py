"""What usually helps against an error, by the server's status and words."""

from __future__ import annotations

import re

import msgspec

__all__ = ["cure_for"]

_FEWER_PICTURES = (
    "choose a profile with fewer pictures, such as montage (one) or three-views (three; situs"
    " list profiles shows all), or raise the server's limit"
)
_NO_PICTURES = (
    "this model takes no pictures: choose one that does, or serve it with its image processor"
)
_NAME_OF_MODEL = (
    "is the model's name as the server has it (on Azure: the deployment's), and does the"
    " address end in /v1?"
)
_LESS_INPUT = "choose a profile with fewer or smaller pictures (situs list profiles)"


class _Cure(msgspec.Struct, frozen=True):
    statuses: tuple[int, ...]
    server_words: re.Pattern[str]
    cure: str


def _entry(statuses: tuple[int, ...], server_words: str, cure: str) -> _Cure:
    return _Cure(statuses, re.compile(server_words, re.IGNORECASE), cure)


_CURES = (
    # What a provider grants an account, as against a key or a request.
    _entry(
        (400, 403, 404),
        r"must be verified|country, region|not available in your|data policy",
        "settle this in your account with the provider, or choose another model",
    ),
    _entry(
        (401, 403),
        "",
        "is the key right and in the environment? (?key_env=NAME names its variable)",
    ),
    _entry(
        (400, 413, 422),
        r"image.{0,60}(?:too large|dimension|\d (?:pixels|bytes|[KM]i?B)\b)",
        "choose a profile with smaller pictures (situs list profiles shows all)",
    ),
    # vLLM, of a model that is served without its eyes.
    _entry((400,), r"at most 0 image", _NO_PICTURES),
    _entry(
        (400, 413, 422),
        r"(?:too many|at most \d+|maximum (?:number )?of \d*|exceeds?.{0,40}number"
        r" of).{0,40}(?:image|picture)"
        r"|image.{0,40}(?:limit|maximum|exceed|too many)|too much media"
        r"|\b(?:only|supports?|to) (?:one|\d+) (?:image|picture)|\b(?:multiple|several) images\b",
        _FEWER_PICTURES,
    ),
    _entry(
        (400, 404, 415, 422, 500),
        r"support.{0,30} image|image.{0,40}(?:not|only) supported"
        r"|not a (?:multimodal|vision) model|does not (?:accept|take).{0,20}image"
        r"|image input is not|missing data required for image|unknown variant \W?image",
        _NO_PICTURES,
    ),
    _entry((400, 404), r"api version", "name one that the server knows (?api_version=…)"),
    _entry(
        (400,),
        r"tools? .{0,160}/v1/responses",
        "in a room, ask for JSON instead of tool calls (--turns schema)",
    ),
    _entry(
        (400, 404),
        r"not a chat model|only .{0,20}in /?v1/responses",
        "choose a model that the server offers as chat completions",
    ),
    _entry((400, 404), r"no models? (?:is |are )?loaded", "load the model in the server first"),
    _entry((404, 410), "", _NAME_OF_MODEL),
    _entry(
        (400, 422),
        r"(?:invalid|unknown|no such) model"
        r"|model.{0,60}(?:not exist|not found|deprecated|retired)|model id .{0,80}n['o]t supported",
        _NAME_OF_MODEL,
    ),
    _entry(
        (400, 422),
        r"max_tokens or model output limit was reached",
        "allow a longer answer (e.g. ?max_tokens=16384): it thinks before it answers",
    ),
    _entry(
        (400, 422),
        r"max_(?:completion_|output_)?tokens\W{0,3}(?:is |are )?(?:too (?:large|high)|exceed)"
        r"|max_tokens: \d+ > \d+",
        "allow a shorter answer (e.g. ?max_tokens=512), or choose a profile with fewer pictures",
    ),
    _entry((413,), "", _LESS_INPUT),
    _entry(
        (400, 422),
        r"context.{0,20}(?:length|window|size)|maximum.{0,30}tokens|prompt is too long|too large"
        r"|must be <= \d+\. Given|maximum model length|range of input length"
        r"|reduce the length of the (?:messages|input)",
        _LESS_INPUT,
    ),
)
"""The first that fits is told."""


def cure_for(status: int, server_words: str) -> str:
    """What usually helps; nothing where the server's own words are all there is."""
    for entry in _CURES:
        if status in entry.statuses and entry.server_words.search(server_words):
            return f"; {entry.cure}"
    return ""
