"""The station's folder: settings and secret,
private to their owner, beside the database and the volumes."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

import msgspec

from situs.base.files import bounded_lines, check_regular, read_json, write_atomic
from situs.errors import SitusError

__all__ = ["OpenId", "Settings", "StationFolder", "create_folder", "open_folder"]

_FILE = "station.json"
_FORMAT = 1
_HEAD = re.compile(r"(?P<sequence>\d{1,18}) (?P<head>[0-9a-f]+) ")


class OpenId(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An OpenID Connect provider;
    its users must be registered here under their `claim` beforehand."""

    issuer: str
    client_id: str
    client_secret: str = ""
    claim: str = "preferred_username"


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`station.json`."""

    format: int
    database: str
    """A SQLAlchemy address; empty for the folder's own SQLite file."""
    secret: str
    """Signs slice addresses and the list of chain heads; made at random, never shipped."""
    openid: OpenId | None = None


class Heads:
    """The lines of `heads.log` up to where it ended when this was made, one at a time: who may
    write it may make it longer than the memory."""

    def __init__(self, path: Path) -> None:
        check_regular(path)
        self._path = path
        self._size = path.stat().st_size

    def __iter__(self) -> Iterator[str]:
        read = 0
        with self._path.open("rb") as stream:
            for line in bounded_lines(stream, self._path):
                read += len(line)
                if read > self._size:
                    return
                yield line.rstrip(b"\n").decode("ascii", "replace")


class StationFolder:
    """Where everything of a station lies."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.settings = settings

    @property
    def database(self) -> str:
        """The address of the database."""
        return self.settings.database or f"sqlite:///{(self.root / 'station.sqlite').resolve()}"

    @property
    def volumes(self) -> Path:
        """Volumes as memory maps, by hash."""
        return self.root / "volumes"

    @property
    def heads(self) -> Path:
        """One line for every head the chain of events has had; see `sign_head`."""
        return self.root / "heads.log"

    def mac(self, *parts: str) -> str:
        """A keyed hash of some words; without the secret nobody can make one."""
        message = b"".join(len(p.encode()).to_bytes(8, "little") + p.encode() for p in parts)
        return hmac.new(self.settings.secret.encode(), message, hashlib.sha256).hexdigest()

    def head_line(self, sequence: int, head: str, *, is_next: bool = False) -> str:
        """How a head is noted; `is_next` while its event is not in the database for sure."""
        what = "next" if is_next else "head"
        line = f"{sequence} {head} {self.mac(what, str(sequence), head)}"
        return f"{line} next\n" if is_next else f"{line}\n"

    def add_head(self, sequence: int, head: str, *, is_next: bool = False) -> None:
        """Note a head outside the database, so that a chain cut short or computed anew is found.

        It is noted as the next one before its event is kept, and once more after: a program that is
        killed in between leaves a record that is whole, with that event or without.
        """
        line = self.head_line(sequence, head, is_next=is_next)
        check_regular(self.heads)  # a pipe that nobody reads would be waited for
        descriptor = os.open(self.heads, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def note_heads(self) -> Heads | None:
        """The heads as they are noted now; None without their file."""
        return Heads(self.heads) if self.heads.exists() else None

    def forget_heads(self) -> None:
        """Another chain is about to take the place of this one: its heads are no promise any more,
        and still vouch for it should that not come to pass."""
        heads = self.note_heads()
        if heads is None:
            return
        kept = []
        for line in heads:
            match = _HEAD.match(line)
            known = match and (int(match["sequence"]), match["head"])
            if known and f"{line}\n" in (
                self.head_line(*known),
                self.head_line(*known, is_next=True),
            ):
                kept.append(self.head_line(*known, is_next=True))
        write_atomic(self.heads, "".join(kept), private=True)


def create_folder(root: Path, database: str = "", openid: OpenId | None = None) -> StationFolder:
    """A new folder with a secret of its own; refused where something is already there."""
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise SitusError("exists and is not empty", where=root, fix="choose another folder")
    if database and not database.startswith(("postgresql://", "postgresql+psycopg://", "sqlite:")):
        raise SitusError(
            "is not a SQLite or PostgreSQL address",
            where="--database",
            fix="e.g. postgresql://user@host/name",
        )
    address = database.replace("postgresql://", "postgresql+psycopg://", 1)
    settings = Settings(_FORMAT, address, secrets.token_urlsafe(48), openid)
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    root.chmod(0o700)
    write_atomic(root / _FILE, msgspec.json.format(msgspec.json.encode(settings)), private=True)
    return StationFolder(root, settings)


def open_folder(root: Path) -> StationFolder:
    """A folder that `situs review init` made."""
    if not (root / _FILE).is_file():
        raise SitusError(
            "is not a reading station", where=root, fix="make one: situs review init DIR"
        )
    settings = read_json(root / _FILE, Settings)
    if settings.format != _FORMAT:
        raise SitusError(
            f"has format {settings.format}, this version reads {_FORMAT}",
            where=root,
            fix="update Situs",
        )
    return StationFolder(root, settings)
