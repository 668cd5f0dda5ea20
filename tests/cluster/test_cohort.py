"""Whole commands on Ray: the same bytes as on one machine, with a node lost half way as well."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from situs.anatomy.banks import load_bank
from situs.bench import open_bench
from situs.build.spool import Spool
from tune_cohort import write_volumes

pytestmark = pytest.mark.cluster

BUILD = ("--annotation", "exact", "--licence", "CC0-1.0")


@pytest.fixture(scope="module")
def scans(tmp_path_factory, label_phantoms) -> Path:
    """Nine patients without images."""
    folder = tmp_path_factory.mktemp("scans")
    label_phantoms(folder, 21, 9)
    return folder


@pytest.fixture(scope="module")
def local(tmp_path_factory, situs, scans) -> Path:
    """Their bench, built by one process."""
    out = tmp_path_factory.mktemp("local") / "bench"
    assert situs("build", "masks", scans, *BUILD, "--out", out).code == 0
    return out


def tables(bench: Path) -> dict[str, bytes]:
    """All of a bench that another machine must give as well."""
    names = ("studies.parquet", "facts.parquet", "items.parquet", "bench.json")
    return {name: (bench / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def here() -> Iterator[None]:
    """A cluster of one node."""
    import ray

    ray.shutdown()
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    yield
    ray.shutdown()


def test_build_check_and_measure(here, situs, scans, local, tmp_path) -> None:
    out = tmp_path / "bench"
    assert situs("build", "masks", scans, *BUILD, "--engine", "ray", "--out", out).code == 0
    assert tables(out) == tables(local)
    # A wrong answer is found on a cluster as well, and told in the same words.
    checks = [situs("check", local, "--json", *how) for how in ((), ("--engine", "ray"))]
    assert [ran.code for ran in checks] == [0, 0]
    assert checks[0].json == checks[1].json
    moved = tmp_path / "nothing"
    moved.mkdir()
    table = tmp_path / "cohort.csv"
    rows = [f"s{n},{scans}/patient{n:03d}/segmentations" for n in range(4)]
    (moved / "empty.nii.gz").write_bytes(b"no volume")
    table.write_text("\n".join(["study,labels", *rows, f"bad,{moved}/empty.nii.gz"]))
    measured = [situs("measure", table, *how) for how in ((), ("--engine", "ray"))]
    assert [ran.code for ran in measured] == [1, 1]
    assert measured[0].out == measured[1].out
    lines = [json.loads(line) for line in measured[0].out.splitlines()]
    assert [line["study"] for line in lines] == ["bad", "s0", "s1", "s2", "s3"]
    assert lines[0]["problem"]
    alone = situs("measure", scans / "patient002" / "segmentations", "--json").json
    assert lines[3]["structures"] == alone["structures"]


def test_a_damaged_bench_gives_the_same_errors(here, situs, local, tmp_path) -> None:
    import shutil

    import pyarrow.parquet as pq

    broken = tmp_path / "broken"
    shutil.copytree(local, broken)
    table = pq.read_table(broken / "facts.parquet")
    pq.write_table(table.slice(0, table.num_rows - 40), broken / "facts.parquet")
    checks = [situs("check", broken, "--json", *how) for how in ((), ("--engine", "ray"))]
    assert [ran.code for ran in checks] == [1, 1]
    assert checks[0].json == checks[1].json


def test_changed_patients_and_training_data(here, situs, small, tmp_path) -> None:
    from situs.base.engines import Engine
    from situs.probe import changed_bench
    from situs.profiles import load_profile

    bench = tmp_path / "bench"
    recipe = tmp_path / "recipe.toml"
    told = (small / "recipe.toml").read_text("utf-8").replace("test = 1.0", "train = 1.0")
    recipe.write_text(re.sub(r"(?m)^split_from = .*$", "split_from = 1", told), "utf-8")
    how = (*BUILD, "--recipe", recipe)
    assert situs("build", "masks", small / "data", *how, "--out", bench).code == 0
    source = open_bench(bench)
    items = list(source.items())
    made = [
        changed_bench(
            source, items, "mirror", load_profile("default"), tmp_path / name, engine=engine
        )
        for name, engine in (("one", Engine()), ("two", Engine("ray")))
    ]
    assert made[0].outcomes == made[1].outcomes
    assert made[0].bench is not None
    assert made[1].bench is not None
    assert made[0].bench.info.content_hash == made[1].bench.info.content_hash
    built = {}
    for name, how in (("here", ()), ("there", ("--engine", "ray"))):
        out = tmp_path / name
        command = (
            "tune",
            "build",
            bench,
            "--target",
            "answer",
            "--split",
            "train",
            "--split",
            "val",
        )
        ran = situs(*command, *how, "--out", out)
        assert ran.code == 0, ran.err
        built[name] = {
            file.relative_to(out): file.read_bytes()
            for file in sorted(out.rglob("*"))
            if file.is_file() and file.name != "locations.json"
        }
    assert built["here"] == built["there"]
    assert any(path.suffix in (".png", ".jpg") for path in built["here"])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A simulated cluster of three nodes."""
    import ray
    from ray.cluster_utils import Cluster

    ray.shutdown()
    nodes: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        for _ in range(2):
            nodes.add_node(num_cpus=1)
        nodes.wait_for_nodes()
        ray.init(address=nodes.address, log_to_driver=False)
        yield nodes
    finally:
        ray.shutdown()
        nodes.shutdown()


def graded_knees(file: Path, count: int) -> Path:
    """A table of grades, no two knees alike."""
    bank = load_bank("moaks-knee")
    rows = ["study,patient,side,time,shape,affine,question,sub_score,grade"]
    for number in range(count):
        knee = f"k{number},p{number},{('left', 'right')[number % 2]},V00,160 384 384"
        knee += ",0.7 0 0 -56 0 0.36 0 -70 0 0 0.36 -70 0 0 0 1"
        rows += [
            f"{knee},{question.id},{sub.key},{(number + place) % 2}"
            for place, question in enumerate(bank.question[:8])
            for sub in bank.sub_scores_of(question)
        ]
    file.write_text("\n".join(rows) + "\n")
    return file


def findings(file: Path) -> Path:
    """Eight reports."""
    told = itertools.product((5, 8), ("right", "left"), ("upper", "lower"))
    rows = [
        f"r{number},There is a {size} mm nodule in the {side} {lobe} lobe."
        for number, (size, side, lobe) in enumerate(told)
    ]
    file.write_text("\n".join(["id,findings", *rows]) + "\n")
    return file


@pytest.mark.parametrize("source", ["masks", "boxes", "grades", "reports"])
def test_a_build_that_loses_a_node_half_way_gives_the_same_bytes(
    source, situs, scans, cluster, tmp_path, monkeypatch
) -> None:
    """One of three nodes goes as soon as three studies are kept."""
    import ray

    command: dict[str, Callable[[], tuple[object, ...]]] = {
        "masks": lambda: ("masks", scans, *BUILD),
        "boxes": lambda: ("boxes", *write_volumes(tmp_path / "volumes")),
        "grades": lambda: ("grades", graded_knees(tmp_path / "grades.csv", 9)),
        "reports": lambda: ("reports", findings(tmp_path / "reports.csv")),
    }
    given = ("build", *command[source]())
    alone, together = tmp_path / "alone" / "bench", tmp_path / "together" / "bench"
    ran = situs(*given, "--out", alone)
    assert ran.code == 0, ran.err
    cluster.wait_for_nodes()
    assert ray.cluster_resources()["CPU"] == 3
    kept: list[int] = []
    write = Spool.write

    def write_and_lose(spool: Any, number: int, *more: Any) -> None:
        write(spool, number, *more)
        kept.append(number)
        if len(kept) == 3:
            cluster.remove_node(sorted(cluster.worker_nodes, key=str)[0], allow_graceful=False)

    monkeypatch.setattr(Spool, "write", write_and_lose)
    ran = situs(*given, "--engine", "ray", "--out", together)
    assert ran.code == 0, ran.err
    assert len(kept) > 3
    assert tables(together) == tables(alone)
    cluster.add_node(num_cpus=1)  # three again, for the next source
