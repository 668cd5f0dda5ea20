"""What a number is for: the answer, an operand, a slice spacing, a component, a normal value,
a measure of something else."""

from __future__ import annotations

import re
from functools import lru_cache

from situs.score.read.numbers.tokens import Kind, Token
from situs.score.read.prose.beside import just_after, just_before

__all__ = [
    "OF_WHICH",
    "averaged",
    "concluded",
    "measures_asked",
    "measures_else",
    "subtracted",
    "working",
]

_OPERATOR_BEFORE = re.compile(
    r"(?:\b(?:minus|plus|times|divided by|multiplied by)(?: the)? |[×*·÷+(√^]|(?<=[\d)²³] )[x/-]"
    r"|(?<=\b[a-z] )[x/-]|(?<=\b[cm]m )[x/-]|(?<=\bml )[x/-]|(?<=[\d)])/|\bsqrt\()\s*$",
    re.IGNORECASE,
)
_OPERATOR_AFTER = re.compile(
    r"[ )²³]*(?:(?:minus|plus|times(?! as)|divided by|multiplied by) (?=[a-z ]{0,6}[0-9])"
    r"|\^ ?[0-9]|[×x*·/+÷](?= ?[\d(.√π])|- ?[\d(])"
)
_EQUALS = re.compile(
    r"(?:[=≈≃≅→]|=>|\bis|\bgives|\bi\.e\.,?|\bequals) ?(?:about |approximately |roughly |around |~"
    r" ?|≈ ?)?$",
    re.IGNORECASE,
)
_CALCULATED = re.compile(
    r"\b(?:minus|plus|divided by|multiplied by)\b"
    r"|[0-9²³)] ?[a-z]{0,8} ?(?:[×*·÷/+^√]|x (?=[0-9(]))|√|\bsqrt\b|\bslices? (?:at|of|×|x|apart)|"
    r"\bpixels?\b|\bpx\b|\beach\b",
    re.IGNORECASE,
)
_SPACING_AFTER = re.compile(
    r"[ -]?(?:\([^)]{0,12}\) ?)?(?:slice |pixel |voxel |slab )?(?:spacing|thickness|per (?:pixel|"
    r"slice|voxel)|/ ?(?:pixel|px|slice|voxel)|each|"
    r"intervals?|thick|slices|sections|resolution|increments?|gap between slices)\b",
    re.IGNORECASE,
)
_SPACING_BEFORE = re.compile(
    r"\b(?:spacing|thickness|(?:pixel|voxel) size|resolution|interval|slice gap|increment)"
    r"(?: (?:of|is|was|being|here is))?(?: (?:about|approximately|roughly))?[ :=≈~]*$"
    r"|\b(?:each|every|pixels at|slices at|px at) $",
    re.IGNORECASE,
)
# "…, so 160 mL each": what follows is said of each thing asked about, not of a slice.
_EACH = re.compile(r"\b(?:so|thus|hence|making|giving|leaving|i\.e\.) (?:about )?$", re.IGNORECASE)
_CORRECTED = re.compile(r"\b(?:for|after) [^.;\n0-9]{0,40}: ?$", re.IGNORECASE)
_COMPONENT_BEFORE = re.compile(
    r"(?:(?:\b(?:d|delta[ _]?)|Δ ?)?(?<![a-zA-Z])d?[xyz]\)?(?:[-"
    r" ](?:axis|direction|component))?\s*(?:[:=≈]|\bis\b) ?"
    r"|\b(?:vertical|horizontal|lateral|cranio-?caudal|antero-?posterior|transverse|axial"
    r"|in[- ]plane|through[- ]plane|[xyz]) (?:offset|component|shift|displacement)"
    r"(?: ?[:=≈]| is| of| was| by)?(?: about)? ?)$",
    re.IGNORECASE,
)
_ALONG_BEFORE = re.compile(
    r"(?<!mm )(?<!cm )\b(?:horizontally|vertically|cranio-?caudally|laterally|in[- ]plane"
    r"|through[- ]plane)\b(?:(?!\b(?:so|thus|hence|which|making|giving|total)\b)[^.;\n0-9]){0,30}$",
    re.IGNORECASE,
)
_AXIS = (
    r"(?:[xyz]|(?:cranio-?caudal|antero-?posterior|ap|transverse|vertical|horizontal|left[-"
    r" ]right|lateral|up[- ]down|"
    r"cc|si|lr|z-?axis) ?(?:direction|axis|plane|component|offset)?)"
)
_COMPONENT_AFTER = re.compile(
    rf" (?:in|along|on) (?:the )?{_AXIS}\b|[ ,]+(?:horizontally|vertically|cranio-?caudally"
    rf"|laterally)\b",
    re.IGNORECASE,
)
_ALONG_AXIS = re.compile(
    r"\bhow (?:far|much) (?:below|above|higher|lower|under|over|behind|in"
    r" front)\b|\b(?:vertical|craniocaudal)",
    re.IGNORECASE,
)
"""A question for the distance along one axis, of which a component is the answer."""
_LIMIT_AFTER = re.compile(
    r" (?:(?:is|was|are|would be|being)(?: about| still| considered)? (?:an? |the )?"
    r"(?:(?:upper |lower )?limit|cut-?off|threshold)|would be(?: an?| the)?"
    r" (?:normal|average|typical|usual))\b",
    re.IGNORECASE,
)
"""Behind a number that is only the limit of what is normal."""
_THAN_USUAL = re.compile(
    r"(?: ?(?:x|×|times))?(?: (?:as|the))?(?: [a-z]+)? (?:as|than|of|its) (?:what is |is )?"
    r"(?:usual|normal|expected|average|typical)\b",
    re.IGNORECASE,
)
"""Behind a multiple of the usual ("twice as large as usual")."""
_GENERIC = re.compile(
    r"\b(?:lesions|nodules|masses|cysts|tumou?rs|ones|those|anything|kidneys|organs|spleens|livers|"
    r"vessels)"
    r"(?: (?:of|over|under|above|below|around|about|up to|(?:larger|smaller|bigger|more|less)"
    r" than))+ $",
    re.IGNORECASE,
)
"""Before what is said of all of a kind ("lesions of 10 mm are often benign")."""
_COMBINED = re.compile(
    r"(?:\b(?:combined|summed|taken together)\b"
    r"|(?:^|[.;,\n(]|\band) ?both [a-z]+s\b)[^.;,\n0-9]{0,40}$",
    re.IGNORECASE,
)
OF_WHICH = re.compile(
    r"\b(?:of (?:which|them|these|those)|including|among them)(?:,| only| just| about)? ?$",
    re.IGNORECASE,
)
"""Before a part of what was measured or counted."""
_EXAMPLE = re.compile(
    r"\b(?:for example|e\.g\.|for instance|such as|reference|assuming|assume[sd]?)(?: of| a| an|"
    r" the)?"
    r"[ ,:(]*(?:about )?$",
    re.IGNORECASE,
)
"""What a number is only taken for ("a spacing of, say, 0.8 mm"), or what serves as a ruler."""

_NORMAL = re.compile(
    r"(?<!than )(?<!as )\b(?:"
    # "Normal in size, with a length of 9 cm" judges what is measured.
    r"normal(?!(?: in [a-z]+|[- ]sized?)?,? (?:with|at|and|but|measuring)\b)(?:ly)?"
    r"|typical(?:ly)?|reference|average|usual(?:ly)?|upper"
    r" limit|cut-?off|threshold)\b[^.;\n]{0,40}$",
    re.IGNORECASE,
)
# "12 mm and 14 mm, on average 13 mm": the mean of what was measured is no usual value.
_AVERAGED = re.compile(
    r"\b(?:on average|average|mean|median|averag(?:es|ing))"
    r"(?: (?:of (?:these|those|them|the [a-z]+)"
    r"|value|distance|is|was|of|out|to|at|about|roughly|thus|therefore|comes|works|gives))*"
    r"[ ,:=≈~]*$",
    re.IGNORECASE,
)
_MEASURED_TWICE = re.compile(r"(?:(?<![0-9.])[0-9]++(?:\.[0-9]++)?+[^0-9]{1,60}?){2}")
# "At z = 120 mm and z = 15 mm: difference 105 mm".
_DIFFERENCE = re.compile(
    r"\bdifference(?: (?:is|of|thus|therefore|about|amounts to|comes to))*[ ,:=≈~]*$", re.IGNORECASE
)
_PLACE = re.compile(r"\b[xyz] ?[=≈:]|\b(?:slice|row|column) [0-9]", re.IGNORECASE)
_HERE = re.compile(r"\b(?:here|in this|but|measured|is about)\b[^.;\n]{0,20}$", re.IGNORECASE)
_SPREAD_BEFORE = re.compile(
    r"\b(?:to the nearest|give or take|plus or minus|plus/minus|accurate to(?:"
    r" within)?|(?:error|uncertainty|margin) of)"
    r"(?: (?:about|a|some))? ?$",
    re.IGNORECASE,
)
_SIDE = re.compile(r"\b(left|right)\b", re.IGNORECASE)
_SIDE_BEFORE = re.compile(
    r"\b(left|right)(?: [a-z]+)?[ :=(]*"
    r"(?:(?:is|was|has|measures|spans|at|about|approximately|roughly|around|a|length|volume|"
    r"diameter|of)["
    r" :=]+){0,4}"
    r"[~≈]? ?$",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r" (?:away from|from the"
    r" (?!top|upper|superior|tip|outer|one|front|left|right|anterior|lower|bottom|edge|margin))",
    re.IGNORECASE,
)
_APART = re.compile(r" (?:away|apart)\b", re.IGNORECASE)
_COORDINATE = re.compile(r"\([^()\n]{0,40}$")
_POINT = re.compile(r"\(\s*-?[0-9.]+\s*,\s*-?[0-9.]+\s*(?:,\s*-?[0-9.]+\s*)?\)")


def _measure(
    question: str, before: str, after: str
) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """How a question asks for a measure, and what names it before or behind a number."""
    # The noun may stand some words before its number, as long as no other number or clause comes
    # between.
    label = rf"\b(?:{before})\b(?:(?!\b(?:and|i|we|it)\b)[^.;,:)\n0-9]){{0,30}}[ :=≈~]*$"
    return (
        re.compile(question, re.IGNORECASE),
        re.compile(label, re.IGNORECASE),
        re.compile(rf"[ -](?:{after})\b", re.IGNORECASE),
    )


_MEASURES = {
    "length": _measure(
        r"\bhow long|\blength|top to bottom",
        "length|long(?![- ]axis)|height|craniocaudal|cc|superior-inferior|top to bottom|tall",
        "long|in length|tall|in height|from top",
    ),
    "width": _measure(
        r"\bhow wide|\bwidth|left to right",
        "width|transverse|diameter|calib(?:re|er)",
        "wide|across|in width|in diameter",
    ),
    "depth": _measure(
        r"\bhow deep|\bdepth|\bthick|front to back|how far (?:below|beneath|under|behind)",
        "depth|thickness|anteroposterior|front to back",
        "deep|thick|in depth",
    ),
    "diameter": _measure(
        r"\bdiameter",
        "diameters?|long[- ]axis|major axis|(?:lesion|mass|nodule|cyst|tumou?r|one(?= of)"
        "|another(?= of))(?: size|'s size| itself)?(?: is)?"
        " (?:measures|measuring|spans|spanning|covers|size|about|of)"
        "|calib(?:re|er)",
        "in diameter|diameter|lesion|mass|nodule|cyst|tumou?r|long|in length|in (?:its|the)"
        " longest",
    ),
    "distance": _measure(
        r"\bdistance|\bhow far|\bgap\b|\bapart",
        "distance|separation|gap",
        "apart|away|distance|from the|deep to|deep from",
    ),
    "volume": _measure(r"\bvolume", "volume", "in volume"),
    "ratio": _measure(
        r"\bratio|\btimes|\bshare|\bfraction|\bindex", "ratio|index|fraction", "ratio"
    ),
    "radius": _measure(r"\bradius", "radius", "in radius"),
    "confidence": _measure(
        r"\bconfiden",
        "confidence|certainty|probability|sure",
        "sure|confiden(?:t|ce)|certain(?:ty)?",
    ),
}
# "A diameter of 21 mm, and the lesion one of 34 mm": the same measure again.
# "The lesion is 30 mm wide and the gallbladder 25 mm": the same measure of another thing.
_LIKEWISE = re.compile(
    r"[0-9] ?(?:mm|cm|m)(?P<measure>[ -][a-z]+(?: [a-z]+)?)(?:,? (?:and|while|whereas)|,)"
    r" (?:the |its )[a-z' -]{2,30}$",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(r"\b(?:one|that) of (?:about |some )?$", re.IGNORECASE)
_LONGEST = re.compile(r"\b(?:longest|maximum|maximal)\b", re.IGNORECASE)
_SHORT_LABEL = re.compile(
    r"\b(?:shortest|short[- ]axis|smallest|minimum|minimal|perpendicular)\b[^.;,\n0-9]{0,20}$",
    re.IGNORECASE,
)
_SHORTEST = re.compile(r"\b(?:shortest|minimum|minimal)\b", re.IGNORECASE)
_LONG_LABEL = re.compile(
    r"\b(?:longest|largest|maximum|maximal|cent(?:re|er)[- ]to[- ]cent(?:re|er)"
    r"|cent(?:re|er)s)\b[^.;,\n0-9]{0,20}$",
    re.IGNORECASE,
)

# "Pixel count: 40" on the way to a length; a question for a measure is not answered by a count.
_ASKS_COUNT = re.compile(r"\bhow many (?!times\b)|\bcount\b|\bnumber of\b", re.IGNORECASE)
_COUNTED = re.compile(r"\b(?:count|number of [a-z]+) ?(?:[:=]|is|was) ?[~≈]? ?$", re.IGNORECASE)
_LONG_BEHIND = re.compile(
    r"[ ,(]+(?:at (?:the )?most|at its longest|cent(?:re|er)[- ]to[- ]cent(?:re|er))"
    r"(?![^.;)\n]{0,24}[0-9])",
    re.IGNORECASE,
)


def working(plain: str, token: Token, question: str) -> bool:
    """Whether a number only serves to work the answer out."""
    before, after = just_before(plain, token.start, 60), just_after(plain, token.end, 40)
    if _is_coordinate(plain, token, before):
        return True
    if _OPERATOR_AFTER.match(after) or _OPERATOR_BEFORE.search(before[-12:]):
        return token.kind in {Kind.VALUE, Kind.DIMENSIONS, Kind.UNCLEAR} and not _opens_aside(
            before, after
        )
    if token.kind not in {Kind.VALUE, Kind.BOUND} and re.match(r" ?[=≈]", after):
        return True
    spaced = _SPACING_AFTER.match(after) or _SPACING_BEFORE.search(before)
    if (
        spaced
        and not _CORRECTED.search(before)
        and not _EACH.search(before)
        and not re.search(r"\bspacing|\bthick|\bapart", question, re.IGNORECASE)
    ):
        return token.units != (None,) or _SPACING_BEFORE.search(before) is not None
    if _GENERIC.search(before) or _LIMIT_AFTER.match(after):
        return True
    if OF_WHICH.search(before) or (_COMBINED.search(before) and not _COMBINED.search(question)):
        return True
    if _SPREAD_BEFORE.search(before) or _EXAMPLE.search(before) or _other_side(before, question):
        return True
    component = _COMPONENT_BEFORE.search(before) or _ALONG_BEFORE.search(before)
    if component and not _ALONG_AXIS.search(question):
        return True
    if _COMPONENT_AFTER.match(after) and not _MEASURES["length"][0].search(question):
        return True
    usual = _NORMAL.search(before) and not _HERE.search(before) and not averaged(plain, token)
    return bool(usual) or _THAN_USUAL.match(after) is not None


def subtracted(plain: str, token: Token) -> bool:
    """Whether a number is called the difference of two places that stand before it."""
    before = just_before(plain, token.start, 200)
    return _DIFFERENCE.search(before) is not None and len(_PLACE.findall(before)) > 1


def averaged(plain: str, token: Token) -> bool:
    """Whether a number is the mean of at least two that stand before it."""
    before = just_before(plain, token.start, 200)
    label = _AVERAGED.search(before)
    return label is not None and _MEASURED_TWICE.search(before[: label.start()]) is not None


def _is_coordinate(plain: str, token: Token, before: str) -> bool:
    """Whether a number is one of a point's two or three coordinates."""
    if token.units != (None,) or not _COORDINATE.search(before):
        return False
    point = _POINT.search(plain, plain.rfind("(", 0, token.start), token.end + 40)
    return point is not None and point.start() < token.start < point.end()


def _other_side(before: str, question: str) -> bool:
    """Whether a number is said of the left one where the right one is asked about,
    or the other way round."""
    asked = {side.lower() for side in _SIDE.findall(question)}
    subject = _SIDE_BEFORE.search(before)
    return len(asked) == 1 and subject is not None and subject[1].lower() not in asked


def _opens_aside(before: str, after: str) -> bool:
    """Whether the bracket before a number opens an aside
    ("(4.2 cm)") instead of a term of a calculation."""
    return (
        before.rstrip().endswith("(")
        and not _OPERATOR_AFTER.match(after)
        and "sqrt" not in before[-8:]
        and "√" not in before[-4:]
    )


_LENGTHS = frozenset({"length", "width", "depth", "diameter", "distance", "radius"})
_OF_RATIO = re.compile(
    r"\b(?:ratio|quotient|factor)\b(?:[^.;\n]|\.(?=[0-9])){0,100}$", re.IGNORECASE
)


def measures_asked(plain: str, token: Token, question: str) -> bool:
    """Whether a number is named as the measure that the
    question asks for ("the gap amounts to 47 mm")."""
    return bool(_named_measures(plain, token) & _asked_measures(question))


def measures_else(plain: str, token: Token, question: str) -> bool:
    """Whether a number is named as a measure of something else than the question asks for."""
    asked = _asked_measures(question)
    if not asked:
        return False
    before, after = just_before(plain, token.start, 60), just_after(plain, token.end, 30)
    if "ratio" in asked and _OF_RATIO.search(just_before(plain, token.start, 120)):
        return False  # "the ratio of the liver's volume to the kidney's volume is 11"
    if _COUNTED.search(before) and not _ASKS_COUNT.search(question):
        return True
    if _LONGEST.search(question) and _SHORT_LABEL.search(before):
        return True
    if _SHORTEST.search(question) and _LONG_LABEL.search(before):
        return True
    if _SHORTEST.search(question) and _LONG_BEHIND.match(after):
        return True
    if "distance" not in asked and _AWAY.match(after):
        return True
    if "distance" in asked and _APART.match(after):
        return False
    if _ELLIPSIS.search(before):
        sentence = plain[max(plain.rfind(".", 0, token.start), token.start - 120, 0) : token.start]
        told = {name for name, (noun, _, _) in _MEASURES.items() if noun.search(sentence)}
        return bool(told) and not told & asked
    # A "distance" may be any length that is asked for.
    named = _named_measures(plain, token) - {"distance"}
    if not named and (same := _LIKEWISE.search(before)):
        named = {
            name for name, (_, _, behind) in _MEASURES.items() if behind.match(same["measure"])
        }
    return bool(named) and not named & asked


@lru_cache(maxsize=1024)
def _asked_measures(question: str) -> frozenset[str]:
    asked = {name for name, (pattern, _, _) in _MEASURES.items() if pattern.search(question)}
    return frozenset({"ratio"} if "ratio" in asked else asked)  # "by volume, how many times …"


def _named_measures(plain: str, token: Token) -> set[str]:
    """The measures that the words around a number name."""
    before, after = just_before(plain, token.start, 60), just_after(plain, token.end, 30)
    dimensions = {unit.dimension for unit in token.units if unit is not None}
    return {
        name
        for name, (_, label, behind) in _MEASURES.items()
        # "The lesion of 20 mL": no diameter has that unit.
        if (name not in _LENGTHS or not dimensions or "length" in dimensions)
        and (label.search(before) or behind.match(after))
    }


def concluded(plain: str, token: Token, start: int) -> bool:
    """Whether a number stands behind the equals sign of a calculation, or closes one in words."""
    before = plain[max(start, token.start - 300) : token.start]
    return _EQUALS.search(before[-30:]) is not None and _CALCULATED.search(before) is not None
