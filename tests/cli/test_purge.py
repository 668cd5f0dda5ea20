"""`situs purge` removes what Situs cached, and nothing else."""

from __future__ import annotations

import pytest

from situs.clients import CACHE_FILE, Reply, ResponseCache
from situs.profiles import SliceStore


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv("SITUS_CACHE", str(folder))
    responses = ResponseCache(folder)
    responses.put(b"k", Reply("answered", "x"))
    responses.close()
    SliceStore().put("ab" * 16, b"pixels")
    (folder / "mine.txt").write_text("not Situs's")
    return folder


def test_sizes_are_shown_and_nothing_is_removed_unasked(situs, cache) -> None:
    before = sorted(path for path in cache.rglob("*"))
    for args in ((), ("--json",)):
        ran = situs("purge", *args)
        assert ran.code == 0
        assert sorted(path for path in cache.rglob("*")) == before
    sizes = {part["name"]: part["bytes"] for part in ran.json["found"]}
    assert sizes["responses"] == sum(path.stat().st_size for path in cache.glob(f"{CACHE_FILE}*"))
    assert sizes["slices"] > len(b"pixels")
    assert not ran.json["removed"]


def test_with_yes_all_caches_go_and_other_files_stay(situs, cache) -> None:
    ran = situs("purge", "--yes", "--json")
    assert ran.code == 0
    assert [part["files"] for part in ran.json["left"]] == [0, 0, 0]
    assert [path.name for path in cache.rglob("*") if path.is_file()] == ["mine.txt"]


def test_an_empty_cache_is_no_error_and_none_is_made(situs, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "none"))
    assert situs("purge", "--yes").code == 0
    assert not (tmp_path / "none").exists()
