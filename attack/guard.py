"""No call under attack reaches another machine, and every attempt is noted."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["watch"]

_HERE = ("127.", "::1", "::ffff:127.")


def watch(note: str) -> None:
    """From now on, refuse connections to other machines; their addresses go to the file `note`."""

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in ("socket.connect", "socket.sendto"):
            return
        address = arguments[-1]
        if isinstance(address, tuple) and not str(address[0]).startswith(_HERE):
            descriptor = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(descriptor, f"{address[0]}\n".encode())
            os.close(descriptor)
            raise PermissionError(f"the attack lets nothing out to {address[0]}")

    sys.addaudithook(look)
