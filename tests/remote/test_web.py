"""Data on a web server, with and without parts of files, and at file:// addresses."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytestmark = [pytest.mark.remote, pytest.mark.filterwarnings("ignore")]


class _Handler(SimpleHTTPRequestHandler):
    """Lists folders; gives parts of files where the server is told so."""

    ranges = False

    def log_message(self, *_: object) -> None:
        pass

    def end_headers(self) -> None:
        if self.ranges:
            self.send_header("Accept-Ranges", "bytes")
        super().end_headers()

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        path = Path(self.translate_path(self.path))
        if not (self.ranges and wanted and path.is_file()):
            super().do_GET()
            return
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        content = path.read_bytes()[int(first) : int(last) + 1]
        self.send_response(206)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture(scope="session")
def scans(once, label_phantoms) -> Path:
    """A patient as a folder of masks."""
    return once("web-scans", lambda folder: label_phantoms(folder, 3, 1))


@pytest.fixture(params=["whole files", "parts of files"])
def server(request, scans, tmp_path, monkeypatch) -> Iterator[str]:
    """A web server on this machine that shows the scans."""
    pytest.importorskip("fsspec", reason="needs fsspec: pip install 'situs[remote]'")
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    handler = type("Handler", (_Handler,), {"ranges": request.param == "parts of files"})
    web = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(scans)))
    threading.Thread(target=web.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{web.server_port}"
    web.shutdown()
    web.server_close()


def test_a_file_and_a_folder_of_a_web_server(server, situs, scans, monkeypatch) -> None:
    from situs.base.remote import fetch

    monkeypatch.setattr(fetch, "_PIECE", 700)
    study = "patient000/segmentations"
    for name in (f"{study}/liver.nii.gz", study):
        there = situs("measure", f"{server}/{name}", "--json")
        assert there.code == 0, there.err
        assert there.json == situs("measure", scans / name, "--json").json


def test_what_is_not_there_and_writing_are_one_line(server, situs, scans) -> None:
    absent = situs("measure", f"{server}/nobody.nii.gz")
    assert absent.code == 2
    assert "no such file" in absent.err
    build = ("build", "masks", scans, "--annotation", "exact", "--licence", "CC0-1.0", "--out")
    refused = situs(*build, f"{server}/bench")
    assert refused.code == 2
    assert "read only" in refused.err
    assert len(refused.err.strip().splitlines()) == 1


def test_a_file_address_is_a_path(situs, scans, tmp_path) -> None:
    liver = scans / "patient000" / "segmentations" / "liver.nii.gz"
    assert situs("measure", liver.as_uri(), "--json").json == situs("measure", liver, "--json").json
    out = tmp_path / "a bench"
    command = ("build", "masks", scans.as_uri(), "--annotation", "exact", "--out", out.as_uri())
    ran = situs(*command)
    assert ran.code == 0, ran.err
    assert (out / "bench.json").is_file()


def test_files_beside_shipped_names_have_addresses_too(situs, scans, tmp_path) -> None:
    """A name map, a profile, a room and a bank are named, or are files anywhere."""
    import shutil
    from importlib.resources import files

    from situs.anatomy import load_vocabulary
    from situs.anatomy.banks import load_bank
    from situs.profiles import load_profile
    from situs.room import load_room

    names = tmp_path / "names.csv"
    names.write_text("label,name\n1,liver\n2,spleen\n")
    assert load_vocabulary(names.as_uri()).labels == {1: "liver", 2: "spleen"}
    for package, name, load in (
        ("situs.profiles", "default", load_profile),
        ("situs.room", "frugal", load_room),
        ("situs.anatomy.banks", "moaks-knee", load_bank),
    ):
        file = tmp_path / f"{name}.toml"
        shutil.copyfile(str(files(package).joinpath("data", f"{name}.toml")), file)
        assert load(file.as_uri()) == load(name)  # type: ignore[operator]
