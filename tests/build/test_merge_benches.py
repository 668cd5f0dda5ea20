"""Whole benches put together: what one reads in each stays, and what contradicts is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from situs.bench import open_bench


@pytest.fixture(scope="module")
def hospitals(situs, label_phantoms, tmp_path_factory) -> Path:
    """Two cohorts of two patients each, and a bench of each."""
    root = tmp_path_factory.mktemp("hospitals")
    for name, seed in (("east", 31), ("west", 32)):
        label_phantoms(root / name, seed, 2)
        for number, folder in enumerate(sorted((root / name).iterdir())):
            folder.rename(root / name / f"{name}{number}")
        ran = situs(
            *(
                "build",
                "masks",
                root / name,
                "--annotation",
                "exact",
                "--out",
                root / f"bench-{name}",
            )
        )
        assert ran.code == 0, ran.err
    return root


def test_the_questions_of_both_stay_and_are_proved(situs, hospitals, tmp_path) -> None:
    benches = [hospitals / "bench-east", hospitals / "bench-west"]
    out = tmp_path / "both"
    ran = situs("merge", *benches, "--out", out, "--json")
    assert ran.code == 0, ran.err
    merged = open_bench(out)
    texts = {
        item.item_id: (item.question, item.answer, item.stratum)
        for bench in benches
        for item in open_bench(bench).items()
    }
    assert {i.item_id: (i.question, i.answer, i.stratum) for i in merged.items()} == texts
    assert merged.info.counts["studies"] == 4
    checked = situs("check", out, "--json")
    assert checked.code == 0, checked.out
    assert checked.json["recomputed"] == len(texts)


def test_what_contradicts_is_named(situs, hospitals, tmp_path) -> None:
    east = hospitals / "bench-east"
    copy = tmp_path / "copy"
    shutil.copytree(east, copy)
    twice = situs("merge", east, copy, "--out", tmp_path / "never")
    assert twice.code == 2
    study = next(iter(open_bench(east).studies())).study_id
    assert f"study {study} is in" in twice.err
    other = tmp_path / "other"
    seeded = ("--annotation", "exact", "--seed", 5, "--out", other)
    assert situs("build", "masks", hospitals / "west", *seeded).code == 0
    unlike = situs("merge", east, other, "--out", tmp_path / "never")
    assert unlike.code == 2
    assert "different seed" in unlike.err
    assert not (tmp_path / "never").exists()
