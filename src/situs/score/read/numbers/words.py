"""Numbers that are said otherwise: "twice", "2.5-fold", "a single lesion", "no lesions"."""

from __future__ import annotations

import re
from collections.abc import Container

from situs.score.read.numbers.literals import WORD, word_value

__all__ = [
    "LOOKS",
    "count_in_words",
    "counted_ones",
    "digits_for_words",
    "times_as_numbers",
    "without_differences",
]

_NUMBER = r"[0-9]+(?:[.,][0-9]+)?"
_SMALLER = r"(?:smaller|less|fewer|shorter|lower|thinner|narrower|lighter)"
_MORE = rf"(?:larger|bigger|more|greater|longer|higher|taller|wider|thicker|heavier|{_SMALLER})"
# By how much something is larger ("20 % larger", "3 times smaller").
_DIFFERENCE = re.compile(
    rf"(?<![\w.,/])(?:{_NUMBER} ?(?:-|–|—|to|and|or) ?)?(?:{_NUMBER}|[a-z]+) ?"
    rf"(?:(?:%|per ?cent)(?: [a-z]+)? {_MORE}"
    rf"|(?:times|x|×|-? ?fold)(?: [a-z]+)? {_SMALLER}"
    r"|(?:%|per ?cent) (?:increase|decrease|difference))\b",
    re.IGNORECASE,
)
_TIMES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in [
        (r"\b(?:one|1) and an? half(?: times)?\b", "1.5"),
        (r"\bhalf again as\b", "1.5"),
        (r"\b(?:two|2) and an? half(?: times)?\b", "2.5"),
        (r"\b(?:three|3) and an? half(?: times)?\b", "3.5"),
        (rf"\b({_NUMBER}) ?(?:[x×]|-? ?fold|times)(?![\w]| ?[0-9])", r"\1"),
        # 1:3 may mean either of two ratios; 3:1 and 5:2 say which is the larger.
        (rf"(?<![\w.:])(?!1 ?:)({_NUMBER}) ?: ?({_NUMBER})(?![\w:]|\.[0-9])", r"\1/\2"),
        (rf"(?<![\w.])(?!0|1 )({_NUMBER}) to (?:1|one)(?![\w:]|\.[0-9])", r"\1"),
        (rf"(?<!\w)x ?({_NUMBER})(?![\w.])", r"\1"),
        (r"\bthree[ -]quarters\b", "0.75"),
        (r"\btwo[ -]thirds\b", "2/3"),
        (r"\b(?:twice|doubled?|twofold)\b", "2"),
        (r"\b(?:thrice|tripled?|threefold)\b", "3"),
        (r"\b(?:quadrupled?|fourfold)\b", "4"),
        (r"\b(?:an?|one)[ -](third|quarter)\b", r"1/\1"),
        (r"1/third\b", "1/3"),
        (r"1/quarter\b", "1/4"),
        (r"\b(?:one[ -])?half\b", "0.5"),
    ]
)
_FOLD = re.compile(rf"(?:(?P<word>{WORD.pattern})[- ]?|\b(?P<joined>[a-z]+))fold\b", re.IGNORECASE)

_THINGS = (
    r"(?:lesion|nodule|mass|masse|tumou?r|cyst|metastasis|metastase|focus|foci|stone|calculus|"
    r"calculi|finding|abnormality|"
    r"abnormalitie|cavity|cavitie|infarct|defect|tear|fracture|component|part|structure|area|spot|"
    r"aneurysm|polyp"
    r"|lymph node|node|rib|bone|"
    r"vertebra|vertebrae|disc|vessel|organ|level|screw|clip|stent|drain|tube|stone)s?"
)
_HEDGED = (
    "other|additional|further|more|new|obvious|definite|large|small|single|significant|"
    "suspicious|enlarged"
)
_NONE = re.compile(
    r"^(?:(?:there (?:is|are)|i (?:see|count|find|can see)|i'd say|the answer is)"
    r" )?(?:none|nothing|nil)"
    r"(?: (?:at all|that i can see|i can see|whatsoever|"
    r"seen|visible|present|found|detected|identified|are seen|is seen|are visible|is visible))?["
    r" .!]*$"
    rf"|\bno (?:(?!{_HEDGED})[a-z-]+ ){{0,3}}?{_THINGS}\b"
    r"(?! (?:other|except|besides|apart|beyond|but|larger|bigger|smaller|greater|above|below|"
    r"outside|elsewhere|"
    r"on (?!this|these|any)|"
    r"in the (?:left|right|upper|lower)|than))"
    r"|\b(?:do not|don't|cannot|can't|did not|didn't|could not|couldn't) (?:see|find|identify|"
    r"detect) any\b(?! (?:other|more|further))"
    r"|^(?:there )?(?:aren't|are not|isn't|is not) any[ .!]*$|^(?:there is|i see|i find|"
    r"i count) none[ .!]*$|^not a single one[ .!]*$"
    rf"|\bnot a single (?:[a-z-]+ )?{_THINGS}\b|\b(?:isn't|aren't|is not|are not) any (?:[a-z-]+"
    rf" )?{_THINGS}\b",
    re.IGNORECASE | re.MULTILINE,
)
_SINGLE = re.compile(
    r"(?<!not )\b(?:an?|the|only|just|one|this|is|:|^) ?(?:single|solitary|lone) (?:[a-z-]+"
    rf" ){{0,3}}?{_THINGS}\b"
    r"|^there(?:'s| is) one[ .!]*$|^(?:only |just )?a single one[ .!]*$|^(?:(?:there is"
    r"|there's|i see|i count) )?(?:just|only) (?:the )?one(?:[ .!]*$|, )"
    rf"|^(?:single|solitary|lone)(?: (?:[a-z-]+ ){{0,3}}?{_THINGS})?[ .!]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PAIR = re.compile(rf"\bboth (?:[a-z-]+ )?{_THINGS}\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:several|multiple|many|numerous|few|some|various|countless|couple|a number"
    r" of|innumerable|at least|"
    r"second|another|third)\b",
    re.IGNORECASE,
)


LOOKS = (
    r"(?:(?:very |more )?(?:large|larger|big|bigger|small|smaller|tiny|medium|medium-sized|dominant"
    r"|hypodense|hyperdense|dark|bright|round|oval|solid|ill-defined|well-defined"
    r"|subcentimet(?:re|er)))"
)
"""What tells apart lesions that are counted together."""
# "Contains one lesion", "one large and two small lesions": here "one" is no pronoun.
_COUNTED_ONE = re.compile(
    rf"(?P<before>\b(?:there is|there's|contains?|has|shows?|see|find|found|count|identif(?:y|ied)"
    r"|detect|harbou?rs|holds|reveals|bears|and|plus)(?: (?:only|just|exactly))?) one"
    rf"(?= (?P<look>{LOOKS} )?(?P<thing>[a-z]+)\b)",
    re.IGNORECASE,
)


def counted_ones(text: str, things: Container[str]) -> str:
    """The text with "1" for each "one" that counts one of the `things`, or one of them beside
    others ("one large and …")."""

    def number(match: re.Match[str]) -> str:
        thing = match["thing"].lower()
        counts = thing in things or (match["look"] and thing in {"and", "plus"})
        return f"{match['before']} 1" if counts else match[0]

    return _COUNTED_ONE.sub(number, text)


def without_differences(text: str) -> str:
    """The text without what tells by how much something is larger ("20 % larger", "3 times
    smaller"): no ratio."""
    return _DIFFERENCE.sub("differing", text)


def _folds(match: re.Match[str]) -> str:
    """ "Ten-fold" and "tenfold" as a number; a fold of something else stays."""
    word = match["joined"]
    if word is None:
        return str(word_value(match["word"]))
    return str(_SMALL[word.lower()]) if word.lower() in _SMALL else match[0]


def times_as_numbers(text: str) -> str:
    """The text with "twice", "2.5x", "2.5-fold", "5:2" and "half" written as numbers."""
    text = _FOLD.sub(_folds, text)
    for pattern, said in _TIMES:
        text = pattern.sub(said, text)
    return text


_SMALL = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
} | {
    word: 10 * tens
    for tens, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_LARGE = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_PART = rf"(?:{'|'.join(sorted([*_SMALL, *_LARGE], key=len, reverse=True))})"
_SPELLED = re.compile(
    rf"\b(?:a (?=hundred|thousand|million))?{_PART}(?:(?:[ -]|,? and ){_PART}){{0,11}}(?: and a"
    r" half)?\b",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\b([0-9]+) and a half\b|(?<![0-9] )\bhalf an? (?=(?:centi|milli)?met|cm\b|mm\b|lit|inch)",
    re.IGNORECASE,
)
# "A quarter of a litre", "three quarters of a centimetre".
_SHARE_OF_UNIT = re.compile(
    r"\b(?:(an?|one|two|three) )?(half|third|quarter)s? of an? (?=(?:centi|milli)?(?:met|lit)"
    r"|cm\b|inch)",
    re.IGNORECASE,
)
# "3 1/2 mm".
_MIXED = re.compile(
    r"(?<![\w.,/])([0-9]{1,3}) ([1-9])/([2-9])(?= ?(?:[mc]m|ml|l|in|inch|centi|milli|times)\b|$)"
)
_NIL = re.compile(r"(?:(?<=\bis )|(?<=\bof )|(?<=: ))nil\b", re.IGNORECASE)
_PAIR_OF = re.compile(rf"\ba pair of(?= (?:[a-z-]+ ){{0,2}}?{_THINGS}\b)", re.IGNORECASE)
# "A centimetre and a half": the unit stands where the number would.
_UNIT_AND_HALF = re.compile(
    r"\b(?:an?|one) ((?:centi|milli)?(?:met|lit)(?:er|re)|inch|cm|mm)(?:s)? and a half\b",
    re.IGNORECASE,
)
# "About a centimetre".
_ABOUT_A_UNIT = re.compile(
    r"\b(about|around|roughly|approximately|some) an? (?=(?:centi|milli)?(?:met|lit)(?:er|re)\b"
    r"|inch\b|cm\b)",
    re.IGNORECASE,
)
_DOZEN = re.compile(
    r"\b(?:(half a)|an?|one) dozen\b(?! or)|\b(two|three|four) dozen\b", re.IGNORECASE
)
_SPACED = re.compile(
    r"(?<![\w.,])([0-9]{1,3})((?: [0-9]{3})+)(?= ?(?:[mc]m|m?l|cc)\b)", re.IGNORECASE
)


_DIGIT = r"(?:zero|one|two|three|four|five|six|seven|eight|nine)"
_POINT = re.compile(
    rf"\b({_PART}(?:-{_PART})?) point ({_DIGIT}(?: {_DIGIT}){{0,3}})\b", re.IGNORECASE
)


def _decimal(match: re.Match[str]) -> str:
    """Two point three five: 2.35."""
    integer_part = sum(_SMALL.get(part, 0) for part in re.split(r"[- ]", match[1].lower()))
    return f"{integer_part}." + "".join(str(_SMALL[digit]) for digit in match[2].lower().split())


def _share(match: re.Match[str]) -> str:
    parts = {"half": 2, "third": 3, "quarter": 4}[match[2].lower()]
    count = {"two": 2, "three": 3}.get((match[1] or "").lower(), 1)
    return f"{count / parts:.6g} "


def digits_for_words(text: str) -> str:
    """The text with numbers of several words ("one hundred and twenty", "five and a half", "a
    dozen") in digits.

    Single words stay: "one" is mostly a pronoun, and the tokeniser knows the others.
    """
    text = _POINT.sub(_decimal, text)
    text = _PAIR_OF.sub("2", text)
    text = _NIL.sub("0", text)
    text = _UNIT_AND_HALF.sub(r"1.5 \1", text)
    text = _ABOUT_A_UNIT.sub(r"\1 1 ", text)
    text = _SHARE_OF_UNIT.sub(_share, text)
    text = _MIXED.sub(lambda m: f"{int(m[1]) + int(m[2]) / int(m[3]):.6g}", text)
    text = _SPELLED.sub(lambda match: _spelled(match[0]), text)
    text = _HALF.sub(lambda match: f"{match[1]}.5" if match[1] else "0.5 ", text)
    text = _DOZEN.sub(
        lambda match: "6" if match[1] else str(12 * _SMALL[match[2].lower()]) if match[2] else "12",
        text,
    )
    return _SPACED.sub(lambda match: match[1] + match[2].replace(" ", ""), text)


def _spelled(words: str) -> str:
    half = words.lower().endswith(" and a half")
    parts = re.findall(r"[a-z]+", words.lower().removesuffix(" and a half"))
    parts = [part for part in parts if part not in {"a", "and"}]
    if len(parts) == 1 and parts[0] in _SMALL and not half:
        return words
    total = group = last = 0
    for part in parts:
        if part in _LARGE:
            group = max(group, 1) * _LARGE[part]
            if _LARGE[part] > 100:
                total, group = total + group, 0
            last = 0
        else:
            value = _SMALL[part]
            if last and not (20 <= last < 100 and value < 10):
                return words  # "two three" is no number
            group += value
            last = value
    return f"{total + group}{'.5' if half else ''}"


def count_in_words(text: str) -> int | None:
    """0 for "none" and "no lesions", 1 for "a single lesion";
    None if the text says neither, both, or is vague."""
    if _VAGUE.search(text) or _PAIR.search(text):
        return None
    none, single = _NONE.search(text) is not None, _SINGLE.search(text) is not None
    return None if none is single else int(single)
