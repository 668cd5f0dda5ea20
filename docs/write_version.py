"""Files beside versions of the docs: `versions.json`, from which pages offer the others, and where
one starts.

    python docs/write_version.py site

Every folder of `site` with an `index.html` of its own is a version. The form of `versions.json` is
that of mike, which mkdocs-material reads (`extra.version.provider`); no branch and no network is
needed to write it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

_NUMBER = re.compile(r"\d+(\.\d+)*")
_LATEST = "latest"
_START = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Situs</title>
<meta http-equiv="refresh" content="0; url={to}">
<p>The docs are <a href="{to}">here</a>.</p>
</html>
"""


def versions_in(site: Path) -> list[str]:
    """The newest release first; what is no release (`dev`) last."""
    folders = [entry.name for entry in site.iterdir() if (entry / "sitemap.xml").is_file()]
    numbered = [name for name in folders if _NUMBER.fullmatch(name)]
    numbered.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    return numbered + sorted(set(folders) - set(numbered))


def write_versions(site: Path) -> list[str]:
    """Write the list, and pages at the root and under `latest/` that lead to the newest release."""
    names = versions_in(site)
    rows = [
        {"version": name, "title": name, "aliases": [_LATEST] if name == names[0] else []}
        for name in names
    ]
    (site / "versions.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    (site / _LATEST).mkdir(exist_ok=True)
    (site / _LATEST / "index.html").write_text(_START.format(to=f"../{names[0]}/"), "utf-8")
    (site / "index.html").write_text(_START.format(to=f"{names[0]}/"), "utf-8")
    return names


if __name__ == "__main__":
    print(*write_versions(Path(sys.argv[1])))
