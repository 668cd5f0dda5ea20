"""Replies to a yes/no question that state how things are, instead of saying yes or no.

The question is read as a subject, a relation and an object ("the left kidney", above, "the
stomach") or a bound ("within 50 mm of …"). A clause of the reply counts only if every word of it is
explained: the two structures, a relation on the same axis, a negation, or a word that does not
matter. One word more ("the *hilum of* the left kidney") and it says nothing. Sentences with a
condition or a doubt say nothing either, and all clauses that do must agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from situs.score.read.assertions.asked_relation import (
    MEASURES,
    WORD,
    AskedRelation,
    asked_relation,
    nouns_of,
    relation_words,
    singular,
)
from situs.score.read.assertions.relation_symbols import HEALTHY, symbols_of
from situs.score.read.framing import without_asides, without_frame
from situs.score.read.numbers.tokens import Kind, Token, tokens
from situs.score.read.numbers.units import Unit

__all__ = ["stated"]

_SETTLING = ("unsettled", "negations", "beside")
"""Words behind a finding that keep it from being placed for sure."""
_SYMMETRIC = frozenset({"reach", "contact", "presence"})
"""Axes on which it does not matter which of the two is the subject."""
# "A tear in the posterior horn": where something is, behind what it is.
_WHERE = re.compile(
    r" (?:in|of|at|along|within|on|through|involving|affecting|extending|measuring|near)\b"
)

_SENTENCE = re.compile(r"(?:[^.;!?\n]|\.(?=[0-9]))+(?P<end>[.;!?\n]|$)")
_AGREED = re.compile(
    r"\bi(?: would|'d) (?:agree|say|argue|think|conclude|maintain) that\b|\bif only\b"
)
"""What introduces a statement, or tones it down, without a condition."""
_CONTRACTED = re.compile(r"\b(they|we)'re\b|\b(it|there|that)'s\b")
_LABELLED = re.compile(r": ?(?=(?:absent|present|none|not|seen|visible|unlikely)\b)", re.IGNORECASE)
_CLAUSE = re.compile(
    r",| - | – |—|:|\b(?:even )?though\b|\balthough\b|\bdespite\b"
    r"|\bbecause\b|\bsince\b|\bwhereas\b|\bwhile\b|\bso\b|\bas\b|\(|\)"
)
_OF_SLICES = re.compile(
    r"\b(?:slice|section|voxel|pixel) (?:thickness|spacing|size)\b"
    r"|\b(?:slices?|sections?|voxels?|pixels?) (?:is|are|has|have|measures?|of)\b"
)
"""A measure of the scan."""
_SIZED = re.compile(
    r"\b(?:measur(?:es|ing)|in (?:size|diameter|length)|across|wide|large)\b"
    r"(?!.*\b(?:away|apart|from|distance|gap|between)\b)"
)
"""The size of the subject ("the lesion measures 32 mm"), where its distance is asked for."""
_BUT_NOT = re.compile(
    r"(?:\bbut (?:there is |there are |it is |i see )?(?:not|no)|, not) (?:an? |any |the )?"
    r"(?P<name>[a-z -]+?)"
    r"(?: (?:is|are) (?:seen|visible|annotated|present))?(?: on this (?:slice|image|scan))?$"
)
_SEPARATED = re.compile(r"\b(separated from (?:the )?[a-z ]+?|separated) by (?!less|no )[^,;.]*")
_ON_ONE_SLICE = re.compile(r"\bon (?:the )?(?:[a-z]+ )?(?:slices?|images?|frames?|sections?) [0-9]")
_CONCLUDES = re.compile(r"[,;] (?:and )?(?:hence|thus|therefore|so|which means(?: that)?),? ")
_FROM_END_TO_END = re.compile(
    r",? (?:from (?:top to bottom|end to end|pole to pole)|in (?:craniocaudal )?length)\b"
)
_ONLY = re.compile(
    r"\b(?:only|just) (?=(?:about |around |roughly |approximately |some |~|≈)*[0-9])"
)
"""Beside a measure it says that this is little, not that it is doubted."""
# "It has the greater volume" is said of the larger one.
_SIZES = {
    **dict.fromkeys(("greater", "larger", "higher", "bigger"), "larger"),
    **dict.fromkeys(("smaller", "lower", "lesser"), "smaller"),
}
_HAS_VOLUME = re.compile(
    rf"\b(?:has|have|shows?|had) (?:the|an?) (?:slightly |clearly |somewhat |much |markedly )?"
    rf"(?P<degree>{'|'.join(_SIZES)}) (?:overall |total )?(?:volume|size)(?: of the two)?\b"
)
_ENDS = frozenset({"tip", "pole", "edge", "dome", "end", "top", "bottom", "base"})
_DIRECTIONS = frozenset({"vertical", "depth", "side"})
# "Lies 15 mm below", "is two slices above": how far does not matter.
_SO_FAR = re.compile(
    r"(?P<is> (?:lies|sits|is)) (?:(?:only|just|about|around|roughly|approximately|some) )?"
    r"(?:[0-9]+(?:\.[0-9]+)?|an?|one|two|three|four|five|six|several|a few)(?: full)?"
    r" ?(?:mm|cm|millimet(?:er|re)s?|centimet(?:er|re)s?|slices?|sections?|levels?|vertebrae?)"
    r"(?= (?:above|below|higher than|lower than|in front of|behind|anterior to|posterior to"
    r"|superior to|inferior to|cranial to|caudal to|to the (?:left|right) of)\b)"
)
_NO_DISTANCE = re.compile(r"(?<![0-9.,])0(?:\.0+)? ?(?:mm|cm|millimet|centimet)")
_LONGEST = 2_000
"""Characters of a reply that are read as statements; longer ones argue rather than answer."""


def stated(plain: str, question: str) -> bool | None:
    """True if the reply states what the question asks,
    False if it states the opposite; None if neither is sure."""
    asked = asked_relation(question)
    if asked is None or len(plain) > _LONGEST:
        return None
    answers = {
        answer
        for clause, turned in _clauses(plain, asked)
        for answer in _answers(clause, asked, turned=turned)
        if answer is not None
    }
    if not answers and _excepts(plain, asked):
        return False
    return answers.pop() if len(answers) == 1 else None


def _excepts(plain: str, asked: AskedRelation) -> bool:
    """Whether a reply excepts what is asked about ("it touches the colon but not the liver")."""
    if asked.axis not in {"contact", "presence"}:
        return False
    excepted = [
        nouns_of(match["name"])
        for sentence in _SENTENCE.finditer(plain)
        if sentence["end"] != "?" and (match := _BUT_NOT.search(sentence[0].lower().rstrip(".;! ")))
    ]
    wanted = asked.object if asked.axis == "contact" else asked.subject
    return len(excepted) == 1 and bool(wanted) and excepted[0] == wanted


def _clauses(plain: str, asked: AskedRelation) -> Iterator[tuple[str, bool]]:
    """The clauses of sentences that state something without condition or doubt, and whether what
    leads to them turns them round ("it is unlikely that …")."""
    unsettled = frozenset(relation_words()["unsettled"])
    if asked.axis == "presence":
        unsettled -= HEALTHY | {"unlikely"}
        plain = _LABELLED.sub(" is ", plain)  # "Bone contusion: absent"
    for sentence in _SENTENCE.finditer(plain):
        text = _in_usual_words(sentence[0].lower().rstrip(".;!?\n"), asked)
        words = WORD.findall(text)
        # "Provided the scan is not flipped, …" sets a condition; "based on the images provided, …"
        # does not.
        conditional = words[:1] in (["provided"], ["assuming"], ["were"], ["had"])
        if sentence["end"] == "?" or conditional:
            continue
        framed, turned = without_frame(" ".join(text.split()))
        if not turned:
            text, words = framed, WORD.findall(framed)  # "I believe there is an effusion"
        if turned and not unsettled & set(WORD.findall(framed)):
            yield framed, True
        elif unsettled & set(words) and (concluded := _concluded(text, unsettled)):
            yield concluded, False
        elif not unsettled & set(words):
            for clause in _CLAUSE.split(without_asides(text)):
                statement, turned = without_frame(" ".join(clause.split()))
                if statement:
                    yield statement, turned


def _in_usual_words(text: str, asked: AskedRelation) -> str:
    """A sentence without what tones it down, its signs and contractions in words."""
    text = _AGREED.sub(" ", text)
    if asked.bound:
        text = _ONLY.sub("", _FROM_END_TO_END.sub("", text))
    if asked.axis == "contact":
        text = _SEPARATED.sub(r"\1", text)  # what lies between does not matter
    if asked.axis == "size":
        text = _HAS_VOLUME.sub(lambda match: f"is {_SIZES[match['degree']]}", text)
        text = re.sub(r" ?> ?(?=[a-z])", " larger than ", text)
        text = re.sub(r" ?< ?(?=[a-z])", " smaller than ", text)
    if asked.axis in _DIRECTIONS:
        text = _SO_FAR.sub(r"\g<is>", text)
    text = _named_in_full(text, asked)
    return _CONTRACTED.sub(lambda m: f"{m[1]} are" if m[1] else f"{m[2]} is", text)


def _named_in_full(text: str, asked: AskedRelation) -> str:
    """ "… than the left one" with the name that the question gives it, where only a side tells the
    two structures apart."""
    for one, other in ((asked.subject, asked.object), (asked.object, asked.subject)):
        if one[:1] and one[0] in _ENDS:
            # "the liver tip" is the tip of the liver
            text = re.sub(rf"\b{re.escape(' '.join(one[1:]))} {one[0]}\b", " ".join(one), text)
        own = [word for word in one if word not in other and word in {"left", "right"}]
        if len(own) == 1 and set(other) & {"left", "right"}:
            name = " ".join(word for word in one if word != "that")
            bare = rf"\bthe {own[0]}(?: one| side)?(?= ?$|,| (?:is|does|lies|reaches|one\b))"
            text = re.sub(rf"(?:\bthat of )?{bare}", f"the {name}", text)
    return text


def _concluded(text: str, unsettled: frozenset[str]) -> str | None:
    """What a sentence concludes from something that is said in words that settle nothing ("it is of
    normal size, hence below 250 mL"); nothing where that is a condition or a wish."""
    parts = _CONCLUDES.split(text)
    if len(parts) < 2 or set(relation_words()["open"]) & set(WORD.findall(text)):
        return None
    settled = not unsettled & set(WORD.findall(parts[-1]))
    return " ".join(parts[-1].split()) if settled else None


def _answers(clause: str, asked: AskedRelation, *, turned: bool) -> list[bool | None]:
    """What a clause says, or else what its parts say ("it is enlarged and exceeds 300 mL")."""
    if asked.axis in MEASURES and _ON_ONE_SLICE.search(clause):
        return [None]  # "larger on slice 12" compares sections, not structures
    of_clause = _answer(clause, asked)
    if turned:
        return [False if of_clause else None]  # "I doubt that it is below" does not say above
    if of_clause is not None or not asked.bound:
        return [of_clause]
    return [_answer(part, asked) for part in clause.split(" and ")]


def _answer(clause: str, asked: AskedRelation) -> bool | None:
    """What one clause says about the question: True, False or nothing."""
    if asked.bound:
        clause = _bound_as_asked(clause, asked)
        if (compared := _compared(clause, asked)) is not None:
            return compared
    if asked.axis == "contact" and _NO_DISTANCE.search(clause):
        return None  # "a gap of 0 mm" is none
    symbols = symbols_of(clause, asked)
    if symbols is None and asked.axis == "presence":
        symbols = _placed(clause, asked)
    if symbols is None:
        return None
    relations = {symbol for symbol in symbols if symbol in {"+", "-"}}
    negations = symbols.count("not")
    if "=" in symbols:
        # "They are the same size": neither is larger. "Not the same size" says neither, and "both
        # are at the same height" hardly more.
        vague = asked.axis == "vertical" and "Y" not in symbols
        return None if relations or negations or vague else False
    if asked.axis == "presence" and "X" in symbols and negations and not relations:
        relations = {"+"}  # "no meniscus tear"
    # "It is bigger" means the bound of the question; with another number it may mean that one.
    other_bound = asked.bound and asked.bound not in clause and re.search("[0-9]", clause)
    if len(relations) != 1 or negations > 1 or other_bound:
        return None
    if asked.axis == "presence" and "X" not in symbols and "it" not in symbols:
        return None
    same = (relations == {"+"}) is asked.positive
    if asked.axis not in _SYMMETRIC and _turned_round(symbols):
        same = not same
    if negations:
        return False if same else None  # "not below" does not say above
    return same


def _bound_as_asked(clause: str, asked: AskedRelation) -> str:
    """The clause with the question's bound in the question's unit ("12 cm" as "120 mm")."""
    limit = tokens(asked.bound)
    for told in tokens(clause) if len(limit) == 1 else ():
        one, other = told.units[0], limit[0].units[0]
        factor = one.to(other) if isinstance(one, Unit) and isinstance(other, Unit) else None
        value = told.parts[0]
        single = told.kind in {Kind.VALUE, Kind.BOUND} and one != other
        if single and factor and value is not None and value * factor == limit[0].parts[0]:
            return f"{clause[: told.start]}{asked.bound}{clause[told.end :]}"
    return clause


def _placed(clause: str, asked: AskedRelation) -> list[str] | None:
    """The symbols of "there is a tear in the posterior horn", whose last words only tell where.

    A finding that is named in part ("a tear") must be placed where the question's name places it: a
    tear of a ligament is no tear of a meniscus.
    """
    for where in _WHERE.finditer(clause):
        head, tail = clause[: where.start()], clause[where.start() :]
        symbols = symbols_of(head, asked)
        if symbols is None or "X" not in symbols:
            continue
        words = set(WORD.findall(tail))
        if any(words & set(relation_words()[kind]) for kind in _SETTLING):
            return None
        named = {singular(word) for word in WORD.findall(head)}
        missing = set(asked.subject) - named
        return symbols if missing <= {singular(word) for word in words} else None
    return None


def _turned_round(symbols: Sequence[str]) -> bool:
    """Whether the question's object is the subject of the clause ("the stomach lies below it")."""
    at = next(index for index, symbol in enumerate(symbols) if symbol in {"+", "-"})
    before = [symbol for symbol in symbols[:at] if symbol in {"X", "Y", "it"}]
    return bool(before) and before[-1] == "Y"


def _compared(clause: str, asked: AskedRelation) -> bool | None:
    """A measure against the bound of the question: "it is 32 mm away" answers "within 50 mm?"."""
    bound, measures = (
        tokens(asked.bound),
        [token for token in tokens(clause) if token.units != (None,)],
    )
    if len(measures) == 2 and len(bound) == 1:
        measures = [token for token in measures if token.parts != bound[0].parts]  # "27 mm > 20 mm"
    if len(bound) != 1 or len(measures) != 1:
        return None
    if measures[0].kind is Kind.BOUND:
        return _beyond_bound(clause, measures[0], bound[0], asked)
    if measures[0].kind is not Kind.VALUE:
        return None
    value, unit, limit, limit_unit = (
        measures[0].parts[0],
        measures[0].units[0],
        bound[0].parts[0],
        bound[0].units[0],
    )
    factor = (
        unit.to(limit_unit) if isinstance(unit, Unit) and isinstance(limit_unit, Unit) else None
    )
    words = clause[: measures[0].start] + " " + clause[measures[0].end :]
    if _OF_SLICES.search(words):
        return None
    symbols = symbols_of(words, asked)
    if (
        factor is None
        or value is None
        or limit is None
        or symbols is None
        or set(symbols) & {"+", "-", "not"}
    ):
        return None
    if value * factor == limit or (
        asked.axis == "reach" and _SIZED.search(words) and "Y" not in symbols
    ):
        return None
    smaller = value * factor < limit
    if asked.axis == "reach":
        return smaller is asked.positive
    return smaller is not asked.positive


_DOWNWARD = re.compile(
    r"(?:<|≤|\b(?:less|fewer|smaller|shorter|lower|closer|nearer) than|\bat most|\bup to|\bunder"
    r"|\bbelow|\bmaximum of|\b(?:no|not) (?:more|larger|bigger|greater|longer|farther|further)"
    r" than)[^0-9]*$"
)
_UPWARD = re.compile(
    r"(?:>|≥|(?<!no )(?<!not )\b(?:more|greater|larger|bigger|longer|higher|farther|further) than"
    r"|\bat least|\bexceed(?:s|ing)?|\bover|\babove|\bminimum of)[^0-9]*$"
)


def _beyond_bound(clause: str, told: Token, bound: Token, asked: AskedRelation) -> bool | None:
    """A bound on the same side as the question's: "at least 160 mL" is larger than 150 mL.

    "At least 140 mL" leaves open whether it is.
    """
    before = clause[: told.start] + " "
    down, up = _DOWNWARD.search(before), _UPWARD.search(before)
    unit, limit_unit = told.units[0], bound.units[0]
    factor = (
        unit.to(limit_unit) if isinstance(unit, Unit) and isinstance(limit_unit, Unit) else None
    )
    value, limit = told.parts[0], bound.parts[0]
    match = up or down
    if match is None or factor is None or value is None or limit is None:
        return None
    symbols = symbols_of(clause[: match.start()] + " " + clause[told.end :], asked)
    if symbols is None or set(symbols) & {"+", "-", "not"} or value * factor == limit:
        return None
    above = value * factor > limit
    if (up is not None) is not above:
        return None
    return above is not asked.positive if asked.axis == "reach" else above is asked.positive
