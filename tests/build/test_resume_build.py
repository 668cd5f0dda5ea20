"""An interrupted build keeps its finished studies; the same command resumes with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from situs.bench import open_bench
from situs.build import BuildOptions, build_phantoms, study
from situs.facts import load_recipe


def _options() -> BuildOptions:
    return BuildOptions(name="bench", recipe=load_recipe(None), tasks="volume")


def _stop_after_one(done: int, _: int) -> None:
    if done == 1:
        raise KeyboardInterrupt


@pytest.mark.usefixtures("coarse_phantoms")
def test_finished_studies_are_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_phantoms(2, tmp_path / "straight" / "bench", _options())
    out = tmp_path / "bench"
    with pytest.raises(KeyboardInterrupt):
        build_phantoms(2, out, _options(), _stop_after_one)
    assert not out.exists()
    processed = []
    process = study.process

    def counted(job: study.StudyJob) -> study.StudyOutcome:
        processed.append(job.study_id)
        return process(job)

    monkeypatch.setattr(study, "process", counted)
    build_phantoms(2, out, _options())
    assert processed == ["phantom-0-0001"]
    assert open_bench(out).info == open_bench(tmp_path / "straight" / "bench").info
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bench", "straight"]
