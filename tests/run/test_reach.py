"""Hosts that count as ours, and proxies: what passes, and what a run says of it."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator

import pytest

import wire
from situs.clients.reach import checked_proxy
from situs.errors import SitusError

MODEL = "openai:test@http://model.hospital.test/v1"
"""Nobody has this name: whoever is to answer for it must be the proxy."""


@pytest.fixture
def asked(situs, words, tmp_path):
    """Asks a restricted bench of four questions; the run and its notes."""
    bench = words(4)

    def run(*options: object):
        return situs("run", bench, "--model", MODEL, "--out", tmp_path / "run", "--json", *options)

    return run


def proxy_of(server: wire.Server) -> str:
    return f"http://127.0.0.1:{server.port}"


def test_without_a_word_restricted_data_goes_nowhere(asked, tmp_path) -> None:
    with wire.Server() as proxy:
        ran = asked("--proxy", proxy_of(proxy))
    assert ran.code == 2
    assert "restricted" in ran.err
    assert proxy.seen == []


def test_a_trusted_host_is_asked_through_the_proxy_and_the_run_says_so(asked, tmp_path) -> None:
    with wire.Server() as proxy:
        ran = asked("--proxy", proxy_of(proxy), "--trust-host", "Model.Hospital.test")
    assert ran.code == 0, ran.err
    assert ran.json["states"] == {"answered": 4}
    # A proxy is told the whole address.
    assert all(b"model.hospital.test" in call for call in proxy.seen)
    notes = json.loads((tmp_path / "run" / "run.json").read_text())["notes"]
    assert any("model.hospital.test counts as this machine" in note for note in notes)
    assert any("proxy" in note for note in notes)


@pytest.mark.parametrize("trusted", ["hospital.test", "model.hospital.test.evil.test", "*"])
def test_only_the_host_that_was_named_is_trusted(asked, trusted) -> None:
    with wire.Server() as proxy:
        ran = asked("--proxy", proxy_of(proxy), "--trust-host", trusted)
    assert ran.code == 2
    assert proxy.seen == []


def test_a_proxy_elsewhere_is_a_stranger_too(asked) -> None:
    """The model is trusted, whoever passes the data on to it is not."""
    ran = asked("--proxy", "http://proxy.test:3128", "--trust-host", "model.hospital.test")
    assert ran.code == 2
    assert "restricted" in ran.err


def test_a_model_on_this_machine_is_asked_without_the_proxy(situs, words, tmp_path) -> None:
    with wire.Server() as proxy, wire.Server() as model:
        ran = situs(
            *("run", words(3), "--model", model.spec, "--out", tmp_path / "run", "--json"),
            *("--proxy", proxy_of(proxy)),
        )
    assert ran.json["states"] == {"answered": 3}
    assert proxy.seen == []


@pytest.mark.usefixtures("impatient")
def test_a_proxy_of_the_environment_is_used_only_by_our_own_name(
    asked, tmp_path, monkeypatch
) -> None:
    with wire.Server() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy_of(proxy))
        monkeypatch.setenv("http_proxy", proxy_of(proxy))
        ran = asked("--trust-host", "model.hospital.test", "--tries", 1)
        assert proxy.seen == []
        monkeypatch.setenv("SITUS_PROXY", proxy_of(proxy))
        ran = asked("--trust-host", "model.hospital.test")
    assert ran.json["states"] == {"answered": 4}


def test_words_of_a_proxy(monkeypatch) -> None:
    assert checked_proxy("") == ""
    for bad in ("ftp://x:1", "nonsense", "http://", "http://host:99999"):
        with pytest.raises(SitusError, match="not the address of a proxy"):
            checked_proxy(bad)
    with pytest.raises(SitusError, match="user name or password"):
        checked_proxy("http://me:secret@proxy.test:3128")
    monkeypatch.setenv("SITUS_PROXY", "http://me:secret@proxy.test:3128")
    assert checked_proxy("") == "http://me:secret@proxy.test:3128"


@pytest.fixture
def closed_proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that notes what it is told and connects nobody; its address and its notes."""
    told: list[bytes] = []

    class Note(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            told.append(b"".join(iter(self.rfile.readline, b"\r\n")))
            self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Note) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", told
        server.shutdown()


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:m@https://model.hospital.test/v1", "OPENAI_API_KEY"),
        ("openai:m@https://name.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY"),
        ("anthropic:m@https://model.hospital.test", "ANTHROPIC_API_KEY"),
        ("gemini:m@https://model.hospital.test", "GEMINI_API_KEY"),
    ],
)
def test_a_proxy_is_told_where_to_connect_and_no_key(
    situs, words, tmp_path, closed_proxy, monkeypatch, model: str, variable: str
) -> None:
    """Over https all else is said to the server alone, behind the connection."""
    monkeypatch.setenv(variable, "sk-for-the-server-alone")
    proxy, told = closed_proxy
    out = tmp_path / "run"
    ran = situs(
        *("run", words(1), "--model", model, "--out", out, "--proxy", proxy, "--allow-remote")
    )
    assert told
    assert all(call.startswith(b"CONNECT ") for call in told)
    assert not any(b"sk-for-the-server-alone" in call for call in told)
    assert "the proxy did not pass the call on (HTTP 403)" in ran.err
