"""A chat server on loopback that answers as it is told, and remembers what it was sent."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Answer", "Served", "completion", "serve"]


@dataclass(frozen=True)
class Answer:
    """What goes back."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    missing_bytes: int = 0
    """The server promises this many more bytes than it sends."""
    hang_up: bool = False
    repeat: int = 1
    """The body comes so many times over, and no length is promised."""
    pause_seconds: float = 0.0
    """Between two bytes."""
    stay_open: bool = False
    """The connection is not closed while anybody listens, and no length is promised."""


@dataclass
class Served:
    """A server that runs, and all that came in."""

    host: str
    port: int
    received: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"


def completion(text: object) -> bytes:
    """A reply in the form of the chat API."""
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


@contextlib.contextmanager
def serve(answer: Callable[[bytes], Answer], host: str = "127.0.0.1") -> Iterator[Served]:
    """A server on any address of this machine's own, 127.0.0.1 to 127.255.255.254."""
    served = Served(host, 0)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            served.received.append(f"{self.requestline}\n{self.headers}".encode() + body)
            reply = answer(body)
            self.close_connection = True
            if reply.hang_up:
                self.connection.close()
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.repeat == 1 and not reply.stay_open:
                length = len(reply.body) + reply.missing_bytes
                self.send_header("Content-Length", str(max(0, length)))
            with contextlib.suppress(OSError):
                self.end_headers()
                self._send(reply)

        def _send(self, reply: Answer) -> None:
            for _ in range(reply.repeat):
                if not reply.pause_seconds:
                    self.wfile.write(reply.body)
                    continue
                for byte in reply.body:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(reply.pause_seconds)
            while reply.stay_open and self.connection.recv(1):
                pass

        do_GET = do_CONNECT = do_PUT = do_POST  # noqa: N815 - the library calls them so

    with ThreadingHTTPServer((host, 0), Handler) as server:
        server.daemon_threads = True
        served.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield served
        finally:
            server.shutdown()
