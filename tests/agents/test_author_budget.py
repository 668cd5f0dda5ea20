"""One purse for all roles of `situs author`: of all sessions, and of all arms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from situs.agents.author import panel_role
from situs.build.authoring import Purse
from situs.build.authoring.roles import Desk
from situs.clients import Asking, Price
from situs.judges import Asker, asker_of
from wire import Server, completion

ANSWER = json.dumps({"action": "answer", "answer": "A"})
PRICE = Price(1.0, 1.0)
TOKENS = 200
"""Of a call, as the server below counts them."""
CALL = 2e-4
"""Dollars of a call: 200 tokens at a dollar for a million."""


async def play(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    reply = completion(ANSWER, 100)
    reply["usage"] = {"prompt_tokens": 100, "completion_tokens": 100, "total_tokens": TOKENS}
    return web.json_response(reply)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(lambda number, body: play) as server:
        yield server


def asker(server: Server, **limits: Any) -> Asker:
    spec = f"{server.spec}?max_tokens=100"
    one = asker_of(spec, "--panel", Asking(no_cache=True, concurrency=1, **limits), None)
    return msgspec.structs.replace(one, price=PRICE)


def ask(desk: Desk, one: Asker, journal: str, count: int) -> None:
    shown = {
        f"q{n}": {"question": f"Which, {n}?", "options": {"A": "a", "B": "b"}} for n in range(count)
    }
    desk.ask(f"panel {journal}", one, panel_role(), shown, journal)


def test_a_resumed_call_does_not_begin_its_budget_anew(server: Server, tmp_path: Path) -> None:
    """Thirty calls may be paid: twenty of them were before the call was killed."""
    one = asker(server)
    before = Desk(tmp_path, restricted=True, purse=Purse(30 * CALL))
    ask(before, one, "first", 20)
    assert len(server.bodies) == 20
    resumed = Desk(tmp_path, restricted=True, purse=Purse(30 * CALL))
    ask(resumed, one, "first", 20)
    ask(resumed, one, "second", 20)
    # The worst case of a call is reserved before it is sent, and is more than what it takes.
    assert 25 <= len(server.bodies) <= 30
    assert resumed.states["panel second"].state == "over_budget"


def test_tokens_are_counted_over_all_roles(server: Server, tmp_path: Path) -> None:
    one = asker(server, max_tokens_total=30 * TOKENS)
    desk = Desk(tmp_path, restricted=True, purse=Purse())
    ask(desk, one, "first", 20)
    ask(desk, one, "second", 20)
    assert 25 <= len(server.bodies) <= 30
    assert desk.states["panel second"].state == "over_budget"


def test_arms_share_one_purse(server: Server, tmp_path: Path) -> None:
    """Two arms with their own journals, as `--arms` asks them."""
    purse = Purse(30 * CALL)
    for arm in ("P", "PW"):
        ask(Desk(tmp_path / arm, restricted=True, purse=purse), asker(server), "first", 20)
    assert 25 <= len(server.bodies) <= 30
