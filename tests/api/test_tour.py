"""The notebook of the docs, cell by cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TOUR = Path(__file__).parents[2] / "docs" / "tour.ipynb"


@pytest.mark.usefixtures("coarse_phantoms")
def test_the_tour_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(TOUR.read_text())["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells), "a notebook is committed without its outputs"
    names: dict[str, object] = {}
    for number, cell in enumerate(cells, start=1):
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    assert names["checked"].errors == 0
    assert names["scores"].headline.value == 1.0
    assert (tmp_path / "report.html").stat().st_size > 10_000
