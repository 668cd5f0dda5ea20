"""Questions from words, asked with the scan they speak of:
found by the volume's name, as it was released."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nibabel as nib
import numpy as np
import pytest

from wire import Server, pictures_in, words_of

NAMES = ("valid_1_a_1", "valid_2_a_1", "valid_3_a_1")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release of three volumes, of which two lie in the folders of CT-RATE."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("SITUS_CACHE", str(tmp_path / "cache"))
    for number, name in enumerate(NAMES[:2]):
        path = tmp_path / "ct-rate" / name[:7] / name[:9] / f"{name}.nii.gz"
        path.parent.mkdir(parents=True)
        values = np.full((12, 12, 6), -1000, dtype=np.int16)
        values[3:9, 3 + number : 9] = 40
        nib.save(nib.Nifti1Image(values, np.diag([-4.0, -4.0, 5.0, 1.0])), path)
    sides = ("left", "right", "left")
    reports = {
        f"{name}.nii.gz": {"Findings_EN": f"A nodule in the {side} lung."}
        for name, side in zip(NAMES, sides)
    }
    Path("reports.json").write_text(
        json.dumps(reports | {"valid_0_a_1.nii.gz": reports["valid_1_a_1.nii.gz"]})
    )
    pairs = {
        f"{name}.nii.gz": {"qa_pairs": [{"question": "Where is it?", "answer": "Left."}]}
        for name in NAMES
    }
    Path("qa.json").write_text(json.dumps(pairs))
    return tmp_path


@pytest.mark.parametrize(
    ("source", "lacking"),
    [
        (("import", "ct-spatialvqa", "qa.json"), "1 of 3"),
        (("build", "reports", "reports.json"), "2 of 4"),
    ],
)
def test_a_model_is_shown_the_volume(
    source: tuple[str, ...], lacking: str, work: Path, situs: Callable[..., Any]
) -> None:
    built = situs(*source, "--images", "ct-rate", "--out", "bench", "--json")
    assert built.code == 0, built.err
    assert [p["problem"][:6] for p in built.json["problems"] if p["code"] == "image"] == [lacking]
    assert situs("check", "bench").code == 0
    assert "ct-rate" not in (work / "bench" / "bench.json").read_text()
    with Server() as server:
        ran = situs("run", "bench", "--model", server.spec, "--out", "run", "--json")
        assert ran.code == 0, ran.err
        pictures = [pictures_in(body) for body in server.bodies]
        assert not any("valid" in words_of(body) for body in server.bodies)
    assert ran.json["states"] == {"answered": built.json["items"]}
    # Of reports with the same words the one whose volume is there is asked about.
    assert sum(count > 0 for count in pictures) == 2
    assert len(ran.json["notes"]) == (source[0] == "import"), "one volume is lacking"
    first = next((work / "ct-rate").rglob("valid_1_a_1.nii.gz"))
    first.write_bytes(next((work / "ct-rate").rglob("valid_2_a_1.nii.gz")).read_bytes())
    checked = situs("check", "bench", "--json")
    assert (checked.code, [p["code"] for p in checked.json["problems"]]) == (1, ["image"])


def test_volumes_that_cannot_be_told(work: Path, situs: Callable[..., Any]) -> None:
    (work / "empty").mkdir()
    none = situs("build", "reports", "reports.json", "--images", "empty", "--out", "bench")
    nowhere = situs("import", "ct-spatialvqa", "qa.json", "--images", "nowhere", "--out", "bench")
    (work / "ct-rate" / "valid_1_a_1.nii").write_bytes(b"")
    twice = situs("import", "ct-spatialvqa", "qa.json", "--images", "ct-rate", "--out", "bench")
    assert [ran.code for ran in (none, nowhere, twice)] == [2, 2, 2]
    assert "holds no volume of the questions" in none.err
    assert "no such folder" in nowhere.err
    assert "two volumes are called 'valid_1_a_1'" in twice.err
    (work / "ct-rate" / "valid_1_a_1.nii").rename(work / "ct-rate" / "valid_3_a_1.nii")
    broken = situs("build", "reports", "reports.json", "--images", "ct-rate", "--out", "bench")
    assert broken.code == 2
    skipped = situs(
        "build",
        "reports",
        "reports.json",
        "--images",
        "ct-rate",
        "--skip-bad",
        "--out",
        "bench",
        "--json",
    )
    assert skipped.code == 0, skipped.err
    assert [p["where"] for p in skipped.json["problems"] if p["severity"] == "error"] == [
        "valid_3_a_1"
    ]
