"""Opaque ids and splits."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from situs._files import digest
from situs.errors import SitusError

__all__ = ["opaque_id", "split_of", "visit_of"]

_VISIT = re.compile(
    r"(?:v|visit|tp?|time ?point|day|week|month|year)?[ _-]?\d{1,3} ?(?:d|w|m|y|days?|weeks?|months?|years?)?"
    r"|baseline|screening|follow-?up",
    re.IGNORECASE,
)

_SHORTEST_KEY = 16


def _key() -> bytes:
    """The user's own key: from SITUS_ID_KEY, else a private file made on first use."""
    given = os.environ.get("SITUS_ID_KEY")
    if given:
        return given.encode()
    base = os.environ.get("XDG_CONFIG_HOME")
    path = (Path(base) if base else Path.home() / ".config") / "situs" / "id.key"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileExistsError):
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "w") as stream:
                stream.write(secrets.token_hex(32))
        key = path.read_bytes()
        if len(key) < _SHORTEST_KEY:
            raise SitusError("the key for opaque ids is too short", where=path, fix="delete it, or set SITUS_ID_KEY")
        return key
    except OSError as error:
        raise SitusError(
            f"the key for opaque ids cannot be read or made ({error.strerror})", where=path, fix="set SITUS_ID_KEY"
        ) from error


def opaque_id(prefix: str, name: str) -> str:
    """A name nobody can read back: a keyed hash, the same for the same user, so that rebuilding keeps ids."""
    return prefix + hmac.new(_key(), name.encode(), hashlib.blake2b).hexdigest()[:12]


def visit_of(time: str) -> str:
    """A visit by number or month (`00m`, `V06`, `24 months`, `baseline`); empty for anything else, such as a date."""
    return time if _VISIT.fullmatch(time) else ""


def split_of(patient_id: str, shares: dict[str, float], seed: int) -> str:
    """The split of a patient: by hash, so that adding patients moves nobody."""
    place = int(digest("split", str(seed), patient_id, size=8), 16) / 2**64
    for name, share in sorted(shares.items()):
        place -= share
        if place < 0:
            return name
    return max(shares)
