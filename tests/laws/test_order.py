"""Law 9, order: jobs, places, order of inputs and of answers change nothing;
same seed, same bytes."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a bench but the private locations."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "locations.json"
    }


@pytest.fixture(scope="module")
def phantoms(situs, tmp_path_factory) -> Path:
    """Two phantoms, one worker."""
    out = tmp_path_factory.mktemp("one") / "bench"
    assert situs("build", "phantoms", "--studies", 2, "--seed", 3, "--out", out).code == 0
    return out


def test_another_process_place_and_number_of_workers_give_the_same_bytes(
    phantoms, tmp_path
) -> None:
    """Also with another hash seed, so that no set or dict order shows."""
    out = tmp_path / "deep" / "er" / "bench"
    args = ["build", "phantoms", "--studies", "2", "--seed", "3", "--jobs", "2", "--out", str(out)]
    environment = os.environ | {"PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    subprocess.run(
        [sys.executable, "-m", "situs", *args],
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    assert files(out) == files(phantoms)


def test_a_report_has_the_same_bytes_whatever_the_hash_seed(situs, phantoms, tmp_path) -> None:
    runs = [tmp_path / name for name in ("oracle", "random")]
    for run in runs:
        assert situs("run", phantoms, "--model", run.name, "--out", run).code == 0
    reports = []
    for seed in ("1", "2"):
        out = tmp_path / f"{seed}.html"
        command = [sys.executable, "-m", "situs", "report", *runs, "--pictures", "1", "--out", out]
        environment = os.environ | {"PYTHONHASHSEED": seed}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        reports.append(out.read_bytes())
    assert reports[0] == reports[1]


@pytest.mark.sweep
def test_another_seed_gives_other_patients(situs, phantoms, tmp_path) -> None:
    out = tmp_path / "bench"
    assert situs("build", "phantoms", "--studies", 1, "--seed", 4, "--out", out).code == 0
    assert files(out)["items.parquet"] != files(phantoms)["items.parquet"]


def test_nothing_in_a_bench_tells_where_or_by_whom(phantoms, bench, small, plain_content) -> None:
    """Parquet is read, not searched as it lies there compressed.
    (That no time is in it, equal bytes tell.)"""
    telling = [
        str(phantoms.parent),
        str(small),
        socket.gethostname(),
        str(Path.home()),
        tempfile.gettempdir(),
    ]
    pattern = re.compile(
        "|".join(rf"(?<!\w){re.escape(words)}(?!\w)" for words in telling).encode()
    )
    for folder in (phantoms, bench):
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "locations.json" and path.suffix != ".gz":
                assert pattern.search(plain_content(path)) is None, path


def build(situs, out: Path, *roots: Path, seed: int = 0, jobs: int = 1) -> dict[str, bytes]:
    ran = situs(
        "build",
        "masks",
        *roots,
        "--annotation",
        "exact",
        "--seed",
        seed,
        "--jobs",
        jobs,
        "--out",
        out,
    )
    assert ran.code == 0, ran.err
    return files(out)


@pytest.fixture(scope="module")
def two(small, tmp_path_factory) -> list[Path]:
    """Two patients' folders, side by side."""
    root = tmp_path_factory.mktemp("two")
    for study in sorted((small / "data").iterdir())[:2]:
        (root / study.name).symlink_to(study)
    return sorted(root.iterdir())


@pytest.fixture(scope="module")
def whole(situs, two, tmp_path_factory) -> dict[str, bytes]:
    """The bench of both."""
    return build(situs, tmp_path_factory.mktemp("whole") / "bench", two[0].parent)


def test_the_order_of_the_inputs_does_not_matter(situs, two, whole, tmp_path) -> None:
    assert build(situs, tmp_path / "bench", *two[::-1]) == whole


def test_the_order_of_a_tables_rows_does_not_matter(situs, two, tmp_path) -> None:
    rows = [f"s{n},p{n},{path}/segmentations\n" for n, path in enumerate(two)]
    built = []
    for name, order in (("a", rows), ("b", rows[::-1])):
        table = tmp_path / f"{name}.csv"
        table.write_text("study,patient,labels\n" + "".join(order))
        built.append(build(situs, tmp_path / name / "bench", table))
    assert built[0] == built[1]


def test_another_seed_asks_otherwise(situs, two, whole, tmp_path) -> None:
    assert (
        build(situs, tmp_path / "bench", two[0].parent, seed=1)["items.parquet"]
        != whole["items.parquet"]
    )


def test_the_order_of_answers_does_not_change_a_score(situs, bench, tmp_path) -> None:
    run = tmp_path / "run"
    metrics = "accuracy,coverage,chance,accuracy.chance-adjusted,within-interval@1,spearman-within-structure@1"
    assert situs("run", bench, "--model", "random", "--out", run).code == 0
    lines = (run / "answers.jsonl").read_text().splitlines(keepends=True)
    results = []
    for seed in range(2):
        random.Random(seed).shuffle(lines)
        (run / "answers.jsonl").write_text("".join(lines))
        assert situs("score", bench, run, "--metrics", metrics).code == 0
        results.append((run / "scores.json").read_bytes())
    assert results[0] == results[1]


def test_the_order_of_items_does_not_change_a_score(situs, bench, tmp_path) -> None:
    """The same rows of the table, turned round."""
    import pyarrow.parquet as pq

    turned = Path(shutil.copytree(bench, tmp_path / "turned"))
    table = pq.read_table(turned / "items.parquet")
    pq.write_table(table.take(list(range(table.num_rows))[::-1]), turned / "items.parquet")
    answers = tmp_path / "answers.jsonl"
    assert situs("run", bench, "--model", "random", "--out", tmp_path / "run").code == 0
    shutil.copy(tmp_path / "run" / "answers.jsonl", answers)
    first, second = (situs("score", folder, answers, "--json").json for folder in (bench, turned))
    assert json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
