"""Clients with a planted behaviour. They get requests only, and know the answers from a table by
what they are shown.

The table holds, for every picture set and prompt that may be shown, the right answer in words; it
is made by the test.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path

from situs.base.files import digest


def key_of(digests: list[str], text: str) -> str:
    return digest(*digests, text)


class Planted:
    remote = False
    version = 1

    def __init__(self, table: str = "") -> None:
        known = json.loads(Path(table).read_text())
        self.by_all: dict[str, str] = known["by_all"]
        """All pictures and the prompt → the right answer."""
        self.by_any: dict[str, dict[str, str]] = known["by_any"]
        """A picture → the question → the right answer."""
        self.mirrored: dict[str, str] = known["mirrored"]
        """All pictures and the prompt → what would be right if left and right were exchanged."""
        self.offered: dict[str, list[str]] = known["offered"]
        """Prompt → the answers one may give."""
        self.usual: dict[str, str] = known["usual"]
        """Question → the answer most patients have."""

    def seen(self, request) -> str:
        return key_of([image.digest for image in request.images()], request.text())

    def guess(self, text: str, salt: str = "") -> str:
        offered = next(
            (o for prompt, o in self.offered.items() if text.startswith(prompt)), ["yes", "no"]
        )
        return offered[zlib.crc32((text + salt).encode()) % len(offered)]


class Honest(Planted):
    """Right in four of five where it sees every picture; else it guesses, for each patient anew."""

    def answer(self, request) -> str:
        return self.told(self.seen(request), request.text())

    def told(self, seen: str, text: str) -> str:
        """The answer by the key of what is seen."""
        truth = self.by_all.get(seen)
        if truth is None:
            return self.guess(text, seen)
        if zlib.crc32(seen.encode()) % 5:
            return truth
        return next((o for o in self.offered[text] if o != truth), truth)


class TextOnly(Planted):
    """Never looks at a picture."""

    def answer(self, request) -> str:
        return self.guess(request.text())


class Usual(Planted):
    """Says what most patients have, whatever is shown."""

    def answer(self, request) -> str:
        lines = request.text().splitlines()
        return next(
            (self.usual[line] for line in lines if line in self.usual), self.guess(request.text())
        )


class OneSlice(Planted):
    """Needs one picture of the patient only."""

    def answer(self, request) -> str:
        for image in request.images():
            answers = self.by_any.get(image.digest, {})
            for line in request.text().splitlines():
                if line in answers:
                    return answers[line]
        return self.guess(request.text())


class Mirrored(Planted):
    """Sees all, and takes left for right."""

    def answer(self, request) -> str:
        return self.mirrored.get(self.seen(request)) or self.guess(request.text())


class MmAsCm(Planted):
    """Sees all, and takes a centimetre for a millimetre."""

    def answer(self, request) -> str:
        truth = self.by_all.get(self.seen(request))
        if truth is None:
            return self.guess(request.text())
        number, _, unit = truth.partition(" ")
        slip = {"mm": 10.0, "cm": 10.0, "mL": 1000.0}.get(unit)
        return truth if slip is None else f"{float(number) * slip:.6g} {unit}"


class Refuses(Planted):
    """Declines without pictures."""

    def answer(self, request) -> str:
        truth = self.by_all.get(self.seen(request))
        return truth if truth is not None else "I cannot answer this without the images."


class Suspicious(Honest):
    """Right where it can be, and says of every scan it does not know that it looks mirrored."""

    def answer(self, request) -> str:
        known = self.by_all.get(self.seen(request))
        return (
            known if known is not None else "The scan looks mirrored. " + self.guess(request.text())
        )
