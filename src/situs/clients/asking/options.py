"""How models are asked: speed, patience, money, cache and care,
in one record that everything that asks shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from situs.base.cache import cache_folder
from situs.clients.asking.limits import Limits
from situs.clients.asking.prices import Price, price_of
from situs.clients.protocol import Client
from situs.clients.reach import Reach, checked_proxy
from situs.clients.registry import make_client
from situs.clients.response_cache import ResponseCache
from situs.clients.spec import Spec

__all__ = ["Asking"]

_AT_ONCE = 8
_BATCHES_AT_ONCE = 4
"""A client that answers in batches is kept busy while a batch is being put together."""
_CONNECT_SECONDS = 10.0


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """How to ask. The defaults suit a server on this machine."""

    concurrency: int | None = None
    """Calls in flight at once; None: 8, or more for a client that answers in batches."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    tries: int = 6
    """Attempts per question."""
    timeout: float = 600.0
    """Seconds for a whole call."""
    stall_timeout: float = 60.0
    """Seconds without a new byte once a reply has begun."""
    max_cost: float | None = None
    """Dollars; asking stops before it would cost more."""
    max_tokens_total: int | None = None
    prices: Path | None = None
    """A TOML file with prices; the shipped list otherwise."""
    no_cache: bool = False
    cache_samples: bool = False
    """Reuse sampled answers that have no seed, too."""
    allow_remote: bool = False
    """Send restricted data to a server that is not on this machine."""
    trust_host: tuple[str, ...] = ()
    """Hosts, of the hospital or cluster, that count as this machine."""
    proxy: str = ""
    """Through which every call to another machine goes; SITUS_PROXY if not given."""

    def client(self, spec: Spec) -> Client:
        """The client that a spec names, reached in this way."""
        connect = min(_CONNECT_SECONDS, self.timeout)
        proxy = checked_proxy(self.proxy)
        reach = Reach(self.timeout, self.stall_timeout, connect, proxy, tuple(self.trust_host))
        return make_client(spec, reach=reach)

    def limits(self, client: Client) -> Limits:
        """Speed, patience and budget for a client."""
        return Limits(
            concurrency=self.concurrency or max(_AT_ONCE, _BATCHES_AT_ONCE * client.batch),
            requests_per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
            tries=self.tries,
            max_cost=self.max_cost,
            max_tokens=self.max_tokens_total,
        )

    def price(self, spec: Spec, client: Client) -> Price | None:
        """What the model costs; None if nobody knows."""
        return price_of(spec, remote=client.remote, prices=self.prices)

    @contextmanager
    def cache(self, say: Callable[[str], None]) -> Iterator[ResponseCache | None]:
        """The response cache, closed at the end; None if it is not wanted."""
        if self.no_cache:
            yield None
            return
        cache = ResponseCache(cache_folder(), samples=self.cache_samples, say=say)
        try:
            yield cache
        finally:
            cache.close()
