"""gs://, az:// and hf://, by stand-ins that name,
date and list files as gcsfs, adlfs and huggingface_hub do."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

import situs as package
from situs.bench import open_bench

fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'situs[remote]'")
pytestmark = [pytest.mark.remote]

OPEN = {"annotation": "exact", "licence": "CC-BY-4.0"}
PLACES = {"gs": "hospital", "az": "container", "hf": "datasets/clinic/scans"}


def _dated(scheme: str, file: Path) -> dict[str, Any]:
    """How each library tells when a file was changed; the hub tells its content's hash instead."""
    changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    if scheme == "gs":
        return {"updated": changed.isoformat().replace("+00:00", "Z")}
    if scheme == "az":
        return {"last_modified": changed}
    return {"blob_id": f"{zlib.crc32(file.read_bytes()):08x}", "last_commit": None}


@pytest.fixture(params=list(PLACES))
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Path]]:
    """An address and the folder of this machine that lies behind it."""
    from situs.base.remote.store import store_of

    scheme = request.param
    root = tmp_path / "elsewhere"
    (root / PLACES[scheme]).mkdir(parents=True)
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))

    class Store(fsspec.AbstractFileSystem):
        """Names are without scheme and leading slash; folders exist only as prefixes of names."""

        protocol: ClassVar[str] = scheme

        def info(self, path: str, **_: Any) -> dict[str, Any]:
            name = self._strip_protocol(path)
            file = root / name
            if not file.exists():
                raise FileNotFoundError(path)
            if file.is_dir():
                return {"name": name, "size": 0, "type": "directory"}
            size = file.stat().st_size
            return {"name": name, "size": size, "type": "file"} | _dated(scheme, file)

        def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
            folder = root / self._strip_protocol(path)
            if not folder.exists():
                raise FileNotFoundError(path)
            entries = sorted(folder.iterdir()) if folder.is_dir() else [folder]
            infos = [self.info(str(entry.relative_to(root))) for entry in entries]
            return infos if detail else [one["name"] for one in infos]

        def cat_file(
            self, path: str, start: int | None = None, end: int | None = None, **_: Any
        ) -> bytes:
            return (root / self._strip_protocol(path)).read_bytes()[start:end]

        def get_file(self, rpath: str, lpath: str, **_: Any) -> None:
            Path(lpath).write_bytes(self.cat_file(rpath))

        def pipe_file(self, path: str, value: bytes, **_: Any) -> None:
            file = root / self._strip_protocol(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(value)

        def put_file(self, lpath: str, rpath: str, **_: Any) -> None:
            self.pipe_file(rpath, Path(lpath).read_bytes())

        def rm_file(self, path: str) -> None:
            (root / self._strip_protocol(path)).unlink()

    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, scheme, Store)
    store_of.cache_clear()
    yield f"{scheme}://{PLACES[scheme]}", root / PLACES[scheme]
    store_of.cache_clear()


@pytest.fixture(scope="session")
def scans(once: Callable, label_phantoms: Callable) -> Path:
    return once("remote-scans", lambda folder: label_phantoms(folder, 1, 2))


def test_python_functions_read_and_write_addresses(
    store: tuple[str, Path], scans: Path, tmp_path: Path
) -> None:
    address, folder = store
    for file in (one for one in scans.rglob("*") if one.is_file()):
        target = folder / "scans" / file.relative_to(scans)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())

    here = package.build.masks(scans, out=tmp_path / "bench", **OPEN)
    bench = package.build.masks(f"{address}/scans", out=f"{address}/bench", **OPEN)
    assert bench.info.content_hash == here.info.content_hash
    assert bench.built is not None
    assert open_bench(folder / "bench").info.content_hash == here.info.content_hash
    assert not list((tmp_path / "cache").glob("situs-remote-out/**/bench.json"))

    assert package.check(f"{address}/bench").errors == 0
    run = package.run(f"{address}/bench", "oracle", out=f"{address}/runs/oracle")
    assert (folder / "runs/oracle/run.json").is_file()
    assert package.score(f"{address}/bench", run).headline.value == 1.0
    package.report(f"{address}/runs/oracle", out=f"{address}/report.html", pictures=0)
    assert (folder / "report.html").read_bytes().lstrip().lower().startswith(b"<!doctype html")
    again = package.run(f"{address}/bench", "oracle", out=f"{address}/runs/oracle")
    assert again.requests == 0  # what was published is fetched and nothing is asked twice


def test_restricted_data_leave_python_only_if_allowed(store: tuple[str, Path], scans: Path) -> None:
    address, folder = store
    with pytest.raises(package.SitusError, match="the data are restricted"):
        package.build.masks(scans, out=f"{address}/bench", annotation="exact")
    assert not (folder / "bench").exists()
    private = package.build.masks(
        scans, out=f"{address}/bench", annotation="exact", allow_remote=True
    )
    assert private.info.restricted
    with pytest.raises(package.SitusError, match="the data are restricted"):
        package.run(private, "prior", out=f"{address}/runs/prior")
    with pytest.raises(package.SitusError, match="must be a local path"):
        package.show(private, out=f"{address}/seen.png")
    package.build.phantoms(1, out=f"{address}/phantoms", per_study=3)  # nobody's data
    assert (folder / "phantoms/bench.json").is_file()
