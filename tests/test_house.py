"""How the house is kept: nothing of the machine in it,
packages in order, every module says what it holds."""

from __future__ import annotations

import ast
import importlib
import re
import socket
import subprocess
import sys
from fnmatch import fnmatch
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "situs"
MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
MOST_FILES = 20
"""Modules in one folder."""


def tracked() -> list[Path]:
    """Text files under version control that are there, this one aside."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    paths = [ROOT / line for line in done.stdout.splitlines()]
    return [path for path in paths if path.is_file() and path != Path(__file__)]


def mentions(pattern: str, paths: list[Path]) -> list[str]:
    found = []
    for path in paths:
        text = path.read_bytes().decode("utf-8", "replace")
        if re.search(pattern, text) is None:  # nearly always, and quicker told of all lines at once
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if re.search(pattern, line):
                found.append(f"{path.relative_to(ROOT)}:{number}")
    return found


def test_no_file_names_this_machine() -> None:
    """Neither where it was written, nor which mirror of a package index served it."""
    host = socket.gethostname()
    words = [
        re.escape(f"{ROOT}/"),
        re.escape(f"{Path.home()}/"),
        r"\bartifactory\b",
        r"\bnexus\b",
        r"\bdevpi\b",
        r"index-url",
    ]
    words += [rf"\b{re.escape(host)}\b"] if len(host) > 4 and host != "localhost" else []
    assert mentions("|".join(words), tracked()) == []


def test_no_source_file_names_a_scratch_folder() -> None:
    paths = [path for path in SOURCE.rglob("*") if path.suffix in (".py", ".toml", ".csv")]
    assert mentions(r"/tmp/|/var/tmp", paths) == []


def test_the_package_is_typed() -> None:
    assert (SOURCE / "py.typed").is_file()


def test_every_module_says_what_it_holds() -> None:
    # A docstring is the first constant of a module's code, which is compiled already.
    silent = [path for path in MODULES if not _docstring(path)]
    assert [str(path.relative_to(SOURCE)) for path in silent] == []


def _docstring(path: Path) -> str | None:
    name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    code = SourceFileLoader(name, str(path)).get_code(name)
    assert code is not None
    stored = code.co_names[:1] == ("__doc__",)
    return code.co_consts[0] if stored else None


def test_folders_are_small_and_no_module_hides_behind_an_underscore() -> None:
    # The command line has a file for each command, however many there are.
    folders = {path.parent for path in MODULES} - {SOURCE / "cli"}
    sizes = {str(folder.relative_to(SOURCE)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}
    names = [path.relative_to(SOURCE) for path in MODULES if not path.stem.startswith("__")]
    assert [str(name) for name in names if name.stem.startswith("_")] == []


def test_no_module_has_the_name_of_something_its_package_exports() -> None:
    """`from situs.x import name` must mean one thing, whatever was imported before."""
    shadowed = []
    for init in SOURCE.rglob("*/__init__.py"):
        tree = ast.parse(init.read_text("utf-8"))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        dotted = ".".join(init.parent.relative_to(SOURCE.parent).parts)
        exported = {
            alias.asname or alias.name
            for node in imports
            for alias in node.names
            if node.module != dotted
        }
        modules = {path.stem for path in init.parent.glob("*.py")}
        modules |= {path.parent.name for path in init.parent.glob("*/__init__.py")}
        shadowed += [f"{dotted}.{name}" for name in sorted(exported & modules)]
    assert shadowed == []


# What `base` holds is imported module by module: together they would load much.
@pytest.mark.parametrize("name", [name for name in PACKAGES if name != "base"])
def test_every_name_a_package_exports_exists(name: str) -> None:
    module = importlib.import_module(f"situs.{name}")
    assert module.__all__
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_every_name_a_module_exports_exists() -> None:
    missing = []
    for path in MODULES:
        if path.name != "__main__.py":
            name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
            module = importlib.import_module(name)
            missing += [
                f"{name}.{export}"
                for export in getattr(module, "__all__", ())
                if not hasattr(module, export)
            ]
    assert missing == []


def test_a_package_imports_only_the_packages_above_it() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    if not program.exists():
        pytest.skip("import-linter is not installed")
    done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_map_of_contributing_lists_every_package() -> None:
    listed = re.findall(
        r"^\| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.M
    )
    assert sorted(listed) == PACKAGES


def test_no_folder_of_tests_is_passed_over(pytestconfig: pytest.Config) -> None:
    """By default pytest never enters a folder called `build`,
    and says nothing of the tests in it."""
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    passed_over = [
        folder.name
        for folder in folders
        for pattern in pytestconfig.getini("norecursedirs")
        if any(fnmatch(part, pattern) for part in folder.relative_to(ROOT).parts)
    ]
    assert passed_over == []


def test_no_two_test_modules_have_one_name() -> None:
    """pytest imports them by name alone: the second of a pair is not collected."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert {name for name in names if names.count(name) > 1} == set()


def test_no_test_function_is_left_out_by_the_draw(not_run: list[str]) -> None:
    """However few of its like cases run, one does."""
    assert not_run == []
