"""Numbers on the command line."""

from __future__ import annotations

import math
from typing import Any

import click

from situs.base.numbers import LARGEST

__all__ = ["STRATUM_HELP", "FiniteRange"]

STRATUM_HELP = (
    "Questions that count for the headline: headline (those that need sight), textbook, untwinned"
    " or all."
)
"""Of `--stratum`, wherever a headline is shown."""


class FiniteRange(click.FloatRange):
    """A number between two limits, and a number: `nan` is below no limit and above none.

    No option of ours means a billion, and what is reckoned with a larger one may be infinite.
    """

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or click's refusal."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        if abs(number) > LARGEST:
            self.fail(f"{value} is beyond {LARGEST:g}.", param, ctx)
        return number
