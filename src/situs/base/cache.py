"""The user's own folder for what can be made again: rendered slices and answers of models."""

from __future__ import annotations

import os
from pathlib import Path

from situs.base.folders import cache_home
from situs.errors import SitusError

__all__ = ["cache_folder"]


def cache_folder(*, create: bool = True) -> Path:
    """`SITUS_CACHE`, else `situs` in the user's cache folder; readable by nobody else."""
    from_environment = os.environ.get("SITUS_CACHE")
    folder = Path(from_environment) if from_environment else cache_home() / "situs"
    if create:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            problem = f"cannot create the cache ({error.strerror})"
            raise SitusError(
                problem, where=folder, fix="set SITUS_CACHE to a folder you can write to"
            ) from error
    return folder
