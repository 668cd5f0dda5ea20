"""Whoever answers a bench, a model or a baseline, asked for one run or several."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol, TypedDict, Unpack, cast

import msgspec

from situs.base.shard import Shard
from situs.bench import Bench
from situs.clients import (
    Asking,
    Client,
    Forecast,
    Limits,
    ObjectClient,
    Reply,
    Request,
    Spec,
    Tally,
    check_kind,
    parse_spec,
    run_to_end,
)
from situs.profiles import Profile
from situs.run.baselines.catalogue import BASELINES
from situs.run.batches import in_batches
from situs.run.forecast import forecast_run
from situs.run.plan import plan_run
from situs.run.requests import Presents
from situs.run.result import RunResult
from situs.run.runner import run_baseline, run_client

__all__ = ["ItemProgress", "Respondent", "RunProgress", "Ways", "respondent_of"]

ItemProgress = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""Shows how a baseline gets on: name → a context that is called with (done, total)."""
RunProgress = Callable[[str], AbstractContextManager[Callable[[Tally, int, int], None]]]
"""Shows how a model gets on: name → a context that is called with (tally, done before, total)."""


class ItemScope(TypedDict):
    """Which items of a bench."""

    split: str | None
    limit: int | None


class RunScope(ItemScope, total=False):
    """Which items a run asks, and what it keeps back."""

    withhold: str
    """`text` or `silent`: all pictures are kept back."""
    skip_hidden: bool
    """Whether items are left out whose pictures do not hold what they need."""


class Respondent(Protocol):
    """Answers benches, a run folder each."""

    def __call__(
        self,
        bench: Bench,
        presenter: Presents,
        profile: Profile,
        out: Path,
        **scope: Unpack[RunScope],
    ) -> RunResult:
        """One run, resumed if it was begun."""

    def forecast(
        self,
        bench: Bench,
        presenter: Presents,
        out: Path,
        **scope: Unpack[ItemScope],
    ) -> Forecast:
        """What the run would still take; nothing is sent or written."""

    def close(self) -> None:
        """Free what is held between runs."""


class Ways(msgspec.Struct, frozen=True):
    """How questions are put: one by one with their pictures, or as another package does it."""

    ask: Callable[..., RunResult] = run_client
    """Puts a bench to a client, as `run_client` does."""
    answer: Callable[..., RunResult] = run_baseline
    """Puts a bench to a baseline, as `run_baseline` does."""
    forecast: Callable[..., Forecast] = forecast_run
    """Reckons what asking would take, as `forecast_run` does."""
    baselines: tuple[str, ...] = tuple(BASELINES)
    batch: bool = False
    """As jobs that a server works off at its leisure, at half price."""
    shard: Shard | None = None
    """Only this part of the items."""


_ONE_BY_ONE = Ways()


def respondent_of(
    model: str | object,
    asking: Asking,
    *,
    where: str,
    ways: Ways = _ONE_BY_ONE,
    run_progress: RunProgress = lambda name: nullcontext(lambda tally, before, total: None),
    item_progress: ItemProgress = lambda name: nullcontext(lambda done, total: None),
    say: Callable[[str], None] = lambda text: None,
) -> Respondent:
    """The respondent of a spec (`openai:…`, `prior`), or of an object with `answer(request)`.

    `where` names the option or argument, for the message about an unknown one.
    """
    if not isinstance(model, str):
        client = ObjectClient(model)
        return _Model(client.spec, asking, run_progress, say, ways, client)
    spec = parse_spec(model)
    if spec.kind in ways.baselines:
        return _BaselineRespondent(spec, item_progress, ways)
    check_kind(spec.kind, where, ways.baselines)
    return _Model(spec, asking, run_progress, say, ways)


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


class _Model:
    """Puts benches to one model; the budget is that of all its runs together."""

    def __init__(
        self,
        spec: Spec,
        asking: Asking,
        progress: RunProgress,
        say: Callable[[str], None],
        ways: Ways,
        client: Client | None = None,
    ) -> None:
        self._ways = ways
        self._spec = spec
        self._asking = asking
        self._progress = progress
        self._say = say
        self._kept = _KeptOpen(client) if client is not None else None
        self._cost = 0.0
        self._tokens = 0

    def __call__(
        self,
        bench: Bench,
        presenter: Presents,
        profile: Profile,
        out: Path,
        **scope: Unpack[RunScope],
    ) -> RunResult:
        client = self._client()
        price = self._asking.price(self._spec, client)
        with self._asking.cache(self._say) as cache, self._progress(out.name) as progress:
            result = self._ways.ask(
                bench,
                client,
                self._spec,
                presenter,
                profile,
                out,
                limits=self._limits(client),
                cache=cache,
                price=price,
                allow_remote=self._asking.allow_remote,
                **scope,
                batch=self._ways.batch,
                shard=self._ways.shard,
                progress=progress,
                say=self._say,
            )
        self._cost += result.cost or 0.0
        self._tokens += sum(result.tokens.values())
        return result

    def forecast(
        self,
        bench: Bench,
        presenter: Presents,
        out: Path,
        **scope: Unpack[ItemScope],
    ) -> Forecast:
        client = self._client()
        reckoned = self._ways.forecast(
            plan_run(bench, **scope, shard=self._ways.shard),
            client,
            self._spec,
            presenter,
            out,
            limits=self._limits(client),
            price=self._asking.price(self._spec, client),
        )
        return in_batches(reckoned, client) if self._ways.batch else reckoned

    def close(self) -> None:
        if self._kept is not None:
            run_to_end(self._kept.client.close)

    def _client(self) -> Client:
        if self._kept is None:
            client = self._asking.client(self._spec)
            if not client.reusable:
                return client
            self._kept = _KeptOpen(client)
        return cast("Client", self._kept)

    def _limits(self, client: Client) -> Limits:
        """What is left of the budget."""
        limits = self._asking.limits(client)
        cost = None if limits.max_cost is None else max(1e-9, limits.max_cost - self._cost)
        tokens = None if limits.max_tokens is None else max(1, limits.max_tokens - self._tokens)
        return msgspec.structs.replace(limits, max_cost=cost, max_tokens=tokens)


class _BaselineRespondent:
    """Puts benches to a baseline, which sees no picture:
    what is shown or withheld makes no difference."""

    def __init__(self, spec: Spec, progress: ItemProgress, ways: Ways) -> None:
        self._spec = spec
        self._progress = progress
        self._ways = ways

    def __call__(
        self,
        bench: Bench,
        presenter: Presents,
        profile: Profile,
        out: Path,
        **scope: Unpack[RunScope],
    ) -> RunResult:
        with self._progress(out.name) as progress:
            return self._ways.answer(
                bench,
                self._spec,
                profile,
                out,
                split=scope["split"],
                limit=scope["limit"],
                shard=self._ways.shard,
                progress=progress,
                **self._presenting(presenter, scope.get("withhold", "")),
            )

    def forecast(
        self,
        bench: Bench,
        presenter: Presents,
        out: Path,
        **scope: Unpack[ItemScope],
    ) -> Forecast:
        return Forecast(0, 0, 0, 0, 0.0, 0.0, None, "a baseline asks no model")

    def _presenting(self, presenter: Presents, withhold: str) -> dict[str, object]:
        """What is shown, for scripted readers, who look; a plain baseline sees nothing."""
        if self._ways.answer is run_baseline:
            return {}
        return {"presenter": presenter, "withhold": withhold}

    def close(self) -> None:
        """Nothing is open."""
