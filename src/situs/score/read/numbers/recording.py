"""Numbers that describe the scan instead of what it shows: its extent, its matrix, its voxels."""

from __future__ import annotations

import re

from situs.score.read.numbers.tokens import Token
from situs.score.read.prose.beside import just_before

__all__ = ["counts_samples", "describes_scan"]

_SCAN = (
    r"(?:(?:ct|mri|mr|image|imaging|pixel|voxel|scan) )?"
    r"(?:scans?|stack|series|data ?sets?|acquisition|field of view|fov|matrix|grid|pixels?|voxels?"
    r"|image volume|slab|canvas|images?|pictures?|frames?|slices?|sections?|volume|study)"
)
# The scan as the subject of a clause, its verb, and the number that the verb leads to.
_OF_SCAN = re.compile(
    rf"(?:^|[.;,:(\n]|\b(?:and|with|since|as|that|because|given|so)\b) ?"
    rf"(?:the |a |an |this |that |each |every |one |these |its |whole |entire |full |my |our )*"
    rf"{_SCAN}(?: (?:itself|here|in total))?,?"
    r"(?: (?:covers?|covering|spans?|spanning|is|are|has|have|having|of|measures?|measuring"
    r"|comprises?|extends?|runs?|being|was|were|size|extent|over|about|approximately|roughly"
    r"|around|some|a|an|the|total|by|reaches|goes|from|to|stretches))*[ :=≈~]*$",
    re.IGNORECASE,
)
# "120 slices of 5 mm", "512 x 512 voxels at 0.7 mm".
_OF_SAMPLES = re.compile(
    r"\b(?:slices?|pixels?|px|voxels?|sections?|cuts)(?:,? (?:of|at|with|spaced|that are|each|every"
    r"|a))+ (?:about |roughly )?$"
    r"|(?<![0-9] )\bslices (?:are |lie |spaced )?$",
    re.IGNORECASE,
)
_SAMPLES_BEHIND = re.compile(r" ?(?:slices?|pixels?|px|voxels?)\b", re.IGNORECASE)
# "Pixels between: 20", "slices = 4": how many there are, where a measure is asked for.
_SAMPLES_BEFORE = re.compile(
    r"(?:^|[.;,\n])[ *•-]*(?:[a-z]+ )?(?:slices|pixels|px|voxels)(?: (?:between|apart|in between))?"
    r" ?[:=≈] ?[~≈]? ?$",
    re.IGNORECASE,
)
_ASKS_SCAN = re.compile(
    r"\b(?:slices?|pixels?|voxels?|spacing|thick|field of view|scan cover|images?)\b",
    re.IGNORECASE,
)
_ASKS_VOLUME = re.compile(r"\bvolume\b", re.IGNORECASE)
_VOLUME = re.compile(r"\bvolume\b[^.;,\n]*$", re.IGNORECASE)


def describes_scan(plain: str, token: Token, question: str) -> bool:
    """Whether a number is an extent of the scan or of its voxels ("the stack covers 600 mm")."""
    if _ASKS_SCAN.search(question):
        return False
    before = just_before(plain, token.start, 70)
    if _OF_SAMPLES.search(before):
        return True
    of_scan = _OF_SCAN.search(before)
    if of_scan is None:
        return False
    if _VOLUME.search(of_scan[0]) is None:
        return True
    # "The volume is 150 mL" is a measure of something; of a scan, lengths are told.
    is_volume = any(unit is not None and unit.dimension == "volume" for unit in token.units)
    return not is_volume and _ASKS_VOLUME.search(question) is None


def counts_samples(plain: str, token: Token, question: str) -> bool:
    """Whether a number without a unit counts slices or voxels on the way to a measure."""
    if token.units != (None,) or _ASKS_SCAN.search(question):
        return False
    before = just_before(plain, token.start, 60)
    behind = _SAMPLES_BEHIND.match(plain, token.end, token.end + 12)
    return behind is not None or _SAMPLES_BEFORE.search(before) is not None
