"""What the tests of probes share: a cohort with images, and no cache but their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _own_cache(
    tmp_path_factory: pytest.TempPathFactory,
    own_cache: Callable[[Path], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No test reads or fills the user's caches, prices or keys."""
    folder = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("SITUS_CACHE", own_cache(folder / "probe-cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "probe-config"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture(scope="session")
def tiny(once: Callable[..., Path], situs: Callable[..., Any]) -> Path:
    """A folder with `data` (10 small phantom patients, some of them oblique) and `bench`.

    Do not change it.
    """

    def make(folder: Path) -> None:
        from situs.volumes.phantoms import make_patient, write_patient

        for index in range(10):
            patient = make_patient(
                5, index, spacing_mm=(6.0, 6.0, 6.0), noise=False, oblique=index % 2 == 0
            )
            write_patient(patient, folder / "data" / f"patient{index:03d}")
        args = (
            "--annotation",
            "exact",
            "--licence",
            "CC0-1.0",
            "--per-study",
            24,
            "--out",
            folder / "bench",
        )
        assert situs("build", "masks", folder / "data", *args).code == 0

    return once("tiny-probes", make)
