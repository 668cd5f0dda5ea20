"""`openai:MODEL@URL1,URL2`: one model behind several servers, each request sent to one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

from situs.clients.protocol import Client, ClientDefaults, Reply, Request

__all__ = ["ServerPool", "server_urls"]

_FIRST_REST = 1.0
"""Seconds a server that failed is left alone; doubled with each failure in a row."""
_LONGEST_REST = 60.0
_SLACK = 2
"""How many more calls the server that knows a study's pictures may have in flight than the idlest
one.

A server keeps the beginning of earlier prompts, the pictures, in its cache; another would read them
anew.
"""


def server_urls(url: str) -> tuple[str, ...]:
    """The addresses in the URL part of a spec, in the order given, each once."""
    return tuple(dict.fromkeys(part for part in url.split(",") if part))


class _Server:
    """One of the servers, and how it does."""

    def __init__(self, url: str, client: Client) -> None:
        self.host = urlsplit(url).netloc
        self.client = client
        self.in_flight = 0
        self.failures = 0
        self.rests_until = 0.0
        self.out = False
        """It will answer nothing, whatever it is asked (a wrong key, an unknown model)."""
        self.pictures = ""
        """Digest of the first picture it was last sent."""
        self.notices_taken = 0


class ServerPool(ClientDefaults):
    """Sends each request to the server with the fewest calls in flight, and elsewhere if that one
    fails.

    A server that fails rests, longer each time; one that denies everything is left out. Only when
    every server has failed a request does it come back as failed.
    """

    def __init__(self, name: str, members: Sequence[tuple[str, Client]]) -> None:
        self.name = name
        self._servers = [_Server(url, client) for url, client in members]
        first = self._servers[0].client
        self.settings = first.settings
        self.versions = first.versions
        self.takes_volume = first.takes_volume
        self.batch = sum(server.client.batch for server in self._servers)
        self.remote = any(server.client.remote for server in self._servers)
        keys = [server.client.cache_key for server in self._servers]
        self.cache_key = None if None in keys else " ".join(sorted(filter(None, keys)))
        self.notices: list[str] = []

    async def answer(self, request: Request) -> Reply:
        """The first reply that is not a server's failure."""
        tried: list[_Server] = []
        pictures = request.images()
        first_picture = pictures[0].digest if pictures else ""
        reply = Reply("failed", error="no server is left to ask", fatal=True, fault="denied")
        while (server := self._choose(tried, first_picture)) is not None:
            tried.append(server)
            reply = await self._ask(server, request, first_picture)
            if reply.state != "failed" or (reply.fatal and not reply.fault):
                break
        return reply

    async def close(self) -> None:
        """Close every connection."""
        for server in self._servers:
            await server.client.close()

    def _choose(self, tried: Sequence[_Server], first_picture: str) -> _Server | None:
        """The server to ask next; None once all that could be asked were tried."""
        left = [server for server in self._servers if not server.out and server not in tried]
        if not left:
            return None
        now = asyncio.get_running_loop().time()
        awake = [server for server in left if server.rests_until <= now]
        if not awake:
            # Every other server failed just now too: the one that rested longest is asked, so that
            # a request never waits here. Pace and patience are the session's.
            return min(left, key=lambda server: server.rests_until) if not tried else None
        fewest = min(server.in_flight for server in awake)
        knows = [server for server in awake if first_picture and server.pictures == first_picture]
        idle = [server for server in knows if server.in_flight <= fewest + _SLACK]
        return min(idle or awake, key=lambda server: server.in_flight)

    async def _ask(self, server: _Server, request: Request, first_picture: str) -> Reply:
        server.in_flight += 1
        server.pictures = first_picture or server.pictures
        try:
            reply = await server.client.answer(request)
        finally:
            server.in_flight -= 1
        self._judge_health(server, reply)
        for notice in server.client.notices[server.notices_taken :]:
            server.notices_taken += 1
            if notice not in self.notices:
                self.notices.append(notice)
        return reply

    def _judge_health(self, server: _Server, reply: Reply) -> None:
        if reply.state != "failed" or (reply.fatal and not reply.fault):
            server.failures = 0
            return
        server.failures += 1
        pause_s = min(_LONGEST_REST, _FIRST_REST * 2.0 ** (server.failures - 1))
        if reply.retry_after is not None:
            pause_s = max(pause_s, reply.retry_after)
        server.rests_until = asyncio.get_running_loop().time() + pause_s
        others = any(not other.out for other in self._servers if other is not server)
        if reply.fault == "denied" and others and not server.out:
            server.out = True
            self.notices.append(f"{server.host} was dropped: it does not answer ({reply.error})")
