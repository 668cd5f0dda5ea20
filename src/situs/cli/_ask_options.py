"""Options that every command that asks models shares: speed, patience, money, cache and care."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from situs.cli._numbers import FiniteRange

if TYPE_CHECKING:
    from situs.clients import Client, Limits, Price, ResponseCache, Spec, Tally
    from situs.judges import Asker

__all__ = ["AskOptions", "ask_options"]

_POSITIVE = FiniteRange(0, min_open=True)

_OPTIONS = (
    click.option("--concurrency", type=click.IntRange(1, 4096), help="Calls in flight at once. [default: 8]"),
    click.option("--requests-per-minute", type=_POSITIVE, help="Send no faster than this."),
    click.option("--tokens-per-minute", type=_POSITIVE, help="Send no faster than this, prompts and answers together."),
    click.option("--tries", type=click.IntRange(1, 100), default=6, show_default=True, help="Attempts per question."),
    click.option("--timeout", type=_POSITIVE, default=600.0, show_default=True, help="Seconds for a whole call."),
    click.option(
        "--stall-timeout",
        type=_POSITIVE,
        default=60.0,
        show_default=True,
        help="Seconds without a new byte once a reply has begun.",
    ),
    click.option("--max-cost", type=_POSITIVE, help="Stop before the run costs more than this, in dollars."),
    click.option("--max-tokens-total", type=click.IntRange(1), help="Stop before the run uses more tokens than this."),
    click.option("--prices", type=click.Path(path_type=Path), help="A TOML file with prices, see the docs."),
    click.option("--no-cache", is_flag=True, help="Ask again what was answered before, and keep no answer."),
    click.option("--cache-samples", is_flag=True, help="Reuse sampled answers that have no seed, too."),
    click.option("--allow-remote", is_flag=True, help="Send restricted data to a server that is not on this machine."),
)


class AskOptions(NamedTuple):
    """What was chosen."""

    concurrency: int | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    tries: int
    timeout: float
    stall_timeout: float
    max_cost: float | None
    max_tokens_total: int | None
    prices: Path | None
    no_cache: bool
    cache_samples: bool
    allow_remote: bool

    def client(self, spec: Spec) -> Client:
        """The client a spec names, with the timeouts chosen."""
        from situs.clients import Timeouts, make_client

        return make_client(spec, timeouts=Timeouts(self.timeout, self.stall_timeout, min(10.0, self.timeout)))

    def limits(self, client: Client) -> Limits:
        """Speed, patience and budget. A client that answers in batches is asked several at once."""
        from situs.clients import Limits

        batch: int = getattr(client, "batch", 0)
        return Limits(
            concurrency=self.concurrency or max(8, 4 * batch),
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            tries=self.tries,
            max_cost=self.max_cost,
            max_tokens=self.max_tokens_total,
        )

    def cache(self, say: Callable[[str], None]) -> ResponseCache | None:
        """The response cache, unless it is not wanted."""
        from situs._cache import cache_folder
        from situs.clients import ResponseCache

        return None if self.no_cache else ResponseCache(cache_folder(), samples=self.cache_samples, say=say)

    def asker(
        self,
        text: str,
        option: str,
        cache: ResponseCache | None,
        *,
        taken: Iterable[str] = (),
        progress: Callable[[Tally, int, int], None] = lambda tally, before, total: None,
    ) -> Asker:
        """A model in a role beside the one under test."""
        import msgspec

        from situs.cli._output import warn
        from situs.judges import asker_of

        made = asker_of(
            text,
            option,
            make=self.client,
            limits=self.limits,
            price=self.price,
            cache=cache,
            allow_remote=self.allow_remote,
            taken=taken,
        )
        return msgspec.structs.replace(made, say=warn, progress=progress)

    def price(self, spec: Spec, client: Client) -> Price | None:
        """What the model costs."""
        from situs.clients import price_of

        return price_of(spec, remote=client.remote, prices=self.prices)


def ask_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command receives them as keywords, for `AskOptions(**options)`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
