"""Results for an address: made on this machine,
then published whole, the file that makes them valid last."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import msgspec

from situs.base.remote.fetch import make_private
from situs.base.remote.store import NOTHING_THERE, everything_below, patiently
from situs.base.remote.urls import OUT_FOLDER, is_plain_part, is_url, local_path
from situs.errors import SitusError

__all__ = ["Outgoing", "outgoing"]

_LAST = ("bench.json", "run.json", "shard.json", "manifest.json", "tune.json")
"""Without its own of these a folder is no bench, run or export:
a half-published one is taken for nothing."""


_FILES = (".html", ".png", ".json", ".jsonl", ".csv")
"""What commands write as one file."""


_LOCATIONS = "locations.json"
"""Of benches and runs: where the evidence lies.

Paths of this machine may name patients and stay here.
"""


class Published(msgspec.Struct, frozen=True):
    """What was put at the address."""

    files: int
    bytes: int


class Outgoing(msgspec.Struct, frozen=True):
    """A result on its way."""

    url: str
    path: Path
    """Where it is made."""

    @property
    def _journal(self) -> Path:
        return self.path.with_name(f".{self.path.name}.published")

    @property
    def _finished(self) -> Path:
        return self.path.with_name(f".{self.path.name}.finished")

    def is_finished_by(self, key: str) -> bool:
        """Whether the same command has made it before and could not publish all of it."""
        return self._finished.is_file() and self._finished.read_text() == key

    def begin(self, *, resumes: bool, overwrite: bool) -> None:
        """Look at the address before work begins:
        fetch what a run resumes, refuse to mix with what is there."""
        make_private(self.path.parent)
        if resumes:
            if not self.path.exists():
                self._pull()
            return
        if self._finished.exists():  # of another command
            self.forget()
        if self.url.endswith(_FILES):
            return  # one file is replaced in one step
        names = self._names()
        ours = not names.isdisjoint(_LAST)
        if names and not (overwrite and ours):
            fix = "choose another --out" + (" or add --overwrite" if ours else "")
            raise SitusError("exists and is not empty", where=self.url, fix=fix)

    def publish(self, key: str, *, replaces: bool) -> Published:
        """Put it at the address, file by file; after a broken connection, the same command puts
        what is left.

        `replaces`: files of an earlier result that this one does not have are removed.
        """
        self._finished.write_text(key)
        files = _files(self.path)
        put = self._put_before()
        if not put:
            self._withdraw(files)
        with self._journal.open("a", encoding="utf-8") as journal:
            for file in files:
                mark = _mark(file, self.path)
                if mark not in put:
                    self._put(file)
                    journal.write(f"{mark}\n")
                    journal.flush()
        if replaces and self.path.is_dir():
            self._remove_stale(files)
        total = sum(file.stat().st_size for file in files)
        self.forget()
        return Published(len(files), total)

    def forget(self) -> None:
        """Remove what is on this machine."""
        if self.path.is_dir():
            shutil.rmtree(self.path, ignore_errors=True)
        for file in (self.path, self._journal, self._finished):
            with suppress(OSError):
                file.unlink()

    def _pull(self) -> None:
        """An unfinished run, as it was published."""
        for name in sorted(self._names()):
            if all(map(is_plain_part, name.split("/"))):
                target, source = self.path / name, f"{self.url}/{name}"
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                patiently(source, "get_file", source, str(target))

    def _names(self) -> set[str]:
        """What lies at the address already."""
        try:
            return {name for name, _ in everything_below(self.url)}
        except SitusError as error:
            if error.problem == NOTHING_THERE:
                return set()
            raise

    def _address(self, file: Path) -> str:
        if file == self.path:
            return self.url
        return f"{self.url}/{file.relative_to(self.path).as_posix()}"

    def _put(self, file: Path) -> None:
        address = self._address(file)
        if file.name == _LOCATIONS:
            raw = _addresses_only(file)
            patiently(address, "pipe_file", address, raw)
        else:
            patiently(address, "put_file", str(file), address)

    def _withdraw(self, files: list[Path]) -> None:
        """Take away what makes an earlier result valid, so that nobody reads a mixture of both."""
        for file in files:
            if file.name in _LAST:
                self._remove(self._address(file))

    def _remove_stale(self, files: list[Path]) -> None:
        for name in self._names() - {file.relative_to(self.path).as_posix() for file in files}:
            self._remove(f"{self.url}/{name}")

    @staticmethod
    def _remove(address: str) -> None:
        with suppress(SitusError):
            patiently(address, "rm_file", address)

    def _put_before(self) -> set[str]:
        with suppress(FileNotFoundError):
            return set(self._journal.read_text("utf-8").splitlines())
        return set()


def outgoing(url: str) -> Outgoing | None:
    """What is to be made for an address; None for `file://`, which is a path."""
    path = local_path(url, OUT_FOLDER)
    if url.lower().startswith("file:"):
        return None
    if url.startswith("http"):
        fix = "give an s3://, gs://, az:// or hf:// address, or a path"
        raise SitusError("web servers are read only", where=url, fix=fix)
    return Outgoing(url.rstrip("/"), path)


def _files(path: Path) -> list[Path]:
    """All files, those that make the folder valid last."""
    if path.is_file():
        return [path]
    files = [Path(root, name) for root, _, names in os.walk(path) for name in names]
    return sorted(files, key=lambda file: (file.name in _LAST, file))


def _addresses_only(file: Path) -> bytes:
    table = msgspec.json.decode(file.read_bytes(), type=dict[str, str])
    public = {
        key: text for key, text in table.items() if is_url(text) or not Path(text).is_absolute()
    }
    return msgspec.json.format(msgspec.json.encode(public), indent=2) + b"\n"


def _mark(file: Path, folder: Path) -> str:
    status = file.stat()
    name = file.name if file == folder else file.relative_to(folder).as_posix()
    return f"{status.st_size} {status.st_mtime_ns} {name}"
