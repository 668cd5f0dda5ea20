"""Packages of other people, installed beside Situs as pip would:
a module and the entry points it declares."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from warm_program import WarmPython

GUIDE = Path(__file__).parent.parent.parent / "CONTRIBUTING.md"

EntryPoints = Mapping[str, Mapping[str, str]]
"""Group → name → what is offered under it."""


class Outside:
    """A folder of installed packages, and the program as someone sees it who has them."""

    def __init__(self, site: Path, warm: WarmPython) -> None:
        self.site = site
        self._warm = warm
        site.mkdir(exist_ok=True)

    def install(self, module: str, offers: EntryPoints, source: str) -> None:
        """Put a module there, with its entry points."""
        (self.site / f"{module}.py").write_text(source, "utf-8")
        about = self.site / f"{module}-1.0.dist-info"
        about.mkdir(exist_ok=True)
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {module.replace('_', '-')}\nVersion: 1.0\n"
        )
        lines = []
        for group, named in offers.items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in named.items())]
        (about / "entry_points.txt").write_text("\n".join(lines), "utf-8")

    def install_example(self, module: str, offers: EntryPoints, title: str) -> None:
        """Install the example of a chapter of the guide."""
        self.install(module, offers, self.example(title))

    @staticmethod
    def example(title: str, language: str = "python") -> str:
        """The first example of a chapter of the guide for contributors: what it shows is tested."""
        return Outside.chapter(title).partition(f"```{language}\n")[2].partition("```")[0]

    @staticmethod
    def chapter(title: str) -> str:
        """A chapter of the guide."""
        text = GUIDE.read_text("utf-8").partition(f"## {title}\n")[2]
        return text.partition("\n## ")[0]

    def python(
        self, *arguments: object, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with the packages on its path."""
        environment = os.environ | {"PYTHONPATH": str(self.site)}
        words = list(map(str, arguments))
        # A program in a file is what its worker processes import anew, and a copy of Situs in the
        # folder is another than the one that is loaded.
        if words[0] in ("-m", "-c") and not (self.site / "situs").exists():
            return self._warm.run(words, environment, self.site, cwd)
        return subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            env=environment,
            timeout=900,
            cwd=cwd,
        )

    def situs(self, *arguments: object) -> str:
        """`situs ARGUMENTS…`, which must succeed; what it prints."""
        ran = self.python("-m", "situs", *arguments)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def json(self, *arguments: object) -> Any:
        """`situs ARGUMENTS… --json`."""
        return json.loads(self.situs(*arguments, "--json"))

    def refused(self, *arguments: object) -> str:
        """`situs ARGUMENTS…`, which must be refused in one line with exit code 2."""
        ran = self.python("-m", "situs", *arguments)
        lines = ran.stderr.strip().splitlines()
        assert ran.returncode == 2, ran.stderr
        assert "Traceback" not in ran.stderr
        return lines[-1]


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Outside]]:
    """A new, empty folder of packages by name."""
    root, warm = tmp_path_factory.mktemp("outside"), WarmPython()
    yield lambda name: Outside(root / name, warm)
    warm.close()
