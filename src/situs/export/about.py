"""What an export says of itself."""

from __future__ import annotations

import re
from pathlib import PurePath

import msgspec

from situs.base.text import markdown_safe
from situs.bench import BenchInfo
from situs.clients import parse_spec
from situs.errors import SitusError

__all__ = ["BANNER", "About", "public_name"]

BANNER = (
    "RESTRICTED DATA. This folder holds pictures of restricted data: do not publish or pass it on."
)


class About(msgspec.Struct, frozen=True):
    """The bench, the profile and, of a run, the model."""

    bench: BenchInfo
    profile: str = ""
    """Empty where no pictures of a profile and no prompts are inside."""
    profile_hash: str = ""
    model: str = ""
    pixels: bool = False

    @property
    def name(self) -> str:
        """A name that every tool accepts."""
        return "situs_" + (
            re.sub(r"[^a-z0-9]+", "_", self.bench.name.lower()).strip("_") or "bench"
        )

    @property
    def banner(self) -> str:
        """A warning where pixels of restricted data are inside."""
        return BANNER if self.pixels and self.bench.restricted else ""

    def lines(self) -> list[str]:
        """The facts, for a README."""
        profile = (
            f", profile {markdown_safe(self.profile)} (`{self.profile_hash[:16]}`)"
            if self.profile
            else ""
        )
        sentences = [
            f"Bench {markdown_safe(self.bench.name)} (source: {markdown_safe(self.bench.source)}, "
            f"licence: {markdown_safe(self.bench.licence) or 'none named'}, "
            f"content hash `{self.bench.content_hash}`){profile}."
        ]
        if self.model:
            pictures = "" if self.pixels else " Pictures are not included: scoring needs none."
            sentences.append(f"Answers of {markdown_safe(self.model)}.{pictures}")
        return [f"**{self.banner}**", "", *sentences] if self.banner else sentences


def public_name(client: str) -> str:
    """A model's name without the folder or address it was found at."""
    try:
        spec = parse_spec(client)
    except SitusError:
        return "model"
    return f"{spec.kind}:{PurePath(spec.name).name}" if spec.name else spec.kind
