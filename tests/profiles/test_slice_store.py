"""The slice store: what goes in comes out, whoever else writes;
damage is found, size is bounded, nobody else reads."""

from __future__ import annotations

import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from situs.base.files import digest
from situs.errors import SitusError
from situs.profiles import SliceStore


def content(number: int, size: int = 2000) -> bytes:
    return digest(str(number), size=64).encode() * (size // 128)


def keys(store: SliceStore) -> list[Path]:
    return [path for path in store.folder.rglob("*") if path.is_file()]


def test_what_is_put_is_got(tmp_path):
    store = SliceStore(tmp_path / "s")
    assert store.get(digest("a")) is None
    store.put(digest("a"), b"pixels")
    assert store.get(digest("a")) == b"pixels"
    assert SliceStore(tmp_path / "s").get(digest("a")) == b"pixels"
    store.put(digest("a"), b"other pixels")
    assert store.get(digest("a")) == b"other pixels"


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "magic", "swapped"])
def test_a_damaged_entry_is_found_and_removed(tmp_path, damage):
    store = SliceStore(tmp_path / "s")
    for name in ("a", "b"):
        store.put(digest(name), content(len(name) + ord(name)))
    path = store.folder / digest("a")[:2] / digest("a")[2:]
    raw = path.read_bytes()
    changed = {
        "empty": b"",
        "cut": raw[:-7],
        "flipped": raw[:-1] + bytes([raw[-1] ^ 1]),
        "magic": b"x" + raw[1:],
        "swapped": (store.folder / digest("b")[:2] / digest("b")[2:]).read_bytes(),
    }
    path.write_bytes(changed[damage])
    assert store.get(digest("a")) is None
    assert not path.exists()
    store.put(digest("a"), b"made again")
    assert store.get(digest("a")) == b"made again"


def test_only_the_user_can_read(tmp_path):
    store = SliceStore(tmp_path / "s")
    store.put(digest("a"), b"pixels")
    modes = {
        path: stat.S_IMODE(path.stat().st_mode) for path in (store.folder, *store.folder.rglob("*"))
    }
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items())
    store.folder.chmod(0o755)
    SliceStore(tmp_path / "s")
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700


def test_the_longest_unused_go_first(tmp_path):
    store = SliceStore(tmp_path / "s", max_bytes=200_000)
    for number in range(60):
        store.put(digest(str(number)), content(number))
        path = store.folder / digest(str(number))[:2] / digest(str(number))[2:]
        os.utime(path, (number, number))
    os.utime(store.folder / digest("0")[:2] / digest("0")[2:], (1e9, 1e9))
    for number in range(60, 100):
        store.put(digest(str(number)), content(number))
    assert sum(path.stat().st_size for path in keys(store)) <= 200_000
    assert store.get(digest("0")) == content(0), "it was used last"
    assert store.get(digest("1")) is None
    assert store.get(digest("99")) == content(99)


def test_what_does_not_fit_is_not_kept(tmp_path):
    store = SliceStore(tmp_path / "s", max_bytes=10_000)
    store.put(digest("big"), b"x" * 20_000)
    assert keys(store) == []


def test_purge_removes_entries_and_leavings_only(tmp_path):
    store = SliceStore(tmp_path / "s")
    for number in range(5):
        store.put(digest(str(number)), content(number))
    shelf = next(path for path in store.folder.iterdir() if path.is_dir())
    (shelf / ".x.1234.part").write_bytes(b"of a killed writer")
    (store.folder / "notes.txt").write_text("mine")
    freed = store.purge()
    assert freed.entries == 6
    assert [path.name for path in store.folder.rglob("*")] == ["notes.txt"]


def test_a_full_or_read_only_disk_only_forgets(tmp_path, monkeypatch):
    store = SliceStore(tmp_path / "s")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "open", full)
    store.put(digest("a"), b"pixels")
    monkeypatch.undo()
    assert store.get(digest("a")) is None
    assert keys(store) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SitusError, match="SITUS_CACHE"):
        SliceStore(tmp_path / "file" / "s")


def test_the_default_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "c"))
    assert SliceStore().folder == tmp_path / "c" / "slices"


def _work(folder: Path, seed: int, bad: list[str]) -> None:
    store = SliceStore(folder, max_bytes=300_000)
    for step in range(150):
        number = (step * (seed + 3)) % 90
        found = store.get(digest(str(number)))
        if found is not None and found != content(number):
            bad.append(f"{number} is not what was put")
        if found is None:
            store.put(digest(str(number)), content(number))


def test_several_processes_share_a_store(tmp_path):
    """They write, read and evict at once; nobody ever reads what was not put."""
    context = multiprocessing.get_context("fork")
    with context.Manager() as manager:
        bad = manager.list()
        workers = [
            context.Process(target=_work, args=(tmp_path / "s", seed, bad)) for seed in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(30)
        assert list(bad) == []
        assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    store = SliceStore(tmp_path / "s", max_bytes=300_000)
    store.trim()
    assert 0 < sum(path.stat().st_size for path in keys(store)) <= 300_000
    assert not [path for path in keys(store) if path.name.endswith(".part")]
