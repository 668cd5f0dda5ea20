"""Which option a reply chooses."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache

from situs.items.record import Option
from situs.score.read.option_names import ALPHABET, OptionNames
from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english, language_file
from situs.score.read.prose.refusal import cannot_tell, declines, refuses
from situs.score.read.prose.resolve import SEVERAL, decide
from situs.score.read.prose.tokens import Mention
from situs.score.read.prose.topic import set_aside_other_topics
from situs.score.read.ranking import first_ranked, ranked_option
from situs.score.read.remembered import remembered
from situs.score.read.reply import plain_reply
from situs.score.read.result import Parsed, RefusedInWords, Result, Unparsed
from situs.score.read.yes_no import bare_answers

__all__ = ["parse_choice"]

_DISAGREE = Unparsed("letter and text disagree")
_OUT_OF_RANGE = Unparsed("no such option")
_OF_PICTURE = Unparsed("a side of the picture, not of the patient")
_NOTHING = Unparsed("no option named")
_OTHER_SIDE = re.compile(r"\b(?:the )?(?:opposite|other) side\b|\bcontralateral\b", re.IGNORECASE)
_SIDED = re.compile(r"\b(?:left|right)\b")
_WITH_ANOTHER = re.compile(r"\b(?:and|&) (?:mark |point )?X\b|\bX (?:and|&)\b")
_PAIRED = re.compile(
    r"(?:\bX and (?:mark |point )?[A-Z]|\b[A-Z] and (?:mark |point )?X),? [a-z]+\b"
)
# "Mark D in the spleen, as is X": what shares its place with X.
_AS_X = re.compile(
    r"\b(?:as is|as does|as are|like|just like|together with|along with|alongside|same as|same (?:organ|structure) as|"
    r"shared? with|shares (?:it|that|its \w+) with|also holds|also contains|where|with) (?:mark |point )?X\b"
)
_LIKE_X = re.compile(
    r"(?:like|together with|along with|just like) (?:mark |point )?X,", re.IGNORECASE
)
_AS_LESION = re.compile(
    r"\b(?:as does|as is|like|just like|together with) the lesion\b", re.IGNORECASE
)
_X_FIRST = re.compile(r"\bX and (?:mark |point )?[A-Z]\b")
_PARTED = re.compile(
    r"\b(?:not|different|separate|distinct|apart|neither|whereas|while|but)\b|n't", re.IGNORECASE
)
_COMPARED = re.compile(r"(?<!rather )(?<!other )\bthan\b", re.IGNORECASE)
_COMPARED_WITH = re.compile(
    r"\b(?:compared (?:with|to)|in comparison (?:with|to)|relative to) (?:the )?$", re.IGNORECASE
)
_LABELS = re.compile(
    r"[^.;,!?\n]+(?:\bis|\bbeing|\bwas|:|=)(?: (?:the|on|in|to|clearly|option|mark))*[ \"'(]*$",
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
_LONGEST_LABEL = 80
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
    r"\b(?:more|most|less|least) (?:likely|plausible|probable|convincing|consistent|certain|often|than)\b"
)
_CLAUSE_MARK = re.compile(r"[,;.(:]")
_CLAUSE_END = re.compile(
    r"[.;!?\n]|, |\b(?:and|because|since|as|so|but|while|whereas|although|than)\b", re.IGNORECASE
)


@remembered
def parse_choice(
    text: str, options: Sequence[Option], question: str = "", *, language: str = "en"
) -> Result[str]:
    """The value of the option that the reply chooses, by its letter or by its words.

    A final answer wins; then whatever the reply announces, concludes or says alone; then the only option that it names
    without denying, doubting or comparing with it. Letters in prose ("hepatitis B", "A large lesion") are no answers.
    The `question` tells which comparison is asked for: "the spleen is larger" does not answer "which is smaller?".
    """
    plain = plain_reply(text, language, question)
    if isinstance(plain, Unparsed):
        return plain
    names = OptionNames(options, question)
    exact = names.exact(plain)
    if len(exact) == 1 and not _is_letter(plain, names):
        return Parsed(options[exact[0]].value)
    mentions = names.mentions(plain)
    first = first_ranked(plain, mentions, names.count, question)
    if first is not None:
        return Parsed(options[first].value)
    mentions += _yes_no(plain, names)
    found = statements(
        plain, mentions, english(), question=question, offered=names.offered, single=True
    )
    compare(found, plain, question)
    _paired(found, plain)
    compared = _comparison(question)[0] | names.words
    set_aside_other_topics(found, plain, question, answers=compared)
    result = decide(found)
    ranked = ranked_option(plain, names.cores) if result is None else None
    if ranked is not None:
        return Parsed(options[ranked].value)
    if isinstance(result, Parsed):
        if _cannot_be_told(result.value, found, plain, names):
            return Parsed(options[names.unsure[0]].value)
        return _option(result.value, found, plain, names)
    return _unless_unsure(result, found, plain, names)


def compare(found: Sequence[Statement], plain: str, question: str) -> None:
    """Judge claims by comparison ("is larger", "is farther away") against what the question asks for."""
    asked, opposite = _comparison(question)
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
                claim.negated = claim.verdict = True
                _turn_round(plain, claim, statement)
            elif words & asked and claim.role in {Role.PLAIN, Role.LEAD}:
                claim.role, claim.licensed = Role.CONCLUDED, True
            elif claim.role is Role.PLAIN and _is_compared(plain, claim, statement):
                if _RATHER.search(plain[max(0, claim.start - 30) : claim.start]):
                    claim.role = Role.CONCLUDED  # "more to the left than in front"
                else:
                    claim.certainty = Certainty.DOUBTED


def _by_sign(statement: Statement, plain: str, asked: frozenset[str]) -> None:
    """ "Spleen > left kidney" answers which is larger, and which is smaller."""
    signs = [mark for mark in plain[statement.start : statement.end] if mark in "<>"]
    for one, other in itertools.pairwise(statement.claims if len(signs) == 1 else ()):
        sign = plain[one.end : other.start].strip()
        if sign in {">", "<"} and asked and one.asserted and other.asserted:
            first = (sign == ">") is bool(asked & _GREATER)
            chosen, left = (one, other) if first else (other, one)
            chosen.role, left.certainty = max(chosen.role, Role.CONCLUDED), Certainty.ASIDE


def _paired(found: Sequence[Statement], plain: str) -> None:
    """ "X and D are in the liver" names the mark that shares a structure with mark X."""
    for statement in found:
        for claim in statement.claims:
            pair = _PAIRED.search(plain, max(0, claim.start - 20), claim.end + 30)
            plain_claim = claim.role <= Role.LEAD and claim.asserted and len(claim.values) == 1
            shared = (
                _AS_X.search(plain, claim.end, statement.end)
                if len(statement.claims) == 1
                else None
            )
            if len(statement.claims) == 1 and shared is None:
                shared = _LIKE_X.match(plain, statement.start) or _AS_LESION.search(
                    plain, claim.end, statement.end
                )
            parted = _PARTED.search(plain, statement.start, statement.end)
            paired = pair and pair.start() <= claim.start and pair.end() >= claim.end
            if plain_claim and not parted and (paired or shared):
                claim.role, claim.licensed = Role.CONCLUDED, True


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
    said = re.sub(r"\([^()]*\)", " ", plain[claim.end : following].lower())
    stop = _CLAUSE_END.search(said)
    said = said[: stop.start()] if stop else said
    return set(re.findall(r"[a-z]+", _LIKELY.sub(" ", said)))


def _label(plain: str, claim: Claim, statement: Statement) -> set[str]:
    """The words that a clause says before naming a claim as what they mean ("the smaller one is …", "Larger: …")."""
    before = max(
        (other.end for other in statement.claims if other.end <= claim.start),
        default=statement.start,
    )
    label = _LABELS.search(
        _PARENTHESIS.sub(" ", plain[max(before, claim.start - _LONGEST_LABEL) : claim.start])
    )
    beside = _BESIDE.search(plain, max(before, claim.start - 30), claim.start)
    words = label[0] if label else beside[1] if beside else ""
    return set(re.findall(r"[a-z]+", words.lower()))


def _is_compared(plain: str, claim: Claim, statement: Statement) -> bool:
    """Whether the claim's sentence compares it with another option, and not in the way that is asked."""
    beside = [
        other
        for other in statement.claims
        if other.certainty is Certainty.ASIDE and other.start > claim.end
    ]
    return any(_COMPARED.search(plain, claim.end, other.start) for other in beside)


@lru_cache(maxsize=256)
def _comparison(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of comparison that answer the question, and those that deny it."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    for line in language_file("en")["options"]["comparatives"]:
        sides = [frozenset(part.split()) for part in line.split("|")]
        for asked, opposite in (sides, reversed(sides)):
            if words & asked and not words & opposite and "largest" not in words & asked:
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


def _yes_no(plain: str, names: OptionNames) -> list[Mention]:
    """Yes and no as mentions, where the options are these words."""
    by_word = {words: index for index, words in enumerate(names.cores) if words in {"yes", "no"}}
    if not by_word:
        return []
    found = (
        (mention, by_word.get("yes" if mention.value else "no")) for mention in bare_answers(plain)
    )
    return [
        Mention(mention.start, mention.end, index) for mention, index in found if index is not None
    ]


def _cannot_be_told(
    value: object, found: Sequence[Statement], plain: str, names: OptionNames
) -> bool:
    """Whether a reply names a structure only to say why nothing can be told, and that is an option."""
    if len(names.unsure) != 1 or value in names.unsure or not cannot_tell(plain):
        return False
    roles = [claim.role for one in found for claim in one.claims if value in claim.values]
    return max(roles, default=Role.WEAK) <= Role.PLAIN


def _is_letter(plain: str, names: OptionNames) -> bool:
    bare = plain.strip(" .,;:!\"'()\ue000\ue001")
    return len(bare) == 1 and bare.upper() in ALPHABET[: names.count]


def _option(
    value: object, found: Sequence[Statement], plain: str, names: OptionNames
) -> Result[str]:
    assert isinstance(value, int)
    if not 0 <= value < names.count:
        return _OUT_OF_RANGE
    alone = [statement for statement in found if statement.claims]
    beside_x = "as mark X" in names.question and _X_FIRST.search(plain)
    if len(alone) == 1 and alone[0].alone and not beside_x and _WITH_ANOTHER.search(plain):
        return SEVERAL  # "A and X": which of the two, or both
    sided = _SIDED.search(names.cores[value]) and _OTHER_SIDE.search(plain)
    if sided and not any(claim.role >= Role.LEAD for one in found for claim in one.claims):
        return Unparsed("the other side of what is named")
    letter = ALPHABET[value].lower()
    if (
        letter in names.cores
        and names.cores[value] != letter
        and not _by_words(value, found, plain, names)
    ):
        return _DISAGREE  # options that are letters themselves, in another order
    return Parsed(names.options[value].value)


def _by_words(value: int, found: Sequence[Statement], plain: str, names: OptionNames) -> bool:
    """Whether the chosen option is also named by its own words."""
    return any(
        value in claim.values
        and re.search(
            rf"\b{re.escape(names.cores[value])}\b", plain[claim.start : claim.end], re.IGNORECASE
        )
        for statement in found
        for claim in statement.claims
    )


def _unless_unsure(
    result: Result[object] | None, found: Sequence[Statement], plain: str, names: OptionNames
) -> Result[str]:
    claims = [claim for statement in found for claim in statement.claims]
    sure = isinstance(result, Unparsed) and any(
        claim.role >= Role.LEAD and claim.asserted for claim in claims
    )
    if not sure:
        left = _left_over(claims, names)
        if left is not None and not (names.count == 2 and refuses(plain)):
            return Parsed(names.options[left].value)
        told = plain
        for start, end in reversed(names.echo(plain)):
            told = told[:start] + told[end:]
        if cannot_tell(told) and not declines(plain) and len(names.unsure) == 1:
            return Parsed(names.options[names.unsure[0]].value)
        if refuses(plain):
            return RefusedInWords()
    if isinstance(result, Unparsed):
        pairs = [
            claim
            for claim in claims
            if len(claim.values) == 2 and claim.asserted and not claim.alternatives
        ]
        disagree = result == SEVERAL and any(
            _letter_and_words(claim, plain, names) for claim in pairs
        )
        return _DISAGREE if disagree else result
    idle = [claim for claim in claims if claim.certainty is Certainty.ASIDE]
    return (
        _OF_PICTURE
        if idle and len(idle) == len(claims) and re.search(r"\b(?:left|right)\b", plain)
        else _NOTHING
    )


def _letter_and_words(claim: Claim, plain: str, names: OptionNames) -> bool:
    """Whether a letter and the words of another option stand for one another."""
    inside = [start for start in names.letters if claim.start <= start < claim.end]
    return len(inside) == 1 and not re.search(r"\b(?:and|or)\b", plain[claim.start : claim.end])


def _left_over(claims: Sequence[Claim], names: OptionNames) -> int | None:
    """The only option that is not ruled out, where all others are; that none can be told is no option here."""
    denied = {value for claim in claims if claim.denied for value in claim.values}
    named = {
        value
        for claim in claims
        if claim.certainty is not Certainty.ASKED and not claim.excepted
        for value in claim.values
    }
    left = set(range(names.count)) - denied - set(names.unsure)
    return left.pop() if denied and named == denied and len(left) == 1 else None
