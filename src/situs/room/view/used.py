"""What was used of a room's allowance, by a session or at a study that is served."""

from __future__ import annotations

from situs.room.schema import Allowance
from situs.room.view.scan import Look, Picture, Scan

__all__ = ["Used"]


class Used:
    """Counts pictures and their pixels;
    who goes beyond them is told which of the two is used up."""

    def __init__(self, allowed: Allowance) -> None:
        self._allowed = allowed
        self.looks = 0
        self._pixels = 0

    @property
    def looks_left(self) -> int:
        """Pictures that may still be asked for."""
        return max(0, self._allowed.looks - self.looks)

    def exceeded_by(self, look: Look | None, scan: Scan) -> str:
        """`looks` or `pixels` if a look would be beyond it;
        empty if it would not, or there is none."""
        if look is None:
            return ""
        if not self.looks_left:
            return "looks"
        frame = scan.layout(look).frames[0]
        over = self._pixels + frame.width * frame.height > self._allowed.pixels
        return "pixels" if over else ""

    def add(self, picture: Picture) -> None:
        """A picture was shown."""
        self.looks += 1
        self._pixels += picture.image.width * picture.image.height
