"""Answers that were given before: a second identical run sends nothing."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from situs.base.files import canonical_json
from situs.clients.protocol import Image, Reply, Request, Settings, VolumeInput

__all__ = ["CACHE_FILE", "ResponseCache", "request_key"]

CACHE_FILE = "responses.sqlite"

_PENDING = 64
_SECONDS = 2.0


class ResponseCache:
    """A private SQLite file that several processes may share.

    A cache that cannot be used is left aside, once said.
    """

    def __init__(
        self, folder: Path, *, samples: bool = False, say: Callable[[str], None] = lambda text: None
    ) -> None:
        self._path = folder / CACHE_FILE
        self._samples = samples
        self._say = say
        self._pending: dict[bytes, bytes] = {}
        self._written = time.monotonic()
        self._encoder = msgspec.json.Encoder()
        self._decoder = msgspec.json.Decoder(Reply)
        self._base: sqlite3.Connection | None = None
        try:
            # Made private before anything is in it; SQLite gives its side files the same mode.
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            self._base = sqlite3.connect(
                self._path, timeout=20.0, isolation_level=None, check_same_thread=False
            )
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, reply BLOB) WITHOUT"
                " ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def key(self, client_key: str, request: Request) -> bytes | None:
        """What stands for a request; None for one whose answer is meant to differ each time."""
        return (
            request_key(client_key, request)
            if self._samples or request.settings.repeatable
            else None
        )

    def get(self, key: bytes) -> Reply | None:
        """The answer given before."""
        raw = self._pending.get(key)
        if raw is None and self._base is not None:
            try:
                row = self._base.execute(
                    "SELECT reply FROM replies WHERE key = ?", (key,)
                ).fetchone()
            except sqlite3.Error as error:
                self._give_up(error)
                return None
            raw = row[0] if row else None
        if raw is None:
            return None
        with suppress(msgspec.DecodeError):
            return msgspec.structs.replace(self._decoder.decode(raw), cached=True)
        return None

    def put(self, key: bytes, reply: Reply) -> None:
        """Keep an answer; never what failed, nor what the next call might answer differently."""
        if reply.state == "failed" or self._base is None:
            return
        if reply.sampled and not self._samples:
            return
        self._pending[key] = self._encoder.encode(reply)
        if len(self._pending) >= _PENDING or time.monotonic() - self._written > _SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is pending, in one short transaction."""
        self._written = time.monotonic()
        if self._base is None or not self._pending:
            return
        try:
            self._base.execute("BEGIN IMMEDIATE")
            self._base.executemany(
                "INSERT OR IGNORE INTO replies VALUES (?, ?)", self._pending.items()
            )
            self._base.execute("COMMIT")
            self._pending.clear()
        except sqlite3.Error as error:
            self._give_up(error)

    def close(self) -> None:
        """Write what is pending and let go of the file."""
        self.flush()
        if self._base is not None:
            self._base.close()
            self._base = None

    def _give_up(self, error: Exception) -> None:
        self._say(
            f"the response cache cannot be used and is ignored ({error}); situs purge resets it"
        )
        self._pending.clear()
        if self._base is not None:
            with suppress(sqlite3.Error):
                self._base.close()
            self._base = None


_settings_seen: tuple[Settings, bytes] | None = None


def request_key(client_key: str, request: Request) -> bytes:
    """A hash of all that decides an answer:
    client, settings, words, and digests of pictures and volumes."""
    state = hashlib.blake2b(digest_size=24)

    def add(kind: bytes, value: bytes) -> None:
        state.update(kind + len(value).to_bytes(8, "little"))
        state.update(value)

    add(b"c", client_key.encode())
    add(b"s", _settings_bytes(request.settings))
    if request.schema is not None or request.tools:
        add(b"o", canonical_json([request.schema, request.tools]))
    for message in request.messages:
        add(b"m", message.role.encode())
        for part in message.parts:
            match part:
                case Image():
                    add(b"i", part.digest.encode())
                case VolumeInput():
                    add(b"v", part.digest.encode())
                case _:
                    add(b"t", part.encode("utf-8", "surrogatepass"))
        if message.tool_calls or message.tool_call_id:
            add(b"u", canonical_json([message.tool_calls, message.tool_call_id]))
    return state.digest()


def _settings_bytes(settings: Settings) -> bytes:
    """Settings are the same object for all requests of a run, so they are encoded once."""
    global _settings_seen
    if _settings_seen is None or _settings_seen[0] is not settings:
        _settings_seen = settings, canonical_json(settings)
    return _settings_seen[1]
