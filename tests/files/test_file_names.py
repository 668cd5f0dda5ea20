"""What comes from data and becomes a file name stays inside its folder."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situs.base.files import file_name, part_path, write_atomic
from situs.bench import TableWriter, content_hash, open_bench
from situs.items import Item

HOSTILE = [
    "../out",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/b",
    "a\\b",
    "C:\\x",
    "nul",
    "con.txt",
    "x\0y",
    ".hidden",
]


@given(st.one_of(st.text(), st.sampled_from(HOSTILE)))
def test_a_name_is_one_plain_part(text: str) -> None:
    name = file_name(text)
    assert Path(name).name == name
    assert name.isascii()
    assert name.isprintable()
    assert not set(name) & set('/\\:*?"<>| ')
    assert not name.startswith((".", "-"))
    assert len(name) <= 80
    assert file_name(name) == name


@pytest.mark.parametrize("plain", ["test", "train_1", "qwen3-vl-8b", "a.b"])
def test_a_plain_name_stays(plain: str) -> None:
    assert file_name(plain) == plain


def test_different_names_stay_different() -> None:
    assert len({file_name(text) for text in HOSTILE}) == len(HOSTILE)


@pytest.mark.sampled
@pytest.mark.parametrize("to", ["hf", "lmms-eval", "vlmevalkit", "inspect"])
def test_an_export_of_anothers_bench_stays_in_its_folder(situs, bench, tmp_path, to) -> None:
    """Split, task and name of a bench that somebody else made lead nowhere."""
    made = Path(shutil.copytree(bench, tmp_path / "deep" / "bench"))
    items = [
        msgspec.structs.replace(item, split="../../escaped", task="/tmp/escaped")
        for item in open_bench(made).items()
    ]
    with TableWriter(made / "items.parquet", Item) as table:
        table.write(items)
    info = json.loads((made / "bench.json").read_bytes())
    info |= {"name": "../../escaped", "content_hash": content_hash(made)}
    (made / "bench.json").write_text(json.dumps(info))
    situs("export", made, "--to", to, "--limit", 3, "--out", tmp_path / "deep" / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep"]
    assert {path.name for path in (tmp_path / "deep").iterdir()} <= {"bench", "out"}


def test_no_name_beside_a_file_keeps_it_from_being_written(tmp_path: Path) -> None:
    """Names of unfinished files hold the number of the process that writes them."""
    part = part_path(tmp_path / "report.html").name
    for number in ("9" * 20, "9" * 9, "0"):
        (tmp_path / part.replace(f"-{os.getpid()}-", f"-{number}-")).touch()
    write_atomic(tmp_path / "report.html", "page")
    assert (tmp_path / "report.html").read_text() == "page"
