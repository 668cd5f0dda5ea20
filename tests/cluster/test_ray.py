"""Cohorts on Ray: the same bytes as on one machine, whatever becomes of workers and nodes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from situs.base.engines import Engine, map_on
from situs.base.workers import Lost
from situs.bench import open_bench
from situs.errors import SitusError

pytestmark = pytest.mark.cluster


def open_square():
    """What a worker does in these tests."""
    return square


def square(number: int) -> int:
    return number * number


def open_slow():
    return slow


def slow(number: int) -> tuple[int, str]:
    import ray

    time.sleep(0.3)
    return number, ray.get_runtime_context().get_node_id()


def open_deadly():
    return deadly


def deadly(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def open_wrong():
    return wrong


def wrong(number: int) -> int:
    if number == 2:
        raise SitusError("cannot be read", where="study 2", fix="repair it")
    return number


@pytest.fixture(scope="module")
def here() -> Iterator[None]:
    """One cluster on this machine for all tests that need no other."""
    import ray

    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module", autouse=True)
def _functions_travel() -> None:
    """The functions of this file go to workers as they stand:
    the file itself is not on their path."""
    from ray import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])


def test_results_come_in_the_order_of_the_jobs(here) -> None:
    assert list(map_on(Engine("ray"), open_square, range(50))) == [n * n for n in range(50)]
    assert list(map_on(Engine("ray", jobs=3), open_square, range(7))) == [n * n for n in range(7)]
    assert list(map_on(Engine("ray"), open_square, [])) == []


def test_a_worker_that_is_killed_each_time_costs_its_job_only(here) -> None:
    results = list(map_on(Engine("ray"), open_deadly, range(6)))
    assert isinstance(results[3], Lost)
    assert results[:3] + results[4:] == [0, 1, 2, 4, 5]


def test_a_users_mistake_comes_back_as_it_was(here) -> None:
    with pytest.raises(SitusError, match="cannot be read"):
        list(map_on(Engine("ray"), open_wrong, range(4)))


def test_a_build_gives_the_same_bytes_as_on_one_machine(here, situs, tmp_path) -> None:
    for name, engine in (("local", ()), ("ray", ("--engine", "ray"))):
        ran = situs(
            "build", "phantoms", "--studies", 3, "--out", tmp_path / name, *engine, "--json"
        )
        assert ran.code == 0, ran.err
    hashes = {open_bench(tmp_path / name).info.content_hash for name in ("local", "ray")}
    assert len(hashes) == 1


def test_code_beside_the_data_does_not_run(tmp_path) -> None:
    """Ray puts the folder where it is called on the path of its workers."""
    for name in ("numpy", "msgspec", "situs"):
        line = f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n"
        (tmp_path / f"{name}.py").write_text(line)
    build = ("build", "phantoms", "--studies", "2", "--out", "bench")
    patient = "bench/volumes/phantom-0-0000/segmentations"
    (tmp_path / "table.csv").write_text(f"study,labels\na,{patient}\n")  # as seen from here
    for words in (build, ("measure", "table.csv")):
        ran = subprocess.run(
            [sys.executable, "-P", "-m", "situs", *words, "--engine", "ray"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["structures"]
    assert not (tmp_path / "ran").exists()


def test_no_cluster_is_one_line(situs, tmp_path) -> None:
    import ray

    ray.shutdown()
    ran = situs(
        *("build", "phantoms", "--studies", 2, "--out", tmp_path / "bench"),
        *("--engine", "ray:127.0.0.1:1"),
    )
    assert ran.code == 2
    assert "no Ray cluster answers" in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert not (tmp_path / "bench").exists()


def test_a_node_that_is_removed_costs_nothing() -> None:
    """Three simulated nodes, one taken away while it works: every job has its result, in order."""
    import ray
    from ray.cluster_utils import Cluster

    ray.shutdown()
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        cluster.wait_for_nodes()
        ray.init(address=cluster.address, log_to_driver=False)
        assert ray.cluster_resources()["CPU"] == 3
        removal = threading.Timer(1.5, lambda: cluster.remove_node(nodes[0], allow_graceful=False))
        removal.start()
        results = list(map_on(Engine("ray"), open_slow, range(30)))
        removal.join()
        assert [number for number, _ in results] == list(range(30))  # type: ignore[misc]
        assert len({node for _, node in results}) >= 2  # type: ignore[misc]
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_a_cluster_that_lets_nobody_in_names_its_token(monkeypatch) -> None:
    """Somebody listens, and Ray will not have us, as where the token differs."""
    import socket

    from situs.base import ray_engine

    class Refusing:
        def is_initialized(self) -> bool:
            return False

        def init(self, **options: Any) -> None:
            raise ConnectionError("Failed to connect to Ray cluster")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(SitusError, match="no Ray cluster answers") as refused:
            ray_engine._connect(Refusing(), f"127.0.0.1:{port}")
    assert "RAY_AUTH_MODE" in refused.value.fix
    assert "ray start" not in refused.value.fix
