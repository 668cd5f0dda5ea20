"""What `hf:` says before torch is loaded."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from situs.clients import parse_spec
from situs.clients.hf.client import make_hf
from situs.errors import SitusError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like a model's."""
    (tmp_path / "config.json").write_text('{"model_type": "qwen3_vl"}')
    return tmp_path


def test_the_module_loads_no_torch() -> None:
    code = (
        "import sys, situs.clients.hf.client; print(*{'torch', 'transformers', 'PIL'} &"
        " set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


@pytest.mark.parametrize("package", ["torch", "transformers"])
def test_a_missing_package_is_named_with_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == package else object()
    )
    with pytest.raises(SitusError, match=rf"needs {package}.*pip install 'situs\[hf\]'.*CPU"):
        make_hf(parse_spec(f"hf:{folder}"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("dtype=floot32", "did you mean float32"),
        ("bach=4", "did you mean batch"),
        ("batch=many", "not a whole number"),
        ("batch=5000", "above 1024"),
        ("trust_remote_code=yes", "0 or 1"),
    ],
)
def test_a_wrong_setting_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, settings: str, words: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    with pytest.raises(SitusError, match=words):
        make_hf(parse_spec(f"hf:{folder}?{settings}"))


@pytest.mark.parametrize("name", ["", "nowhere", "Qwen/Qwen3-VL-8B-Instruct"])
def test_only_a_local_folder_will_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SitusError, match="hf:"):
        make_hf(parse_spec(f"hf:{name}"))


def test_a_broken_config_is_said_with_its_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    (folder / "config.json").write_text("{")
    with pytest.raises(SitusError, match=r"config\.json: is not valid JSON"):
        make_hf(parse_spec(f"hf:{folder}"))
