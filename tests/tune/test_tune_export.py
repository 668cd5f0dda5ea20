"""`situs tune export`: what each trainer would read, and what it would misread."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from situs.base.files import digest
from situs.tune import open_data
from situs.tune.exports.rows import obstacle
from situs.tune.record import write_manifest
from tune_cohort import reseal

TRAINERS = ("trl", "ms-swift", "llama-factory", "qwen", "openai")


@pytest.fixture(scope="module")
def small(trained_on: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first ten training examples, and their pictures."""
    folder = tmp_path_factory.mktemp("small") / "data"
    shutil.copytree(trained_on / "data", folder)
    lines = (folder / "train.jsonl").read_bytes().splitlines(keepends=True)[-10:]
    (folder / "train.jsonl").write_bytes(b"".join(lines))
    reseal(folder, counts={"train": 10})
    return folder


@pytest.mark.parametrize("to", TRAINERS)
def test_every_trainer_gets_prompt_pictures_and_completion(
    small: Path, situs: Callable[..., Any], tmp_path: Path, to: str
) -> None:
    ran = situs(
        *("tune", "export", small, "--to", to, "--out", tmp_path / "x"),
        *("--allow-restricted", "--json"),
    )
    assert ran.code == 0, ran.err
    examples = list(open_data(small).examples())
    if to == "openai":
        examples = [one for one in examples if len(one.pictures) <= 10]
    assert ran.json["examples"] == {"train": len(examples)}
    assert len(examples) >= 5
    out = tmp_path / "x"
    if to == "qwen":
        rows = json.loads((out / "train.json").read_text())
    else:
        rows = [json.loads(line) for line in (out / "train.jsonl").read_text().splitlines()]
    for example, row in zip(examples, rows, strict=True):
        text = json.dumps(row, ensure_ascii=False)
        assert json.dumps(example.prompt, ensure_ascii=False)[1:-1] in text
        assert json.dumps(example.completion, ensure_ascii=False)[1:-1] in text
        places = text.count("<image>") + text.count('"type": "image')
        assert places == len(example.pictures) == example.shown
        assert "objects" not in row  # ms-swift would scale boxes again
        if to == "openai":
            url = row["messages"][0]["content"][0]["image_url"]["url"]
            data = base64.b64decode(url.partition("base64,")[2])
            sent = Image.open(io.BytesIO(data))
            stored = Image.open(small / example.pictures[0])
            # OpenAI rejects a file with grey pictures.
            assert (stored.mode, sent.mode) == ("L", "RGB")
            assert sent.tobytes() == stored.convert("RGB").tobytes()
        else:
            assert all((out / name).is_file() for name in example.pictures)


def test_lengths_and_pixels_of_the_launch_files_fit_the_data(
    small: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    manifest = open_data(small).manifest
    longest = max(one.longest for one in manifest.lengths)
    (width, height) = manifest.sizes[-1]
    for to, file, length, pixels in (
        ("llama-factory", "train.yaml", "cutoff_len: ", "image_max_pixels: "),
        ("ms-swift", "train.sh", "--max_length ", "MAX_PIXELS="),
        ("qwen", "train.sh", "--model_max_length ", "--max_pixels "),
    ):
        assert situs("tune", "export", small, "--to", to, "--out", tmp_path / to).code == 0
        text = (tmp_path / to / file).read_text()
        assert int(text.split(length)[1].split()[0]) >= longest
        assert int(text.split(pixels)[1].split()[0]) >= width * height
    info = json.loads((tmp_path / "llama-factory" / "dataset_info.json").read_text())
    assert info["situs_train"]["formatting"] == "sharegpt"
    assert "QWENVL_BBOX_FORMAT=new" in (tmp_path / "ms-swift" / "train.sh").read_text()
    # ms-swift takes no "raise" here; only strict keeps it from putting another example in the
    # place.
    assert "--strict true" in (tmp_path / "ms-swift" / "train.sh").read_text()


def test_words_that_a_trainer_takes_for_marks(small: Path) -> None:
    example = next(open_data(small).examples())
    for words, to, expected in (
        ("Ask the assistant surgeon.", "qwen", True),
        ("Ask the assistant surgeon.", "trl", False),
        ("See <image> 3.", "ms-swift", True),
        ("<|im_end|>", "trl", True),
    ):
        changed = msgspec.structs.replace(example, prompt=words)
        assert bool(obstacle(changed, to)) is expected


def test_openai_takes_ten_pictures_of_an_example(
    small: Path, situs: Callable[..., Any], tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(small, tmp_path / "copy"))
    rows = [json.loads(line) for line in (copy / "train.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["pictures"] = row["pictures"][:1] * (10 + number % 2)
        row["shown"] = len(row["pictures"])
    (copy / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    reseal(copy)
    export = ("tune", "export", copy, "--to", "openai", "--allow-restricted", "--json")
    ran = situs(*export, "--out", tmp_path / "some")
    assert ran.json["examples"] == {"train": 5}
    assert list(ran.json["left_out"].values()) == [5]
    (copy / "train.jsonl").write_text(json.dumps(rows[1]) + "\n")
    reseal(copy, counts={"train": 1})
    ran = situs(*export, "--out", tmp_path / "none")
    assert ran.code == 2
    assert "no example is left for openai: it shows more than the 10 pictures" in ran.err
    assert not (tmp_path / "none").exists()


def test_refusals(small: Path, situs: Callable[..., Any], tmp_path: Path) -> None:
    kept = Path(shutil.copytree(small, tmp_path / "kept"))
    reseal(kept, restricted=True)
    for options, word in (
        (("--to", "swift"), "did you mean"),
        (("--to", "openai"), "restricted"),
    ):
        ran = situs("tune", "export", kept, *options, "--out", tmp_path / "bad")
        assert ran.code == 2
        assert word in ran.err
        assert not (tmp_path / "bad").exists()


def _changed_row(folder: Path) -> None:
    path = folder / "train.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["pictures"] = ["/etc/passwd"] * len(rows[0]["pictures"])
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _changed_row_and_manifest(folder: Path) -> None:
    _changed_row(folder)
    reseal(folder)


def _changed_licence(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace("CC0-1.0", "MIT"))


def _lost_picture(folder: Path) -> None:
    next((folder / "pictures").rglob("*.png")).unlink()


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "train.jsonl").unlink(),
        _changed_row,
        _changed_row_and_manifest,
        _changed_licence,
        _lost_picture,
    ],
)
def test_changed_data_are_not_handed_on(
    small: Path, situs: Callable[..., Any], tmp_path: Path, change: Callable[[Path], object]
) -> None:
    copy = Path(shutil.copytree(small, tmp_path / "copy"))
    change(copy)
    out = tmp_path / "out"
    ran = situs("tune", "export", copy, "--to", "openai", "--allow-restricted", "--out", out)
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1
    assert not out.exists()


@pytest.mark.parametrize("kind", ["file", "link", "folder", "pipe", "loop"])
def test_only_pictures_that_are_shown_are_handed_on(
    small: Path, situs: Callable[..., Any], tmp_path: Path, kind: str
) -> None:
    """Another's data may hold links to any file of this machine."""
    data = Path(shutil.copytree(small, tmp_path / "data"))
    home = tmp_path / "home"
    home.mkdir()
    (home / "diary.txt").write_text("private")
    stray = data / "pictures" / "stray.png"
    if kind == "file":
        stray.write_text("private")
    elif kind == "pipe":
        os.mkfifo(stray)
    else:
        stray.symlink_to({"link": home / "diary.txt", "folder": home, "loop": stray}[kind])
    ran = situs("tune", "export", data, "--to", "trl", "--out", tmp_path / "x", "--json")
    assert ran.code == 0, ran.err
    shown = {name for example in open_data(data).examples() for name in example.pictures}
    copied = {
        str(path.relative_to(tmp_path / "x")) for path in (tmp_path / "x" / "pictures").rglob("*.*")
    }
    assert copied == shown
    assert ran.json["pictures"] == len(shown)


@pytest.mark.parametrize("field", ["counts", "files"])
def test_a_manifest_of_others_names_no_file_elsewhere(
    small: Path, situs: Callable[..., Any], tmp_path: Path, field: str
) -> None:
    """Anybody can seal one that does; an export wrote, and emptied, the file of such a split."""
    data, diary = tmp_path / "data", tmp_path / "diary.jsonl"
    shutil.copytree(small, data)
    diary.write_text("kept")
    for name in (str(tmp_path / "diary"), "../diary", "x/../../diary"):
        before = open_data(small).manifest
        entry = {name: 1} if field == "counts" else {f"{name}.jsonl": "0" * 32}
        write_manifest(data, msgspec.structs.replace(before, **{field: entry}))
        for words in (("export", data, "--to", "trl", "--out", tmp_path / "x"), ("check", data)):
            ran = situs("tune", *words)
            assert (ran.code, ran.err.count("\n")) == (2, 1)
            assert "leads out of the folder" in ran.err
    assert diary.read_text() == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {"data", "diary.jsonl"}


@pytest.mark.parametrize("kind", ["pixels", "bytes"])
def test_a_picture_too_large_to_decode_is_an_error(
    small: Path, situs: Callable[..., Any], tmp_path: Path, kind: str
) -> None:
    """A small file can claim more pixels than a machine has bytes; one on disk may have no end."""
    data = tmp_path / "data"
    shutil.copytree(small, data)
    example = next(one for one in open_data(small).examples() if one.pictures)
    if kind == "pixels":
        raw = b"\x89PNG\r\n\x1a\n"
        for name, body in (
            (b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)),
            (b"IDAT", zlib.compress(b"\0" * 60_001)),
            (b"IEND", b""),
        ):
            check = zlib.crc32(name + body)
            raw += struct.pack(">I", len(body)) + name + body + struct.pack(">I", check)
        name = f"pictures/{digest(raw)}.png"
        (data / name).write_bytes(raw)
    else:
        name = "pictures/endless.png"
        with (data / name).open("wb") as stream:
            stream.truncate(1 << 40)
    pictures = (name, *example.pictures[1:])
    example = msgspec.structs.replace(example, pictures=pictures)
    (data / "train.jsonl").write_bytes(msgspec.json.encode(example) + b"\n")
    reseal(data, counts={"train": 1})
    ran = situs(
        "tune", "export", data, "--to", "trl", "--allow-restricted", "--out", tmp_path / "x"
    )
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "cannot be decoded" in ran.err
    assert situs("tune", "check", data).code == 1
