"""Serving: on loopback by default, elsewhere only behind TLS or a proxy that has it."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from pathlib import Path

import msgspec
import uvicorn
from fastapi import FastAPI

from situs.errors import SitusError
from situs.review.station.folder import StationFolder
from situs.review.station.store.database import Database, open_database
from situs.review.station.web.app import create_app
from situs.review.station.web.openid import Provider
from situs.review.station.web.station import Station

__all__ = [
    "NOTHING_OFFERED",
    "Binding",
    "Offer",
    "listen_on",
    "make_station",
    "serve",
    "server_config",
]

_MOST_HEADER = 16 * 1024


class Binding(msgspec.Struct, frozen=True):
    """Where a station listens, and under which address people reach it."""

    host: str = "127.0.0.1"
    port: int = 8765
    address: str = ""
    """`https://reading.example.org`, where it is not that of the binding."""
    behind_proxy: bool = False
    certificate: Path | None = None
    key: Path | None = None

    def check(self) -> None:
        """Refuse to listen in the open without TLS."""
        if (self.certificate is None) != (self.key is None):
            raise SitusError(
                "TLS needs a certificate and a key", fix="give --tls-cert and --tls-key"
            )
        if self.behind_proxy and not self.address.startswith("https://"):
            raise SitusError(
                "the proxy's public address is missing",
                where="--address",
                fix="e.g. --address https://reading.example.org",
            )
        if not _is_loopback(self.host) and not self.behind_proxy and self.certificate is None:
            raise SitusError(
                f"{self.host} can be reached from other machines, and there is no TLS",
                where="--host",
                fix="add --tls-cert and --tls-key, or --behind-proxy with a proxy that has TLS",
            )

    @property
    def origins(self) -> tuple[str, ...]:
        """The addresses its pages have in a browser."""
        scheme = "https" if self.certificate is not None else "http"
        if self.address:
            return (self.address.rstrip("/"),)
        names = ["127.0.0.1", "localhost"] if _is_loopback(self.host) else [self.host]
        return tuple(f"{scheme}://{name}:{self.port}" for name in names)


class Offer(msgspec.Struct, frozen=True):
    """What coordinators may take in on the page."""

    benches: Path | None = None
    """A folder of benches."""
    data: Path | None = None
    """Where their scans lie, if not where the benches say."""

    def check(self) -> None:
        """Refuse folders that are not there."""
        for option, folder in (("--benches", self.benches), ("--data", self.data)):
            if folder is not None and not folder.is_dir():
                raise SitusError(f"{folder} is not a folder", where=option, fix="give a folder")


NOTHING_OFFERED = Offer()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def make_station(
    folder: StationFolder, database: Database, binding: Binding, offer: Offer = NOTHING_OFFERED
) -> Station:
    """The station behind a binding."""
    station = Station(folder, database, binding.origins, binding.behind_proxy)
    station.benches, station.data = offer.benches, offer.data
    if folder.settings.openid is not None:
        back = f"{binding.origins[0]}/api/v1/auth/openid/back"
        station.openid = Provider(folder.settings.openid, back)
    return station


def server_config(app: FastAPI, binding: Binding) -> uvicorn.Config:
    """How the server runs: bounded headers,
    no talk about itself, no address believed but the socket's."""
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http="h11",
        h11_max_incomplete_event_size=_MOST_HEADER,
        timeout_keep_alive=30,
        limit_concurrency=200,
        ssl_certfile=binding.certificate,
        ssl_keyfile=binding.key,
    )


def listen_on(host: str, port: int) -> socket.socket:
    """A socket that listens on an address; port 0 is any free one.

    The protocol is named: asyncio sets TCP_NODELAY only on sockets that name it, and without it
    every answer of two writes waits 40 ms for the browser's acknowledgement.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SitusError(
            f"cannot listen on {host}:{port} ({error.strerror})",
            where="--port",
            fix="choose another port",
        ) from error
    return listener


def serve(
    folder: StationFolder,
    binding: Binding,
    ready: Callable[[str], None] = lambda address: None,
    *,
    offer: Offer = NOTHING_OFFERED,
) -> None:
    """Serve until stopped. `ready` is told the address once connections are taken."""
    binding.check()
    offer.check()
    database = open_database(folder)
    listener = listen_on(binding.host, binding.port)
    if not binding.port:
        binding = msgspec.structs.replace(binding, port=listener.getsockname()[1])
    config = server_config(create_app(make_station(folder, database, binding, offer)), binding)
    ready(binding.origins[0])
    try:
        uvicorn.Server(config).run([listener])
    finally:
        listener.close()
        database.close()
