"""Which stretches of a text were read already, so that nothing is read twice."""

from __future__ import annotations

__all__ = ["Taken"]


class Taken:
    """The stretches of a text that were taken."""

    def __init__(self, text: str) -> None:
        self._marks = bytearray(len(text))

    def take(self, start: int, end: int) -> bool:
        """Take a stretch; False if some of it was taken before, and it is left."""
        if any(self._marks[start:end]):
            return False
        self._marks[start:end] = bytes([True] * (end - start))
        return True

    def holds(self, place: int) -> bool:
        """Whether a character was taken."""
        return bool(self._marks[place])
