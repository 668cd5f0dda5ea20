"""Restricted data stays on this machine, whatever addresses, names, proxies and redirects say."""

from __future__ import annotations

import os
import random
import socket
from pathlib import Path
from typing import Any
from unittest import mock

from attack.corpus import restricted
from attack.program import call, complaints, tree
from attack.server import Answer, completion, serve

__all__ = ["case", "resolve_to"]

_ELSEWHERE = "203.0.113.5"
"""An address for documentation, which is nobody's."""
_HOSTS = (
    "203.0.113.5", "0.0.0.0", "10.0.0.1", "192.168.0.7", "169.254.169.254", "[::]", "[fe80::1]",
    "[::ffff:203.0.113.5]",
    "3405803781", "0xcb007105", "localhost.example.com", "127.0.0.1.example.com", "example.com",
    "LOCALHOST.example",
    "127.0.0.1@203.0.113.5", "user:pass@203.0.113.5", "203.0.113.5#@127.0.0.1",
    "203.0.113.5%23@127.0.0.1",
    "[::1]@x.example", "203.0.113.5\\@127.0.0.1", "127.0.0.1%00.example.com",
    "localhost%2eexample.com",
    "\uff11\uff12\uff17.0.0.1.example.com", "2130706433.example", "0313.0.0161.5", "203.0.28933",
    "[::ffff:cb00:7105]",
    "[64:ff9b::203.0.113.5]", "[2001:db8::1]", "127.0.0.1,203.0.113.5", "203.0.113.5:80:80",
    "203.0.113.5?@127.0.0.1",
    "203.0.113.5;@127.0.0.1", "\u2460\u2461\u2466.0.0.1.example", "localhost\u3002example",
    "127.1.example", "",
)  # fmt: skip
_SCHEMES = ("http", "http", "https", "HTTP", "ftp", "file", "http+unix", "ws", "")
_PROVIDERS = ("openai", "openai", "openai", "anthropic", "gemini")
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY")
_ASK = ("--tries", "1", "--timeout", "20", "--no-cache")


def case(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """Restricted questions, and a model that is elsewhere by one trick or another, in any role."""
    trick = rng.choice([_address, _address, _name, _redirect, _proxy, _of_its_own])
    with mock.patch.dict(os.environ, dict.fromkeys(_KEYS, "x-not-a-key")):
        return trick(rng, corpus, work)


def resolve_to(addresses: list[str], changing: bool) -> None:
    """Every name is looked up to these from now on: all at once, or one after the other."""
    looks = iter(addresses * 50)

    def look_up(host: object, port: object, *_: object, **__: object) -> list[object]:
        chosen = [next(looks)] if changing else addresses
        number = port if isinstance(port, int) else 80
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, number)) for address in chosen
        ]

    socket.getaddrinfo = look_up  # type: ignore[assignment]


def _ask(
    rng: random.Random, corpus: Path, work: Path, model: str, resolving: tuple[Any, ...] = ()
) -> list[str]:
    hook = "attack.egress:resolve_to" if resolving else ""
    before = tree(work)
    words = _role(rng, corpus, work, model)
    ran = call(*words, *_ASK, hook=hook, hook_arguments=resolving)
    wrong = [text for text in complaints(ran, work, before) if "leaves" not in text]
    return [f"{model}: {text}" for text in wrong]


def _role(rng: random.Random, corpus: Path, work: Path, model: str) -> tuple[Any, ...]:
    """A command in which the model is asked about restricted data, in one of its parts."""
    bench, run = restricted(corpus)
    out = ("--out", work / "out")
    roles: list[tuple[Any, ...]] = [
        ("run", bench, "--model", model, *out),
        ("run", bench, "--model", model, "--batch", *out),
        ("run", bench, "--model", f"{model},http://{_ELSEWHERE}/v1", *out),
        ("probe", bench, "--model", model, "--probes", "text", "--limit", "2", *out),
        ("score", bench, run, "--judge", model),
        ("build", "reports", corpus / "reports.csv", "--writer", model, *out),
        ("build", "reports", corpus / "reports.csv", "--validator", model, *out),
        ("import", "ct-spatialvqa", corpus / "qa.json", "--categories", model, *out),
        *(
            ("author", corpus / "benches" / "private", "--per-study", "2", role, model, *out)
            for role in ("--planner", "--writer", "--critic", "--panel")
        ),
        (
            *("author", corpus / "benches" / "private", "--per-study", "2", "--librarian", model),
            *("--library", corpus / "library", *out),
        ),
    ]
    return rng.choice(roles)


def _address(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    scheme, host = rng.choice(_SCHEMES), rng.choice(_HOSTS)
    port, path = rng.choice(["", ":8000", ":80", ":0"]), rng.choice(["/v1", "", "/"])
    url = f"{scheme}{'://' if scheme else ''}{host}{port}{path}"
    model = f"{rng.choice(_PROVIDERS)}:m@{url}"
    return _ask(rng, corpus, work, model, ([_ELSEWHERE], False))


def _of_its_own(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A provider without an address has one of its own, which is elsewhere."""
    return _ask(rng, corpus, work, f"{rng.choice(_PROVIDERS)}:m", ([_ELSEWHERE], False))


def _name(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    """A name that is this machine when it is looked up first, and another one after."""
    answers = rng.choice([["127.0.0.1", _ELSEWHERE], [_ELSEWHERE, "127.0.0.1"], [_ELSEWHERE]])
    host = rng.choice(["localhost", "models.example", "LocalHost", "localhost."])
    model = f"{rng.choice(_PROVIDERS)}:m@http://{host}:8000/v1"
    return _ask(rng, corpus, work, model, (answers, rng.random() < 0.7))


def _redirect(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    with serve(lambda _: Answer(completion("yes")), host="127.0.0.9") as other:
        target = rng.choice([other.url, f"http://{_ELSEWHERE}/v1", f"//127.0.0.9:{other.port}/v1"])
        turned = Answer(b"", rng.choice([301, 302, 303, 307, 308]), {"Location": target})
        with serve(lambda _: turned) as server:
            wrong = _ask(rng, corpus, work, f"{rng.choice(_PROVIDERS)}:m@{server.url}")
        return [*wrong, "the redirect was followed"] if other.received else wrong


def _proxy(rng: random.Random, corpus: Path, work: Path) -> list[str]:
    with (
        serve(lambda _: Answer(completion("yes")), host="127.0.0.9") as proxy,
        serve(lambda _: Answer(completion("yes"))) as server,
    ):
        names = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY", "SITUS_PROXY")
        proxies = dict.fromkeys(rng.sample(names, 3), f"http://127.0.0.9:{proxy.port}")
        with mock.patch.dict(os.environ, proxies | {"NO_PROXY": ""}):
            url = rng.choice([server.url, f"http://{_ELSEWHERE}/v1"])
            wrong = _ask(rng, corpus, work, f"{rng.choice(_PROVIDERS)}:m@{url}")
        return [*wrong, "the proxy was asked"] if proxy.received else wrong
