"""Restricted data stays on this machine, whatever proxies, redirects and names say."""

from __future__ import annotations

import socket

import pytest

import wire
from asking import question
from situs.clients import make_client, parse_spec
from situs.clients.wire.loopback import is_loopback, is_this_machine
from situs.errors import SitusError

LOCAL = ["127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.1"]
ELSEWHERE = [
    "0.0.0.0",
    "10.0.0.1",
    "192.168.1.5",
    "169.254.1.1",
    "::",
    "fe80::1",
    "8.8.8.8",
    "::ffff:10.0.0.1",
    "x",
]


@pytest.mark.parametrize("address", LOCAL)
def test_loopback_is_this_machine(address) -> None:
    assert is_loopback(address)
    host = f"[{address}]" if ":" in address else address
    assert not make_client(parse_spec(f"openai:m@http://{host}:8000/v1")).remote


@pytest.mark.parametrize("address", ELSEWHERE)
def test_all_else_is_not(address) -> None:
    assert not is_loopback(address)


def answers_with(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Every name resolves to these addresses."""

    def resolve(host: object, port: object, *args: object, **more: object) -> list[object]:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_a_name_is_what_it_resolves_to(monkeypatch) -> None:
    answers_with(monkeypatch, "127.0.0.1")
    assert is_this_machine("models.hospital.example")
    answers_with(monkeypatch, "127.0.0.1", "203.0.113.5")
    assert not is_this_machine("localhost")
    answers_with(monkeypatch)
    assert not is_this_machine("localhost")


@pytest.mark.parametrize(
    "url", ["http://203.0.113.5/v1", "http://0.0.0.0:8000/v1", "https://api.openai.com/v1", ""]
)
def test_restricted_data_is_not_sent_elsewhere(asked, monkeypatch, url) -> None:
    answers_with(monkeypatch, "203.0.113.5")
    made = []

    def requests():
        made.append(1)
        yield question(1)

    with pytest.raises(SitusError, match="--allow-remote"):
        asked(f"openai:m{'@' if url else ''}{url}", requests())
    assert not made


def test_a_name_that_moves_away_is_not_followed(asked, monkeypatch) -> None:
    """It was loopback when it was checked; when the connection is made it is not."""
    client = make_client(parse_spec("openai:m@http://localhost:9/v1"))
    assert not client.remote
    answers_with(monkeypatch, "203.0.113.5")
    result, _ = asked(client, [question(1)])
    assert "no longer leads to this machine" in result.stopped


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"])
def test_proxies_of_the_environment_see_nothing(asked, monkeypatch, name) -> None:
    with wire.Server() as proxy, wire.Server() as server:
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        _, book = asked(server.spec, [question(1)])
        assert (len(server.seen), len(proxy.seen)) == (1, 0)
    assert book["key1"].state == "answered"


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(asked, code) -> None:
    with wire.Server() as other:
        to = f"http://127.0.0.1:{other.port}/v1/chat/completions"
        with wire.Server(lambda number, body: wire.status(code, Location=to)) as server:
            result, book = asked(server.spec, [question(n) for n in range(9)])
        assert not other.seen
    assert "redirect" in result.stopped
    assert {reply.state for reply in book.values()} == {"failed"}
