"""`situs tune build`: what is written, from which patients, and in which words."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image as Pictures

from bench_rows import rows_of, write_rows
from situs.bench import open_bench
from situs.clients import Settings
from situs.profiles import Presenter, load_profile
from situs.run import requests_for
from situs.run.hidden import HiddenItems
from situs.tune import BOX_FORMS, TARGETS, open_data
from situs.tune.wording import training_profile

KEYS = ("item_id", "prompt", "completion")


def build(situs: Callable[..., Any], bench: Path, out: Path, *options: object) -> Any:
    """Build without pictures, which is quicker."""
    return situs(
        *("tune", "build", bench, "--profile", "sgmri-frames", "--allow-restricted"),
        *("--no-pictures", "--json", "--out", out, *options),
    )


def test_the_prompt_is_byte_for_byte_what_a_run_sends(trained_on: Path, tmp_path: Path) -> None:
    data = open_data(trained_on / "data")
    bench = open_bench(trained_on / "bench")
    presenter = Presenter(bench, load_profile(str(trained_on / "data" / "profile.toml")))
    examples = {one.item_id: one for one in data.examples()}
    items = [item for item in bench.items("train") if item.item_id in examples][::7]
    with HiddenItems(tmp_path / "hidden.jsonl") as hidden:
        for request in requests_for(items, presenter, Settings(), hidden):
            example = examples[request.key]
            assert example.prompt == request.text()
            sent = [image.data for image in request.images()]
            assert sent == [(data.folder / name).read_bytes() for name in example.pictures]


def test_no_patient_is_in_two_splits_and_none_is_of_the_test_split(trained_on: Path) -> None:
    data = open_data(trained_on / "data")
    patients = {split: {e.patient_id for e in data.examples(split)} for split in ("train", "val")}
    test = {item.patient_id for item in open_bench(trained_on / "bench").items("test")}
    assert patients["train"]
    assert test
    assert not patients["train"] & patients["val"]
    assert not (patients["train"] | patients["val"]) & test


def test_pictures_are_shared_and_named_by_content(trained_on: Path) -> None:
    data = open_data(trained_on / "data")
    shown = [name for one in data.examples() for name in one.pictures]
    files = list((data.folder / "pictures").rglob("*.png"))
    assert len(files) == data.manifest.pictures < len(shown)


def test_the_same_call_gives_the_same_bytes(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        assert build(situs, trained_on / "bench", tmp_path / name).code == 0
    for name in ("train.jsonl", "manifest.json", "profile.toml", "README.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_test_split_is_refused(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    ran = build(situs, trained_on / "bench", tmp_path / "out", "--split", "test")
    assert ran.code == 2
    assert "evaluation only" in ran.err
    assert not (tmp_path / "out").exists()


def test_a_test_patient_in_the_training_table_is_refused(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    shutil.copytree(trained_on / "bench", tmp_path / "bench")
    rows = rows_of(tmp_path / "bench", "items")
    row = next(row for row in rows if row["split"] == "test")
    row["split"] = "train"
    write_rows(tmp_path / "bench", "items", rows)
    ran = build(situs, tmp_path / "bench", tmp_path / "out")
    assert ran.code == 2, ran.out
    assert row["patient_id"] in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.sampled
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_scored_right(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path, target: str
) -> None:
    assert build(situs, trained_on / "bench", tmp_path / "d", "--target", target).code == 0
    checked = situs("tune", "check", tmp_path / "d", "--limit", 120, "--json")
    assert checked.json["problems"] == []
    assert checked.json["examples"] > 20


@pytest.mark.sampled
@pytest.mark.parametrize("form", sorted(BOX_FORMS))
def test_every_box_form_comes_back_within_half_a_unit(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path, form: str
) -> None:
    size = ("--size", 112) if form == "qwen2.5" else ()
    ran = build(situs, trained_on / "bench", tmp_path / "d", "--box-form", form, *size)
    assert ran.code == 0, ran.err
    checked = situs("tune", "check", tmp_path / "d", "--limit", 120, "--json")
    assert checked.json["problems"] == [], form


def test_pixels_of_a_resized_picture_need_a_size_that_is_not_resized(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    ran = build(situs, trained_on / "bench", tmp_path / "d", "--box-form", "qwen2.5")
    assert ran.code == 2
    assert "multiple of 28" in ran.err
    assert "--size" in ran.err


def test_negatives_get_their_share(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    for share in (0.0, 0.25):
        out = tmp_path / str(share)
        assert build(situs, trained_on / "bench", out, "--negatives", share).code == 0
        rows = [json.loads(line) for line in (out / "train.jsonl").read_text().splitlines()]
        negative = sum(row["negative"] for row in rows)
        if share:
            # Each is drawn by itself: within three standard deviations of its share.
            spread = (share * (1 - share) / len(rows)) ** 0.5
            assert abs(negative / len(rows) - share) < 3 * spread + 0.02
        else:
            assert negative == 0


def test_mix_and_bad_options(trained_on: Path, situs: Callable[..., Any], tmp_path: Path) -> None:
    bench = trained_on / "bench"
    ran = build(situs, bench, tmp_path / "d", "--mix", "detection=0,captioning=0")
    assert set(ran.json["by_task"]).isdisjoint({"detection", "captioning"})
    for options, word in (
        (("--mix", "detektion=1"), "did you mean"),
        (("--mix", "detection=2"), "share"),
        (("--negatives", "1"), "share"),
        (("--target", "boxs"), "did you mean"),
        (("--box-form", "qwen"), "did you mean"),
        (("--frames", "some"), "number of slices"),
    ):
        ran = build(situs, bench, tmp_path / "bad", *options)
        assert ran.code == 2, options
        assert word in ran.err
        assert not (tmp_path / "bad").exists()


def test_a_knee_is_asked_for_its_box_once() -> None:
    """Box and grades are parts of one answer: the words about grades stay as they are in it."""
    profile = load_profile("3dreasonknee-qwen")
    form = BOX_FORMS["json"]
    changed = training_profile(profile, "reasoning+boxes+answer", form)
    assert changed.prompt.grades == profile.prompt.grades
    assert changed.answer == profile.answer  # one box per volume stays one box per volume
    assert "{coordinates}" in changed.prompt.yes_no
    again = training_profile(changed, "reasoning+boxes+answer", form)
    assert again.prompt.yes_no == changed.prompt.yes_no


def test_examples_that_are_too_long_are_left_out_and_counted(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    assert build(situs, trained_on / "bench", tmp_path / "all").code == 0
    tokens = [example.tokens for example in open_data(tmp_path / "all").examples()]
    limit = sorted(tokens)[len(tokens) // 2]
    ran = build(situs, trained_on / "bench", tmp_path / "short", "--max-length", limit)
    assert ran.code == 0, ran.err
    data = open_data(tmp_path / "short")
    assert [example.tokens for example in data.examples()] == [n for n in tokens if n <= limit]
    reason = f"more than {limit:,} tokens (--max-length)"
    val = [example.tokens for example in open_data(tmp_path / "all").examples("val")]
    assert ran.json["left_out"][reason] == sum(n > limit for n in tokens + val)
    assert data.manifest.max_length == limit
    nothing = build(situs, trained_on / "bench", tmp_path / "none", "--max-length", 5)
    assert nothing.code == 2
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("grey", [7, None])
def test_a_picture_that_was_learnt_from_is_not_watched_on(
    trained_on: Path,
    situs: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    grey: int | None,
) -> None:
    """The same picture in train and val:
    the later example is left out, unless the picture shows nothing."""
    ramp = np.full((72, 96), grey, np.uint8) if grey else np.arange(72 * 96).reshape(72, 96) % 251
    buffer = io.BytesIO()
    Pictures.fromarray(ramp.astype(np.uint8)).save(buffer, "png")
    real = Presenter.present

    def alike(self: Any, item: Any) -> Any:
        shown = real(self, item)
        images = [msgspec.structs.replace(one, data=buffer.getvalue()) for one in shown.images]
        return dataclasses.replace(shown, images=tuple(images))

    monkeypatch.setattr(Presenter, "present", alike)
    ran = situs(
        *("tune", "build", trained_on / "bench", "--profile", "sgmri-frames"),
        *("--mix", "detection=0,localization=0,counting=0", "--allow-restricted", "--json"),
        *("--out", tmp_path / "d"),
    )
    assert ran.code == 0, ran.err
    reason = "one of its pictures is also in train"
    assert ran.json["pictures"] == 1
    assert ("val" in ran.json["examples"]) is bool(grey)
    assert (reason in ran.json["left_out"]) is not bool(grey)


@pytest.mark.parametrize(
    "edit", [{"licence": "MIT"}, {"bench": "another"}, {"seed": 5}, {"target": "boxes"}]
)
def test_a_manifest_that_was_edited_is_refused(
    trained_on: Path, situs: Callable[..., Any], tmp_path: Path, edit: dict[str, object]
) -> None:
    for name in ("train.jsonl", "profile.toml"):
        (tmp_path / name).write_bytes((trained_on / "data" / name).read_bytes())
    manifest = json.loads((trained_on / "data" / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | edit))
    ran = situs("tune", "check", tmp_path)
    assert ran.code == 2
    assert "was changed after it was written" in ran.err
    assert len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize("name", BOX_FORMS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_control_has_the_profile_of_its_box_supervised_arm(name: str, target: str) -> None:
    """Whatever the form of the boxes: `--target answer --profile boxes/profile.toml`."""
    boxes = training_profile(load_profile("sgmri-frames"), target, BOX_FORMS[name])
    control = training_profile(boxes, "answer", BOX_FORMS["qwen3"])
    assert control == boxes
