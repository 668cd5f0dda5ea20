"""What a reply says of options by comparing them ("the spleen is larger", "spleen > kidney").

Judged against the comparison that the question asks for: its own words answer, their opposites
deny.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.content import synonyms
from situs.score.read.prose.lexicon import language_file

__all__ = [
    "compare",
    "exceeding_as_larger",
    "prefer_largest",
    "set_aside_runners_up",
    "words_of_comparison",
]

_COMPARED = re.compile(r"(?<!rather )(?<!other )\bthan\b", re.IGNORECASE)
_COMPARED_WITH = re.compile(
    r"\b(?:compared (?:with|to)|in comparison (?:with|to)|relative to) (?:the )?$", re.IGNORECASE
)
# From the beginning of a clause only, for the search to stay linear.
_LABELS = re.compile(
    r"(?:^|(?<=[.;,!?\n]))[^.;,!?\n]+(?:\bis|\bbeing|\bwas|:|=)(?:"
    r" (?:the|on|in|to|clearly|option|mark))*[ \"'(]*$",
    re.IGNORECASE,
)
# "Nearest to the gallbladder and farthest from the stomach".
_BESIDE = re.compile(
    r"\b(nearest|closest|nearer|closer|farthest|furthest|farther|further) (?:to|from) (?:the )?$",
    re.IGNORECASE,
)
# "The one farthest away is, I believe, the left kidney".
_PARENTHESIS = re.compile(
    r", (?:i (?:believe|think|guess|suppose|would say)|in my (?:view|opinion|estimation)|clearly"
    r"|of course|probably),? ",
    re.IGNORECASE,
)
# "The ranking from largest to smallest is …" says neither of what follows.
_FROM_TO = re.compile(r"\b(?:from )?(?:the )?[a-z]+est to (?:the )?[a-z]+est\b", re.IGNORECASE)
_LONGEST_LABEL = 80
# "C is the second closest": another one is the closest.
_SECOND = (
    r"\b(?:second|third|fourth|2nd|3rd|4th|next)[- ](?:closest|nearest|largest"
    r"|biggest|longest|farthest|furthest|smallest|highest|lowest|shortest)\b"
)
_RUNNER_UP = re.compile(rf"[^.;,\n]{{0,30}}?{_SECOND}", re.IGNORECASE)
# "Second nearest: the gallbladder".
_RUNNER_UP_LABEL = re.compile(
    rf"{_SECOND}(?: [a-z]+)?(?: is|:| ?=)[ \"'(*]*(?:the )?$", re.IGNORECASE
)
_COMPARATIVES = frozenset(
    {"nearest", "nearer", "closest", "closer", "farthest", "farther", "furthest", "further"}
)
_MATCHES = frozenset({"match", "fit", "answer", "option", "choice", "candidate", "description"})
_GREATER = frozenset(
    {
        "larger",
        "largest",
        "longer",
        "higher",
        "wider",
        "more",
        "most",
        "farther",
        "farthest",
        "highest",
        "longest",
    }
)
_RATHER = re.compile(r"\b(?:more|mostly|mainly|rather)(?: to| on| in| the)* $", re.IGNORECASE)
_LIKELY = re.compile(
    r"\b(?:more|most|less|least)"
    r" (?:likely|plausible|probable|convincing|consistent|certain|often|than)\b"
)
_OF_LARGEST = re.compile(r"\bthe (?:largest|biggest) (?!of\b)[a-z]+", re.IGNORECASE)
# "…, while the larger 11 mm nodule is in the": what leads to where the largest lies.
_LARGER = re.compile(
    r"\bthe (?:larger|largest|bigger|biggest|dominant)(?! (?:than|of|liver|kidney|lung|organ))\b"
    r"(?:(?!\b(?:not|than|smaller|second|but)\b)[^.;!?\n]){0,60}"
    r"\b(?:in|within|at|on|of|is)(?: the| located| seen| found| situated)*[ (]*$",
    re.IGNORECASE,
)
_SIZE = re.compile(r"(?<![0-9.,])([0-9]{1,3}(?:\.[0-9])?)[ -]?(mm|cm)\b", re.IGNORECASE)
_LESION = re.compile(
    r"\b(?:lesion|nodule|mass|cyst|tumou?r|metastasis|focus|one|another)\b", re.IGNORECASE
)
_SIZE_BEHIND = re.compile(rf" ?\((?:about |~ ?)?{_SIZE.pattern}\)", re.IGNORECASE)
_FAR_OFF = re.compile(
    r"\b(?:far|remote|distant|distance|away|farther|further)(?: away)? from (?:the )?$",
    re.IGNORECASE,
)
_NEAR_BY = re.compile(
    r"\b(?:adjacent to|next to|close to|near|abuts|abutting|touching|beside) (?:the )?$",
    re.IGNORECASE,
)
# "Spleen ≈ 220 mL > kidney (160 mL)": what may stand beside the sign.
_MEASURE = re.compile(
    r"\(?[:=≈~]? ?(?:about |approximately )?(?<![0-9])[0-9]++(?:[.,][0-9]+)?"
    r" ?(?:m[lm]|c[cm]|cm³|cm\^?3"
    r"|l)\b\)?",
    re.IGNORECASE,
)
_EXCEEDS = re.compile(r"\b(?:exceeds|surpasses|outsizes)\b(?! [~≈]?[0-9])", re.IGNORECASE)
# "Twice the size of a walnut" compares with nothing that is asked about.
_SIZE_OF = (
    r"(?: the (?:size|volume) of| as (?:large|big|voluminous) as)"
    r"(?! (?:an?|normal|usual|expected|average|typical|its|what|any|last|before|it|on|in)\b)"
)
_ABOUT = (
    r"(?:about |approximately |roughly |around |nearly |almost |only |over |more than |some |~ ?)*"
)
# Multiples of more than one: "0.2 times" is no such.
_TIMES_THE_SIZE = re.compile(
    rf"\bis {_ABOUT}(?:(?:(?!1(?:\.0+)?[ x×])[1-9][0-9]{{0,2}}(?:\.[0-9]+)?|two|three|four|five|six"
    rf"|seven|eight|nine|ten)(?: times|-fold|x|×)|twice|double|triple){_SIZE_OF}",
    re.IGNORECASE,
)
_HALF_THE_SIZE = re.compile(
    rf"\bis {_ABOUT}(?:half|(?:an?|one)[- ](?:third|quarter|fifth|sixth|tenth)(?: of)?){_SIZE_OF}",
    re.IGNORECASE,
)
# "Nearest of all" outdoes what is only nearer than another one.
_OF_ALL = re.compile(
    r"\b[a-z]+est of (?:all|them|them all|the (?:three|four|five|six|lot|options))\b",
    re.IGNORECASE,
)
# "The heart lies 4 mm away, closer than any of the others."
_THAN_OTHERS = re.compile(
    r"\b(?P<degree>[a-z]+er) than (?:(?:any|all|each|every one)(?: of)?(?: the)?|the)"
    r" (?:others?|rest|other (?:one|three|options|structures|organs))\b",
    re.IGNORECASE,
)
_ASKED_REACH = re.compile(r"\breach(?:es)? further (?P<way>up|down)\b", re.IGNORECASE)
_REACHES = frozenset({"extends", "reaches", "goes", "projects", "ends"})
_FAR = frozenset({"more", "most", "further", "furthest", "farther", "farthest"})
_DOWN = frozenset({"down", "inferiorly", "caudally", "downward", "downwards", "inferior", "caudal"})
_UP = frozenset({"up", "superiorly", "cranially", "upward", "upwards", "superior", "cranial"})
_CLAUSE_MARK = re.compile(r"[,;.(:]")
_CLAUSE_END = re.compile(
    r"[.;!?\n]|, |\b(?:and|because|since|as|so|but|while|whereas|although|than)\b", re.IGNORECASE
)


def exceeding_as_larger(plain: str, question: str) -> str:
    """ "The left kidney exceeds the right" and "is twice the size of the right" compare as "is
    larger than" does."""
    asked, opposite = words_of_comparison(question)
    if "larger" in asked | opposite:
        plain = _HALF_THE_SIZE.sub("is smaller than", plain)
        plain = _TIMES_THE_SIZE.sub("is larger than", plain)
    return _EXCEEDS.sub("is larger than", plain) if "larger" in asked else plain


def compare(found: Sequence[Statement], plain: str, question: str, candidates: int = 0) -> None:
    """Judge claims by comparison ("is larger", "is farther away") against what is asked for.

    `candidates` is how many options are compared: what exceeds all others is the answer.
    """
    asked, opposite = words_of_comparison(question)
    way = _way_of_reach(question)
    degrees = asked.union(*(synonyms().get(word, frozenset()) for word in asked))
    for statement in found:
        _by_sign(statement, plain, asked)
        for claim in statement.claims:
            if (
                claim.certainty is not Certainty.ASSERTED
                or claim.negated
                or claim.role is Role.FINAL
            ):
                continue
            if claim.role is Role.STATED:
                if _is_compared(plain, claim, statement) and not _CLAUSE_MARK.search(
                    plain[claim.end : claim.end + 3]
                ):
                    claim.certainty = Certainty.DOUBTED
                continue
            words = _predicate(plain, claim, statement) | _label(plain, claim, statement)
            words |= _exceeding_others(plain, claim, statement)
            if way and words & _FAR and words & way.against:
                claim.certainty = Certainty.DOUBTED  # how far up it reaches says nothing of below
                continue
            # What lies lower as a whole need not reach further down.
            reaches = way and words & _FAR and words & way.along and words & _REACHES
            words |= asked if reaches else frozenset()
            if _is_farther(plain, claim, asked):
                claim.negated = claim.verdict = True
                _turn_round(plain, claim, statement)
                continue
            if (
                not asked
                and words & _COMPARATIVES
                and not words & _MATCHES
                and claim.role is not Role.CONCLUDED
            ):
                claim.certainty = (
                    Certainty.DOUBTED
                )  # "B is nearest to X" does not say that it lies in the same organ
                continue
            if words & opposite:
                claim.negated = claim.verdict = claim.outdone = True
                _turn_round(plain, claim, statement)
            elif words & asked and claim.role in {Role.PLAIN, Role.LEAD}:
                outdoes = _OF_ALL.search(plain, claim.end, statement.end) is not None
                claim.role = (
                    Role.STATED if outdoes and _is_last(claim, statement) else Role.CONCLUDED
                )
                claim.licensed = True
            elif claim.role is Role.PLAIN and _is_compared(plain, claim, statement):
                _against_others(plain, claim, statement, candidates if words & degrees else 0)


@dataclass(frozen=True)
class _Way:
    along: frozenset[str]
    against: frozenset[str]


@lru_cache(maxsize=256)
def _way_of_reach(question: str) -> _Way | None:
    """The words for the way in which a question asks what reaches further, and the other way."""
    asked = _ASKED_REACH.search(question)
    if asked is None:
        return None
    return _Way(_DOWN, _UP) if asked["way"].lower() == "down" else _Way(_UP, _DOWN)


def _exceeding_others(plain: str, claim: Claim, statement: Statement) -> set[str]:
    """In what the option that a sentence names last exceeds all the others, if it says so."""
    exceeds = _THAN_OTHERS.search(plain, claim.end, statement.end)
    return {exceeds["degree"].lower()} if exceeds and _is_last(claim, statement) else set()


def _is_last(claim: Claim, statement: Statement) -> bool:
    """Whether no other option is named behind a claim."""
    return all(other.start <= claim.start for other in statement.claims)


def _against_others(plain: str, claim: Claim, statement: Statement, candidates: int) -> None:
    """Judge a claim that is compared with others: with all, as more fitting, or with some."""
    behind = [one for one in statement.claims if one.start > claim.end]
    exceeded = set(behind[0].values) if behind else set()
    if len(exceeded - set(claim.values)) == candidates - 1 > 0:
        claim.role, claim.licensed = Role.CONCLUDED, True  # larger than all the others
    elif _RATHER.search(plain[max(0, claim.start - 30) : claim.start]):
        claim.role = Role.CONCLUDED  # "more to the left than in front"
    else:
        claim.certainty = Certainty.DOUBTED


def _is_farther(plain: str, claim: Claim, asked: frozenset[str]) -> bool:
    """Whether an option is only named as far off, where the nearest is asked for, or vice versa."""
    led = plain[max(0, claim.start - 50) : claim.start]
    if "nearest" in asked:
        return _FAR_OFF.search(led) is not None
    return "farthest" in asked and _NEAR_BY.search(led) is not None


def set_aside_runners_up(found: Sequence[Statement], plain: str) -> None:
    """Set aside what comes second in what is asked for, up to the next option that is named."""
    for statement in found:
        claims = sorted(statement.claims, key=lambda claim: claim.start)
        ends = [*(claim.start for claim in claims[1:]), statement.end]
        for claim, end in zip(claims, ends, strict=False):
            led = plain[max(statement.start, claim.start - _LONGEST_LABEL) : claim.start]
            second = _RUNNER_UP.match(plain, claim.end, end) or _RUNNER_UP_LABEL.search(led)
            if claim.role < Role.STATED and second:
                claim.certainty = Certainty.ASIDE


def prefer_largest(found: Sequence[Statement], plain: str, question: str) -> None:
    """What is said of the larger one outweighs the rest, where the largest is asked about."""
    if not _OF_LARGEST.search(question):
        return
    claims = [claim for statement in found for claim in statement.claims]
    greatest = _greatest(found, plain)
    if greatest is not None:
        for claim in claims:
            if claim is not greatest and claim.role < Role.STATED and claim.asserted:
                claim.certainty = Certainty.ASIDE
        greatest.role = max(greatest.role, Role.CONCLUDED)
        return
    largest: list[Claim] = []
    for statement in found:
        ordered = sorted(statement.claims, key=lambda claim: claim.start)
        for before, claim in zip([None, *ordered], ordered, strict=False):
            start = statement.start if before is None else before.end
            led = _LARGER.search(plain[start : claim.start])
            meant = claim.certainty in {Certainty.ASSERTED, Certainty.ASIDE}
            if led and meant and not claim.negated and claim.role is not Role.WEAK:
                largest.append(claim)
    if not largest or len({claim.values for claim in largest}) > 1:
        return
    others = [claim for claim in claims if claim.role < Role.STATED and claim.asserted]
    if all(claim.values == largest[0].values for claim in others):
        return
    for claim in others:
        claim.certainty = Certainty.ASIDE
    for claim in largest:
        claim.certainty, claim.licensed = Certainty.ASSERTED, True
        claim.role = max(claim.role, Role.CONCLUDED)


def _greatest(found: Sequence[Statement], plain: str) -> Claim | None:
    """The claim about the greatest, where each place that is named has one with a size of its own
    ("a 23 mm nodule in the left lower lobe and a 4 mm one in the right upper lobe")."""
    sizes: list[tuple[float, Claim]] = []
    for statement in found:
        end = statement.start
        for claim in sorted(statement.claims, key=lambda claim: claim.start):
            if not claim.asserted or claim.role not in {Role.PLAIN, Role.LEAD}:
                return None
            clause = plain[end : claim.start]
            behind = _SIZE_BEHIND.match(plain, claim.end)
            told = _SIZE.findall(clause) + ([behind.groups()] if behind else [])
            if len(told) != 1 or not _LESION.search(clause):
                return None
            number, unit = told[0]
            sizes.append((float(number) * (10 if unit.lower() == "cm" else 1), claim))
            end = behind.end() if behind else claim.end
    sizes.sort(key=lambda sized: sized[0])
    clear = len(sizes) > 1 and sizes[-1][0] > sizes[-2][0]
    return sizes[-1][1] if clear else None


def _by_sign(statement: Statement, plain: str, asked: frozenset[str]) -> None:
    """ "Spleen > left kidney" answers which is larger, and which is smaller."""
    signs = [mark for mark in plain[statement.start : statement.end] if mark in "<>"]
    for one, other in itertools.pairwise(statement.claims if len(signs) == 1 else ()):
        sign = _MEASURE.sub("", plain[one.end : other.start]).strip()
        if sign in {">", "<"} and asked and one.asserted and other.asserted:
            first = (sign == ">") is bool(asked & _GREATER)
            chosen, left = (one, other) if first else (other, one)
            chosen.role, left.certainty = max(chosen.role, Role.CONCLUDED), Certainty.ASIDE


def _turn_round(plain: str, claim: Claim, statement: Statement) -> None:
    """ "B is smaller than A" answers "which is larger?" with A."""
    before = [other for other in statement.claims if other.end < claim.start]
    if before and before[-1].certainty is Certainty.ASIDE and len(statement.claims) == 2:
        led = _COMPARED_WITH.search(plain, statement.start, before[-1].start)
        if led:
            before[-1].certainty, before[-1].role = Certainty.ASSERTED, Role.CONCLUDED
    behind = [other for other in statement.claims if other.start > claim.end]
    if (
        behind
        and behind[0].certainty is Certainty.ASIDE
        and _COMPARED.search(plain, claim.end, behind[0].start)
    ):
        behind[0].certainty, behind[0].role = (
            Certainty.ASSERTED,
            max(behind[0].role, Role.CONCLUDED),
        )


def _predicate(plain: str, claim: Claim, statement: Statement) -> set[str]:
    """The words that the sentence says of a claim, up to the next mention or clause."""
    following = min(
        (other.start for other in statement.claims if other.start > claim.start),
        default=statement.end,
    )
    predicate = re.sub(r"\([^()]*\)", " ", plain[claim.end : following].lower())
    stop = _CLAUSE_END.search(predicate)
    predicate = predicate[: stop.start()] if stop else predicate
    return set(re.findall(r"[a-z]+", _LIKELY.sub(" ", predicate)))


def _label(plain: str, claim: Claim, statement: Statement) -> set[str]:
    """The words that a clause says before naming a claim as
    what they mean ("the smaller one is …", "Larger: …")."""
    before = max(
        (other.end for other in statement.claims if other.end <= claim.start),
        default=statement.start,
    )
    led = plain[max(before, claim.start - _LONGEST_LABEL) : claim.start]
    label = _LABELS.search(_FROM_TO.sub(" ", _PARENTHESIS.sub(" ", led)))
    if label is not None:
        return set(re.findall(r"[a-z]+", label[0].lower()))
    beside = _BESIDE.search(plain, max(before, claim.start - 30), claim.start)
    return set() if beside is None else {beside[1].lower()}


def _is_compared(plain: str, claim: Claim, statement: Statement) -> bool:
    """Whether the claim's sentence compares it with another option,
    and not in the way that is asked."""
    beside = [
        other
        for other in statement.claims
        if other.certainty is Certainty.ASIDE and other.start > claim.end
    ]
    return any(_COMPARED.search(plain, claim.end, other.start) for other in beside)


@lru_cache(maxsize=256)
def words_of_comparison(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of comparison that answer the question, and those that deny it."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    for line in language_file("en")["options"]["comparatives"]:
        sides = [frozenset(part.split()) for part in line.split("|")]
        for asked, opposite in (sides, reversed(sides)):
            # "Which is larger: the largest cyst or …": only a name is "largest" then.
            compared = (words & asked) - {"largest", "biggest"} or "largest" not in words & asked
            if words & asked and not words & opposite and compared:
                same, against = _of_distances(asked)
                return asked | (same - words), opposite | (against - words)
    if "largest" in words:
        return frozenset({"largest", "biggest"}), frozenset({"smaller", "smallest"})
    return frozenset(), frozenset()


def _of_distances(asked: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """ "Smallest: A" answers which is nearest, where distances are listed; and what denies it."""
    for line in language_file("en")["options"]["measured"]:
        named, same, against = (frozenset(part.split()) for part in line.split("|"))
        if named & asked:
            return same, against
    return frozenset(), frozenset()
