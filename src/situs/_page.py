"""What every page we write keeps to: one file, a policy that allows no more than its own style and script."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import msgspec

__all__ = ["json_for_script", "page_policy"]


def json_for_script(payload: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = msgspec.json.encode(payload).decode("utf-8")
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def page_policy(style: str, script: str) -> str:
    """A content policy: no network, no code but this script, no style but this one."""
    return (
        "default-src 'none'; img-src data:; "
        f"style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
