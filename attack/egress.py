"""Restricted data stays on this machine, whatever addresses, names, proxies and redirects say."""

from __future__ import annotations

import os
import random
import socket
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from attack.program import call, complaints, tree
from attack.server import Answer, completion, serve

__all__ = ["case", "watch"]

_ELSEWHERE = "203.0.113.5"
"""An address for documentation, which is nobody's."""
_HOSTS = (
    "203.0.113.5", "0.0.0.0", "10.0.0.1", "192.168.0.7", "169.254.169.254", "[::]", "[fe80::1]", "[::ffff:203.0.113.5]",
    "3405803781", "0xcb007105", "localhost.example.com", "127.0.0.1.example.com", "example.com", "LOCALHOST.example",
    "127.0.0.1@203.0.113.5", "user:pass@203.0.113.5", "203.0.113.5#@127.0.0.1", "203.0.113.5%23@127.0.0.1",
    "[::1]@x.example", "203.0.113.5\\@127.0.0.1", "127.0.0.1%00.example.com", "localhost%2eexample.com",
    "\uff11\uff12\uff17.0.0.1.example.com", "2130706433.example",
)  # fmt: skip
_SCHEMES = ("http", "https", "HTTP", "ftp", "file", "http+unix", "")
_left: list[str] = []
"""Where something was about to be sent, other than this machine."""


def watch() -> None:
    """From now on, no connection to another machine is made, and each attempt is noted."""
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("socket.connect", "socket.sendto"):
        return
    address = arguments[1]
    if isinstance(address, tuple) and not str(address[0]).startswith(
        ("127.", "::1", "::ffff:127.")
    ):
        _left.append(str(address[0]))
        raise PermissionError(f"the attack lets nothing out to {address[0]}")


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Restricted questions, and a model that is elsewhere by one trick or another."""
    os.environ["OPENAI_API_KEY"] = "x-not-a-key"
    _left.clear()
    bench = work / "bench"
    made = call("import", "items", corpus / "items.jsonl", "--out", bench)  # no licence: restricted
    assert made.code == 0, made.err
    trick = rng.choice([_address, _address, _name, _redirect, _proxy])
    wrong = trick(rng, bench, work)
    if _left:
        wrong.append(f"a connection to {_left[0]}")
    return wrong


def _ask(bench: Path, work: Path, model: str) -> list[str]:
    before = tree(work)
    ran = call(
        "run",
        bench,
        "--model",
        model,
        "--tries",
        "1",
        "--timeout",
        "5",
        "--no-cache",
        "--out",
        work / "run",
    )
    return [text for text in complaints(ran, work, before) if "leaves" not in text]


def _address(rng: random.Random, bench: Path, work: Path) -> list[str]:
    scheme, host = rng.choice(_SCHEMES), rng.choice(_HOSTS)
    port, path = rng.choice(["", ":8000", ":80", ":0"]), rng.choice(["/v1", "", "/"])
    url = f"{scheme}{'://' if scheme else ''}{host}{port}{path}"
    with _resolving(rng, [_ELSEWHERE]):
        return [f"{url}: {text}" for text in _ask(bench, work, f"openai:m@{url}")]


def _name(rng: random.Random, bench: Path, work: Path) -> list[str]:
    """A name that is this machine when it is looked up first, and another one after."""
    answers = rng.choice([["127.0.0.1", _ELSEWHERE], [_ELSEWHERE, "127.0.0.1"], [_ELSEWHERE]])
    with _resolving(rng, answers, changing=rng.random() < 0.7):
        return _ask(
            bench, work, f"openai:m@http://{rng.choice(['localhost', 'models.example'])}:8000/v1"
        )


def _redirect(rng: random.Random, bench: Path, work: Path) -> list[str]:
    with serve(lambda _: Answer(completion("yes")), host="127.0.0.9") as other:
        target = rng.choice([other.url, f"http://{_ELSEWHERE}/v1", f"//127.0.0.9:{other.port}/v1"])
        turned = Answer(b"", rng.choice([301, 302, 303, 307, 308]), {"Location": target})
        with serve(lambda _: turned) as server:
            wrong = _ask(bench, work, f"openai:m@{server.url}")
        return [*wrong, "the redirect was followed"] if other.received else wrong


def _proxy(rng: random.Random, bench: Path, work: Path) -> list[str]:
    with (
        serve(lambda _: Answer(completion("yes")), host="127.0.0.9") as proxy,
        serve(lambda _: Answer(completion("yes"))) as server,
    ):
        names = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY")
        proxies = dict.fromkeys(rng.sample(names, 3), f"http://127.0.0.9:{proxy.port}")
        with mock.patch.dict(os.environ, proxies | {"NO_PROXY": ""}):
            url = rng.choice([server.url, f"http://{_ELSEWHERE}/v1"])
            wrong = _ask(bench, work, f"openai:m@{url}")
        return [*wrong, "the proxy was asked"] if proxy.received else wrong


def _resolving(rng: random.Random, addresses: list[str], *, changing: bool = False) -> Any:
    """Every name is looked up to these: all at once, or one after the other."""
    looks = iter(addresses * 50)

    def look_up(host: object, port: object, *_: object, **__: object) -> list[object]:
        chosen = [next(looks)] if changing else addresses
        number = port if isinstance(port, int) else 80
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, number)) for address in chosen
        ]

    return mock.patch.object(socket, "getaddrinfo", look_up)
