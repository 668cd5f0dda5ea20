"""A reading station with two readers and a few cases, what was exported from it, and how it is
read."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from attack.program import must

__all__ = ["write"]


def write(folder: Path) -> None:
    """`station`, its export `readings`, a station that is `empty`, and a `protocol.toml`."""
    place = folder / "station"
    must("review", "init", place)
    for reader in ("ann", "bob"):
        must("review", "user", place, "add", reader, "--role", "reader")
    bench = folder / "benches" / "scans"
    must("review", "import", place, bench, "--project", "p", "--items", 4)
    must("review", "assign", place, "--project", "p", "--readers", "ann,bob", "--freeze")
    must("review", "export", place, "--project", "p", "--out", folder / "readings")
    must("review", "init", folder / "empty")
    shipped = files("situs.review.station").joinpath("data", "protocols.toml").read_text("utf-8")
    default = shipped.partition("[default]")[2].partition("\n[")[0]
    (folder / "protocol.toml").write_text(f"[mine]{default}\n", encoding="utf-8")
