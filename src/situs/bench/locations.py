"""Where the evidence lies on this machine: private, beside the bench, never part of it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from situs.base.files import canonical_json, read_json, write_atomic
from situs.base.remote import arrive, located, url_of
from situs.errors import SitusError

__all__ = ["Locations", "write_locations"]


class Locations:
    """Hash of a piece of evidence → where it lies.

    Paths inside the bench folder are kept relative.
    """

    def __init__(self, bench: Path, table: dict[str, str], data: Path | None = None) -> None:
        self._bench = bench
        self._table = table
        self._data = data

    @classmethod
    def read(cls, bench: Path, data: Path | None = None) -> Locations:
        """The bench's `locations.json`; `data` looks for the same files under another root."""
        path = bench / "locations.json"
        table = read_json(path, dict[str, str]) if path.is_file() else {}
        return cls(bench, table, data)

    def find(self, content_hash: str) -> Path:
        """The path of a piece of evidence; its content is not yet verified."""
        if content_hash not in self._table:
            problem = f"no location for evidence {content_hash[:8]}"
            raise SitusError(problem, where=self._bench, fix="rebuild, or restore locations.json")
        known = located(self._table[content_hash])
        if self._data is not None:
            for start in range(len(known.parts)):
                moved = self._data.joinpath(
                    *[part for part in known.parts[start:] if part not in ("/", "\\")]
                )
                if moved != self._data and moved.exists():
                    return moved
        here = known if known.is_absolute() else self._bench / known
        arrive(here)
        if not here.exists():
            raise SitusError(
                "evidence is no longer there",
                where=here,
                fix="give --data ROOT, the folder it is in",
            )
        return here


def write_locations(bench: Path, places: dict[str, Path]) -> None:
    """Write `locations.json`: hash of the evidence → its path or address."""
    table = {}
    for content_hash, path in places.items():
        try:
            table[content_hash] = str(path.relative_to(bench))
        except ValueError:
            table[content_hash] = url_of(path) or str(path.resolve())
    content = msgspec.json.format(canonical_json(table), indent=2) + b"\n"
    write_atomic(bench / "locations.json", content, private=True)
