"""Where a user's own files lie, as each system has it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_home", "config_home"]


def cache_home() -> Path:
    """The folder in which programs keep what can be made again."""
    if sys.platform == "win32":
        return _of_variable("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    fallback = ("Library", "Caches") if sys.platform == "darwin" else (".cache",)
    return _of_variable("XDG_CACHE_HOME") or Path.home().joinpath(*fallback)


def config_home() -> Path:
    """The folder in which programs keep settings.

    On macOS, as most tools of a terminal have it, `~/.config`.
    """
    if sys.platform == "win32":
        return _of_variable("APPDATA") or Path.home() / "AppData" / "Roaming"
    return _of_variable("XDG_CONFIG_HOME") or Path.home() / ".config"


def _of_variable(name: str) -> Path | None:
    value = os.environ.get(name)
    return Path(value) if value else None
