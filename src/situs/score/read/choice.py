"""Which option a reply chooses."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from situs.items.record import Option
from situs.score.read.arrangement.comparisons import (
    compare,
    exceeding_as_larger,
    prefer_largest,
    set_aside_runners_up,
    words_of_comparison,
)
from situs.score.read.arrangement.directions import turn_directions
from situs.score.read.arrangement.listing import best_measured, rightly_labelled
from situs.score.read.arrangement.orders import order_of_ends, with_orders_as_asked
from situs.score.read.arrangement.ranking import (
    first_ranked,
    likeliest_ranked,
    ranked_option,
)
from situs.score.read.arrangement.shared_structures import conclude_shared, mark_beside_x
from situs.score.read.likelihoods import likeliest
from situs.score.read.option_names import ALPHABET, OptionNames, as_options_write
from situs.score.read.option_names.referred import former_and_latter
from situs.score.read.option_names.runs import without_runs
from situs.score.read.option_names.unequal import idle_beside_signs
from situs.score.read.option_names.verdict_marks import verdicts_apart
from situs.score.read.prose.claims import Certainty, Claim, Role, Statement
from situs.score.read.prose.grammar import statements
from situs.score.read.prose.lexicon import english
from situs.score.read.prose.plans import set_aside_plans
from situs.score.read.prose.refusal import cannot_tell, declines, refuses, says_untold
from situs.score.read.prose.resolve import SEVERAL, decide
from situs.score.read.prose.tokens import Mention
from situs.score.read.prose.topic import set_aside_other_topics
from situs.score.read.remembered import remembered
from situs.score.read.reply import plain_reply
from situs.score.read.result import CONTRADICTION, Parsed, RefusedInWords, Result, Unparsed
from situs.score.read.stated_options import stated_option
from situs.score.read.yes_no import bare_answers

__all__ = ["parse_choice"]

_DISAGREE = Unparsed("letter and text disagree")
_OUT_OF_RANGE = Unparsed("no such option")
_OF_PICTURE = Unparsed("a side of the picture, not of the patient")
_NOTHING = Unparsed("no option named")
_RELATIVE = Unparsed("so many levels from the one named")
# "Two levels below that": counted from an option, which is not the answer then.
_COUNTED_FROM = re.compile(
    r"\b(?:a|one|two|three|four|[1-4]|half a)(?: full)? (?:levels?|vertebrae?|segments?)"
    r" (?:below|above|lower|higher|further|down|up|under|beneath)"
    r"(?: (?:that|it|this|there))? ?(?:[.;!\n]|$)",
    re.IGNORECASE,
)
_COUNTING = re.compile(
    r"\bcount(?:ing|ed)(?: down| up|ing)?(?:wards?)? from (?:[^,.;()\n]|\([^()\n]*\)){1,80},",
    re.IGNORECASE,
)
_OTHER_SIDE = re.compile(r"\b(?:the )?(?:opposite|other) side\b|\bcontralateral\b", re.IGNORECASE)
_SIDED = re.compile(r"\b(?:left|right)\b")
_CLAIMS = re.compile(
    r"\b(?:(?:option|choice|answer|statement) )?\(?[A-H]\)? (?:claims|says|states|asserts|proposes"
    r"|posits|describes|suggests)\b(?! ?:)"
)
_WITH_ANOTHER = re.compile(r"\b(?:and|&) (?:mark |point )?X\b|\bX (?:and|&)\b")
_X_FIRST = re.compile(r"\bX and (?:mark |point )?[A-Z]\b")
# "Right. It lies on the left": a side, or a word of assent.
_SIDE_ALONE = re.compile(
    r"(?P<side>right|left) ?[.!,:] ?(?=[^.!?\n]{0,80}\b(?:on|in|to|at) the (?:left|right)\b)",
    re.IGNORECASE,
)
# "Which mark lies in the same organ as the lesion?": the lesion stands for mark X.
_AS_X = re.compile(r"\bas (?:mark X|(?P<lesion>the lesion))\b")
_THE_LESION = re.compile(r"\bthe lesion\b", re.IGNORECASE)
_LETTER = 3
"""Characters of a letter, in brackets perhaps."""


def parse_choice(
    text: str, options: Sequence[Option], question: str = "", *, language: str = "en"
) -> Result[str]:
    """The value of the option that the reply chooses, by its letter or by its words.

    A final answer wins; then whatever the reply announces, concludes or says alone; then the only
    option that it names without denying, doubting or comparing with it. Letters in prose
    ("hepatitis B", "A large lesion") are no answers. The `question` tells which comparison is asked
    for: "the spleen is larger" does not answer "which is smaller?".
    """
    stated = stated_option(text, options, language)
    if stated is not None:
        return Parsed(stated.value)
    return _read_choice(text, options, question, language)


@remembered
def _read_choice(text: str, options: Sequence[Option], question: str, language: str) -> Result[str]:
    """The same by grammar."""
    plain = plain_reply(text, language, question)
    if isinstance(plain, Unparsed):
        return plain
    share = likeliest(plain) or likeliest_ranked(plain, len(options))
    if share is not None and share in ALPHABET[: len(options)]:
        return Parsed(options[ALPHABET.index(share)].value)
    names = OptionNames(options, question)
    plain = verdicts_apart(plain)
    plain = with_orders_as_asked(exceeding_as_larger(plain, question), names.cores, question)
    plain = without_runs(as_options_write(plain, names.cores), names.count)
    exact = names.exact(plain)
    if len(exact) == 1 and not _is_letter(plain, names):
        return Parsed(options[exact[0]].value)
    mentions = idle_beside_signs(plain, names.mentions(plain), names.cores)
    first = first_ranked(plain, mentions, names.count, question)
    if first is not None:
        return Parsed(options[first].value)
    mentions += former_and_latter(plain, mentions, names.cores, question)
    mentions += _yes_no(plain, names)
    sentences = statements(
        plain, mentions, english(), question=question, offered=names.offered, single=True
    )
    set_aside_plans(sentences, plain, question)
    _set_aside_contents(sentences, plain)
    _set_aside_starts(sentences, plain)
    turn_directions(sentences, plain, question, names.cores)
    candidates = names.count - len({*names.unsure, *names.alike})
    compare(sentences, plain, question, candidates)
    conclude_shared(sentences, plain)
    prefer_largest(sentences, plain, question)
    compared = words_of_comparison(question)[0] | names.words
    set_aside_other_topics(sentences, plain, question, answers=compared)
    set_aside_runners_up(sentences, plain)
    result = _decided(sentences, plain)
    if not isinstance(result, Parsed) and (asked := _AS_X.search(question)):
        beside = mark_beside_x(_THE_LESION.sub("X", plain) if asked["lesion"] else plain)
        if beside is not None and ALPHABET.index(beside) < names.count:
            return Parsed(options[ALPHABET.index(beside)].value)
    ranked = _ranked(result, sentences, plain, names, candidates)
    if ranked is not None:
        return Parsed(options[ranked].value)
    if isinstance(result, Parsed):
        if _cannot_be_told(result.value, sentences, plain, names):
            return Parsed(options[names.unsure[0]].value)
        chosen = _option(result.value, sentences, plain, names)
        return CONTRADICTION if _on_the_other_side(chosen, plain, names, language) else chosen
    return _unless_unsure(result, sentences, plain, names)


def _set_aside_contents(found: Sequence[Statement], plain: str) -> None:
    """Set aside what an option is said to claim ("Option A claims that the left is larger"): a
    reply that goes through the options has chosen none of them yet."""
    for statement in found:
        if not _CLAIMS.search(plain, statement.start, statement.end):
            continue
        for claim in statement.claims:
            if claim.role < Role.STATED and not claim.verdict:
                claim.certainty = Certainty.ASIDE


def _set_aside_starts(found: Sequence[Statement], plain: str) -> None:
    """Set aside the level from which a reply counts ("counting down from T12, …")."""
    starts = [match.span() for match in _COUNTING.finditer(plain)]
    for claim in (claim for statement in found for claim in statement.claims) if starts else ():
        within = any(start < claim.start < end for start, end in starts)
        if within and claim.role < Role.STATED:
            claim.certainty = Certainty.ASIDE


def _ranked(
    result: Result[Hashable] | None,
    found: Sequence[Statement],
    plain: str,
    names: OptionNames,
    candidates: int,
) -> int | None:
    """The option that an order, measures or labels tell, where the reply names none."""
    if isinstance(result, Parsed):
        return None
    question, ranked = names.question, None
    if result is None:
        ranked = order_of_ends(plain, names.cores, question)
        ranked = ranked_option(plain, names.cores) if ranked is None else ranked
    if ranked is None:
        ranked = best_measured(found, plain, question, candidates)
    return rightly_labelled(plain, question, names.count) if ranked is None else ranked


def _on_the_other_side(chosen: Result[str], plain: str, names: OptionNames, language: str) -> bool:
    """Whether a reply is read as the side that it begins with, and goes on with the other one."""
    alone = _SIDE_ALONE.match(plain)
    if alone is None or not isinstance(chosen, Parsed):
        return False
    side = alone["side"].lower()
    if side not in names.cores or names.options[names.cores.index(side)].value != chosen.value:
        return False
    told = _read_choice(plain[alone.end() :], names.options, names.question, language)
    return isinstance(told, Parsed) and told.value != chosen.value


def _decided(found: Sequence[Statement], plain: str) -> Result[Hashable] | None:
    """What the reply claims, unless it only counts from there."""
    result = decide(found)
    return _RELATIVE if isinstance(result, Parsed) and _counted_from(plain, found) else result


def _counted_from(plain: str, found: Sequence[Statement]) -> bool:
    """Whether a reply only names an option to count levels from it, and not the one it arrives
    at."""
    counted = _COUNTED_FROM.search(plain)
    claims = [claim for one in found for claim in one.claims if claim.asserted]
    return (
        counted is not None
        and all(claim.role <= Role.PLAIN for claim in claims)
        and not any(claim.start > counted.end() for claim in claims)
    )


def _yes_no(plain: str, names: OptionNames) -> list[Mention]:
    """Yes and no as mentions, where the options are these words."""
    by_word = {words: index for index, words in enumerate(names.cores) if words in {"yes", "no"}}
    if not by_word:
        return []
    indexed = (
        (mention, by_word.get("yes" if mention.value else "no")) for mention in bare_answers(plain)
    )
    return [
        Mention(mention.start, mention.end, index)
        for mention, index in indexed
        if index is not None
    ]


def _cannot_be_told(
    value: object, found: Sequence[Statement], plain: str, names: OptionNames
) -> bool:
    """Whether a reply names a structure only to say why nothing can be told,
    and that is an option."""
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
    result: Result[object] | None, sentences: Sequence[Statement], plain: str, names: OptionNames
) -> Result[str]:
    claims = [claim for statement in sentences for claim in statement.claims]
    sure = isinstance(result, Unparsed) and any(
        claim.role >= Role.LEAD and claim.asserted for claim in claims
    )
    if not sure:
        left = _left_over(claims, names)
        if left is not None and not refuses(plain):
            return Parsed(names.options[left].value)
        without_echo = plain
        for start, end in reversed(names.echo(plain)):
            without_echo = without_echo[:start] + without_echo[end:]
        if says_untold(without_echo) and not declines(plain) and len(names.unsure) == 1:
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
    """The only option that is not ruled out, where all others are.

    "The spleen is not larger" leaves the other structure, not that nothing can be told; "it is not
    B" leaves that too.
    """
    denied = {value for claim in claims if claim.denied for value in claim.values}
    named = {
        value
        for claim in claims
        if claim.certainty is not Certainty.ASKED and not claim.excepted
        for value in claim.values
    }
    by_words = any(claim.denied and claim.end - claim.start > _LETTER for claim in claims)
    left = set(range(names.count)) - denied - set(names.unsure if by_words else ())
    if any(claim.denied and claim.outdone for claim in claims):
        left -= {*names.alike, *names.none}  # "the smaller of the two is B": they differ
    return left.pop() if denied and named == denied and len(left) == 1 else None
