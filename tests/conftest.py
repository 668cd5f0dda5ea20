"""What the tests share: the command line in this process,
and phantom benches that are built once a session."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import pytest

from situs.base.locks import try_lock


@dataclass(frozen=True)
class Ran:
    """What one call of the program gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as the one JSON value it promises to be."""
        return json.loads(self.out)


def run_situs(*args: object) -> Ran:
    """`situs ARGS…` in this process. Anything but an orderly exit (a traceback) is raised."""
    from situs.cli import main

    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["situs", *map(str, args)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        return Ran(stop.code if isinstance(stop.code, int) else 0, out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("main() returned instead of exiting")


@pytest.fixture(scope="session")
def situs() -> Callable[..., Ran]:
    """The program, called in this process."""
    return run_situs


def read_plain(path: Path) -> bytes:
    """A file as its reader sees it: Parquet and gzip are unpacked."""
    import gzip

    import pyarrow.parquet as pq

    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return repr(
            (table.schema.metadata, pq.read_metadata(path).metadata, table.to_pylist())
        ).encode()
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.fixture(scope="session")
def plain_content() -> Callable[[Path], bytes]:
    """Reads a file as its reader sees it."""
    return read_plain


@pytest.fixture(scope="session", autouse=True)
def _own_id_key() -> Iterator[None]:
    """No test reads or makes the user's key for opaque ids."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SITUS_ID_KEY", "a key for the tests")
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """What tests write need not outlive a power cut, and each file would wait some milliseconds for
    the disk.

    Programs that tests start wait for it as they always do.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], str]:
    """`own_cache(folder)`: an empty cache there, for SITUS_CACHE, but for rendered pictures.

    A picture is stored under what it was made from, so all tests may draw each one once.
    """
    root = tmp_path_factory.getbasetemp()
    pictures = (root.parent if "PYTEST_XDIST_WORKER" in os.environ else root) / "pictures"
    pictures.mkdir(mode=0o700, exist_ok=True)

    def make(folder: Path) -> str:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not (folder / "slices").is_symlink():
            (folder / "slices").symlink_to(pictures, target_is_directory=True)
        return str(folder)

    return make


def wait_for_lock(descriptor: int) -> None:
    """Lock an open file, on any system."""
    while True:
        try:
            return try_lock(descriptor)
        except BlockingIOError:
            time.sleep(0.05)


Once = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """`once(name, make)`: a folder made a single time for all workers of the session."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root

    def make_once(name: str, make: Callable[[Path], object]) -> Path:
        folder, done = root / name, root / f"{name}.done"
        with (root / f"{name}.lock").open("w") as lock:
            wait_for_lock(lock.fileno())
            if not done.exists():
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return make_once


def write_label_phantoms(root: Path, seed: int, count: int) -> None:
    """Phantom patients as folders of masks without images, on 5 mm voxels:
    a tenth of a second each."""
    import nibabel
    import numpy as np

    from situs.volumes.phantoms import plan_patient, rasterize

    for index in range(count):
        plan = plan_patient(seed, index, spacing_mm=(5.0, 5.0, 5.0))
        folder = root / f"patient{index:03d}" / "segmentations"
        folder.mkdir(parents=True)
        for structure in plan.truth.structures:
            mask = rasterize(structure.shape, plan.grid).astype(np.uint8)
            nibabel.save(
                nibabel.Nifti1Image(mask, plan.grid.affine.matrix),
                folder / f"{structure.name}.nii.gz",
            )


@pytest.fixture(scope="session")
def label_phantoms() -> Callable[..., None]:
    """`write_label_phantoms` as a fixture."""
    return write_label_phantoms


def write_image_phantoms(root: Path, seed: int, count: int) -> None:
    """Phantom patients with image and masks, on 5 mm voxels."""
    from situs.volumes.phantoms import make_patient, write_patient

    for index in range(count):
        patient = make_patient(seed, index, spacing_mm=(5.0, 5.0, 5.0), noise=False)
        write_patient(patient, root / f"patient{index:03d}")


@pytest.fixture(scope="session")
def image_phantoms() -> Callable[..., None]:
    """`write_image_phantoms` as a fixture."""
    return write_image_phantoms


@pytest.fixture
def coarse_phantoms(monkeypatch: pytest.MonkeyPatch) -> None:
    """`build phantoms` in this process makes them on 5 mm voxels without noise: a tenth of the
    time.

    For tests of what is done with patients, not of how they look.
    """
    from situs.volumes import phantoms

    fine = phantoms.make_patient
    monkeypatch.setattr(
        phantoms,
        "make_patient",
        lambda seed, index: fine(seed, index, spacing_mm=(5.0, 5.0, 5.0), noise=False),
    )


def build_cohort(folder: Path, count: int) -> None:
    """A bench of label-only phantoms at `folder/bench`."""
    write_label_phantoms(folder / "data", seed=11, count=count)
    args = ("--annotation", "exact", "--out", folder / "bench")
    assert run_situs("build", "masks", folder / "data", *args).code == 0


@pytest.fixture(scope="session")
def cohort(once: Once) -> Path:
    """A bench of 32 phantom patients, for laws in which chance plays."""
    return once("cohort", lambda folder: build_cohort(folder, 32)) / "bench"


def make_small(folder: Path, count: int) -> None:
    """A few phantoms with images at `folder/data`,
    and a bench with every form of question at `folder/bench`."""
    write_image_phantoms(folder / "data", seed=8, count=count)
    shipped = files("situs.facts").joinpath("data", "recipe.toml").read_text("utf-8")
    recipe = re.sub(r"(?m)^headline = \d+", "headline = 40", shipped)
    # So few patients have twins only if all of them are in one split and a text may be asked of one
    # of them.
    recipe = re.sub(r"(?m)^fewest = \d+", "fewest = 1", recipe)
    recipe = re.sub(r"(?m)^train = .*\nval = .*\ntest = .*$", "test = 1.0", recipe)
    (folder / "recipe.toml").write_text(recipe, encoding="utf-8")
    args = ("--annotation", "exact", "--licence", "CC0-1.0", "--recipe", folder / "recipe.toml")
    assert run_situs("build", "masks", folder / "data", *args, "--out", folder / "bench").code == 0


@pytest.fixture(scope="session")
def build_small() -> Callable[[Path, int], None]:
    """Makes phantoms and a bench of them."""
    return make_small


@pytest.fixture(scope="session")
def small(once: Once) -> Path:
    """A folder with `data` (4 phantom patients, with images) and `bench`, built from it with every
    form of question.

    Few patients give few twins, so the headline is allowed to be longer than usual. Do not change
    it.
    """

    return once("small", lambda folder: make_small(folder, 4))


@pytest.fixture(scope="session")
def bench(small: Path) -> Path:
    """The bench of `small`. Do not change it."""
    return small / "bench"


@pytest.fixture(scope="session")
def composed(once: Once) -> Path:
    """Masks of three phantom patients (`data`) and their bench of composed questions (`bench`).

    Do not change it.
    """

    def make(folder: Path) -> None:
        write_label_phantoms(folder / "data", seed=11, count=3)
        args = ("--annotation", "exact", "--ids", "stem", "--tasks", "compose", "--restricted")
        built = run_situs("build", "masks", folder / "data", *args, "--out", folder / "bench")
        assert built.code == 0, built.err

    return once("composed", make)


@pytest.fixture(scope="session")
def large_cohort(once: Once, request: pytest.FixtureRequest) -> Path:
    """A bench of 120 phantom patients for the sweep; otherwise `cohort`."""
    if "sweep" not in request.config.option.markexpr:
        return Path(request.getfixturevalue("cohort"))
    return once("large_cohort", lambda folder: build_cohort(folder, 120)) / "bench"


ON_REQUEST = {
    "sweep": "make sweep",
    "models": "make test-models",
    "cluster": "make test-cluster",
    "remote": "make test-remote",
    "mcp": "make test-mcp",
    "tune": "make test-tune",
    "seeds": "make test-seeds",
    "docs": "make test-docs",
}
"""Markers of what takes long or needs much, and what runs it."""
LEFT_OUT = pytest.StashKey[dict[str, int]]()
NOT_RUN = pytest.StashKey[list[str]]()
"""Functions of which the draw leaves no case,
though none is marked as run in one session of several."""
_DRAWN = 4
"""Of cases marked `sampled`, one in so many runs, unless the marker says `one_in`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--sample-seed N` repeats the draw of a session."""
    parser.addoption(
        "--sample-seed",
        type=int,
        default=None,
        help="which like cases are drawn; SAMPLE_SEED as well",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The session draws its seed once; workers are given it, so that all collect the same tests."""
    # A shell starts what runs in the background deaf to Ctrl-C, and the programs that tests
    # interrupt would inherit it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()  # until all is collected: nearly nothing is freed while tests are made
    if config.option.sample_seed is None:
        config.option.sample_seed = int(
            os.environ.get("SAMPLE_SEED") or random.SystemRandom().randrange(10**6)
        )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """A worker is started with the session's seed."""
    node.workerinput["sample_seed"] = node.config.option.sample_seed


def seed_of(config: pytest.Config) -> int:
    """The session's seed, in a worker as well."""
    given: int = getattr(config, "workerinput", {}).get("sample_seed", config.option.sample_seed)
    return given


def pytest_report_header(config: pytest.Config) -> str:
    """Which draw this is."""
    return f"like cases drawn with --sample-seed={seed_of(config)}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draws the like cases that run; the others run on request:
    `pytest -m sweep`, `pytest -m models`."""
    left_out: dict[str, list[pytest.Item]] = {}
    if "sweep" not in config.option.markexpr:
        left_out["sweep"] = not_drawn(items, seed_of(config))
        config.stash[NOT_RUN] = functions_not_run(items, left_out["sweep"])
    for marker in [name for name in ON_REQUEST if name != "sweep"]:
        if marker not in config.option.markexpr:
            left_out[marker] = [item for item in items if item.get_closest_marker(marker)]
    gone = {id(item) for found in left_out.values() for item in found}
    items[:] = [item for item in items if id(item) not in gone]
    config.stash[LEFT_OUT] = {marker: len(found) for marker, found in left_out.items() if found}


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end:
    the collector of garbage need not walk through them each time."""
    gc.freeze()
    gc.enable()


def not_drawn(items: Iterable[pytest.Item], seed: int) -> list[pytest.Item]:
    """The cases that this draw leaves out.

    Single tests always run. Of like cases (`sampled`) a quarter is drawn, or one in N
    (`sampled(one_in=N)`, where each takes a second or more), and at least one. A function whose
    cases are all of the sweep runs with one of them, drawn; if it is marked `sweep(one_in=N)` for
    its length, in one session of N. Each function draws by its own name, so that a new test does
    not change what is drawn of the others.
    """
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(_function(item), []).append(item)
    result = []
    for name, cases in functions.items():
        rng = random.Random(f"{seed} {name}")
        swept = [case for case in cases if case.get_closest_marker("sweep")]
        like = [case for case in cases if case.get_closest_marker("sampled") and case not in swept]
        drawn = (
            rng.sample(like, -(-len(like) // _one_in(like[0], "sampled", _DRAWN))) if like else []
        )
        if len(swept) == len(cases) and not rng.randrange(_one_in(swept[0], "sweep", 1)):
            drawn.append(rng.choice(swept))
        result += [case for case in (*swept, *like) if case not in drawn]
    return result


def functions_not_run(items: Iterable[pytest.Item], left_out: list[pytest.Item]) -> list[str]:
    """Functions without a case that runs; those that take turns (`sweep(one_in=N)`) aside."""
    gone = {id(item) for item in left_out}
    run = {_function(item) for item in items if id(item) not in gone}
    return sorted(
        {_function(item) for item in left_out if _one_in(item, "sweep", 1) == 1} - run,
    )


@pytest.fixture(scope="session")
def not_run(pytestconfig: pytest.Config) -> list[str]:
    """Functions that this session's draw leaves out altogether."""
    return pytestconfig.stash.get(NOT_RUN, [])


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _one_in(item: pytest.Item, name: str, usual: int) -> int:
    marker = item.get_closest_marker(name)
    return usual if marker is None else int(marker.kwargs.get("one_in", usual))


Case = TypeVar("Case")


@pytest.fixture
def little_of(request: pytest.FixtureRequest) -> Callable[[Sequence[Case], int], list[Case]]:
    """`little_of(range(200), 3)`: all of a range in the sweep;
    else so many of it, drawn with the session's seed."""
    config = request.config

    def some(whole: Sequence[Case], count: int) -> list[Case]:
        if "sweep" in config.option.markexpr:
            return list(whole)
        return random.Random(f"{seed_of(config)} {request.node.nodeid}").sample(list(whole), count)

    return some


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells the session that started it what it left out."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash.get(LEFT_OUT, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects the same tests: any one's count is the session's."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says which draw this was, what did not run, and what runs it."""
    terminalreporter.write_line(
        pytest_report_header(terminalreporter.config) + " (give it to repeat the draw)"
    )
    for marker, count in terminalreporter.config.stash.get(LEFT_OUT, {}).items():
        terminalreporter.write_line(
            f"left out: {count:,} tests marked {marker} (run them with {ON_REQUEST[marker]})"
        )
