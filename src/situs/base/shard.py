"""One of several parts into which work is cut, for job arrays."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec

from situs.errors import SitusError

__all__ = ["Shard"]

_MOST_PARTS = 999_999
_NUMBERS = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


class Shard(msgspec.Struct, frozen=True):
    """Part `number` (from 1) of `of` parts."""

    number: Annotated[int, msgspec.Meta(ge=1, le=_MOST_PARTS)]
    of: Annotated[int, msgspec.Meta(ge=1, le=_MOST_PARTS)]

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `3/8`."""
        numbers = _NUMBERS.fullmatch(text)
        shard = cls(int(numbers[1]), int(numbers[2])) if numbers else None
        if shard is None or not 1 <= shard.number <= shard.of:
            fix = "write I/N with I from 1 to N, e.g. 3/8"
            raise SitusError(f"{text!r} is not a part", where="--shard", fix=fix)
        return shard

    def of_jobs(self, total: int) -> range:
        """The numbers of this part's jobs.

        Neighbours go to different parts, so that all take about as long.
        """
        return range(self.number - 1, total, self.of)
