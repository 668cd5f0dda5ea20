"""What a release holds: the wheel all of the package and nothing else,
the sdist what the wheel is made of."""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_sdist, build_wheel  # type: ignore[import-not-found]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheel and sdist, made of this tree."""
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        build_wheel(str(folder))
        build_sdist(str(folder))
    return folder


def package_files() -> set[str]:
    files = (path for path in (ROOT / "src" / "situs").rglob("*") if path.is_file())
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in files
        if "__pycache__" not in path.parts
    }


def test_the_wheel_is_the_package(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    info = {name for name in names if ".dist-info/" in name}
    assert names - info == package_files()
    assert any(name.endswith("licenses/LICENSE") for name in info)
    assert any(name.endswith("entry_points.txt") for name in info)


def test_the_sdist_holds_what_it_takes_to_build_and_test(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in package_files()} <= names
    needed = {
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "CITATION.cff",
        "SECURITY.md",
    }
    needed |= {"constraints.txt", "Makefile", "CONTRIBUTING.md", "Dockerfile", "tests/conftest.py"}
    assert needed <= names
    left_out = (".venv", ".git/", "dist/", "demo/", "site/", "__pycache__")
    assert not [name for name in names if name.startswith(left_out) or "__pycache__" in name]


def test_the_pythons_that_are_named_are_those_that_are_supported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = {c.rpartition(" ")[2] for c in project["classifiers"] if ":: Python :: 3." in c}
    assert named == {"3.11", "3.12", "3.13", "3.14"}
    assert project["requires-python"] == ">=3.11"
