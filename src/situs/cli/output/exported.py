"""What a command says of files that it wrote for another tool."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from situs.cli.output.printing import print_json, print_table, warn

__all__ = ["print_export"]


class _Exported(Protocol):
    """What an export tells of itself."""

    @property
    def restricted(self) -> bool: ...

    @property
    def left_out(self) -> Mapping[str, int]: ...


def print_export(
    result: _Exported, counts: Mapping[str, int], out: Path, to: str, *, hint: str, as_json: bool
) -> None:
    """How much was written, what was left out and why, and how it is used."""
    if result.restricted:
        warn("this export holds pictures of restricted data: do not share it")
    if as_json:
        print_json(result)
        return
    left_out = {f"left out: {reason}": count for reason, count in result.left_out.items()}
    rows = [[name, f"{count:,}"] for name, count in (*counts.items(), *left_out.items())]
    print_table(f"{out}: for {to}", ["", ""], rows, hint)
