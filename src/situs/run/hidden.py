"""`hidden.jsonl`: the items a profile does not let anyone answer, and why."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import msgspec

from situs.base.files import bounded_lines
from situs.errors import SitusError
from situs.run.append_file import AppendFile

__all__ = ["SET_ASIDE", "HiddenItems", "HiddenReasons", "HiddenRow", "read_hidden"]

SET_ASIDE = "shown, but set aside: the profile hides more of its twins with other answers"
"""Why an item that can be seen does not count:
what counts would otherwise have some answers oftener than others."""


class HiddenRow(msgspec.Struct, frozen=True):
    """One line of `hidden.jsonl`."""

    item_id: str
    reasons: tuple[str, ...]


def read_hidden(path: Path) -> dict[str, tuple[str, ...]]:
    """Item → reasons; nothing if there is no such file. A line cut off by a crash is left out."""
    result: dict[str, tuple[str, ...]] = {}
    if not path.is_file():
        return result
    with path.open("rb") as stream:
        lines = [line for line in bounded_lines(stream, path) if line.endswith(b"\n")]
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=HiddenRow)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise SitusError(
                str(error), where=f"{path}:{number}", fix="delete the file and run again"
            ) from error
        result[row.item_id] = row.reasons
    return result


class HiddenReasons:
    """Items that are hidden, and why, kept in memory."""

    def __init__(self) -> None:
        self.reasons: dict[str, tuple[str, ...]] = {}

    def add(self, item_id: str, reasons: tuple[str, ...]) -> None:
        """Remember an item that is hidden."""
        if reasons:
            self.reasons.setdefault(item_id, reasons)


class HiddenItems(HiddenReasons):
    """The file while a run goes on. An item stands in it before it is asked."""

    def __init__(self, path: Path) -> None:
        self._file = AppendFile(path)
        self.reasons = read_hidden(path)

    def add(self, item_id: str, reasons: tuple[str, ...]) -> None:
        """Write down an item that is hidden, once."""
        if reasons and item_id not in self.reasons:
            self.reasons[item_id] = reasons
            self._file.add(HiddenRow(item_id, reasons))

    def __enter__(self) -> HiddenItems:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
