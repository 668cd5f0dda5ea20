"""A stored picture is only ever served to a profile that would draw the same pixels."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from situs.bench import open_bench
from situs.items import marks_of
from situs.profiles import Presenter, Profile, SliceStore, load_profile
from situs.profiles.planes import Plane
from situs.profiles.schema import Montage, WindowRule, picture_hash

BASE = msgspec.convert(
    {
        "name": "base",
        "view": {"slices": 3, "size_px": 64},
        "window": {"any": {"low": -200.0, "high": 300.0}},
    },
    Profile,
)
OTHER = {
    "name": "other",
    "window": {"any": WindowRule(low=0.0, high=100.0)},
    "view.kind": "three_views",
    "view.plane": Plane.CORONAL,
    "view.slices": 2,
    "view.every_mm": 60.0,
    "view.index_range": (5, 20),
    "view.fraction_range": (0.3, 0.6),
    "view.limit": 1,
    "view.order": "descending",
    "view.display": "neurological",
    "view.size_px": 48,
    "view.width_px": 40,
    "view.height_px": 56,
    "view.fit": "pad",
    "view.montage": Montage(2, 2, gap_px=3),
    "view.windows": "rgb",
    "view.fps": 2.0,
    "resample.spacing_mm": 4.0,
    "resample.shape": (40, 40, 0),
    "resample.interpolation": "nearest",
    "crop.shape": (60, 60, 0),
    "crop.size_mm": (150.0, 150.0, 0.0),
    "encoding.format": "jpeg",
    "encoding.quality": 30,
    "draw.marks": False,
    "draw.mark_style": "cross",
    "draw.side_letters": True,
    "draw.scale_bar": True,
    "array.axes": "SPL",
    "array.intensity": "stored",
    "array.scale": (0.0, 255.0),
    "array.dtype": "uint8",
    "answer.frame_base": 0,
    "answer.box_scale": "unit",
    "answer.box_order": "xywh",
    "answer.box_form": "volume",
    "gives": ("scale",),
    "about": "another line",
    "reply_language": "de",
}
"""Field → a value that it does not have by default."""
WITH = {
    "view.every_mm": {"view.slices": "all"},
    "view.width_px": {"view.size_px": None, "view.width_px": 64, "view.height_px": 64},
    "view.height_px": {"view.size_px": None, "view.width_px": 64, "view.height_px": 64},
    "view.fit": {"view.size_px": None, "view.width_px": 80, "view.height_px": 48},
    "view.windows": {
        "window": {
            "any": tuple(WindowRule(low=low, high=300.0) for low in (-900.0, -200.0, 0.0)),
        }
    },
    "encoding.quality": {"encoding.format": "jpeg"},
    "resample.interpolation": {"resample.spacing_mm": 4.0},
}
"""Field → what must be set with it, in the base as well, for it to mean something."""


def leaves(table: type[msgspec.Struct], before: str = "") -> Iterator[str]:
    """Every field of a profile by its path; the words of the prompt are one."""
    for field in msgspec.structs.fields(table):
        inner = type(field.default)
        if isinstance(field.default, msgspec.Struct) and field.name != "prompt":
            yield from leaves(inner, f"{before}{field.name}.")
        elif field.name != "prompt":
            yield before + field.name


def changed(profile: Profile, settings: dict[str, object]) -> Profile:
    """The profile with fields set, each given by its path."""
    for path, value in settings.items():
        head, _, rest = path.partition(".")
        inner = getattr(profile, head)
        new = msgspec.structs.replace(inner, **{rest: value}) if rest else value
        profile = msgspec.structs.replace(profile, **{head: new})
    return profile


def test_every_field_is_tried():
    assert set(leaves(Profile)) == OTHER.keys()


@pytest.mark.parametrize("path", OTHER)
def test_no_stale_picture_is_served(bench, path, tmp_path):
    opened = open_bench(bench)
    item = next(item for item in opened.items() if marks_of(item) and item.series == "ct")
    base = changed(BASE, WITH.get(path, {}))
    other = changed(base, {path: OTHER[path]})
    store = SliceStore(tmp_path / "slices")
    Presenter(opened, base, store=store).present(item)
    served = Presenter(opened, other, store=store).present(item).images
    drawn = Presenter(opened, other, store=None).present(item).images
    assert [image.digest for image in served] == [image.digest for image in drawn]


def test_words_share_the_pictures():
    """A reworded profile draws nothing anew."""
    default = load_profile("default")
    reworded = changed(
        default, {"prompt.yes_no": "Yes or no?", "about": "x", "answer.frame_base": 0}
    )
    assert picture_hash(reworded) == picture_hash(default)
    assert reworded.hash != default.hash
