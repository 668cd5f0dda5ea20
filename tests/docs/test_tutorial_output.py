"""What the tutorial prints for a real abdomen is what the program prints."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.docs

_TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
_ABDOMEN = Path(os.environ.get("SITUS_REAL_DATA", "../shared/data")) / "volumes" / "totalseg_s0009"


def rows_of(text: str) -> list[str]:
    """Its lines, however wide the terminal sets the tables, without the lines that rule them."""
    words = [" ".join(line.split()) for line in text.splitlines()]
    return [row for row in words if row and not set(row) <= {"─", " "}]


def shown(first: str) -> list[str]:
    """The block of the tutorial that begins with these words."""
    blocks = re.findall(r"(?ms)^```text\n(.*?)^```", _TUTORIAL.read_text("utf-8"))
    (block,) = [rows_of(block) for block in blocks if " ".join(block.split()).startswith(first)]
    return block


@pytest.mark.skipif(not _ABDOMEN.is_dir(), reason=f"{_ABDOMEN} is not here (SITUS_REAL_DATA)")
def test_the_real_abdomen(
    situs: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ids, and with them the draw of like questions, hang on the user's key.
    monkeypatch.setenv("SITUS_ID_KEY", "0123456789abcdef0123")
    bench, seen = tmp_path / "bench", tmp_path / "seen.png"
    measured = situs("measure", _ABDOMEN / "segmentations", "--pairs", "touching")
    assert set(shown("structure label")) <= set(rows_of(measured.out))
    built = situs("build", "masks", _ABDOMEN, "--annotation", "automatic", "--out", bench)
    asked = shown("bench: 16 questions")
    assert rows_of(built.out.replace(str(bench), "bench"))[: len(asked)] == asked
    checked = situs("check", bench)
    assert rows_of(checked.out)[-1] == shown("16 items")[-1]
    prompt = situs("show", bench, "--profile", "default", "--out", seen)
    # What is said of the pictures; which question comes first hangs on the key as well.
    said = [row.replace(str(seen), "seen.png") for row in rows_of(prompt.out)]
    assert said[:2] == shown("seen.png")[:2]
