"""The words of reports: findings as data, and the words that make a sentence no proof."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

import msgspec

__all__ = ["ABOUT_BEFORE", "BESIDE", "DENIED", "HEDGED", "Finding", "findings"]


class Finding(msgspec.Struct, frozen=True):
    """A finding and how it is asked about."""

    name: str
    pattern: str
    family: str
    """Findings that a reader may call by one name."""
    one: str = ""
    """How a question names one of it; empty if it is not asked about."""
    many: str = ""
    sites: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def findings() -> tuple[tuple[Finding, re.Pattern[str]], ...]:
    """Every finding with its pattern, those that win first."""
    text = files("situs.facts.reports").joinpath("data", "findings.toml").read_text("utf-8")
    entries = msgspec.convert(tomllib.loads(text)["finding"], list[Finding])
    return tuple((entry, re.compile(rf"\b(?:{entry.pattern})\b")) for entry in entries)


HEDGED = re.compile(
    r"\?|\b(?:suspicious|suspected|suspicion|possibl[ey]|probabl[ey]|may|might|could|can|cannot|likely|thought|"
    r"considered?|evaluated|interpreted|compatible|consistent|suggest\w*|favou?r\w*|impression of|differential|"
    r"indistinguishable|unclear|uncertain|appears? to|seems?|presumed|questionable|if any|or|recommended|"
    r"largest|biggest|most|mostly|especially|particularly|prominent\w*|"
    r"predominant\w*|mainly|belong\w*|secondary to|due to|because)\b"
)
"""Words by which a sentence is not sure, explains instead of stating, or tells the worst place among several."""

ABOUT_BEFORE = re.compile(
    r"\b(?:previous\w*|prior|former|compar\w+|regress\w*|progress\w*|stable|unchanged|newly|new|old|recent\w*|"
    r"follow\w*|control|operat\w+|postop\w*|surgery|surgical|history|known|resect\w*|lobectomy|pneumonectomy|"
    r"mastectomy|nephrectomy|transplant\w*|current examination|treatment|post-?treatment|technique|contrast|"
    r"non-?contrast|suboptimal\w*|artifacts?|optimal\w*|\d{4}|serial|series|image|disappear\w*|"
    r"continu\w+|last|decreas\w+|reduc\w+|increased (?:in )?(?:size|amount)|increasing)\b"
)
"""Comparison, history and technique."""

BESIDE = re.compile(r"\b(?:again|still|also|other|another|others|apart|described|defined|mentioned)\b")
"""Words by which a sentence speaks of something beside what another one said."""

DENIED = re.compile(
    r"\b(?:no|not|none|neither|nor|never|without|absent|absence|negative|free of|normal|natural|clear|"
    r"unremarkable|preserved|excluded)\b"
)
