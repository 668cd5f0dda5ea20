"""An agent that speaks the Model Context Protocol lists the tools,
opens a study, looks and measures."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from typing import Any

import msgspec
import pytest

from situs.room import Allowance, load_room
from situs.serve import studies_of
from situs.serve.server import make_server

pytestmark = pytest.mark.mcp


def client_of(target: Any) -> Any:
    return pytest.importorskip("mcp").Client(target)


async def visit(target: Any) -> dict[str, Any]:
    """What an agent does, and what it gets."""
    async with client_of(target) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        listed = (await client.call_tool("list_studies", {})).content[0].text
        opened = (await client.call_tool("open_study", {"study": 1})).content[0].text
        look = await client.call_tool("look", {"plane": "axial", "slice": 20})
        picture, words = look.content
        across = {"a": [1, 100, 50], "b": [1, 200, 50]}
        measured = (await client.call_tool("measure", across)).content[0].text
        bad = await client.call_tool("look", {"plane": "axial", "slice": 10_000})
        return {
            "tools": tools,
            "listed": listed,
            "opened": opened,
            "picture": picture,
            "words": words.text,
            "measured": measured,
            "bad": bad,
        }


def check(got: dict[str, Any], count: int) -> None:
    assert {"list_studies", "open_study", "look", "strip", "window", "mark", "measure"} <= set(
        got["tools"]
    )
    assert len(got["listed"].splitlines()) == count
    assert "Axial slices 1 to" in got["opened"]
    assert got["picture"].mime_type == "image/png"
    scale = float(got["words"].split("one pixel is ")[1].split(" mm")[0])
    assert float(got["measured"].split(" mm")[0]) == pytest.approx(100 * scale, abs=0.1)
    assert got["bad"].is_error
    assert "at most" in got["bad"].content[0].text


def test_over_standard_input_and_output(bench, small) -> None:
    from mcp import StdioServerParameters

    command = ["-m", "situs", "serve", "mcp", str(bench)]
    got = asyncio.run(visit(StdioServerParameters(command=sys.executable, args=command)))
    check(got, 4)
    for secret in (str(bench), str(small), "patient0", "liver", "lesion"):
        assert secret not in got["opened"] + got["listed"] + got["words"]


def test_the_budget_of_the_room_is_told_as_an_error_of_the_tool(bench) -> None:
    room = msgspec.structs.replace(load_room("callipers"), budget=Allowance(looks=1, turns=3))

    async def look_twice() -> list[Any]:
        async with client_of(make_server(studies_of(bench, room))) as client:
            opened = await client.call_tool("open_study", {"study": 1})
            again = {"plane": "axial", "slice": 20}
            return [opened, *[await client.call_tool("look", again) for _ in range(2)]]

    opened, first, second = asyncio.run(look_twice())
    assert "You have 1 look (a strip is one) and 3 turns." in opened.content[0].text
    assert not first.is_error
    assert second.is_error
    assert "no looks are left for this study" in second.content[0].text


def test_over_loopback_http(small) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    scan = next((small / "data" / "patient000").glob("*.nii.gz"))
    command = [
        sys.executable, "-m", "situs", "serve", "mcp", str(scan),
        "--transport", "http", "--port", str(port),
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        for _ in range(3000):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        check(asyncio.run(visit(f"http://127.0.0.1:{port}/mcp")), 1)
    finally:
        process.terminate()
        process.wait(120)
