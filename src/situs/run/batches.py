"""`--batch`: questions handed over as jobs that a server works off at its leisure, at half price.

`batches.jsonl` in the run remembers which questions are in which job, so that a job that was
started is collected, whenever the same command is given again, and none of its questions is asked a
second time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import secrets
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from situs.base.files import bounded_lines, check_own_file, check_regular
from situs.clients import (
    Asked,
    BatchTrouble,
    Budget,
    Client,
    Forecast,
    Limits,
    Price,
    Record,
    Reply,
    Request,
    ResponseCache,
    Spent,
    Tally,
    backoff,
    run_to_end,
)
from situs.errors import SitusError
from situs.run.append_file import AppendFile

if TYPE_CHECKING:
    from situs.clients.openai.batches import BatchServer

__all__ = ["BatchJobs", "batch_price", "in_batches", "refuse_beside_batches"]

_DISCOUNT = 0.5
"""What a token costs in a batch,
as a share of its usual price (OpenAI, and those who follow it)."""

_Made = TypeVar("_Made")
_LEDGER = "batches.jsonl"
_SPOOL = ".batch.part"
"""The file of requests that is being uploaded;
it may hold pictures, so only its owner may read it."""


class _Row(msgspec.Struct, frozen=True):
    """One line of `batches.jsonl`."""

    token: str
    state: Literal["prepared", "submitted", "collected", "dropped"]
    job: str = ""
    keys: tuple[str, ...] = ()
    cache_keys: tuple[str, ...] = ()


class _Job:
    """A job that is not collected yet."""

    def __init__(self, row: _Row) -> None:
        self.token = row.token
        self.keys = row.keys
        self.cache_keys = row.cache_keys
        self.job_id = ""


class BatchLedger:
    """The file while a run goes on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = AppendFile(path)
        self.open: dict[str, _Job] = {}
        """Jobs that are not collected yet, by token."""
        try:
            for row in _rows(path):
                self._take(row)
        except BaseException:
            self._file.close()
            raise

    @property
    def pending(self) -> set[str]:
        """Questions that are in a job."""
        return {key for job in self.open.values() for key in job.keys}

    def add(self, row: _Row) -> None:
        """Write down what became of a job."""
        self._file.add(row)
        self._take(row)

    def _take(self, row: _Row) -> None:
        if row.state == "prepared":
            self.open[row.token] = _Job(row)
        elif row.state == "submitted" and row.token in self.open:
            self.open[row.token].job_id = row.job
        else:
            self.open.pop(row.token, None)

    def __enter__(self) -> BatchLedger:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _rows(path: Path) -> Iterator[_Row]:
    check_regular(path)
    decoder = msgspec.json.Decoder(_Row)
    with path.open("rb") as stream:
        for number, line in enumerate(bounded_lines(stream, path), start=1):
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                fix = "delete the file; jobs it names are asked again"
                raise SitusError(str(error), where=f"{path}:{number}", fix=fix) from error


def refuse_beside_batches(folder: Path) -> None:
    """Stop a run that would ask at the full price what a batch job is about to answer."""
    path = folder / _LEDGER
    if not path.is_file():
        return
    in_jobs: dict[str, int] = {}
    for row in _rows(path):
        if row.state == "prepared":
            in_jobs[row.token] = len(row.keys)
        elif row.state != "submitted":
            in_jobs.pop(row.token, None)
    if count := sum(in_jobs.values()):
        raise SitusError(
            f"{count:,} questions are in batch jobs at the server",
            where=folder,
            fix=f"add --batch to collect them, or delete {_LEDGER} there to ask them anew",
        )


def _batch_server(client: Client) -> BatchServer:
    """The client's batch interface, or an error that says who has one."""
    offered = getattr(client, "batches", None)
    if offered is None:
        fix = "use openai:MODEL with one address, or leave --batch out"
        raise SitusError("this model takes no batches", where=client.name, fix=fix)
    server: BatchServer = offered()
    return server


def batch_price(price: Price | None) -> Price | None:
    """What tokens cost in a batch."""
    return None if price is None else price.times(_DISCOUNT)


def in_batches(reckoned: Forecast, client: Client) -> Forecast:
    """What questions take as batch jobs; an error if the client has none.

    The first is asked at once, at the usual price.
    """
    _batch_server(client)
    if reckoned.requests < 2:
        return reckoned
    share = _DISCOUNT + (1.0 - _DISCOUNT) / reckoned.requests
    return msgspec.structs.replace(
        reckoned,
        cost=None if reckoned.cost is None else share * reckoned.cost,
        cost_at_most=None if reckoned.cost_at_most is None else share * reckoned.cost_at_most,
        seconds=None,
        basis=f"{reckoned.basis}; batch jobs at half the price, within a day",
    )


class BatchJobs:
    """One session: collects what was handed over before, hands over the rest, and waits for it."""

    _ledger: BatchLedger
    _budget: Budget

    def __init__(
        self,
        client: Client,
        record: Record,
        is_done: Callable[[str], bool],
        limits: Limits,
        price: Price | None,
        spent: Callable[[], Spent],
        cache: ResponseCache | None,
    ) -> None:
        self._client = client
        self._server = _batch_server(client)
        self._record = record
        self._is_done = is_done
        self._limits = limits
        self._price = price
        self._spent = spent
        self._cache = cache if client.cache_key is not None else None
        self._rng = random.Random()
        self._tally = Tally(cost=None if price is None else 0.0)
        self._stopped = ""

    def ask(
        self,
        left: set[str],
        requests: Callable[[set[str]], Iterator[Request]],
        ask_at_once: Callable[[Iterable[Request]], Asked],
        folder: Path,
        progress: Callable[[Tally], None] = lambda tally: None,
        say: Callable[[str], None] = lambda text: None,
    ) -> Asked:
        """Ask what is left. Progress is kept in `batches.jsonl` in the folder.

        The first question is asked at once, at the usual price: a wrong key, an unknown model or a
        field that the server refuses shows before thousands of requests are uploaded, and what is
        learned shapes them.
        """
        self._progress, self._say = progress, say
        with BatchLedger(folder / _LEDGER) as self._ledger:
            waiting = requests(left - self._ledger.pending)
            first = list(islice(waiting, 1))
            pilot = ask_at_once(first) if first and not self._ledger.open else None
            if pilot is not None and (pilot.stopped or pilot.tally.states["answered"] == 0):
                return pilot
            self._budget = self._what_is_left()
            self._budget.expect(pilot.tally.prompt_tokens if pilot is not None else 0.0)
            later = waiting if pilot is not None else chain(first, waiting)
            return _together(pilot, self._run(later, folder))

    def _what_is_left(self) -> Budget:
        """The budget of the jobs.

        What the run has spent so far counts in full, whoever it was paid to.
        """
        spent, limits = self._spent(), self._limits
        tokens = spent.prompt_tokens + spent.completion_tokens
        if self._price is not None and limits.max_cost is not None:
            paid = self._price.of(spent.prompt_tokens, spent.completion_tokens)
            limits = msgspec.structs.replace(limits, max_cost=max(0.0, limits.max_cost - paid))
        if limits.max_tokens is not None:
            left = max(0, limits.max_tokens - int(tokens))
            limits = msgspec.structs.replace(limits, max_tokens=left)
        return Budget(limits, batch_price(self._price), Spent())

    def _run(self, requests: Iterator[Request], folder: Path) -> Asked:
        async def session() -> None:
            try:
                await self._find_started()
                await self._hand_over(requests, folder)
                await self._collect()
            finally:
                await self._client.close()

        interrupted = False
        try:
            run_to_end(session)
        except BatchTrouble as trouble:
            self._stopped = trouble.reply.error
            if trouble.reply.fatal and (count := len(self._ledger.pending)):
                # A server may have forgotten a job: without a way out, no repetition would end.
                self._stopped += (
                    f"; {count:,} questions are in its batches (if it lost them, delete"
                    f" {_LEDGER} in the run, and they are asked again)"
                )
        except KeyboardInterrupt:
            interrupted = True
            self._say(f"{len(self._ledger.pending):,} questions are in batches at the server")
        return Asked(self._tally, self._stopped, interrupted, tuple(self._client.notices))

    async def _find_started(self) -> None:
        """A crash may have come after a job was started and before its id was written down."""
        for job in [job for job in self._ledger.open.values() if not job.job_id]:
            job_id = await self._patiently(partial(self._server.find, job.token))
            state: Literal["submitted", "dropped"] = "submitted" if job_id else "dropped"
            self._ledger.add(_Row(job.token, state, job_id))

    async def _hand_over(self, requests: Iterable[Request], folder: Path) -> None:
        """Put requests into files of a job's size, and start a job on each."""
        check_own_file(folder / _SPOOL)
        ready = iter(requests)
        more = True
        while more and not self._stopped:
            try:
                more = await self._hand_over_one(ready, folder / _SPOOL)
            finally:
                (folder / _SPOOL).unlink(missing_ok=True)

    async def _hand_over_one(self, requests: Iterator[Request], file: Path) -> bool:
        """Start one job; whether there may be more to ask."""
        keys, cache_keys, more = self._spool(requests, file)
        if not keys:
            return False
        token = secrets.token_hex(12)
        self._ledger.add(_Row(token, "prepared", "", tuple(keys), tuple(cache_keys)))
        try:
            job_id = await self._patiently(partial(self._submit, file, token))
        except BatchTrouble as trouble:
            if trouble.reply.fatal:
                # Refused outright: no job was started, and the questions are free again.
                self._ledger.add(_Row(token, "dropped"))
            raise
        self._ledger.add(_Row(token, "submitted", job_id))
        self._tally.requests += len(keys)
        self._say(f"a batch of {len(keys):,} questions was handed over")
        return more

    async def _submit(self, file: Path, token: str) -> str:
        """Start a job, unless an attempt whose reply was lost has started it already."""
        return await self._server.find(token) or await self._server.submit(file, token)

    def _spool(self, requests: Iterator[Request], file: Path) -> tuple[list[str], list[str], bool]:
        """Write one job's requests; their keys, their cache keys, and whether there may be more."""
        keys: list[str] = []
        cache_keys: list[str] = []
        size = 0
        with open(file, "wb", opener=_private) as stream:
            for request in requests:
                cached = self._cached(request)
                if cached is None:
                    continue
                if reason := self._budget.reserve_now(self._budget.estimate(request)):
                    self._stopped = reason
                    return keys, cache_keys, False
                line = self._server.line(len(keys), request)
                stream.write(line)
                size += len(line)
                keys.append(request.key)
                cache_keys.append(cached)
                if len(keys) >= self._server.most_requests or size >= self._server.most_bytes:
                    return keys, cache_keys, True
        return keys, cache_keys, False

    def _cached(self, request: Request) -> str | None:
        """The request's cache key (empty if it has none);
        None if its answer was known and is recorded."""
        if self._cache is None:
            return ""
        key = self._cache.key(self._client.cache_key or "", request)
        if key is None:
            return ""
        reply = self._cache.get(key)
        if reply is None:
            return key.hex()
        self._end(request.key, reply)
        return None

    async def _collect(self) -> None:
        """Wait for every job and take its replies."""
        waits = 0
        while self._ledger.open:
            for job in list(self._ledger.open.values()):
                described = await self._patiently(partial(self._server.job, job.job_id))
                if described.ended:
                    await self._take_replies(job)
                    waits = 0
            if self._ledger.open:
                self._progress(self._tally)
                await asyncio.sleep(backoff(self._limits, waits, None, self._rng))
                waits += 1

    async def _take_replies(self, job: _Job) -> None:
        described = await self._patiently(partial(self._server.job, job.job_id))
        seen: set[int] = set()

        def take(number: int, reply: Reply) -> None:
            if number in seen or number >= len(job.keys):
                return
            seen.add(number)
            cache_key = job.cache_keys[number] if number < len(job.cache_keys) else ""
            if self._cache is not None and cache_key:
                with contextlib.suppress(ValueError):
                    self._cache.put(bytes.fromhex(cache_key), reply)
            self._end(job.keys[number], reply)

        await self._patiently(partial(self._server.replies, described, take))
        why = f"the batch ended ({described.status}) without an answer to this"
        if reasons := self._server.reasons(described):
            why += f": {reasons}"
        for number, key in enumerate(job.keys):
            if number not in seen:
                self._end(key, Reply("failed", error=why))
        self._ledger.add(_Row(job.token, "collected"))

    def _end(self, key: str, reply: Reply) -> None:
        if self._is_done(key):
            return
        self._record(Request(key, ()), reply, 0.0)
        self._tally.count(reply)
        if not reply.cached:
            # What was reserved stays so: everything is handed over before the first reply is
            # counted.
            self._budget.settle((0.0, 0.0), reply.usage)
            self._tally.prompt_tokens += reply.usage.get("prompt_tokens", 0)
            self._tally.completion_tokens += reply.usage.get("completion_tokens", 0)
        self._tally.cost = self._budget.cost

    async def _patiently(self, call: Callable[[], Awaitable[_Made]]) -> _Made:
        """Try again where that may help, as often as an ordinary call is tried."""
        attempt = 0
        while True:
            try:
                return await call()
            except BatchTrouble as trouble:
                attempt += 1
                if trouble.reply.fatal or attempt >= self._limits.tries:
                    raise
                wait = backoff(self._limits, attempt - 1, trouble.reply.retry_after, self._rng)
                await asyncio.sleep(wait)


def _together(pilot: Asked | None, jobs: Asked) -> Asked:
    """The question that was asked at once, and the jobs."""
    if pilot is None:
        return jobs
    one, many = pilot.tally, jobs.tally
    cost = None if one.cost is None or many.cost is None else one.cost + many.cost
    tally = Tally(
        states=one.states + many.states,
        requests=one.requests + many.requests,
        cached=one.cached + many.cached,
        cut=one.cut + many.cut,
        errors=one.errors + many.errors,
        only_thought=one.only_thought + many.only_thought,
        prompt_tokens=one.prompt_tokens + many.prompt_tokens,
        completion_tokens=one.completion_tokens + many.completion_tokens,
        cost=cost,
        begun=one.begun,
    )
    notices = tuple(dict.fromkeys((*pilot.notices, *jobs.notices)))
    return Asked(tally, jobs.stopped, jobs.interrupted, notices)
