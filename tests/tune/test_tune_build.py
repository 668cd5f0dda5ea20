"""`situs tune build`: what is written, from which patients, and in which words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
