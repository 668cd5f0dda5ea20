"""`situs tune build`: training data from a bench, or from sessions in a room."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from situs.base.engines import HERE, Engine
from situs.tune.dataset import BuildChoices, Built, build_from_bench
from situs.tune.sessions import build_from_sessions, is_room_run

__all__ = ["build_data"]


def build_data(
    folder: Path,
    out: Path,
    choices: BuildChoices,
    *,
    data: Path | None = None,
    allow_restricted: bool = False,
    overwrite: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    engine: Engine = HERE,
) -> Built:
    """Write the training data of a bench, or of the sessions of a run in a room; `engine` draws
    those of a bench.

    Raises `SitusError` where the test split is asked for, where a patient is in two splits, and
    where nothing is left.
    """
    build = (
        build_from_sessions
        if is_room_run(folder)
        else functools.partial(build_from_bench, engine=engine)
    )
    return build(
        folder,
        out,
        choices,
        data=data,
        allow_restricted=allow_restricted,
        overwrite=overwrite,
        progress=progress,
    )
