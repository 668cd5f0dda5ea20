"""A real S3-compatible server on this machine, which can be told to break connections."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

_OF_ONE_CONNECTION = ("transfer-encoding", "connection", "content-length", "date")


@dataclass
class Bucket:
    """A bucket, seen from the other side."""

    name: str
    files: Any
    """Its file system, straight to the server."""
    broken: list[str] = field(default_factory=list)
    """Requests (method and path) whose connection the gate cuts, each once."""
    seen: list[str] = field(default_factory=list)
    """Requests that passed the gate."""

    def url(self, name: str = "") -> str:
        """An address in the bucket."""
        return f"s3://{self.name}/{name}".rstrip("/")

    def put(self, folder: Path, name: str) -> None:
        """Copy a folder into the bucket."""
        for file in folder.rglob("*"):
            if file.is_file():
                target = f"{self.name}/{name}/{file.relative_to(folder).as_posix()}"
                self.files.put_file(str(file), target)

    def names(self, below: str = "") -> set[str]:
        """What lies in the bucket."""
        return {path.removeprefix(f"{self.name}/") for path in self.files.find(self.url(below))}


class _Gate(BaseHTTPRequestHandler):
    """Hands requests on to the server, and cuts those it is told to."""

    protocol_version = "HTTP/1.1"
    origin: str
    bucket: Bucket

    def log_message(self, *_: object) -> None:
        pass

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def handle_any(self) -> None:
        request = f"{self.command} {self.path}"
        body = self.body()
        cut = next((text for text in self.bucket.broken if text in request), None)
        if cut is not None:
            self.bucket.broken.remove(cut)
            self.close_connection = True
            return
        self.bucket.seen.append(request)
        onward = Request(self.origin + self.path, data=body or None, method=self.command)
        # urllib would send a body without a type as a form.
        kind = {"Content-Type": "application/octet-stream"}
        for name, value in (kind | dict(self.headers.items())).items():
            if name.lower() not in _OF_ONE_CONNECTION:
                onward.add_header(name, value)
        try:
            answer = urlopen(onward)
        except HTTPError as refused:
            answer = refused
        self.hand_back(answer)

    def hand_back(self, answer: Any) -> None:
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            if name.lower() not in _OF_ONE_CONNECTION:
                self.send_header(name, value)
        length = answer.headers.get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = handle_any  # noqa: N815


@pytest.fixture(scope="session")
def _moto() -> Iterator[str]:
    pytest.importorskip("s3fs", reason="needs s3fs: pip install 'situs[remote]'")
    server = pytest.importorskip("moto.server", reason="needs moto[server]")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    _, port = moto.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    moto.stop()


def _close(store: Any) -> None:
    """End the connections of a store now. s3fs does so when it is forgotten, and gives up after a
    tenth of a second: on a busy machine they were left open, which failed whatever test ran when
    they were found."""
    from fsspec.asyn import sync

    client = getattr(store, "_s3creator", None)
    if client is not None:
        sync(store.loop, client.__aexit__, None, None, None, timeout=60)


@pytest.fixture
def bucket(_moto: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """An empty bucket of its own, credentials in the environment, and a cache of its own."""
    import s3fs

    from situs.base.remote.store import store_of

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "reader")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "for-the-tests")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")  # what breaks is ours to try again
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    name = f"hospital-{os.urandom(4).hex()}"
    straight = s3fs.S3FileSystem(
        endpoint_url=_moto, skip_instance_cache=True, use_listings_cache=False
    )
    straight.mkdir(name)
    made = Bucket(name, straight)
    handler = type("Gate", (_Gate,), {"origin": _moto, "bucket": made})
    gate = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{gate.server_port}")
    threading.Thread(target=gate.serve_forever, daemon=True).start()
    store_of.cache_clear()
    yield made
    for store in (straight, store_of("s3")):
        _close(store)
    store_of.cache_clear()
    gate.shutdown()
    gate.server_close()
