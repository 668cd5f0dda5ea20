"""Asking one model for several runs: its client is kept where it can be, and the budget is that of all runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from situs.cli._ask_options import AskOptions
from situs.cli._output import progress_bar, warn
from situs.cli._progress import run_progress

if TYPE_CHECKING:
    from situs.bench import Bench
    from situs.clients import Client, Limits, Reply, Request, Spec
    from situs.profiles import Profile
    from situs.run import Presents, RunResult

__all__ = ["Asker", "BaselineAsker"]


class _KeptOpen:
    """A client that outlives a run: a model is not loaded again for the next."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    async def answer(self, request: Request) -> Reply:
        return await self.client.answer(request)

    async def close(self) -> None:
        """Left open for the next run."""


class Asker:
    """Puts benches to one model."""

    def __init__(self, spec: Spec, options: AskOptions) -> None:
        self._spec = spec
        self._options = options
        self._kept: _KeptOpen | None = None
        self._cost = 0.0
        self._tokens = 0

    def __call__(
        self,
        bench: Bench,
        presenter: Presents,
        profile: Profile,
        out: Path,
        *,
        split: str | None,
        limit: int | None,
        withhold: str,
    ) -> RunResult:
        """One run, resumed if it was begun."""
        from situs.run import run_client

        client = self._client()
        cache = self._options.cache(warn)
        try:
            with run_progress(out.name) as progress:
                result = run_client(
                    bench,
                    client,
                    self._spec,
                    presenter,
                    profile,
                    out,
                    split=split,
                    limit=limit,
                    limits=self._limits(client),
                    cache=cache,
                    price=self._options.price(self._spec, client),
                    allow_remote=self._options.allow_remote,
                    withhold=withhold,
                    progress=progress,
                    say=warn,
                )
        finally:
            if cache is not None:
                cache.close()
        self._cost += result.cost or 0.0
        self._tokens += sum(result.tokens.values())
        return result

    def close(self) -> None:
        """Close a client that was kept."""
        import asyncio

        if self._kept is not None:
            asyncio.run(self._kept.client.close())

    def _client(self) -> Client:
        if self._kept is None:
            client = self._options.client(self._spec)
            if not getattr(client, "reusable", False):
                return client
            self._kept = _KeptOpen(client)
        return cast("Client", self._kept)

    def _limits(self, client: Client) -> Limits:
        """What is left of the budget."""
        limits = self._options.limits(client)
        cost = None if limits.max_cost is None else max(1e-9, limits.max_cost - self._cost)
        tokens = None if limits.max_tokens is None else max(1, limits.max_tokens - self._tokens)
        return msgspec.structs.replace(limits, max_cost=cost, max_tokens=tokens)


class BaselineAsker:
    """Puts benches to a baseline, which sees no picture."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def __call__(
        self,
        bench: Bench,
        presenter: Presents,
        profile: Profile,
        out: Path,
        *,
        split: str | None,
        limit: int | None,
        withhold: str,
    ) -> RunResult:
        """One run; what is shown or withheld makes no difference."""
        from situs.run import run_baseline

        with progress_bar(out.name) as progress:
            return run_baseline(bench, self._spec, profile, out, split=split, limit=limit, progress=progress)

    def close(self) -> None:
        """Nothing is open."""
