"""Writes constraints.txt: every package that the environments of the Makefile need, at one version.

What the file names keeps its version; `--upgrade` takes the newest of all.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_FILE = _ROOT / "constraints.txt"
_WANTED = (".[dev,browser,ray,remote,mcp,library,bench,docs]", "moto[server]>=5")


def resolved(*options: str) -> dict[str, str]:
    """Name and version of all that pip would install into an empty environment."""
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run([*pip, "--report", report, *options, *_WANTED], cwd=_ROOT, check=True)
        found = [entry["metadata"] for entry in json.loads(report.read_text("utf-8"))["install"]]
    return {re.sub(r"[-_.]+", "-", one["name"]).lower(): one["version"] for one in found}


def main() -> None:
    """Resolve and write."""
    is_upgrade = "--upgrade" in sys.argv
    known = dict(line.split("==") for line in _FILE.read_text("utf-8").split())
    pins = resolved(*(() if is_upgrade else ("-c", str(_FILE))))
    pins.pop("situs")
    # What only other systems need is not resolved on this one.
    pins = known | pins
    _FILE.write_text("".join(f"{name}=={pins[name]}\n" for name in sorted(pins)), "utf-8")


if __name__ == "__main__":
    main()
