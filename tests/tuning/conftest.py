"""What the tests of training share: data of synthetic slices and a tiny model, made once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bench`, `boxes`, `answer`, `plain` and two random models of the demonstration, small.

    Do not change it.
    """
    from situs.tune.demo.prepare import Sizes, prepare, write_start

    folder = tmp_path_factory.mktemp("tune")
    prepare(folder, Sizes(patients=80, plain=60), 0)
    for seed in range(2):
        write_start(folder, seed)
    return folder
