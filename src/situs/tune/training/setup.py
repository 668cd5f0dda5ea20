"""What a trainer is made of, whatever its method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from situs.tune.training.config import Config
from situs.tune.training.plan import Plan

__all__ = ["Setup", "TrainerMaker"]


class Setup(msgspec.Struct, frozen=True):
    """A run that is about to start."""

    config: Config
    plan: Plan
    model: Any
    processor: Any
    settings: dict[str, Any]
    """Arguments that the methods' configurations share."""
    most_tokens: int
    """An example that is longer stops the run; 0 for no limit."""
    callbacks: tuple[Any, ...]


TrainerMaker = Callable[[Setup], Any]
