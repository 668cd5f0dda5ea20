"""Where work on many studies is done: processes of this machine, or a Ray cluster.

The results are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

import msgspec

from situs.base.workers import Lost, map_jobs
from situs.errors import SitusError, did_you_mean

__all__ = ["HERE", "Engine", "engine_of", "map_on"]

Job = TypeVar("Job")
Result = TypeVar("Result")


class Engine(msgspec.Struct, frozen=True):
    """What does the work."""

    kind: str = "local"
    """`local` or `ray`."""
    address: str = ""
    """Of a Ray cluster; empty: one on this machine."""
    jobs: int = 1
    """Processes on this machine; with Ray, the most tasks at once (1:
    as many as the cluster has cores)."""


HERE = Engine()
"""This process alone."""


def engine_of(text: str, jobs: int = 1) -> Engine:
    """Read `local`, `ray` or `ray://HOST:PORT` (also `ray:auto`,
    the cluster this machine belongs to)."""
    kind, _, address = text.partition(":")
    if kind == "local" and not address:
        return Engine(jobs=jobs)
    if kind == "ray":
        return Engine("ray", text if address.startswith("//") else address, jobs)
    fix = did_you_mean(text, ("local", "ray", "ray://HOST:PORT"))
    raise SitusError(f"unknown engine {text!r}", where="--engine", fix=fix)


def map_on(
    engine: Engine, open_worker: Callable[[], Callable[[Job], Result]], jobs: Iterable[Job]
) -> Generator[Result | Lost[Job], None, None]:
    """The result of each job, in order, wherever it is done; see `situs.base.workers.map_jobs`."""
    if engine.kind == "local":
        return map_jobs(open_worker, jobs, engine.jobs)
    from situs.base.ray_engine import map_on_ray

    return map_on_ray(open_worker, jobs, engine.address, engine.jobs)
