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
from dataclasses import dataclass
from functools import lru_cache

from situs.score.read.framing import without_asides, without_frame
from situs.score.read.numbers.tokens import Kind, Token, tokens
from situs.score.read.numbers.units import Unit
from situs.score.read.prose.lexicon import language_file

__all__ = ["stated"]

_AXES = ("vertical", "depth", "side", "size", "reach", "contact", "presence")
_SYMMETRIC = frozenset({"reach", "contact", "presence"})
"""Axes on which it does not matter which of the two is the subject."""

_DIRECTION = re.compile(
    r"(?:is|are|does|do) (?P<subject>.+?) (?:(?:lie|sit|located|lying) )?"
    r"(?P<relation>above|below|in front of|behind|to the left of|to the right of) "
    r"(?P<object>[^,?]+)(?:, from the patient's point of view)?\?"
)
_WITHIN = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>within) (?P<bound>[0-9][^?]*?) of"
    r" (?P<object>[^,?]+)\?"
)
_BEYOND = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>more than|farther than|further than|less than"
    r"|closer than)"
    r" (?P<bound>[0-9][^?]*?)(?: away)? from (?P<object>[^,?]+)\?"
)
_SIZE = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>[a-z]+er than|more than|less than)"
    r" (?P<bound>[0-9][^?]*)\?"
)
_COMPARED = re.compile(
    r"(?:is|are) (?P<subject>.+?) (?P<relation>[a-z]+er than) (?P<object>[^,?]+?)"
    r"(?: (?:by|in) (?:volume|size|length|height|width))?\?"
)
_CONTACT = re.compile(
    r"(?:is|are|does|do) (?P<subject>.+?) (?P<relation>touch|touching|in contact with|in direct"
    r" contact with)"
    r" (?P<object>[^,?]+)\?"
)
_PLACE = r"(?: anywhere)?(?: (?:on|in) (?:this|any|the) [a-z ]+)?"
_PRESENCE = re.compile(
    rf"(?:(?:did|has) the reader (?P<relation>marke?d?) (?P<subject>[^,?]+?){_PLACE}"
    rf"|according to the reader, does this (?:slice|volume) show (?P<shown>[^,?]+)"
    r"|(?:is|are) (?:there )?(?P<there>[^,?]+?)(?:"
    rf" (?:annotated|present|visible|marked|seen)){_PLACE}"
    rf"|(?:is|are) there (?:an? |any )?(?P<exists>[^,?]+?){_PLACE})\?"
)
_FORMS = (_WITHIN, _BEYOND, _SIZE, _DIRECTION, _COMPARED, _CONTACT, _PRESENCE)
_MEASURES = ("size", "length", "width", "thickness", "vertical")
"""Axes on which two structures are compared."""
# "A tear in the posterior horn": where something is, behind what it is.
_WHERE = re.compile(
    r" (?:in|of|at|along|within|on|through|involving|affecting|extending|measuring|near)\b"
)
_HEALTHY = frozenset({"normal", "intact", "unremarkable", "preserved", "healthy"})
"""Said of what is free of a finding; beside a negation of the finding they add nothing."""
_NORMAL = re.compile(
    r"\b(?:no|not|normal|absent|free|without|unremarkable|intact|lacks?|none)\b|n't"
)
"""A question that speaks of absence itself: what "no" would mean is not clear."""

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
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|[0-9]+(?:[.,][0-9]+)?|%")
_SIZED = re.compile(r"\bmeasur(?:es|ing)\b(?!.*\b(?:away|apart|from|distance|gap|between)\b)")
"""The size of the subject ("the lesion measures 32 mm"), where its distance is asked for."""
_BUT_NOT = re.compile(
    r"\bbut (?:there is |there are |it is |i see )?(?:not|no) (?:an? |any |the )?"
    r"(?P<name>[a-z -]+?)"
    r"(?: (?:is|are) (?:seen|visible|annotated|present))?(?: on this (?:slice|image|scan))?$"
)
_SEPARATED = re.compile(r"\b(separated from (?:the )?[a-z ]+?|separated) by (?!less|no )[^,;.]*")
_ON_ONE_SLICE = re.compile(r"\bon (?:the )?(?:[a-z]+ )?(?:slices?|images?|frames?|sections?) [0-9]")
_LONGEST = 2_000
"""Characters of a reply that are read as statements; longer ones argue rather than answer."""


@dataclass(frozen=True, slots=True)
class _Asked:
    subject: tuple[str, ...]
    object: tuple[str, ...]
    axis: str
    positive: bool
    """At which end of its axis the question places its subject."""
    bound: str = ""


def stated(plain: str, question: str) -> bool | None:
    """True if the reply states what the question asks,
    False if it states the opposite; None if neither is sure."""
    asked = _asked(question)
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


def _excepts(plain: str, asked: _Asked) -> bool:
    """Whether a reply excepts what is asked about ("it touches the colon but not the liver")."""
    if asked.axis not in {"contact", "presence"}:
        return False
    excepted = [
        _nouns(match["name"])
        for sentence in _SENTENCE.finditer(plain)
        if sentence["end"] != "?" and (match := _BUT_NOT.search(sentence[0].lower().rstrip(".;! ")))
    ]
    wanted = asked.object if asked.axis == "contact" else asked.subject
    return len(excepted) == 1 and bool(wanted) and excepted[0] == wanted


@lru_cache(maxsize=1024)
def _asked(question: str) -> _Asked | None:
    text = " ".join(question.lower().split())
    for pattern in _FORMS:
        match = pattern.fullmatch(text) or pattern.match(text)
        if match is None:
            continue
        groups = match.groupdict()
        subject = (
            groups.get("subject")
            or groups.get("shown")
            or groups.get("there")
            or groups.get("exists")
            or ""
        )
        if pattern is _PRESENCE:
            return None if _NORMAL.search(text) else _Asked(_nouns(subject), (), "presence", True)
        axis = {_WITHIN: "reach", _BEYOND: "reach", _SIZE: "size", _CONTACT: "contact"}.get(
            pattern
        ) or _axis(groups["relation"])
        if axis is None:
            return None
        positive = groups["relation"] in _phrases(axis, True)
        if not positive and groups["relation"] not in _phrases(axis, False):
            return None
        return _Asked(
            _nouns(subject),
            _nouns(groups.get("object") or ""),
            axis,
            positive,
            groups.get("bound") or "",
        )
    return None


def _axis(relation: str) -> str | None:
    axes = ("vertical", "depth", "side", *_MEASURES)
    ends = ((axis, end) for axis in axes for end in (True, False))
    return next((axis for axis, end in ends if relation in _phrases(axis, end)), None)


def _clauses(plain: str, asked: _Asked) -> Iterator[tuple[str, bool]]:
    """The clauses of sentences that state something without condition or doubt, and whether what
    leads to them turns them round ("it is unlikely that …")."""
    unsettled = frozenset(_words()["unsettled"])
    if asked.axis == "presence":
        unsettled -= _HEALTHY | {"unlikely"}
        plain = _LABELLED.sub(" is ", plain)  # "Bone contusion: absent"
    for sentence in _SENTENCE.finditer(plain):
        text = _AGREED.sub(" ", sentence[0].lower().rstrip(".;!?\n"))
        if asked.axis == "contact":
            text = _SEPARATED.sub(r"\1", text)  # what lies between does not matter
        text = _CONTRACTED.sub(lambda m: f"{m[1]} are" if m[1] else f"{m[2]} is", text)
        words = _WORD.findall(text)
        # "Provided the scan is not flipped, …" sets a condition; "based on the images provided, …"
        # does not.
        conditional = words[:1] in (["provided"], ["assuming"], ["were"], ["had"])
        if sentence["end"] == "?" or conditional:
            continue
        framed, turned = without_frame(" ".join(text.split()))
        if turned and not unsettled & set(_WORD.findall(framed)):
            yield framed, True
        elif not unsettled & set(words):
            for clause in _CLAUSE.split(without_asides(text)):
                statement, turned = without_frame(" ".join(clause.split()))
                if statement:
                    yield statement, turned


def _answers(clause: str, asked: _Asked, *, turned: bool) -> list[bool | None]:
    """What a clause says, or else what its parts say ("it is enlarged and exceeds 300 mL")."""
    if asked.axis in _MEASURES and _ON_ONE_SLICE.search(clause):
        return [None]  # "larger on slice 12" compares sections, not structures
    of_clause = _answer(clause, asked)
    if turned:
        return [False if of_clause else None]  # "I doubt that it is below" does not say above
    if of_clause is not None or not asked.bound:
        return [of_clause]
    return [_answer(part, asked) for part in clause.split(" and ")]


def _answer(clause: str, asked: _Asked) -> bool | None:
    """What one clause says about the question: True, False or nothing."""
    if asked.bound and (compared := _compared(clause, asked)) is not None:
        return compared
    symbols = _symbols(clause, asked)
    if symbols is None and asked.axis == "presence":
        symbols = _placed(clause, asked)
    if symbols is None:
        return None
    relations = {symbol for symbol in symbols if symbol in {"+", "-"}}
    negations = symbols.count("not")
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


def _placed(clause: str, asked: _Asked) -> list[str] | None:
    """The symbols of "there is a tear in the posterior horn", whose last words only tell where.

    A finding that is named in part ("a tear") must be placed where the question's name places it: a
    tear of a ligament is no tear of a meniscus.
    """
    for where in _WHERE.finditer(clause):
        head, tail = clause[: where.start()], clause[where.start() :]
        symbols = _symbols(head, asked)
        if symbols is None or "X" not in symbols:
            continue
        words = set(_WORD.findall(tail))
        if words & {*_words()["unsettled"], *_words()["negations"], *_words()["beside"]}:
            return None
        named = {_noun(word) for word in _WORD.findall(head)}
        missing = set(asked.subject) - named
        return symbols if missing <= {_noun(word) for word in words} else None
    return None


def _turned_round(symbols: Sequence[str]) -> bool:
    """Whether the question's object is the subject of the clause ("the stomach lies below it")."""
    at = next(index for index, symbol in enumerate(symbols) if symbol in {"+", "-"})
    before = [symbol for symbol in symbols[:at] if symbol in {"X", "Y", "it"}]
    return bool(before) and before[-1] == "Y"


def _compared(clause: str, asked: _Asked) -> bool | None:
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
    symbols = _symbols(words, asked)
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


def _beyond_bound(clause: str, told: Token, bound: Token, asked: _Asked) -> bool | None:
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
    symbols = _symbols(clause[: match.start()] + " " + clause[told.end :], asked)
    if symbols is None or set(symbols) & {"+", "-", "not"} or value * factor == limit:
        return None
    above = value * factor > limit
    if (up is not None) is not above:
        return None
    return above is not asked.positive if asked.axis == "reach" else above is asked.positive


def _symbols(clause: str, asked: _Asked) -> list[str] | None:
    """The clause as structures (X, Y), relations (+, -) and negations;
    None if a word of it is not explained."""
    words = _WORD.findall(clause.lower())
    negations = frozenset(_words()["negations"])
    # "A large tear" is a tear; "no large tear" leaves a small one.
    described = asked.axis == "presence" and not negations & set(words)
    plain = _plain(described=described)
    names = _names(asked)
    result: list[str] = []
    healthy = False
    absent = -1
    """Where "no" stands before what comes next: "no gland on the left" does not place the gland."""
    at = 0
    while at < len(words):
        name = next(((symbol, n) for one, symbol in names if (n := _length(words, at, one))), None)
        if name is not None:
            result.append(name[0])
            at += name[1]
            continue
        phrase = _relation_at(words, at, asked.axis)
        if phrase is not None:
            result.append(phrase[0])
            at += phrase[1]
            continue
        word = words[at]
        if word == "none":
            result += ["not", "it"]  # "none is seen"
        elif word in negations:
            absent = len(result) if word == "no" else absent
            result.append("not")
        elif word in {"it", "they", "one"}:
            result.append("it")
        elif word in _HEALTHY:
            healthy = True
        elif _noun(word) in asked.subject and asked.axis == "presence":
            pass  # "the menisci", where a meniscal tear is asked for
        elif word not in plain and not word[0].isdigit() and word not in {"mm", "cm", "ml"}:
            return None
        at += 1
    if (
        asked.axis != "presence"
        and absent >= 0
        and result[absent + 1 : absent + 2] in (["X"], ["Y"])
    ):
        return None
    # "The menisci are normal without a tear"; "a normal tear" and "it is normal to see a tear" say
    # nothing.
    return None if healthy and not ("not" in result and asked.axis == "presence") else result


def _length(words: Sequence[str], at: int, name: tuple[str, ...]) -> int:
    """How many words a name covers from here on,
    articles and "of" inside it included; 0 if it is not there."""
    end = at
    for part in name:
        while part is not name[0] and end < len(words) and words[end] in {"the", "of", "a"}:
            end += 1
        if end >= len(words) or _noun(words[end]) != part:
            return 0
        end += 1
    return end - at


@lru_cache(maxsize=1024)
def _names(asked: _Asked) -> tuple[tuple[tuple[str, ...], str], ...]:
    """How the two structures may be called, longest first:
    with or without their attributes, if that is unambiguous."""
    found: dict[tuple[str, ...], str] = {}
    ends = {
        symbol: _endings(words) for symbol, words in (("X", asked.subject), ("Y", asked.object))
    }
    for symbol, other in (("X", "Y"), ("Y", "X")):
        for name in ends[symbol] - ends[other]:
            if len(name) > 1 or name[0] in _SIDES or name[0] not in _firsts(asked):
                found[name] = symbol
    return tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))


_SIDES = frozenset({"left", "right", "upper", "lower", "medial", "lateral"})
"""Attributes that name one of two alike ("the left is larger")."""


def _firsts(asked: _Asked) -> set[str]:
    """First words of names that have more than one: they name nothing by themselves."""
    return {words[0] for words in (asked.subject, asked.object) if len(words) > 1}


def _endings(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    """A name and what is left of it without its first words, and without those in its middle."""
    if not words:
        return set()
    endings = {words[start:] for start in range(len(words))}
    return endings | {(words[0], words[-1]), (words[0],)}


@lru_cache(maxsize=1024)
def _nouns(phrase: str) -> tuple[str, ...]:
    words = [word for word in _WORD.findall(phrase.lower()) if word not in {"the", "a", "an", "of"}]
    return tuple(_noun(word) for word in words)


def _spelling(word: str) -> str:
    """American spelling, and the singular of Latin plurals."""
    word = re.sub(r"our(s?)$", r"or\1", word).replace("oe", "e").replace("ae", "e")
    return {"menisci": "meniscus"}.get(word, word)


def _noun(word: str) -> str:
    word = _spelling(word.removesuffix("'s"))
    return _adjectives().get(
        word, word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")
    )


@lru_cache(maxsize=1)
def _adjectives() -> dict[str, str]:
    """ "Hepatic" is said of the liver."""
    pairs = (pair.split() for pair in language_file("en")["yes_no"]["adjectives"])
    return {adjective: noun.removesuffix("s") for adjective, noun in pairs}


def _relation_at(words: Sequence[str], at: int, axis: str) -> tuple[str, int] | None:
    for phrase, sign in _by_length(axis):
        if tuple(words[at : at + len(phrase)]) == phrase:
            return sign, len(phrase)
    return None


@lru_cache(maxsize=16)
def _by_length(axis: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    pairs = [
        (tuple(phrase.split()), "+" if end else "-")
        for end in (True, False)
        for phrase in _phrases(axis, end)
    ]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=32)
def _phrases(axis: str, positive: bool) -> tuple[str, ...]:
    line = _words()[axis][0 if positive else 1]
    return tuple(phrase.strip() for phrase in line.split("|"))


@lru_cache(maxsize=2)
def _plain(*, described: bool) -> frozenset[str]:
    """Words that a statement may hold beside what it compares, or that tell more of a finding."""
    return frozenset([*_words()["plain"], *(_words()["described"] if described else [])])


@lru_cache(maxsize=1)
def _words() -> dict[str, list[str]]:
    return language_file("en")["relations"]
