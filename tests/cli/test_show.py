"""`situs show`: the very pictures and words that a model gets,
for a study, an item, a folder and a sheet."""

from __future__ import annotations

import re

import numpy as np
from PIL import Image

from situs.bench import open_bench
from situs.profiles import Presenter, load_profile, shipped_profiles


def test_a_folder_gets_what_is_sent(situs, bench, tmp_path) -> None:
    item = list(open_bench(bench).items())[3]
    out = tmp_path / "seen"
    ran = situs(
        "show", bench, "--item", item.item_id, "--profile", "three-views", "--out", out, "--json"
    )
    assert (ran.code, ran.err) == (0, "")
    presenter = Presenter(open_bench(bench), load_profile("three-views"))
    sent = presenter.present(item)
    files = sorted(out.glob("*.png"))
    assert [file.read_bytes() for file in files] == [image.data for image in sent.images]
    assert (out / "prompt.txt").read_text() == sent.prompt + "\n"
    assert ran.json["prompt"] == sent.prompt
    assert tuple(ran.json["hidden"]) == presenter.hidden(item)
    assert len(ran.json["layout"]) == 3
    first = ran.json["layout"][0]
    pixel = np.array(first["pixel_to_source"]) @ [5.0, 7.0, 1.0]
    np.testing.assert_allclose(
        pixel, sent.layout.frames[0].to_source(np.array([[5.0, 7.0]]))[0], atol=1e-9
    )
    assert ran.json["array"]["shape"] == list(sent.layout.array_shape("RAS"))


def test_a_sheet_holds_all_pictures(situs, small, tmp_path) -> None:
    study = sorted((small / "data").iterdir())[0]
    for name in ("montage", "three-views", "ct-spatialvqa-medgemma"):
        ran = situs("show", study, "--profile", name, "--out", tmp_path / f"{name}.png")
        assert ran.code == 0
        assert re.search(r"\d+ pictures?, profile", ran.out)
        with Image.open(tmp_path / f"{name}.png") as sheet:
            assert np.asarray(sheet).max() > 100


def test_profiles_are_listed(situs) -> None:
    ran = situs("show", "--list")
    assert ran.code == 0
    assert all(name in ran.out for name in shipped_profiles())
    assert situs("show", "--list", "--json").json == shipped_profiles()


def test_what_is_missing_is_said(situs, bench, tmp_path) -> None:
    for args in ((), (bench,), ("--out", tmp_path / "x")):
        ran = situs("show", *args)
        assert ran.code == 2
        assert "--list" in ran.err
    assert not (tmp_path / "x").exists()


def test_an_item_that_is_hidden_says_why(situs, bench, tmp_path) -> None:
    ran = situs("show", bench, "--profile", "one-slice", "--out", tmp_path / "x.png")
    assert ran.code == 0
    assert "not answerable:" in ran.out
