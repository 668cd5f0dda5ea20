"""The words of reports: findings as data, and the words that make a sentence no proof."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

import msgspec

__all__ = [
    "ABOUT_BEFORE",
    "BESIDE",
    "CLEARS",
    "DENIED",
    "DENIES_ALL",
    "DENIES_NEXT",
    "DISTRUSTED",
    "HEDGED",
    "POINTS_BACK",
    "RELATIVE",
    "TURNS",
    "Finding",
    "findings",
    "plain_words",
    "spelt_out",
]


class Finding(msgspec.Struct, frozen=True):
    """A finding and how it is asked about."""

    name: str
    pattern: str
    families: tuple[str, ...]
    """Findings that a reader may call by one name share one."""
    one: str = ""
    """How a question names one of it; empty if it is not asked about."""
    many: str = ""
    wide: bool = False
    """A word that may mean a finding of its families, or something else."""
    on_both_sides: bool = False
    """Nearly always on both sides, so that its side is no question: emphysema."""
    sites: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def findings() -> tuple[tuple[Finding, re.Pattern[str]], ...]:
    """Every finding with its pattern, those that win first."""
    text = files("situs.facts.reports").joinpath("data", "findings.toml").read_text("utf-8")
    entries = msgspec.convert(tomllib.loads(text)["finding"], list[Finding])
    return tuple((entry, re.compile(rf"\b(?:{entry.pattern})\b")) for entry in entries)


@lru_cache(maxsize=1)
def plain_words() -> frozenset[str]:
    """The words that a sentence may have beside its
    finding and still state nothing but where that lies."""
    text = files("situs.facts.reports").joinpath("data", "plain_words.txt").read_text("utf-8")
    return frozenset(
        word for line in text.splitlines() if not line.startswith("#") for word in line.split()
    )


HEDGED = re.compile(
    r"\?|\b(?:suspicious|suspect\w*|suspicion|query|vs|versus|perhaps|maybe|potential\w*|doubtful|"
    r"equivocal|"
    r"indeterminate|apparent\w*|concern\w*|mimic\w*|rule"
    r" out|r/o|exclu\w+|believed|assumed|possibl[ey]|possibility|"
    r"probabl[ey]|may|might|could|can|cannot|likely|thought|"
    r"considered?|evaluated|interpreted|compatible|consistent|suggest\w*|favou?r\w*|impression"
    r" of|differential|"
    r"indistinguishable|unclear|uncertain|appears? to|seems?|presumed|questionable|if"
    r" any|or|recommended|"
    r"largest|biggest|most|mostly|especially|particularly|prominent\w*|should|would|if|whether|"
    r"unless|unlikely|"
    r"expected|typical\w*|usual\w*|alternative\w*|such cases?|in case|ask(?:s|ed)?|"
    r"predominant\w*|mainly|belong\w*|secondary to|due to|because|pseudo\w+)\b|"
    r"\b(?:nodule|mass|cyst|bulla|consolidation|tumou?r)[- ]like\b"
)
"""Words by which a sentence is not sure, explains instead of stating,
or tells the worst place among several."""

ABOUT_BEFORE = re.compile(
    r"\b(?:previous\w*|prior|former|compar\w+|regress\w*|progress\w*|stable|unchanged|newly|new|"
    r"old|recent\w*|"
    r"follow\w*|control|operat\w+|postop\w*|surgery|surgical|history|known|resect\w*|lobectomy|"
    r"pneumonectomy|"
    r"mastectomy|nephrectomy|transplant\w*|current"
    r" examination|treatment|post-?treatment|technique|contrast|"
    r"non-?contrast|suboptimal\w*|artifacts?|optimal\w*|\d{4}|serial|series|image|disappear\w*|"
    r"continu\w+|last|decreas\w+|reduc\w+|increased (?:in"
    r" )?(?:size|amount)|increasing|interval|wors\w+|improv\w*|"
    r"persist\w*|resol\w+|no"
    r" longer|residual|enlarging|s/p|status|ago|earlier|since|days?|weeks?|months?|years?|"
    r"formerly|once|had|been|became|becoming|turned|vanish\w*|clear(?:ed|ing)|pass(?:ed|age)|"
    r"remov\w+|extract\w*|"
    r"drain\w*|treated|heal\w*|gone|dissolv\w*|"
    r"fathers?|mothers?|brothers?|sisters?|parents?|family|familial|relatives?|sons?|daughters?|"
    r"his|her|their|patients?|"
    r"clinic\w*|physicians?|doctors?|surgeons?|refer\w*|request\w*|indicat\w*|complain\w*|"
    r"ultraso\w+|usg?|sonogra\w+|mri?|pet|pet-?ct|x-?rays?|radiogra\w+|scintigra\w+|mammogra\w+|"
    r"angiogra\w+|"
    r"endoscop\w+|bronchoscop\w+|biops\w+|histolog\w+|cytolog\w+|elsewhere|outside|external|other"
    r" cent(?:er|re)s?)\b"
)
"""Comparison, history, technique, what is over,
other examinations, other people, and what was asked for."""

DISTRUSTED = re.compile(
    r"\b(?:addend\w+|errat\w+|corrections?|corrected|amend\w*|should"
    r" read|mirrored|flipped|mislabel\w*|"
    r"(?:wrong|incorrect) side)\b"
)
"""Words by which a report takes back, somewhere, what it says elsewhere."""

POINTS_BACK = re.compile(
    r"\b(?:second|third|fourth|another|others?|one|ones|similar\w*|same|it|they|these|those|also|"
    r"too|further|"
    r"additional\w*|contralateral\w*|opposite|latter|likewise|identical|addition|as|should|more)\b"
)
"""Words by which a sentence that names no finding may speak of one that was named before it."""

CLEARS = re.compile(
    r"^(?:the )?(?:both |bilateral |right |left )?(?:lungs?|lung"
    r" parenchymas?|kidneys?|liver|adrenals?(?: glands?)?|"
    r"thyroid(?: gland| lobes?)?|breasts?|pleura|pleural spaces?|vertebra\w*(?:"
    r" bod(?:y|ies))?|spine)"
    r"(?::| (?:is|are|was|were|appears?))(?: both)? "
    r"(?:normal|clear|natural|unremarkable|absent|operated|removed|not"
    r" (?:observed|seen|detected|visuali[sz]ed))"
    r"(?: and \w+)?(?: \([^)]*\))?\W*$"
)
"""A sentence that says of a whole organ that nothing is there."""

RELATIVE = re.compile(
    r"\b(?:(?:than|less|larger|smaller|greater)\b(?!(?: than)? \d)|(?:lesser|less"
    r" extent|spar(?:e[sd]?|ing)|except\w*|"
    r"opposite|contralateral\w*|unlike|rather|instead|to the (?:left|right) of|shift\w*|arising|"
    r"and there (?:is|are|was|were))\b)|[<>](?! ?\d)"
)
"""Words by which a place in the sentence is not where the finding lies, or not all of it."""

BESIDE = re.compile(
    r"\b(?:again|still|also|other|another|others|apart|described|defined|mentioned)\b"
)
"""Words by which a sentence speaks of something beside what another one said."""

DENIED = re.compile(
    r"\b(?:no|not|none|neither|nor|never|without|absent|absence|negative|free"
    r" of|normal|natural|clear|"
    r"unremarkable|preserved|excluded|den(?:y|ies|ied)|ruled"
    r" out|lacks?|lacking|fails?|failed)\b|n['’]t\b"
)
"""Words by which a sentence denies something, if not all it speaks of."""

DENIES_NEXT = re.compile(r"\b(?:no|neither)\b")
"""Words that deny what follows them."""

DENIES_ALL = re.compile(
    r"\b(?:not|never)(?: \w+)?"
    r" (?:observed|detected|seen|found|identified|noted|present|visuali[sz]ed)\W*$|"
    r"\b(?:is|are|was|were) absent\W*$"
)
"""The end of a sentence that does nothing but deny."""

TURNS = re.compile(
    r"\b(?:but|however|although|though|while|whereas|except\w*|other"
    r" than|apart|only|yet|previous\w*|prior|chang\w+|"
    r"differ\w*|interval|longer|evident)\b"
)
"""Words by which a denial may not reach what it seems to."""

_SHORT = {
    "right upper lobe": r"rul",
    "right middle lobe": r"rml",
    "right lower lobe": r"rll",
    "left upper lobe": r"lul",
    "left lower lobe": r"lll",
    "bilateral": r"b/l|bilat\.?(?=\s)",
    "bilateral lung": r"bibasal|bibasilar|biapical",
    "right": r"rt\.?(?=\s)",
    "left": r"lt\.?(?=\s)",
}
_SHORT_FORMS = "|".join(f"(?P<_{n}>{words})" for n, words in enumerate(_SHORT.values()))
_SHORTENED = re.compile(rf"(?<![\w/])(?:{_SHORT_FORMS})(?![\w/])")


def spelt_out(lower: str) -> str:
    """A text in lower case with the usual abbreviations of places in words."""
    names = list(_SHORT)
    return _SHORTENED.sub(lambda match: names[int(str(match.lastgroup)[1:])], lower)
