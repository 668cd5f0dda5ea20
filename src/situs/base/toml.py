"""TOML from users, read in bounds."""

from __future__ import annotations

import re
import tomllib
from typing import Any

__all__ = ["parse_toml"]

_MOST_KEY_PARTS = 32
_KEY_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_KEY_PART}){{{_MOST_KEY_PARTS}}}")
"""Python's reader keeps every beginning of a dotted key, so that a key of a million parts takes
terabytes. Nothing that Situs reads has keys of more than three."""


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML document; a `ValueError` says what is wrong with it."""
    if long_key := _LONG_KEY.search(text):
        line = text.count("\n", 0, long_key.start()) + 1
        raise ValueError(f"a key of more than {_MOST_KEY_PARTS} parts (line {line})")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
