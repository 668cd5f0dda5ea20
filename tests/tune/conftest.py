"""What the tests of training share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tune_cohort import make_bench


@pytest.fixture(scope="session")
def trained_on(once: Callable[..., Path], situs: Callable[..., Any]) -> Path:
    """A folder with `bench` and its training data `data`. Do not change it."""
    return once("tune", lambda folder: make_bench(folder, situs))
