"""Items as a model receives them: exact pictures and words,
nothing that names the answer, one volume at a time."""

from __future__ import annotations

import io

import msgspec
import numpy as np
import pytest
from PIL import Image as Pillow

import situs.profiles.presenter as presenter_module
from situs.bench import open_bench
from situs.errors import SitusError
from situs.items import Item, mark_label
from situs.profiles import Presenter, SliceStore, load_profile, shipped_profiles
from situs.space import Affine, FrameBox, WorldBox, WorldPoints


@pytest.fixture(scope="module")
def items(bench) -> list[Item]:
    return list(open_bench(bench).items())


def pixels(image) -> np.ndarray:
    return np.asarray(Pillow.open(io.BytesIO(image.data)))


def chunks(png: bytes) -> set[bytes]:
    found, at = set(), 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4], "big")
        found.add(png[at + 4 : at + 8])
        at += 12 + size
    return found


def test_pictures_are_those_of_the_layout(bench, items):
    item = next(item for item in items if item.series == "ct")
    shown = Presenter(open_bench(bench), load_profile("default")).present(item)
    assert len(shown.images) == len(shown.layout.frames)
    for image, frame in zip(shown.images, shown.layout.frames):
        assert (image.width, image.height) == (frame.width, frame.height)
        assert pixels(image).shape == (frame.height, frame.width)
        assert image.media_type == "image/png"
        assert chunks(image.data) == {b"IHDR", b"IDAT", b"IEND"}, "no metadata"
    assert item.question in shown.prompt
    assert f"{len(shown.images)} axial CT slices" in shown.prompt


def test_jpeg_has_no_metadata(bench, items):
    shown = Presenter(open_bench(bench), load_profile("full-stack")).present(items[0])
    assert shown.images[0].media_type == "image/jpeg"
    assert Pillow.open(io.BytesIO(shown.images[0].data)).getexif() == {}
    assert b"Exif" not in shown.images[0].data


@pytest.mark.sampled
@pytest.mark.parametrize("name", sorted(shipped_profiles()))
def test_every_shipped_profile_presents_and_judges(bench, items, name):
    presenter = Presenter(open_bench(bench), load_profile(name))
    profile = msgspec.structs.replace(
        presenter.profile, view=msgspec.structs.replace(presenter.profile.view, limit=2)
    )
    small = Presenter(
        open_bench(bench), profile if profile.view.kind == "stack" else presenter.profile
    )
    shown = small.present(items[0])
    assert shown.images
    assert items[0].question in shown.prompt
    assert isinstance(small.hidden(items[0]), tuple)


def test_the_array_comes_with_its_affine(bench, items):
    shown = Presenter(open_bench(bench), load_profile("ct-spatialvqa-merlin")).present(items[0])
    array = shown.volume.array()
    assert array.shape == (224, 224, 160)
    assert (array.min(), array.max()) >= (0.0, 0.0)
    assert array.max() <= 1.0
    assert Affine(shown.volume.affine).spacing_mm == pytest.approx((1.5, 1.5, 3.0))
    again = Presenter(open_bench(bench), load_profile("ct-spatialvqa-m3d")).present(items[0])
    assert again.volume.digest != shown.volume.digest


def test_a_store_makes_each_slice_once(bench, items, tmp_path, monkeypatch):
    store = SliceStore(tmp_path / "s")
    first = Presenter(open_bench(bench), load_profile("default"), store=store)
    seen, why = first.present(items[0]), first.hidden(items[0])

    def refused(*_: object) -> None:
        raise AssertionError("the volume is not needed")

    monkeypatch.setattr(presenter_module, "load_image", refused)
    again = Presenter(open_bench(bench), load_profile("default"), store=store)
    assert again.present(items[0]).images == seen.images
    assert again.hidden(items[0]) == why
    words = msgspec.structs.replace(
        load_profile("default"),
        prompt=msgspec.structs.replace(load_profile("default").prompt, yes_no="Yes or no?"),
    )
    assert Presenter(open_bench(bench), words, store=store).present(items[0]).images == seen.images


def test_a_damaged_slice_is_made_again(bench, items, tmp_path):
    store = SliceStore(tmp_path / "s")
    seen = Presenter(open_bench(bench), load_profile("default"), store=store).present(items[0])
    for path in store.folder.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:100])
    again = Presenter(open_bench(bench), load_profile("default"), store=store).present(items[0])
    assert again.images == seen.images


def test_another_setting_gives_other_entries(bench, items, tmp_path):
    store = SliceStore(tmp_path / "s")
    one = Presenter(open_bench(bench), load_profile("default"), store=store).present(items[0])
    mirrored = msgspec.structs.replace(
        load_profile("default"),
        view=msgspec.structs.replace(load_profile("default").view, display="neurological"),
    )
    two = Presenter(open_bench(bench), mirrored, store=store).present(items[0])
    np.testing.assert_array_equal(pixels(one.images[5]), pixels(two.images[5])[:, ::-1])


def test_one_volume_is_kept(bench, items, monkeypatch):
    loads = []
    own = presenter_module.load_image

    def counted(series, locations):
        loads.append(series.image_hash)
        return own(series, locations)

    monkeypatch.setattr(presenter_module, "load_image", counted)
    presenter = Presenter(open_bench(bench), load_profile("one-slice"))
    for item in items:
        presenter.present(item)
    assert len(loads) == len(set(loads)) == len({item.study_id for item in items})


def test_marks_are_in_the_pixels_and_not_in_the_words(bench, items):
    presenter = Presenter(open_bench(bench), load_profile("default"))
    grid = presenter.series(items[0]).grid
    point = grid.affine.to_world(WorldPoints((np.array([grid.shape]) - 1) / 2))[0]
    x, y, z = (float(v) for v in point)
    marked = msgspec.structs.replace(
        items[0], boxes=(WorldBox((x, y, z), (x, y, z), mark_label("A")),)
    )
    plain, drawn = presenter.present(items[0]), presenter.present(marked)
    changed = [a.digest != b.digest for a, b in zip(plain.images, drawn.images)]
    assert changed.count(True) == 1
    assert f"{x:.1f}" not in drawn.prompt
    assert "letter" in drawn.prompt.split("\n")[0]


def test_a_series_without_an_image_says_so(bench, items):
    presenter = Presenter(open_bench(bench), load_profile("default"))
    presenter._series = {
        k: msgspec.structs.replace(s, image_hash="") for k, s in presenter._series.items()
    }
    with pytest.raises(SitusError, match="no image"):
        presenter.present(items[0])
    assert any("contrast" in doubt for doubt in presenter.verdict(items[0]).unknown)


def test_showing_less_hides_more(bench, items):
    of_one = [item for item in items if item.study_id == items[0].study_id]
    counts = {}
    for name in ("default", "one-slice"):
        presenter = Presenter(open_bench(bench), load_profile(name))
        counts[name] = sum(1 for item in of_one if presenter.hidden(item))
    assert counts["default"] < 0.5 * len(of_one)
    assert counts["one-slice"] == len(of_one), (
        "a volume-level item needs two slices of each structure"
    )


class Stack:
    """A pile of frames, as a reader of HDF5 or PNG gives it:
    (frames, height, width), first row on top."""

    values = frames = np.random.default_rng(0).integers(0, 200, (12, 30, 40)).astype(np.float32)


def test_frames_without_millimetres_are_shown_as_stored(bench, items, monkeypatch):
    presenter = Presenter(open_bench(bench), load_profile("sgmri-frames"))
    series = msgspec.structs.replace(
        presenter.series(items[0]), affine=(), shape=(12, 30, 40), modality="mr", labels_hash=""
    )
    presenter._series = {(items[0].study_id, items[0].series): series}
    monkeypatch.setattr(presenter_module, "load_image", lambda *_: Stack())
    asked = msgspec.structs.replace(items[0], needs=(), boxes=(), frames=(3, 7), level="slice")
    shown = presenter.present(asked)
    assert len(shown.images) == 2
    for image, number in zip(shown.images, (3, 7)):
        frame = Stack.frames[number]
        expected = np.rint((frame - frame.min()) / (frame.max() - frame.min()) * 255)
        assert np.abs(pixels(image).astype(float) - expected).max() <= 1
    assert "2 MR slices" in shown.prompt
    assert shown.volume.affine is None
    assert shown.volume.array().shape == (12, 30, 40)
    assert presenter.hidden(asked) == ()
    marked = msgspec.structs.replace(
        asked, boxes=(FrameBox(7, 20.0, 15.0, 20.0, 15.0, mark_label("A")),)
    )
    changed = [a.digest != b.digest for a, b in zip(shown.images, presenter.present(marked).images)]
    assert changed == [False, True]
