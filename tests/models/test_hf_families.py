"""`hf:` with the families it names, without torchvision."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_families import FAMILIES

from situs.clients import Reply, Request, parse_spec

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("default")]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_sees_its_pictures_in_batches(
    family: str, ask: Callable[..., Request], tmp_path: Path
) -> None:
    from situs.clients.hf.client import make_hf

    write, per_picture = FAMILIES[family]
    folder = tmp_path / family
    folder.mkdir()
    write(folder)
    counts = [1, 1, 2, 4, 4, 0, 2]
    requests = [ask(images=count, seed=number) for number, count in enumerate(counts)]

    async def answers(batch: int) -> list[Reply]:
        client = make_hf(parse_spec(f"hf:{folder}?batch={batch}"))
        replies = await asyncio.gather(*(client.answer(request) for request in requests))
        await client.close()
        return list(replies)

    alone = asyncio.run(answers(1))
    assert [(reply.state, reply.error) for reply in alone] == [("answered", "")] * len(counts)
    assert [reply.usage["image_tokens"] for reply in alone] == [
        count * per_picture for count in counts
    ]
    assert asyncio.run(answers(4)) == alone
