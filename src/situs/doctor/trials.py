"""Trials of the kernels, the renderer and the wire."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["TRIALS"]

_RADIUS_MM = 20.0


def _kernels(folder: Path) -> str:
    """Measure a ball and compare with its formulas."""
    import nibabel

    from situs.facts import measure_file
    from situs.space import Affine, Grid
    from situs.volumes.phantoms import Sphere, rasterize

    ball = Sphere(centre_mm=(0.0, 0.0, 0.0), radius_mm=_RADIUS_MM)
    matrix = np.eye(4)
    matrix[:3, 3] = -24.5
    voxels = rasterize(ball, Grid((50, 50, 50), Affine(matrix))).astype(np.uint8)
    nibabel.save(nibabel.Nifti1Image(voxels, matrix), folder / "ball.nii.gz")
    measured = measure_file(
        folder / "ball.nii.gz", names=None, pairs=None, annotation="exact", details=True
    )
    (structure,) = measured.structures
    share = structure.volume_ml * 1000.0 / ball.volume_mm3
    extent = structure.extent_mm["left_right"]
    if abs(share - 1.0) > 0.01 or abs(extent - 2 * _RADIUS_MM) > 1.0:
        raise ValueError(f"volume {share:.4f} × the formula, extent {extent:.1f} mm")
    return f"a ball: {share:.4f} × its volume, {extent:.0f} mm wide"


def _renderer(folder: Path) -> str:
    """Make the pictures that a model would see of a phantom, and look at one."""
    import PIL.Image

    from situs.bench import open_bench
    from situs.probe.ball_phantoms import write_ball_bench
    from situs.profiles import Presenter, load_profile

    write_ball_bench(folder / "bench", trials=1, seed=0)
    bench = open_bench(folder / "bench")
    images = Presenter(bench, load_profile("default")).present(next(bench.items())).images
    pictures = [PIL.Image.open(io.BytesIO(image.data)).convert("L") for image in images]
    # The ball is brighter than the window, air darker.
    darkest = min(low for low, _ in (picture.getextrema() for picture in pictures))
    brightest = max(high for _, high in (picture.getextrema() for picture in pictures))
    if (darkest, brightest) != (0, 255):
        raise ValueError(f"grey values from {darkest} to {brightest}, not from 0 to 255")
    width, height = pictures[0].size
    return f"{len(pictures)} pictures of {width} × {height} pixels"


def _wire(folder: Path) -> str:
    """Ask a server on this machine, picture included, as a model would be asked."""
    from situs.clients import run_to_end

    return run_to_end(_ask_loopback)


async def _ask_loopback() -> str:
    from aiohttp import web

    from situs.base.files import digest
    from situs.clients import Image, Message, Request, make_client, parse_spec

    received: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        received.append(await request.json())
        choice = {"index": 0, "finish_reason": "stop", "message": {"content": "yes"}}
        return web.json_response({"choices": [choice], "usage": {"prompt_tokens": 1}})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        client = make_client(parse_spec(f"openai:doctor@http://127.0.0.1:{port}/v1"))
        try:
            data = b"\x89PNG\r\n\x1a\n"
            picture = Image(data, "image/png", digest(data), 1, 1)
            request = Request("doctor", (Message("user", (picture, "Is it there?")),))
            reply = await client.answer(request)
        finally:
            await client.close()
    finally:
        await runner.cleanup()
    if reply.text != "yes" or "image_url" not in str(received):
        raise ValueError(f"{reply.state} {reply.error}".strip())
    return "a question with a picture was answered on loopback"


TRIALS: dict[str, Callable[[Path], str]] = {
    "measures (compiled kernels)": _kernels,
    "renders": _renderer,
    "asks over the wire": _wire,
}
