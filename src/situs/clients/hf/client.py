"""`hf:FOLDER`: a transformers image-text model from disk, in this process, answering in batches."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Sequence
from importlib.metadata import version

import msgspec

from situs.clients.hf.batch import OutOfMemory, answer_batch
from situs.clients.hf.model import LoadedModel, fingerprint, load_model, read_options
from situs.clients.hf.prompt import Unaskable
from situs.clients.protocol import ClientDefaults, Reply, Request
from situs.clients.reach import Reach
from situs.clients.spec import Spec

__all__ = ["HfClient", "make_hf"]

_LINGER_S = 0.05
"""How long a batch that is not full waits for more requests;
little against the time of an answer."""
_SIMILAR = 1.25
"""How far image counts may differ in one batch: padding is work done for nothing."""


def make_hf(spec: Spec, reach: Reach | None = None) -> HfClient:
    """The model of a local folder, loaded now,
    so that what is wrong with it is said before anything is asked."""
    options = read_options(spec)
    loaded = load_model(options)
    name = f"hf:{options.folder.resolve().name}#{fingerprint(options.folder)}?dtype={loaded.dtype}"
    if options.trust_remote_code:
        name += "&trust_remote_code=1"
    return HfClient(name, loaded, options.batch or (1 if loaded.device == "cpu" else 8))


class _Waiting(msgspec.Struct, frozen=True):
    """A request and who waits for it."""

    request: Request
    images: int
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Reply]

    def reply(self, reply: Reply) -> None:
        """Hand the reply to the waiting task, unless it is gone."""

        def set_result() -> None:
            if not self.future.done():
                self.future.set_result(reply)

        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(set_result)


class HfClient(ClientDefaults):
    """Gathers requests into batches for one worker thread that holds the model."""

    remote = False
    reusable = True
    """Another run may go on with the loaded model."""

    def __init__(self, name: str, loaded: LoadedModel, batch: int) -> None:
        self.name = name
        self.cache_key = name
        self.versions = {package: version(package) for package in ("torch", "transformers")}
        self.batch = batch
        """Requests in one pass; halved when the device is full. Ask at least this many at once."""
        self._loaded = loaded
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="situs-hf", daemon=True)
        self._thread.start()

    async def answer(self, request: Request) -> Reply:
        """One reply; what this model cannot be asked comes back as `failed` with the reason."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(request, len(request.images()), loop, loop.create_future())
        self._queue.put(waiting)
        return await waiting.future

    async def close(self) -> None:
        """Finish the batch at hand and stop."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _work(self) -> None:
        pending: list[_Waiting] = []
        while True:
            if not pending:
                first = self._queue.get()
                if first is None:
                    return
                pending.append(first)
            stop = self._gather(pending)
            pending = [waiting for waiting in pending if not waiting.future.cancelled()]
            if pending and not stop:
                group = _alike(pending, self.batch)
                taken = {id(waiting) for waiting in group}
                pending = [waiting for waiting in pending if id(waiting) not in taken]
                for waiting, reply in zip(group, self._answer(group)):
                    waiting.reply(reply)
            if stop:
                for waiting in pending:
                    waiting.reply(Reply("failed", error="the client was closed"))
                return

    def _gather(self, pending: list[_Waiting]) -> bool:
        """Fill up to a few batches' worth, so that like can go with like;
        whether the end was asked for."""
        while len(pending) < 4 * self.batch:
            try:
                waiting = (
                    self._queue.get(timeout=_LINGER_S)
                    if len(pending) < self.batch
                    else self._queue.get_nowait()
                )
            except queue.Empty:
                return False
            if waiting is None:
                return True
            pending.append(waiting)
        return False

    def _answer(self, group: Sequence[_Waiting]) -> list[Reply]:
        """Answer a group, in halves where the device is full;
        nothing that goes wrong stops the worker."""
        try:
            return answer_batch(self._loaded, [waiting.request for waiting in group])
        except OutOfMemory:
            self._free()
            if len(group) > 1:
                self.batch = max(1, min(self.batch, len(group) // 2))
                return self._halves(group)
            problem = (
                f"out of memory on {self._loaded.device} with {group[0].images} pictures: show"
                " fewer or smaller ones, or give a smaller dtype or a larger device"
            )
            return [Reply("failed", error=problem, fatal=True)]
        except Unaskable as problem:
            if len(group) > 1:
                return self._halves(group)
            return [Reply("failed", error=str(problem), fatal=True)]
        except Exception as error:
            if len(group) > 1:
                return self._halves(group)
            text = " ".join(f"{type(error).__name__}: {error}".split())[:500]
            return [Reply("failed", error=text)]

    def _halves(self, group: Sequence[_Waiting]) -> list[Reply]:
        middle = len(group) // 2
        return self._answer(group[:middle]) + self._answer(group[middle:])

    def _free(self) -> None:
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _alike(pending: Sequence[_Waiting], batch: int) -> list[_Waiting]:
    """The oldest request and those that go well with it: the same settings and about as many
    images.

    A sampled answer goes alone, so that it depends on its seed only and not on its neighbours.
    """
    first = pending[0]
    if first.request.settings.temperature != 0.0:
        return [first]
    fitting = [
        waiting
        for waiting in pending
        if waiting.request.settings == first.request.settings
        and _similar(waiting.images, first.images)
    ]
    return fitting[:batch]


def _similar(images: int, others: int) -> bool:
    return bool(images) == bool(others) and max(images, others) <= _SIMILAR * min(images, others)
