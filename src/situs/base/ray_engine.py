"""Work on a Ray cluster: results in the order of the jobs,
whatever becomes of workers and nodes."""

from __future__ import annotations

import itertools
import os
import pickle
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import chdir, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from situs.base.workers import Lost
from situs.errors import SitusError

__all__ = ["map_on_ray"]

Job = TypeVar("Job")
Result = TypeVar("Result")

_AHEAD = 4
"""Jobs a core that may be finished before the oldest one; bounds what waiting results take."""
_CONNECT_SECONDS = 10.0
_CRASHES = 1
"""Times a job is done again after its worker died; a lost node costs none of them."""


def map_on_ray(
    open_worker: Callable[[], Callable[[Job], Result]],
    jobs: Iterable[Job],
    address: str,
    most: int,
) -> Generator[Result | Lost[Job], None, None]:
    """The result of each job, in order. Each uses one core; `open_worker` is called once in each
    process.

    Jobs are drawn as they are handed out.
    """
    ray = _ray()
    drawn = iter(jobs)
    first = next(drawn, None)
    if first is None:
        return
    started_here = _connect(ray, address)
    try:
        task = ray.remote(num_cpus=1, max_retries=_CRASHES, retry_exceptions=False)(_do)
        work = ray.put(ray.cloudpickle.dumps((open_worker, str(Path.cwd()))))
        cores = int(ray.cluster_resources().get("CPU", 1)) if most <= 1 else most
        window = max(1, cores) * _AHEAD if most <= 1 else max(1, most)
        waiting = deque(
            (job, task.remote(work, job))
            for job in itertools.chain([first], itertools.islice(drawn, window - 1))
        )
        while waiting:
            job, reference = waiting.popleft()
            yield _result(ray, reference, job)
            waiting.extend((new, task.remote(work, new)) for new in itertools.islice(drawn, 1))
    finally:
        if started_here:
            ray.shutdown()


def _result(ray: Any, reference: Any, job: Job) -> Any:
    """The outcome of a task; a job whose worker died each time is lost."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.as_instanceof_cause() from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        return Lost(job, f"its worker process died on every try ({type(error).__name__})")
    except ray.exceptions.RayError as error:
        fix = "check the cluster; the same command resumes from the finished studies"
        raise SitusError(f"the Ray cluster failed ({type(error).__name__})", fix=fix) from error


def _do(work: bytes, job: Any) -> Any:
    """One job, in a worker process of the cluster."""
    return _worker(work)(job)


@lru_cache(maxsize=1)
def _worker(work: bytes) -> Callable[[Any], Any]:
    open_worker, folder = pickle.loads(work)
    with suppress(OSError):  # elsewhere there may be no such folder: paths are absolute then
        os.chdir(folder)
    opened: Callable[[Any], Any] = open_worker()
    return opened


def _ray() -> Any:
    # Ray reports use over the network unless it is told not to; where data is restricted, nothing
    # is reported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise SitusError(
            "Ray is not installed", where="--engine", fix="pip install 'situs[ray]'"
        ) from error
    return ray


def _connect(ray: Any, address: str) -> bool:
    """Join the cluster; whether it was joined here, and not by whoever called."""
    if ray.is_initialized():
        return False
    _refuse_if_nobody_listens(address)
    # A cluster of one's own needs no page that shows it.
    local_options = {} if address else {"include_dashboard": False}
    try:
        # Ray puts the current folder on the path of every worker; code that lies beside data must
        # not run.
        with chdir(os.sep):
            ray.init(
                address=address or "local",
                log_to_driver=False,
                logging_level="ERROR",
                **local_options,
            )
    except Exception as error:
        why = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise _no_cluster(why, _SAME_EVERYWHERE if address else _START_ONE) from error
    return True


_START_ONE = "start one (ray start --head), or use --engine ray to run on this machine"
_SAME_EVERYWHERE = (
    "are Ray's version, RAY_AUTH_MODE and the token (ray get-auth-token) the same here as on the"
    " cluster?"
)


def _refuse_if_nobody_listens(address: str) -> None:
    """Look first whether anybody is there: Ray itself waits for minutes."""
    server = urlsplit(address if "//" in address else f"//{address}")
    try:
        if server.hostname and server.port:
            with socket.create_connection((server.hostname, server.port), _CONNECT_SECONDS):
                pass
    except (OSError, ValueError) as error:
        raise _no_cluster(f"{address}: {getattr(error, 'strerror', None) or error}") from error


def _no_cluster(why: str, fix: str = _START_ONE) -> SitusError:
    return SitusError(f"no Ray cluster answers ({why})", where="--engine", fix=fix)
