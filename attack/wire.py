"""Servers that misbehave: every verdict given once or plainly missing, no key kept, no traceback."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from attack.program import call, complaints, tree

__all__ = ["case"]

_KEY = "sk-attack-0123456789abcdef"
_BODIES = [
    b"", b"{}", b"[]", b"null", b"not json", b"[" * 20_000, b'{"choices": []}', b'{"choices": [{}]}',
    b'{"choices": [{"message": {"content": null}}]}', b'{"error": {"message": "' + _KEY.encode() + b'"}}',
    b'{"choices": [{"message": {"content": ' + b'"' + b"<think>" * 3000 + b'"}}]}', b"\xff\xfe\x00", b"A" * 200_000,
]  # fmt: skip
_TEXTS = ["yes", "no", "[" * 5000, "\x1b[2J", _KEY, '{"verdict": NaN}', "1e308", "", "correct " * 4000]
_STATUS = [200, 200, 200, 200, 204, 301, 400, 401, 404, 413, 429, 500, 502, 503, 599]


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A judge behind a faulty server."""
    os.environ["OPENAI_API_KEY"] = _KEY
    run = Path(shutil.copytree(corpus / "run", work / "run"))
    before = tree(work)
    chance = random.Random(rng.random())

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if chance.random() < 0.1:
                self.connection.close()
                return
            body = chance.choice(_BODIES)
            if chance.random() < 0.6:
                message = {"role": "assistant", "content": chance.choice(_TEXTS)}
                body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
            self.send_response(chance.choice(_STATUS))
            self.send_header("Content-Type", chance.choice(["application/json", "text/html", ""]))
            self.send_header("Retry-After", chance.choice(["0", "-1", "nan", "soon"]))
            self.send_header("Content-Length", str(len(body) + chance.choice([0, 0, 0, 7])))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)
            self.close_connection = True

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        judge = f"openai:judge@http://127.0.0.1:{server.server_port}/v1"
        words = ("--judge", judge, "--tries", 2, "--timeout", 5)
        ran = call("score", corpus / "bench", run, *words)
        server.shutdown()
    wrong = [text for text in complaints(ran, work, before) if "leaves" not in text]
    kept = [path for path in run.rglob("*") if path.is_file() and _KEY.encode() in path.read_bytes()]
    if kept or _KEY in ran.out + ran.err:
        wrong.append(f"the key stands in {kept or 'the output'}")
    return wrong
