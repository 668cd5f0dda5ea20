"""Packages whose names are loaded when they are first used."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

PACKAGE = """
from typing import TYPE_CHECKING
from situs.base.lazy import lazy_exports
if TYPE_CHECKING:
    from {name} import own
    from {name}.first import one
    from {name}.second import two as second_two
else:
    __getattr__ = lazy_exports(__name__, {{"there": "math"}})
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"lazy_{tmp_path.name}"
    (tmp_path / name).mkdir()
    for module, text in {
        "__init__": PACKAGE.format(name=name),
        "first": "one = 1",
        "second": "two = 2",
        "own": "",
    }.items():
        (tmp_path / name / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_name_loads_its_own_module_only(package: str) -> None:
    module = importlib.import_module(package)
    assert [name for name in sys.modules if name.startswith(f"{package}.")] == []
    assert module.one == 1
    assert f"{package}.second" not in sys.modules
    assert module.second_two == 2
    assert module.own is sys.modules[f"{package}.own"]


def test_a_name_is_asked_for_once(package: str) -> None:
    module = importlib.import_module(package)
    assert module.one == 1
    sys.modules[f"{package}.first"].one = 5  # type: ignore[attr-defined]
    assert module.one == 1


def test_what_is_not_there_is_an_attribute_error(package: str) -> None:
    module = importlib.import_module(package)
    with pytest.raises(AttributeError, match="has no attribute 'three'"):
        _ = module.three
    with pytest.raises(AttributeError, match="has no attribute 'there'"):
        _ = module.there  # it is said to be in `math`, which lacks it


def test_a_build_loads_neither_rooms_nor_reports_nor_judges() -> None:
    """What a command does not use costs its start nothing."""
    import subprocess

    code = (
        "import sys, situs.build; situs.build.build_phantoms; situs.build.BuildOptions;"
        "print([n for n in ('room', 'report', 'probe', 'judges', 'export', 'agents', 'api')"
        " if f'situs.{n}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
