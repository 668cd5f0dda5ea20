"""Pictures that withhold the scan: black, as many as there were, each as large as its own."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image

from situs.items import Item, YesNo
from situs.probe.blind import Blank
from situs.profiles import Profile, VolumeInput, load_profile

SIZES = [(4, 6), (5, 7), (4, 6), (6, 4)]
ITEM = Item("i", "s", "ct", "p", "t", "yes_no", "Is it?", YesNo(True))


def presenter(profile: Profile) -> Any:
    """Shows frames of these heights and widths."""
    frames = [SimpleNamespace(height=height, width=width) for height, width in SIZES]
    return SimpleNamespace(
        profile=profile,
        layout=lambda item: SimpleNamespace(frames=frames),
        prompt=lambda item: "Is it?",
        volume=lambda item: VolumeInput(lambda: np.ones((2, 2, 2)), None, "scan"),
    )


@pytest.mark.parametrize("encoding", ["png", "jpeg"])
def test_blank_pictures_are_black_and_as_large_as_those_withheld(encoding: str) -> None:
    profile = load_profile("default")
    encoded = msgspec.structs.replace(profile.encoding, format=encoding)
    profile = msgspec.structs.replace(profile, encoding=encoded)
    shown = Blank(presenter(profile), {}).present(ITEM)  # type: ignore[arg-type]
    assert [(image.height, image.width) for image in shown.images] == SIZES
    assert {image.media_type for image in shown.images} == {f"image/{encoding}"}
    for image, size in zip(shown.images, SIZES, strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(image.data)))
        assert pixels.shape == size
        assert not pixels.any()
    assert not shown.volume.array().any()
