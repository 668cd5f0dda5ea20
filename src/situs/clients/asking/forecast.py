"""What asking will take, told before anything is sent:
requests, pictures, tokens, money, time, and the basis."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from situs.clients.asking.limits import Limits
from situs.clients.asking.prices import Price
from situs.clients.protocol import Image, Request
from situs.clients.spec import Spec

__all__ = ["Forecast", "Observed", "forecast"]

_CHARACTERS_PER_TOKEN = 4.0
"""English prose in the tokenizers of the large models."""
_ANSWER_TOKENS = 200
"""Taken for an answer as long as none has come: a sentence or two of reasoning and the answer."""
_PATCH = 28
"""Pixels a side that one token of a Qwen-like model covers;
most open models spend as much or less."""
_OPENAI_TILE = 512
_OPENAI_SHORT_SIDE = 768
_GEMINI_TILE = 768
_GEMINI_SMALL = 384


class Observed(msgspec.Struct, frozen=True):
    """What earlier calls of the same run took."""

    calls: int = 0
    prompt_tokens: float = 0
    completion_tokens: float = 0
    seconds: float = 0
    """Of all calls together, as if made one after the other."""


class Forecast(msgspec.Struct, frozen=True):
    """What is still to be asked."""

    requests: int
    pictures: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    """Dollars; None if the price is not known."""
    cost_at_most: float | None
    """Dollars if every answer were as long as `max_tokens` allows."""
    seconds: float | None
    """None if no call has been timed and no rate is set."""
    basis: str
    """How these numbers came about."""
    hidden: int = 0
    """Questions that cannot be answered from what the profile shows."""

    def plus(self, other: Forecast) -> Forecast:
        """Both together."""
        return Forecast(
            self.requests + other.requests,
            self.pictures + other.pictures,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            _sum(self.cost, other.cost),
            _sum(self.cost_at_most, other.cost_at_most),
            _sum(self.seconds, other.seconds),
            self.basis if self.basis == other.basis else f"{self.basis}; {other.basis}",
            self.hidden + other.hidden,
        )


def forecast(
    spec: Spec,
    sample: Iterable[Request],
    total: int,
    limits: Limits,
    price: Price | None,
    observed: Observed = Observed(),  # noqa: B008 - frozen
) -> Forecast:
    """Reckon what `total` requests take,
    from a sample of them and from calls that were made before."""
    sampled = pictures = 0
    reckoned_in = longest_out = 0.0
    for request in sample:
        sampled += 1
        images = request.images()
        pictures += len(images)
        words = len(request.text()) / _CHARACTERS_PER_TOKEN
        reckoned_in += words + sum(_picture_tokens(spec, image) for image in images)
        longest_out += request.settings.max_tokens
    share = total / sampled if sampled else 0.0
    timed = observed.calls > 0
    tokens_in = _per_call(observed.prompt_tokens, observed.calls) * total or reckoned_in * share
    usual_out = _per_call(observed.completion_tokens, observed.calls) or _ANSWER_TOKENS
    tokens_out = min(usual_out * total, longest_out * share)
    return Forecast(
        requests=total,
        pictures=round(pictures * share),
        tokens_in=round(tokens_in),
        tokens_out=round(tokens_out),
        cost=None if price is None else price.of(tokens_in, tokens_out),
        cost_at_most=None if price is None else price.of(tokens_in, longest_out * share),
        seconds=_seconds(total, tokens_in + tokens_out, limits, observed),
        basis=_observed_basis(observed) if timed else _reckoned_basis(spec, sampled, total),
    )


def _per_call(amount: float, calls: int) -> float:
    return amount / calls if calls else 0.0


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _seconds(total: int, tokens: float, limits: Limits, observed: Observed) -> float | None:
    """The slowest of what calls took so far and what the limits allow."""
    least = [total * 60.0 / rate for rate in (limits.requests_per_minute,) if rate]
    least += [tokens * 60.0 / rate for rate in (limits.tokens_per_minute,) if rate]
    if observed.calls:
        least.append(observed.seconds / observed.calls * total / limits.concurrency)
    return max(least) if least else None


def _observed_basis(observed: Observed) -> str:
    return f"the {observed.calls:,} calls of this run so far"


def _reckoned_basis(spec: Spec, sampled: int, total: int) -> str:
    drawn = "every question" if sampled == total else f"{sampled:,} of {total:,} questions"
    return (
        f"{drawn}: 4 characters per token, pictures as {_picture_rule(spec)}, "
        f"{_ANSWER_TOKENS} tokens per answer; no call has been timed yet"
    )


def _picture_rule(spec: Spec) -> str:
    if spec.kind == "anthropic":
        return "Anthropic counts them (width × height / 750)"
    if spec.kind == "gemini":
        return "Gemini counts them (258 tokens per tile)"
    if _is_openai_model(spec):
        return "OpenAI counts them (85 + 170 per tile of 512 pixels)"
    return f"one token for {_PATCH} × {_PATCH} pixels, as Qwen counts"


def _is_openai_model(spec: Spec) -> bool:
    """Whether the model is one of OpenAI's own, by its name."""
    return spec.name.startswith(("gpt-4", "gpt-5", "o1", "o3", "o4", "chatgpt"))


def _picture_tokens(spec: Spec, image: Image) -> float:
    """Tokens of a picture, by the provider's published rule."""
    width, height = image.width, image.height
    if spec.kind == "anthropic":
        return width * height / 750
    if spec.kind == "gemini":
        if max(width, height) <= _GEMINI_SMALL:
            return 258
        return 258 * math.ceil(width / _GEMINI_TILE) * math.ceil(height / _GEMINI_TILE)
    if _is_openai_model(spec):
        shrink = min(1.0, 2048 / max(width, height))
        shrink = min(shrink, _OPENAI_SHORT_SIDE / min(width, height))
        tiles = math.ceil(width * shrink / _OPENAI_TILE) * math.ceil(height * shrink / _OPENAI_TILE)
        return 85 + 170 * tiles
    return math.ceil(width / _PATCH) * math.ceil(height / _PATCH)
