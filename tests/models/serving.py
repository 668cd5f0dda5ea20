"""Servers of models for as long as a test needs them."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def served(log: Path, *command: str) -> Iterator[str]:
    """A server started with `PORT` filled in; its address once it is healthy.

    It is ended by its own handle.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    filled = [part.replace("PORT", str(port)) for part in command]
    with log.open("wb") as stream:
        process = subprocess.Popen(filled, stdout=stream, stderr=subprocess.STDOUT)
        try:
            for _ in range(600):
                assert process.poll() is None, log.read_text()[-3000:]
                try:
                    with urllib.request.urlopen(
                        f"http://127.0.0.1:{port}/health", timeout=2
                    ) as response:
                        if response.status == 200:
                            break
                except OSError:
                    time.sleep(0.2)
            else:
                pytest.fail(log.read_text()[-3000:])
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(30)
