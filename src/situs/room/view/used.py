"""What a session at a viewer has used of its room's allowance."""

from __future__ import annotations

from situs.room.view.scan import Look, Picture, Scan

__all__ = ["Used"]


class Used:
    """Counts pictures and their pixels; who goes beyond them is told which of the two is used up."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._allowed = scan.room.budget
        self.looks = 0
        self._pixels = 0

    @property
    def looks_left(self) -> int:
        """Pictures that may still be asked for."""
        return max(0, self._allowed.looks - self.looks)

    def exceeded_by(self, look: Look | None) -> str:
        """`looks` or `pixels` if a look would be beyond it; empty if it would not, or there is none."""
        if look is None:
            return ""
        if not self.looks_left:
            return "looks"
        frame = self._scan.layout(look).frames[0]
        over = self._pixels + frame.width * frame.height > self._allowed.pixels
        return "pixels" if over else ""

    def add(self, picture: Picture) -> None:
        """A picture was shown."""
        self.looks += 1
        self._pixels += picture.image.width * picture.image.height
