"""Work spread over processes: results in the order of the jobs, whatever ends a worker.

A worker that the system kills (most often for memory) costs its job one more try in a fresh worker;
a job that kills twice is reported as lost and the others go on. Workers never outlive the program.
"""

from __future__ import annotations

import ctypes
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, TypeVar

from situs.base.lazy import load_lightly
from situs.base.stopping import held
from situs.errors import SitusError

__all__ = ["Lost", "map_jobs"]

Job = TypeVar("Job")
Result = TypeVar("Result")

_TRIES = 2
_PR_SET_PDEATHSIG = 1
"""Linux' `prctl`: the signal that a process gets when the thread that started it ends."""
_UNGUARDED = 78
"""How a worker ends that was asked for workers of its own while it imported the caller's script."""
_MOST_WORKERS = 4096
"""No machine gains from more, and a larger number may be no number of things at all."""
_AHEAD = 4
"""Jobs a worker that may be finished before the oldest one;
bounds the memory that waiting results take."""


@dataclass(frozen=True)
class Lost(Generic[Job]):
    """A job that has no result, since its worker died each time."""

    job: Job
    reason: str


def map_jobs(
    open_worker: Callable[[], Callable[[Job], Result]], jobs: Iterable[Job], workers: int
) -> Generator[Result | Lost[Job], None, None]:
    """The result of each job, in order.

    `open_worker` is called once in each process and gives the function that does a job; it, the
    jobs and the results must pickle. Jobs are drawn as they are handed out. With one worker, or one
    job, all is done in this process.
    """
    drawn = iter(jobs)
    first = list(itertools.islice(drawn, min(max(1, workers), _MOST_WORKERS)))
    if workers <= 1 or len(first) <= 1:
        yield from map(open_worker(), itertools.chain(first, drawn))
        return
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(_UNGUARDED)  # the library itself would print a traceback for every worker
    crew = _Crew(open_worker, itertools.chain(first, drawn), len(first))
    try:
        yield from crew.results()
    finally:
        crew.dismiss()


@dataclass
class _Worker:
    process: BaseProcess
    wire: Connection
    number: int | None = None
    """Of the job it is doing."""


@dataclass
class _Crew(Generic[Job, Result]):
    open_worker: Callable[[], Callable[[Job], Result]]
    jobs: Iterator[Job]
    size: int
    under_way: dict[int, Job] = field(default_factory=dict)
    """Jobs that were drawn and have no result yet."""
    drawn: int = 0
    is_dry: bool = False
    """All jobs were drawn."""
    workers: list[_Worker] = field(default_factory=list)
    finished: dict[int, Result | Lost[Job]] = field(default_factory=dict)
    failures: dict[int, int] = field(default_factory=dict)

    def results(self) -> Iterator[Result | Lost[Job]]:
        again: deque[int] = deque()
        while len(self.workers) < self.size:
            self.workers.append(self._hire())
        for number in itertools.count():
            while number not in self.finished:
                self._hand_out(again, number + _AHEAD * self.size)
                if not self.under_way:
                    return
                self._collect(again)
            yield self.finished.pop(number)

    def dismiss(self) -> None:
        for worker in self.workers:
            worker.process.kill()
            worker.wire.close()
        for worker in self.workers:
            worker.process.join()

    def _hire(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        # Pickled here, so that a worker watches its parent before it loads what the work needs.
        work = ForkingPickler.dumps(self.open_worker)
        process = context.Process(
            target=_serve, args=(theirs, bytes(work), os.getpid()), daemon=True
        )
        # A process that is half started would complain that it is told nothing.
        with _safe_path(), _deaf_to_interrupts(), held():
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def _hand_out(self, again: deque[int], limit: int) -> None:
        for position, worker in enumerate(self.workers):
            if worker.number is not None:
                continue
            number = again.popleft() if again else self._draw(limit)
            if number is None:
                return
            try:
                worker.wire.send(self.under_way[number])
            except OSError:  # it died between two jobs
                self._replace(position)
                self.workers[position].wire.send(self.under_way[number])
            self.workers[position].number = number

    def _draw(self, limit: int) -> int | None:
        """The next job, unless it is too far ahead of the oldest one or there is none."""
        if self.is_dry or self.drawn >= limit:
            return None
        try:
            self.under_way[self.drawn] = next(self.jobs)
        except StopIteration:
            self.is_dry = True
            return None
        self.drawn += 1
        return self.drawn - 1

    def _collect(self, again: deque[int]) -> None:
        """Take what has come; give a dead worker's job back, or give it up."""
        busy = {
            worker.wire: worker_number
            for worker_number, worker in enumerate(self.workers)
            if worker.number is not None
        }
        for wire in connection.wait(list(busy)):
            position = busy[wire]  # type: ignore[index]
            worker = self.workers[position]
            assert worker.number is not None
            try:
                result, failure = worker.wire.recv()
            except (EOFError, OSError):
                self._died(position, again)
                continue
            if failure is not None:
                raise failure
            self.finished[worker.number] = result
            del self.under_way[worker.number]
            worker.number = None

    def _died(self, position: int, again: deque[int]) -> None:
        worker = self.workers[position]
        number = worker.number
        assert number is not None
        worker.process.join()
        if worker.process.exitcode == _UNGUARDED:
            raise SitusError(
                "each worker process imports this script, and would start it from the beginning",
                where=sys.argv[0],
                fix='put the calls under `if __name__ == "__main__":`, or ask for one job',
            ) from None
        self._replace(position)
        self.failures[number] = self.failures.get(number, 0) + 1
        if self.failures[number] < _TRIES:
            again.appendleft(number)
        else:
            self.finished[number] = Lost(
                self.under_way.pop(number), _ending(worker.process.exitcode)
            )

    def _replace(self, position: int) -> None:
        worker = self.workers[position]
        worker.process.join()
        worker.wire.close()
        self.workers[position] = self._hire()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"its worker process was killed by {name} twice, perhaps because memory ran out"
    return f"its worker process exited twice with code {code}"


class _safe_path:  # noqa: N801 - reads as a block
    """Start Python without the current folder on its path:
    code that lies beside data must not run."""

    def __enter__(self) -> None:
        self._before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = self._before


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Start Python with Ctrl-C blocked, which it inherits: a terminal sends it to workers too.

    Until a worker can choose to ignore it, it would end in a traceback out of some import. The
    program hears it when the block ends, and ends its workers.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # where it has to be started, that would end the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(wire: Connection, work: bytes, parent: int) -> None:
    """What a worker process does: jobs, one after the other, until the program ends."""
    # The program itself hears Ctrl-C and ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(parent)
    load_lightly()
    open_worker: Callable[[], Callable[[Any], Any]] = ForkingPickler.loads(work)
    do: Callable[[Any], Any] | None = None
    while True:
        try:
            job = wire.recv()
        except EOFError:
            return
        answer: tuple[Any, Exception | None]
        try:
            do = do or open_worker()
            answer = (do(job), None)
        except Exception as error:
            error.add_note(f"in a worker process:\n{traceback.format_exc()}")
            answer = (None, error)
        wire.send(answer)


def _die_with(parent: int) -> None:
    """End when the program does, even if nobody could end this process first (SIGKILL, a crash).

    A thread that waits for the parent is served only where the interpreter changes threads:
    compiled code may keep it waiting for long. Linux ends the process itself.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before this process could ask to be told
            os._exit(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
