"""A real browser, and pages for it:
Debian's Chromium (or the one named by SITUS_CHROMIUM) driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from frame_make import make_cohort, write_images

_HERE = Path(__file__).parent
_PATIENCE_MS = 120_000
"""How long a busy machine may take for what must happen."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without `-m browser` these tests are skipped, and say so."""
    asked = "browser" in config.getoption("-m")
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.browser)
            if not asked:
                item.add_marker(pytest.mark.skip(reason="needs a browser: make test-browser"))


@dataclass
class Opened:
    """A page and all that went wrong or out while it was open."""

    page: Any
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def settle(self) -> None:
        """Wait until the page has answered what happened to it, however slow the machine.

        Events that wait are handled, pictures are decoded, and two frames are drawn.
        """
        self.page.evaluate("""async () => {
              await new Promise((done) => setTimeout(done, 0));
              await Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
              await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            }""")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    path = (
        os.environ.get("SITUS_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
    )
    assert path is not None, "no Chromium: apt-get install chromium, or set SITUS_CHROMIUM"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Opened]]:
    """Opens a file; anything it asks the network for, and every error, is kept."""
    contexts = []

    def opened(path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> Opened:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            accept_downloads=True,
        )
        context.set_default_timeout(_PATIENCE_MS)
        contexts.append(context)
        held = Opened(context.new_page())
        held.page.on("request", lambda request: held.requests.append(request.url))
        held.page.on("pageerror", lambda error: held.errors.append(str(error)))
        held.page.on(
            "console", lambda said: held.errors.append(said.text) if said.type == "error" else None
        )
        held.page.goto(path.as_uri())
        held.settle()
        return held

    yield opened
    for context in contexts:
        context.close()


@dataclass(frozen=True)
class Made:
    """A bench, runs on it, a report and two quizzes."""

    bench: Path
    report: Path
    quiz: Path
    verify: Path


@pytest.fixture(scope="session")
def stacks(tmp_path_factory: pytest.TempPathFactory, situs: Callable[..., Any]) -> Made:
    """Stacks of frames with boxes."""
    root = tmp_path_factory.mktemp("stacks")
    cohort = make_cohort(2, 8)
    files, lists = cohort.write(root / "notes")
    images = write_images(cohort, root / "images")
    chosen = [part for path in lists for part in ("--lists", path)]
    bench = root / "bench"
    _run(
        situs,
        "build",
        "boxes",
        *files,
        *chosen,
        "--images",
        images,
        "--out",
        bench,
        "--licence",
        "synthetic",
    )
    for model in ("oracle", "prior"):
        _run(
            situs,
            "run",
            bench,
            "--model",
            model,
            "--profile",
            "sgmri-frames",
            "--out",
            root / model,
        )
    report, quiz, verify = (root / f"{name}.html" for name in ("report", "quiz", "verify"))
    _run(
        situs,
        "report",
        root / "oracle",
        root / "prior",
        "--out",
        report,
        "--pictures",
        30,
        "--allow-restricted",
    )
    shared = ["--profile", "sgmri-frames", "--items", 40, "--allow-restricted"]
    _run(situs, "quiz", bench, "--out", quiz, *shared)
    _run(situs, "quiz", bench, "--out", verify, *shared, "--verify")
    return Made(bench, report, quiz, verify)


@pytest.fixture(scope="session")
def body(tmp_path_factory: pytest.TempPathFactory, situs: Callable[..., Any]) -> Path:
    """A report on two phantom patients, with the reader's planes."""
    root = tmp_path_factory.mktemp("body")
    _run(situs, "build", "phantoms", "--studies", 2, "--out", root / "bench")
    _run(situs, "run", root / "bench", "--model", "random", "--out", root / "run")
    _run(situs, "report", root / "run", "--out", root / "report.html", "--pictures", 3)
    return root / "report.html"


@pytest.fixture(scope="session")
def probed(tmp_path_factory: pytest.TempPathFactory, situs: Callable[..., Any]) -> Path:
    """A report on a few patients with charts, beside a probe of the same run."""
    root = tmp_path_factory.mktemp("probed")
    _run(situs, "build", "phantoms", "--studies", 4, "--out", root / "bench")
    _run(
        situs,
        "probe",
        root / "bench",
        "--model",
        "random",
        "--probes",
        "mirror",
        "--out",
        root / "probes",
    )
    _run(situs, "run", root / "bench", "--model", "prior", "--out", root / "prior")
    runs = (root / "probes" / "original", root / "prior")
    _run(situs, "report", *runs, "--out", root / "report.html", "--pictures", 4)
    return root / "report.html"


def _run(situs: Callable[..., Any], *args: object) -> None:
    ran = situs(*args)
    assert ran.code == 0, ran.err
