"""Opaque ids and splits."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from situs._files import digest, write_atomic
from situs.errors import SitusError

__all__ = ["opaque_id", "split_of"]


def _key() -> bytes:
    """The user's own key: from SITUS_ID_KEY, else a private file made on first use."""
    given = os.environ.get("SITUS_ID_KEY")
    if given:
        return given.encode()
    base = os.environ.get("XDG_CONFIG_HOME")
    path = (Path(base) if base else Path.home() / ".config") / "situs" / "id.key"
    try:
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(path, secrets.token_hex(32))
            path.chmod(0o600)
        return path.read_bytes()
    except OSError as error:
        raise SitusError(
            f"the key for opaque ids cannot be read or made ({error.strerror})", where=path, fix="set SITUS_ID_KEY"
        ) from error


def opaque_id(prefix: str, name: str) -> str:
    """A name nobody can read back: a keyed hash, the same for the same user, so that rebuilding keeps ids."""
    return prefix + hmac.new(_key(), name.encode(), hashlib.blake2b).hexdigest()[:12]


def split_of(patient_id: str, shares: dict[str, float], seed: int) -> str:
    """The split of a patient: by hash, so that adding patients moves nobody."""
    place = int(digest("split", str(seed), patient_id, size=8), 16) / 2**64
    for name, share in sorted(shares.items()):
        place -= share
        if place < 0:
            return name
    return max(shares)
