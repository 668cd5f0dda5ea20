"""A reading station with two readers and a few cases, and what was exported from it."""

from __future__ import annotations

from pathlib import Path

from attack.program import must

__all__ = ["write"]


def write(folder: Path) -> None:
    """`station`, and its export `readings`."""
    place = folder / "station"
    must("review", "init", place)
    for reader in ("ann", "bob"):
        must("review", "user", place, "add", reader, "--role", "reader")
    bench = folder / "benches" / "scans"
    must("review", "import", place, bench, "--project", "p", "--items", 4)
    must("review", "assign", place, "--project", "p", "--readers", "ann,bob", "--freeze")
    must("review", "export", place, "--project", "p", "--out", folder / "readings")
