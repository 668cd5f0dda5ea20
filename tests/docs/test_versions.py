"""Docs of several versions side by side: which are offered, and where one starts."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

from packaging.version import Version

import situs

_ROOT = Path(__file__).parents[2]
_SCRIPT = _ROOT / "docs" / "write_version.py"


def test_one_version_and_date_in_program_citation_and_changelog() -> None:
    changes = (_ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## \[(.+)\] - (\d{4}-\d\d-\d\d)$", changes, re.M)
    assert newest is not None
    cited = (_ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {newest[1]}\ndate-released: {newest[2]}\n" in cited
    unreleased = changes.partition("## Unreleased")[2].partition("\n## ")[0]
    # Between releases the program is a development version of the next: two trees that differ must
    # not both call themselves what was released.
    released, own = Version(newest[1]), Version(situs.__version__)
    assert own > released and own.is_devrelease if unreleased.strip() else own == released
    assert changes.index("## Unreleased") < newest.start()


def test_pages_offer_every_version_the_newest_first(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("write_version", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("0.2.0", "0.10.0", "0.9.1", "dev"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sitemap.xml").touch()
    (tmp_path / "assets").mkdir()
    assert module.write_versions(tmp_path) == ["0.10.0", "0.9.1", "0.2.0", "dev"]
    rows = json.loads((tmp_path / "versions.json").read_text())
    # The fields that mike writes, and mkdocs-material reads.
    assert rows[0] == {"version": "0.10.0", "title": "0.10.0", "aliases": ["latest"]}
    assert [row["aliases"] for row in rows[1:]] == [[], [], []]
    assert 'url=0.10.0/"' in (tmp_path / "index.html").read_text()
    assert 'url=../0.10.0/"' in (tmp_path / "latest" / "index.html").read_text()
    assert module.write_versions(tmp_path) == ["0.10.0", "0.9.1", "0.2.0", "dev"]
