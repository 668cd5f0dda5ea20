"""Small files that hold much, and files that are none,
are refused before they cost memory or time."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from situs.anatomy.banks.bank import load_bank
from situs.base.files import parse_toml
from situs.bench import StudyRecord, content_hash, open_bench
from situs.bench.tables import read_table
from situs.build.imports.reasonknee import load_fields
from situs.clients.asking.prices import price_of
from situs.clients.spec import parse_spec
from situs.errors import SitusError
from situs.facts.grades.columns import load_columns
from situs.facts.recipe import load_recipe
from situs.items.programs.bank import read_bank
from situs.profiles.files import load_profile
from situs.review.station.protocol import load_protocol
from situs.room.files import load_room
from situs.tune.training.config import load_config
from situs.volumes import limits, open_stack


def test_a_small_table_with_huge_cells_is_refused(bench: Path, tmp_path: Path) -> None:
    made = Path(shutil.copytree(bench, tmp_path / "bench"))
    table = pq.read_table(made / "items.parquet")
    huge = pa.array(["x" * (5 << 20)] * table.num_rows)
    position = table.schema.get_field_index("question")
    pq.write_table(
        table.set_column(position, "question", huge), made / "items.parquet", compression="zstd"
    )
    assert (made / "items.parquet").stat().st_size < 1 << 20
    pa.default_memory_pool().release_unused()
    before = pa.total_allocated_bytes()
    with pytest.raises(SitusError, match=r"question: a cell of 5 MiB"):
        next(iter(open_bench(made).items()))
    assert pa.total_allocated_bytes() - before < 1 << 30
    assert content_hash(made)


def test_a_text_that_many_rows_repeat_is_unpacked_in_pieces(bench: Path, tmp_path: Path) -> None:
    """Each cell is allowed, and stored once: the file is small, all rows together are not."""
    row = pq.read_table(bench / "studies.parquet").slice(0, 1)
    position = row.schema.get_field_index("patient_id")
    row = row.set_column(position, row.schema.field(position), pa.array(["x" * 1_000_000]))
    path = tmp_path / "studies.parquet"
    pq.write_table(pa.concat_tables([row] * 300), path, compression="zstd")
    before = pa.total_allocated_bytes()
    most = max(pa.total_allocated_bytes() - before for _ in read_table(path, StudyRecord))
    assert most < 200 << 20


def test_pictures_that_would_not_fit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        Image.new("L", (512, 512)).save(tmp_path / f"{number}.png")
    assert open_stack(tmp_path).array().shape == (4, 512, 512)
    monkeypatch.setattr(limits, "max_bytes", lambda: 1 << 19)
    with pytest.raises(SitusError, match="exceed the limit"):
        open_stack(tmp_path)


def test_pictures_of_different_depth_become_one_array(tmp_path: Path) -> None:
    deep = np.arange(64, dtype=np.uint16).reshape(8, 8) * 1000
    Image.fromarray(deep).save(tmp_path / "0.png")
    Image.new("L", (8, 8), 7).save(tmp_path / "1.png")
    stack = open_stack(tmp_path).array()
    assert np.array_equal(stack[0], deep)
    assert np.all(stack[1] == 7)


def test_the_limit_follows_the_machine() -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < limits.max_bytes() < memory / 2


@pytest.mark.parametrize(
    "words",
    [
        ("import", "items", "{pipe}", "--out", "out"),
        ("import", "sgmri-vqa", "{pipe}", "--out", "out"),
        ("build", "boxes", "{pipe}", "--out", "out"),
        ("build", "reports", "{pipe}", "--out", "out"),
        ("build", "grades", "{pipe}", "--out", "out"),
        ("build", "masks", "{pipe}", "--out", "out"),
        ("measure", "{pipe}"),
        ("score", "{bench}", "{pipe}"),
        ("run", "{bench}", "--model", "replay:{pipe}", "--out", "out"),
        ("run", "{bench}", "--model", "random", "--profile", "{pipe}", "--out", "out"),
        ("build", "phantoms", "--studies", "1", "--recipe", "{pipe}", "--out", "out"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
@pytest.mark.parametrize("suffix", [".csv", ".json", ".toml", ".nii.gz"])
def test_a_pipe_is_not_read(situs, bench, tmp_path, monkeypatch, words, suffix) -> None:
    """Reading one that nobody writes to would wait for ever."""
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    monkeypatch.chdir(tmp_path)
    ran = situs(*(word.format(pipe=pipe, bench=bench) for word in words))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == [pipe.name]


_LOADERS: dict[str, Callable[[Path], object]] = {
    "room": lambda path: load_room(str(path)),
    "recipe": load_recipe,
    "columns": load_columns,
    "config": lambda path: load_config(str(path)),
    "profile": lambda path: load_profile(str(path)),
    "bank": lambda path: load_bank(str(path)),
    "fields": load_fields,
    "prices": lambda path: price_of(parse_spec("openai:m"), remote=True, prices=path),
    "protocol": lambda path: load_protocol(str(path)),
    "wordings": read_bank,
}


@pytest.mark.parametrize("loader", _LOADERS.values(), ids=_LOADERS)
@pytest.mark.parametrize(
    "text",
    ["a." * 2_000 + "b = 1", "[a" + '. "b"' * 2_000 + "]", "a = {b" + " . 'c'" * 2_000 + " = 1}"],
    ids=["key", "table", "inline"],
)
def test_a_key_of_many_parts_is_refused(tmp_path: Path, loader, text) -> None:
    """Python's reader keeps every beginning of it: two megabytes would take terabytes."""
    path = tmp_path / "given.toml"
    path.write_text(text)
    with pytest.raises(SitusError, match="a key of more than 32 parts"):
        loader(path)


@pytest.mark.parametrize("unit", ["a", "a.", '"', "'", '"a".', ". ", "a . ", '"a" ', "[[a]]\n"])
def test_looking_for_long_keys_takes_as_long_as_the_text(unit) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        begun = time.thread_time()
        with contextlib.suppress(ValueError):
            parse_toml("x = 1 # " + text.replace("\n", " "))
        return time.thread_time() - begun

    assert seconds(1 << 18) < 16 * max(seconds(1 << 16), 0.005)


def test_what_is_nested_too_deeply_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "given.toml"
    path.write_text("a = " + "[" * 5_000)
    for loader in _LOADERS.values():
        with pytest.raises(SitusError, match="nested too deeply"):
            loader(path)
